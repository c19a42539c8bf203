import { z } from "zod";
import { Conflict } from "../errors.ts";
import { shownText } from "../fossil/front/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import { actorOf, type ProjectRepositories } from "../projects/mod.ts";
import { Created, operation, RepositoryRead } from "../projects/operation.ts";
import { newTagSchema } from "../releases/schemas.ts";
import {
  attachmentsSchema,
  attachmentTarget,
  branchesSchema,
  contributorsSchema,
  createdTagSchema,
  tagsSchema,
} from "./schemas.ts";

export const listBranches = operation({
  http: "GET /api/branches",
  needs: "read",
  summary: "All branches, open and closed, the one with the newest check-in first",
  input: z.object({
    divergence: z.enum(["true", "false"]).optional().meta({
      description: "`true` adds how far each branch is from the main branch",
    }),
  }),
  ok: { schema: branchesSchema, description: "The branches" },
  isRead: true,
}, (_services, { divergence }) =>
  new RepositoryRead(async (repository) => {
    const branches =
      await (divergence === "true" ? repository.divergedBranches() : repository.branches());
    // One that came in an import may have a name of any length: it is cut as pages cut it.
    const shown = branches.map((branch) => ({ ...branch, name: shownText(branch.name, "name") }));
    return { branches: shown };
  }));

export const listTags = operation({
  http: "GET /api/tags",
  needs: "read",
  summary: "All tags, newest first",
  input: z.object({}),
  ok: { schema: tagsSchema, description: "The tags" },
  isRead: true,
}, () => new RepositoryRead(async (repository) => ({ tags: await repository.tags() })));

export const createTag = operation({
  http: "POST /api/tags",
  needs: "write",
  summary: "Tag a check-in",
  input: newTagSchema,
  bodyName: "TagRequest",
  example: { name: "v1.2.0", checkin: "trunk" },
  created: { schema: createdTagSchema, description: "The tag" },
  refusals: [{ error: Conflict }],
}, async (
  { hosting, accounts }: {
    readonly hosting: { readonly repositories: Pick<ProjectRepositories, "write"> };
    readonly accounts: Pick<AccountDirectory, "find">;
  },
  { name, checkin, message },
  { access, project, caller },
) => {
  const uuid = await hosting.repositories.write(project, {
    caller,
    user: actorOf(access, undefined, accounts).name,
    write: async (repository, stamp) => {
      const { uuid } = await repository.resolveCheckin(checkin);
      await repository.tagCheckin({ ...stamp, name, checkin: uuid, message });
      return uuid;
    },
  });
  return new Created({ name, uuid });
});

export const listContributors = operation({
  http: "GET /api/contributors",
  needs: "read",
  summary: "Who made check-ins, and how many were made in each month",
  input: z.object({}),
  ok: { schema: contributorsSchema, description: "The contributors" },
  isRead: true,
}, () => new RepositoryRead((repository) => repository.contributions()));

export const listAttachments = operation({
  http: "GET /api/attachments",
  needs: "read",
  summary: "The attachments of a wiki page, ticket or technote",
  input: z.object({ target: attachmentTarget }),
  ok: { schema: attachmentsSchema, description: "The attachments, by name" },
  isRead: true,
}, (_services, { target }) =>
  new RepositoryRead(async (repository) => ({
    attachments: await repository.attachments(target),
  })));

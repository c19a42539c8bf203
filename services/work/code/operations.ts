import { wholeNumber } from "../../kernel/validation/schemas.ts";
import { z } from "zod";
import { TooLarge } from "../../kernel/errors.ts";
import { MAX_FILE_LINES, shownText } from "../../engines/fossil/front/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { Signatures } from "../signatures/mod.ts";
import { actorOf, type ProjectRepositories } from "../projects/mod.ts";
import { Created, FileRead, fileSchema, operation, RepositoryRead } from "../projects/operation.ts";
import { boundedNumber, given, pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import { newTagSchema } from "../releases/schemas.ts";
import {
  ACTIVITY_KINDS,
  activitySchema,
  attachmentsSchema,
  blameSchema,
  branchesSchema,
  checkinDetailSchema,
  checkinName,
  comparisonSchema,
  contributorsSchema,
  createdTagSchema,
  diffSchema,
  fileLinesSchema,
  historySchema,
  optionalCheckin,
  tagsSchema,
  timelineSchema,
  treeSchema,
  whitespaceParameter,
} from "./schemas.ts";

/** More branches or tags than any repository has. */
const MAX_NEWEST = 2 ** 31 - 1;

export const listBranches = operation(
  {
    http: "GET /api/branches",
    needs: "read",
    mcp: {
      name: "get_branches",
      about: "Lists the branches, open and closed, the one with the newest check-in first. A " +
        "workspace is the branch workspace/NAME.",
      takes: {},
      list: { field: "branches", noun: "branches", limit: 100 },
    },
    summary: "All branches, open and closed, the one with the newest check-in first",
    input: z.object({
      divergence: z.enum(["true", "false"]).optional().meta({
        description: "`true` adds how far each branch is from the main branch",
      }),
      newest: wholeNumber("At most so many open branches and so many closed ones", 1, MAX_NEWEST),
    }),
    ok: { schema: branchesSchema, description: "The branches" },
    isRead: true,
  },
  (_services, { divergence, newest: most = MAX_NEWEST }) =>
    new RepositoryRead(async (repository) => {
      const { newest, total } = await repository.newestBranches({
        most,
        isDiverged: divergence === "true",
      });
      // One that came in an import may have a name of any length: it is cut as pages cut it.
      const branches = newest.map((branch) => ({
        ...branch,
        name: shownText(branch.name, "name"),
      }));
      return { branches, total };
    }, "history"),
);

export const listTags = operation({
  http: "GET /api/tags",
  needs: "read",
  mcp: {
    name: "get_tags",
    about: "Lists the tags of check-ins, newest first. For versions with notes and files, use " +
      "get_releases.",
    takes: {},
    list: { field: "tags", noun: "tags", limit: 100 },
  },
  summary: "All tags, newest first",
  input: z.object({ newest: wholeNumber("At most so many", 1, MAX_NEWEST) }),
  ok: { schema: tagsSchema, description: "The tags" },
  isRead: true,
}, (_services, { newest: most = MAX_NEWEST }) =>
  new RepositoryRead(async (repository) => {
    const { newest, total } = await repository.newestTags(most);
    return { tags: newest, total };
  }, "history"));

export const createTag = operation({
  http: "POST /api/tags",
  needs: "write",
  mcp: {
    name: "create_tag",
    about: "Tags a check-in. For a version with notes, use create_release, which makes its tag.",
    takes: {
      name: "Letters, digits and . _ + -, such as v1.2.0",
      checkin: "Hash, branch or tag; the main branch if absent",
      message: "A note",
    },
    advice: { notFound: "get_timeline lists check-ins", conflict: "get_tags shows the tags" },
  },
  summary: "Tag a check-in",
  input: newTagSchema,
  bodyName: "TagRequest",
  example: { name: "v1.2.0", checkin: "trunk" },
  created: { schema: createdTagSchema, description: "The tag" },
}, async (
  { hosting, accounts }: {
    readonly hosting: { readonly repositories: Pick<ProjectRepositories, "write"> };
    readonly accounts: Pick<AccountDirectory, "find" | "session">;
  },
  { name, checkin, message },
  { access, project, caller },
) => {
  const uuid = await hosting.repositories.write(project, {
    caller,
    user: actorOf(access, undefined, accounts).name,
    subject: null,
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

const target = z.string().meta({
  description: "The name of a wiki page, or the whole id of a ticket or technote",
});

export const listAttachments = operation({
  http: "GET /api/attachments",
  needs: "read",
  summary: "The attachments of a wiki page, ticket or technote",
  input: z.object({ target }),
  ok: { schema: attachmentsSchema, description: "The attachments, by name" },
  isRead: true,
}, (_services, { target }) =>
  new RepositoryRead(async (repository) => ({
    attachments: await repository.attachments(target),
  })));

/** The conditions that the timeline and the activity take. */
const conditions = {
  user: z.string().optional().meta({ description: "Only what this user did" }),
  before: z.string().optional().meta({
    description: "Only what is older than a moment (ISO 8601) or a check-in of any name",
  }),
  after: z.string().optional().meta({ description: "Like `before`, for what is newer" }),
};

export const getTimeline = operation({
  http: "GET /api/timeline",
  needs: "read",
  mcp: {
    name: "get_timeline",
    about: "Lists check-ins, newest first. get_checkin and get_diff show more of one.",
    takes: { branch: "Only check-ins of this branch; all if empty" },
    list: { field: "checkins", noun: "check-ins", limit: 25 },
    advice: { notFound: "get_branches names the branches" },
  },
  summary: "Check-ins, newest first",
  input: z.object({
    ...pageParameters,
    ...conditions,
    branch: z.string().optional().meta({ description: "Only check-ins of this branch" }),
    path: z.string().optional().meta({
      description: "Only check-ins that change this file, or anything in this folder",
    }),
    graph: z.enum(["true", "false"]).optional().meta({
      description: "`true` adds the lines from check-ins to their parents",
    }),
  }),
  ok: { schema: timelineSchema, description: "A page of check-ins" },
  isRead: true,
}, (_services, { page, per_page, graph, ...wanted }) =>
  new RepositoryRead(async (repository) => {
    const asked = { page, per_page };
    const { total, ...found } = await repository.timeline({
      ...rangeOf(asked),
      ...given(wanted),
      ...(graph === "true" ? { graph: true } : {}),
    });
    return { ...found, ...pageOf(asked, total) };
  }, "history"));

export const getActivity = operation({
  http: "GET /api/activity",
  needs: "read",
  summary: "What happened in the repository, of any kind, newest first",
  input: z.object({
    ...pageParameters,
    ...conditions,
    kind: z.enum(ACTIVITY_KINDS).optional().meta({ description: "Only events of this kind" }),
  }),
  ok: { schema: activitySchema, description: "A page of events" },
  isRead: true,
}, (_services, { page, per_page, kind, ...wanted }) =>
  new RepositoryRead(async (repository) => {
    const asked = { page, per_page };
    const { events, total } = await repository.activity({
      ...rangeOf(asked),
      ...given(wanted),
      ...(kind === undefined ? {} : { kinds: [kind] }),
    });
    // What a moderator has not approved yet is nobody's but its author's.
    const shown = events.filter((event) => !event.awaits_approval)
      .map(({ awaits_approval: _, ...event }) => event);
    return { events: shown, ...pageOf(asked, total) };
  }));

/** Most files that a request may ask for. */
const MAX_FILES = 100_000;

export const getCheckin = operation({
  http: "GET /api/checkin/{uuid}",
  needs: "read",
  summary: "A check-in with the files that it changes",
  input: z.object({
    uuid: checkinName,
    max_files: wholeNumber("Most entries of `files_changed`; all by default", 0, MAX_FILES),
  }),
  ok: { schema: checkinDetailSchema, description: "The check-in" },
  isRead: true,
}, (
  { hosting: { signatures } }: {
    readonly hosting: { readonly signatures: Pick<Signatures, "version" | "viewOf"> };
  },
  { uuid: name, max_files: limit },
) => {
  let isPending = false;
  return new RepositoryRead(
    async (repository) => {
      const { uuid } = await repository.resolveCheckin(name);
      const [found = null] = await repository.gitSignatures([uuid]);
      isPending = found === "pending";
      const signature = signatures.viewOf(found);
      if (limit === undefined && signature === null) return await repository.json.checkin(uuid);
      const checkin = await repository.checkin(uuid);
      return {
        ...checkin,
        files_changed: checkin.files_changed.slice(0, limit),
        ...signature === null ? {} : { signature },
      };
    },
    "all",
    { isProvisional: () => isPending, surroundings: `${signatures.version}` },
  );
});

/** Most files on a page of a diff, most lines of its context, and most bytes of all diffs. */
const [MAX_DIFFS, MAX_CONTEXT, MAX_BYTES] = [1000, 1000, 16 * 1024 * 1024];

export const getDiff = operation(
  {
    http: "GET /api/diff",
    needs: "read",
    summary: "The differences between two check-ins",
    input: z.object({
      from: z.string().optional().meta({
        description: "Any name of a check-in; by default, the primary parent of `to`",
      }),
      to: optionalCheckin,
      common: z.enum(["true", "false"]).optional().meta({
        description: "`true` compares with the newest check-in that `from` and `to` have in " +
          "common, and so leaves out what happened since on the side of `from`",
      }),
      path: z.string().optional().meta({
        description: "Only this file, or the files in this folder",
      }),
      context: wholeNumber("Lines of context around each change; 3 by default", 0, MAX_CONTEXT),
      whitespace: whitespaceParameter,
      page: boundedNumber("The page of files, from 1, with `per_page`", 1, 1_000_000),
      per_page: wholeNumber("Files per page; by default, one page has all", 1, MAX_DIFFS),
      max_bytes: wholeNumber(
        "Bytes of all diffs together; files beyond it come without theirs; 16 MiB by default",
        0,
        MAX_BYTES,
      ),
    }),
    ok: { schema: diffSchema, description: "The differences, by file" },
    isRead: true,
    refusals: [{ error: TooLarge }],
  },
  (_services, { common, whitespace, page, per_page, max_bytes: maxBytes, ...asked }) =>
    new RepositoryRead((repository) =>
      repository.json.diff({
        ...given({ ...asked, maxBytes }),
        ...(common === "true" ? { fromCommon: true } : {}),
        ...(whitespace === "ignore" ? { ignoresWhitespace: true } : {}),
        ...(per_page === undefined ? {} : rangeOf({ page, per_page })),
      }), "history"),
);

export const compareCheckins = operation({
  http: "GET /api/compare",
  needs: "read",
  summary: "The check-ins that one check-in has and another one lacks, newest first",
  input: z.object({ ...pageParameters, from: optionalCheckin, to: checkinName }),
  ok: { schema: comparisonSchema, description: "A page of these check-ins" },
  isRead: true,
}, (_services, { to, from, ...page }) =>
  new RepositoryRead(async (repository) => {
    const compared = await repository.comparison({ ...rangeOf(page), to, ...given({ from }) });
    return { ...compared, ...pageOf(page, compared.ahead) };
  }, "history"));

const ofFile = {
  checkin: optionalCheckin,
  path: z.string().meta({ description: "The file" }),
};

export const getBlame = operation(
  {
    http: "GET /api/blame",
    needs: "read",
    summary: "The check-in that last changed each line of a file",
    input: z.object(ofFile),
    ok: { schema: blameSchema, description: "The lines" },
    isRead: true,
    refusals: [{ error: TooLarge }],
  },
  (_services, { path, checkin }) =>
    new RepositoryRead(
      (repository) => repository.json.blame({ path, ...given({ checkin }) }),
      "history",
    ),
);

export const getFileHistory = operation({
  http: "GET /api/history",
  needs: "read",
  summary: "The check-ins that changed a file, newest first; follows renames",
  input: z.object({
    ...pageParameters,
    path: ofFile.path,
    checkin: ofFile.checkin,
    everywhere: z.enum(["true", "false"]).optional().meta({
      description: "Include every branch, and not only ancestors of the check-in",
    }),
  }),
  ok: { schema: historySchema, description: "A page of the history" },
  isRead: true,
  refusals: [{ error: TooLarge }],
}, (_services, { path, checkin, everywhere, ...page }) =>
  new RepositoryRead(async (repository) => {
    const { total, ...history } = await repository.history({
      ...rangeOf(page),
      path,
      everywhere: everywhere === "true",
      ...given({ checkin }),
    });
    return { ...history, ...pageOf(page, total) };
  }, "history"));

export const getTree = operation(
  {
    http: "GET /api/tree",
    needs: "read",
    summary: "The files and folders in a folder of a check-in",
    input: z.object({
      checkin: optionalCheckin,
      path: z.string().optional().meta({ description: "A folder; by default, the root" }),
      recursive: z.enum(["true", "false"]).optional().meta({
        description: "Every file below the folder with its full path, without folders",
      }),
    }),
    ok: { schema: treeSchema, description: "The folder" },
    isRead: true,
    refusals: [{ error: TooLarge }],
  },
  (_services, { recursive, ...place }) =>
    new RepositoryRead(
      (repository) => repository.json.tree({ ...given(place), recursive: recursive === "true" }),
      "history",
    ),
);

/** The largest number of a line; a file has fewer. */
const MAX_LINE = 999_999_999;

export const getFileLines = operation(
  {
    http: "GET /api/lines",
    needs: "read",
    summary: "Some lines of a text file at a check-in",
    input: z.object({
      ...ofFile,
      first: wholeNumber("The first line; 1 by default", 1, MAX_LINE),
      count: wholeNumber("At most so many lines", 1, MAX_FILE_LINES),
    }),
    ok: { schema: fileLinesSchema, description: "The lines; none if the file is binary" },
    isRead: true,
    refusals: [{ error: TooLarge }],
  },
  (_services, { path, ...asked }) =>
    new RepositoryRead(
      (repository) => repository.json.fileLines({ path, ...given(asked) }),
      "history",
    ),
);

export const getFile = operation(
  {
    http: "GET /api/file",
    needs: "read",
    summary: "The bytes of a file at a check-in",
    description:
      "Supports `Range`, and `If-None-Match` with the entity tag, which is the file's hash. " +
      "Content that a browser could run is sent as plain text, or in a sandbox.",
    input: z.object({
      ...ofFile,
      max_bytes: wholeNumber("A larger file is refused with 413", 1, 999_999_999),
    }),
    ok: { schema: fileSchema, description: "The bytes" },
    isFile: true,
    refusals: [{ error: TooLarge }],
  },
  (_services, { path, checkin, max_bytes: maxBytes }) =>
    new FileRead(
      (repository) => repository.file({ path, ...given({ checkin, maxBytes }) }),
      "history",
    ),
);

export const getAttachment = operation({
  http: "GET /api/attachments/content",
  needs: "read",
  summary: "The bytes of an attachment",
  input: z.object({
    target,
    name: z.string().meta({ description: "Of the file" }),
  }),
  ok: { schema: fileSchema, description: "The bytes" },
  isFile: true,
  refusals: [{ error: TooLarge }],
}, (_services, which) =>
  new FileRead(async (repository) => {
    const { name: path, file_uuid: uuid, ...file } = await repository.attachment(which);
    return { ...file, path, uuid };
  }));

import { z } from "zod";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { actorOf } from "../projects/mod.ts";
import { Created, operation, type OperationCall, RepositoryRead } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import type { Forum, ForumWriter } from "./forum.ts";
import {
  newThreadSchema,
  replySchema,
  threadSchema,
  threadsSchema,
  writtenPostSchema,
} from "./schemas.ts";

/** What the operations on the forum call. */
interface ForumServices {
  readonly hosting: { readonly forum: Forum };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const byId = z.object({
  uuid: z.string().meta({ description: "The id, or a unique prefix of it" }),
});

const thePost = { schema: writtenPostSchema, description: "The post" };

function writerOf({ accounts }: ForumServices, { access, caller }: OperationCall): ForumWriter {
  return { caller, actor: actorOf(access, undefined, accounts) };
}

export const listThreads = operation({
  http: "GET /api/forum",
  needs: "read",
  summary: "Threads of the forum, the latest change first",
  input: z.object(pageParameters),
  ok: { schema: threadsSchema, description: "A page" },
  isRead: true,
}, (_services, page) =>
  new RepositoryRead(async (repository) => {
    const { total, ...list } = await repository.forumThreads(rangeOf(page));
    return { ...list, ...pageOf(page, total) };
  }));

export const getThread = operation({
  http: "GET /api/forum/{uuid}",
  needs: "read",
  summary: "A thread of the forum with a page of its posts, the oldest first",
  input: byId.extend({
    ...pageParameters,
    post: z.string().optional().meta({ description: "Only this post, by its whole id" }),
  }),
  ok: { schema: threadSchema, description: "The thread" },
  isRead: true,
}, (_services, { uuid, ...part }) =>
  new RepositoryRead(async (repository) => {
    const artifact = await repository.resolveArtifact(uuid);
    return await repository.json.forumThread({ ...part, uuid: artifact.uuid });
  }));

export const beginThread = operation({
  http: "POST /api/forum",
  needs: "write",
  summary: "Begin a thread of the forum",
  input: newThreadSchema,
  bodyName: "ThreadRequest",
  example: { title: "Which disks do we buy?", content: "The mirrors are nearly full." },
  created: thePost,
}, async (services: ForumServices, thread, call) => {
  const { forum } = services.hosting;
  return new Created(await forum.begin(call.project, thread, writerOf(services, call)));
});

export const replyToPost = operation({
  http: "POST /api/forum/{uuid}/replies",
  needs: "write",
  summary: "Answer a post of the forum",
  input: replySchema.extend(byId.shape),
  bodyName: "ReplyRequest",
  example: { content: "Those of 8 TB: *twice* what we have." },
  created: thePost,
}, async (services: ForumServices, { uuid, ...reply }, call) => {
  const { forum } = services.hosting;
  return new Created(await forum.answer(call.project, uuid, reply, writerOf(services, call)));
});

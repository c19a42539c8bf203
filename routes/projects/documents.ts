import { pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { ForumWriter } from "../../services/forum/mod.ts";
import { newThreadSchema, replySchema } from "../../services/forum/schemas.ts";
import { actorOf } from "../../services/projects/mod.ts";
import { callerOf } from "../caller.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerBytes, answerJson, notModified } from "./answers.ts";
import { contentHeaders } from "./content_headers.ts";
import { bytesResponses } from "./files.ts";
import { attachmentsSchema, threadSchema, threadsSchema } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

const id = z.string().openapi({ description: "The id, or a unique prefix of it" });
const target = z.string().openapi({
  description: "The name of a wiki page, or the whole id of a ticket or technote",
});

const listThreads = projectRoute("GET /api/forum", {
  summary: "Threads of the forum, the latest change first",
  request: { query: z.object(pageParameters) },
  responses: { 200: json(threadsSchema, "A page"), ...notModified, ...projectErrors(400) },
});

const getThread = projectRoute("GET /api/forum/{uuid}", {
  summary: "A thread of the forum with a page of its posts, the oldest first",
  request: {
    params: z.object({ uuid: id }),
    query: z.object({
      ...pageParameters,
      post: z.string().optional().openapi({ description: "Only this post, by its whole id" }),
    }),
  },
  responses: { 200: json(threadSchema, "The thread"), ...notModified, ...projectErrors(400) },
});

const writtenSchema = z.object({
  uuid: z.string(),
  thread: z.string().openapi({ description: "The first post of its thread" }),
}).openapi("WrittenPost");

const beginThread = projectRoute("POST /api/forum", {
  summary: "Begin a thread of the forum",
  request: {
    body: jsonRequest(newThreadSchema.meta({ id: "ThreadRequest" }), {
      title: "Which disks do we buy?",
      content: "The mirrors are nearly full.",
    }),
  },
  responses: { 201: json(writtenSchema, "The post"), ...projectErrors(400, 409, 413) },
});

const answerPost = projectRoute("POST /api/forum/{uuid}/replies", {
  summary: "Answer a post of the forum",
  request: {
    params: z.object({ uuid: id }),
    body: jsonRequest(replySchema.meta({ id: "ReplyRequest" }), {
      content: "Those of 8 TB: *twice* what we have.",
    }),
  },
  responses: { 201: json(writtenSchema, "The post"), ...projectErrors(400, 409, 413) },
});

const listAttachments = projectRoute("GET /api/attachments", {
  summary: "The attachments of a wiki page, ticket or technote",
  request: { query: z.object({ target }) },
  responses: {
    200: json(attachmentsSchema, "The attachments, by name"),
    ...notModified,
    ...projectErrors(400),
  },
});

const getAttachment = projectRoute("GET /api/attachments/content", {
  summary: "The bytes of an attachment",
  request: {
    query: z.object({ target, name: z.string().openapi({ description: "Of the file" }) }),
  },
  responses: { ...bytesResponses, ...projectErrors(400, 413) },
});

/** `/api/forum` and, to read, `/api/attachments`. */
export function documentRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { forum }, accounts } = services;
  const writerOf = (context: Context<AppEnv>): ForumWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), undefined, accounts),
  });
  return newRoutes()
    .openapi(beginThread, async (context) => {
      const { project } = context.get("access");
      const thread = context.req.valid("json");
      return context.json(await forum.begin(project, thread, writerOf(context)), 201);
    })
    .openapi(answerPost, async (context) => {
      const { project } = context.get("access");
      const { uuid } = context.req.valid("param");
      const reply = context.req.valid("json");
      return context.json(await forum.answer(project, uuid, reply, writerOf(context)), 201);
    })
    .openapi(listThreads, (context) => {
      const page = context.req.valid("query");
      return answerJson<z.infer<typeof threadsSchema>>(context, services, async (repository) => {
        const { total, ...list } = await repository.forumThreads(rangeOf(page));
        return { ...list, ...pageOf(page, total) };
      });
    })
    .openapi(getThread, (context) => {
      const { uuid } = context.req.valid("param");
      const part = context.req.valid("query");
      return answerJson<z.infer<typeof threadSchema>>(context, services, async (repository) => {
        const artifact = await repository.resolveArtifact(uuid);
        return await repository.json.forumThread({ ...part, uuid: artifact.uuid });
      });
    })
    .openapi(listAttachments, (context) => {
      const { target } = context.req.valid("query");
      return answerJson<z.infer<typeof attachmentsSchema>>(
        context,
        services,
        async (repository) => ({ attachments: await repository.attachments(target) }),
      );
    })
    .openapi(getAttachment, (context) => {
      const which = context.req.valid("query");
      return answerBytes(context, services, async (repository) => {
        const { name, file_uuid, is_binary, content } = await repository.attachment(which);
        return {
          bytes: content as Uint8Array<ArrayBuffer>,
          etag: `"${file_uuid}"`,
          headers: contentHeaders(name, is_binary),
        };
      });
    });
}

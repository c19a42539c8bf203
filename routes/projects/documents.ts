import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { ForumThread } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerBytes, answerJson, notModified } from "./answers.ts";
import { contentHeaders } from "./content_headers.ts";
import { bytesResponses } from "./files.ts";
import { pageOf, pageParameters, rangeOf } from "./paging.ts";
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
  summary: "A thread of the forum with its posts",
  request: { params: z.object({ uuid: id }) },
  responses: { 200: json(threadSchema, "The thread"), ...notModified, ...projectErrors(400) },
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

/** `/api/forum` and `/api/attachments`, to read. */
export function documentRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(listThreads, (context) => {
      const page = context.req.valid("query");
      return answerJson<z.infer<typeof threadsSchema>>(context, services, async (repository) => {
        const { total, ...list } = await repository.forumThreads(rangeOf(page));
        return { ...list, ...pageOf(page, total) };
      });
    })
    .openapi(getThread, (context) => {
      const { uuid } = context.req.valid("param");
      return answerJson<ForumThread>(context, services, async (repository) => {
        const artifact = await repository.resolveArtifact(uuid);
        return await repository.json.forumThread(artifact.uuid);
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

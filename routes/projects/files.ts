import { wholeNumber } from "../../services/validation/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { newRoutes } from "../context.ts";
import { errorSchema, json } from "../schemas.ts";
import { answerBytes, notModified } from "./answers.ts";
import { attachmentTarget, optionalCheckin } from "../../services/code/schemas.ts";
import { contentHeaders } from "./content_headers.ts";
import { projectErrors, projectRoute } from "./route.ts";

const anyBytes = { "*/*": { schema: z.any().openapi({ type: "string", format: "binary" }) } };

/** The responses of endpoints that return bytes, except for errors. */
export const bytesResponses = {
  200: { content: anyBytes, description: "The bytes" },
  206: { content: anyBytes, description: "The requested range" },
  ...notModified,
  416: json(errorSchema, "The content has no such range"),
} as const;

const getFile = projectRoute("GET /api/file", {
  summary: "The bytes of a file at a check-in",
  description:
    "Supports `Range`, and `If-None-Match` with the entity tag, which is the file's hash. " +
    "Content that a browser could run is sent as plain text, or in a sandbox.",
  request: {
    query: z.object({
      checkin: optionalCheckin,
      path: z.string().openapi({ description: "The file" }),
      max_bytes: wholeNumber("A larger file is refused with 413", 1, 999_999_999),
    }),
  },
  responses: { ...bytesResponses, ...projectErrors(400, 413) },
});

const getAttachment = projectRoute("GET /api/attachments/content", {
  summary: "The bytes of an attachment",
  request: {
    query: z.object({
      target: attachmentTarget,
      name: z.string().openapi({ description: "Of the file" }),
    }),
  },
  responses: { ...bytesResponses, ...projectErrors(400, 413) },
});

/** `/api/file` and `/api/attachments/content`. */
export function fileRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getFile, (context) => {
      const { checkin, path, max_bytes: maxBytes } = context.req.valid("query");
      return answerBytes(context, services, async (repository) => {
        const file = await repository.file({
          path,
          ...(maxBytes === undefined ? {} : { maxBytes }),
          ...(checkin === undefined ? {} : { checkin }),
        });
        return {
          bytes: file.content as Uint8Array<ArrayBuffer>,
          etag: `"${file.uuid}"`,
          headers: { ...contentHeaders(file.path, file.is_binary), "X-Checkin": file.checkin },
        };
      });
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

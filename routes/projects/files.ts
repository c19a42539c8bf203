import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { MAX_FILE_LINES } from "../../services/fossil/front/mod.ts";
import type { FileLines, Tree } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { errorSchema, json, wholeNumber } from "../schemas.ts";
import { answerBytes, answerJson, notModified } from "./answers.ts";
import { attachmentTarget } from "../../services/code/schemas.ts";
import { contentHeaders } from "./content_headers.ts";
import { fileLinesSchema, optionalCheckin, treeSchema } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

const getTree = projectRoute("GET /api/tree", {
  summary: "The files and folders in a folder of a check-in",
  request: {
    query: z.object({
      checkin: optionalCheckin,
      path: z.string().optional().openapi({ description: "A folder; by default, the root" }),
      recursive: z.enum(["true", "false"]).optional().openapi({
        description: "Every file below the folder with its full path, without folders",
      }),
    }),
  },
  responses: {
    200: json(treeSchema, "The folder"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

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

/** The largest number of a line; a file has fewer. */
const MAX_LINE = 999_999_999;

const getLines = projectRoute("GET /api/lines", {
  summary: "Some lines of a text file at a check-in",
  request: {
    query: z.object({
      checkin: optionalCheckin,
      path: z.string().openapi({ description: "The file" }),
      first: wholeNumber("The first line; 1 by default", 1, MAX_LINE),
      count: wholeNumber("At most so many lines", 1, MAX_FILE_LINES),
    }),
  },
  responses: {
    200: json(fileLinesSchema, "The lines; none if the file is binary"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

/** `/api/tree`, `/api/file`, `/api/lines` and `/api/attachments/content`. */
export function fileRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getTree, (context) => {
      const { checkin, path, recursive } = context.req.valid("query");
      return answerJson<Tree>(context, services, (repository) =>
        repository.json.tree({
          ...(checkin === undefined ? {} : { checkin }),
          ...(path === undefined ? {} : { path }),
          recursive: recursive === "true",
        }));
    })
    .openapi(getLines, (context) => {
      const { checkin, path, first, count } = context.req.valid("query");
      return answerJson<FileLines>(context, services, (repository) =>
        repository.json.fileLines({
          path,
          ...(checkin === undefined ? {} : { checkin }),
          ...(first === undefined ? {} : { first }),
          ...(count === undefined ? {} : { count }),
        }));
    })
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

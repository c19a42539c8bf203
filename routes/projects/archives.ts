import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { NotFound } from "../../services/kernel/errors.ts";
import type { ArchiveFormat } from "../../services/engines/fossil/mod.ts";
import { conditionalHeaders, hasAlready, notModified } from "./answers.ts";
import { dispositionOf, UNTRUSTED } from "./content_headers.ts";
import { projectErrors, refuseInBatch } from "./route.ts";
import { specialRoute } from "../special_route.ts";

const TYPES: Readonly<Record<ArchiveFormat, string>> = {
  "zip": "application/zip",
  "tar.gz": "application/gzip",
};

const binary = z.any().openapi({ type: "string", format: "binary" });

const getArchive = specialRoute("GET /api/archive/{archive}", {
  operationId: "getArchive",
  summary: "The files of a check-in as an archive",
  description: "The same check-in always gives the same bytes.",
  request: {
    params: z.object({
      archive: z.string().openapi({
        description: "Any name of a check-in, followed by `.zip` or `.tar.gz`",
        example: "trunk.zip",
      }),
    }),
  },
  responses: {
    200: {
      content: { "application/zip": { schema: binary }, "application/gzip": { schema: binary } },
      description: "The archive",
    },
    ...notModified,
    ...projectErrors(400, 413, 429),
  },
}, refuseInBatch);

/** `/api/archive/…`. */
export function archiveRoutes({ hosting: { repositories } }: Pick<Services, "hosting">) {
  return new ApiRoutes().openapi(getArchive, async (context) => {
    const { project } = context.get("access");
    const { archive } = context.req.valid("param");
    const { name, format } = partsOf(archive);
    const { uuid } = await repositories.read(
      project,
      (repository) => repository.resolveCheckin(name),
    );
    const etag = `"${uuid}.${format}"`;
    if (hasAlready(context, etag)) return context.body(null, 304, conditionalHeaders(etag));
    const file = `${project.slug}-${uuid.slice(0, 10)}.${format}`;
    const headers = {
      ...conditionalHeaders(etag),
      "Content-Type": TYPES[format],
      "Content-Disposition": dispositionOf("attachment", file),
      ...UNTRUSTED,
    };
    if (context.req.method === "HEAD") return context.body(null, 200, headers);
    const made = await repositories.archives.make(project, {
      checkin: uuid,
      format,
      signal: context.req.raw.signal,
      caller: { principal: context.get("principal"), address: context.get("address") },
    });
    return context.body(made.readable, 200, {
      ...headers,
      "Content-Length": String(made.size),
      "X-Left-Out": String(made.leftOut),
    });
  });
}

function partsOf(archive: string): { name: string; format: ArchiveFormat } {
  const [, name, format] = /^(.+)\.(zip|tar\.gz)$/s.exec(archive) ?? [];
  if (name === undefined) {
    throw new NotFound(
      `The name of an archive must end in .zip or .tar.gz: "${archive.slice(0, 100)}"`,
    );
  }
  return { name, format: format as ArchiveFormat };
}

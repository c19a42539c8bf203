import type { Context } from "hono";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { LfsObjects } from "../../services/work/git/mod.ts";
import { lfsOidSchema } from "../../services/work/git/schemas.ts";
import type { Project } from "../../services/work/projects/mod.ts";
import { assetNameSchema } from "../../services/work/releases/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { specialRoute } from "../special_route.ts";
import { bytesResponses } from "./answers.ts";
import { answerFile } from "./file_answers.ts";
import { projectErrors } from "./route.ts";

const getObject = specialRoute("GET /api/lfs/{oid}", {
  operationId: "getLfsContent",
  summary: "The content that a pointer of Git LFS stands for",
  description: "Supports `Range`, `If-Range` and `If-None-Match`.",
  request: {
    params: z.object({ oid: lfsOidSchema }),
    query: z.object({
      name: assetNameSchema.optional().openapi({ description: "The name to save it under" }),
    }),
  },
  responses: { ...bytesResponses, ...projectErrors(400) },
});

/** `GET /api/lfs/{oid}`, for browsers; `routes/git/lfs.ts` has what `git-lfs` needs. */
export function lfsContentRoutes({ hosting: { lfs } }: Pick<Services, "hosting">) {
  return new ApiRoutes().openapi(getObject, async (context) => {
    const { project } = context.get("access");
    const { oid } = context.req.valid("param");
    const { name = oid } = context.req.valid("query");
    return await answerLfsObject(context, lfs, { project, oid, name });
  });
}

/**
 * Streams the content of an object.
 *
 * @param which.name the name to save it under
 * @throws NotFound
 */
export async function answerLfsObject(
  context: Context<AppEnv>,
  lfs: LfsObjects,
  { project, oid, name }: {
    readonly project: Project;
    readonly oid: string;
    readonly name: string;
  },
): Promise<Response> {
  const object = await lfs.require(project, oid);
  return await answerFile(context, {
    name,
    file_size_bytes: object.size,
    content_type: "application/octet-stream",
    uuid: object.uuid,
  }, { open: () => lfs.open(project, object) });
}

import { z } from "zod";
import { Conflict, NotFound, TimedOut, Unavailable } from "../../kernel/errors.ts";
import { serverOperation } from "../../people/identity/server_operation.ts";
import { viewOf } from "../../work/projects/mod.ts";
import { projectRecordSchema } from "../../work/projects/schemas.ts";
import type { ProjectMoves } from "./project_moves.ts";

export const moveProject = serverOperation({
  http: "POST /v1/projects/{slug}/move",
  on: "server",
  whileFull: true,
  summary: "Move a project to another node, while it is used",
  description: "Answers when the project is there. Writes wait for the moment of the change.",
  input: z.object({ slug: z.string(), node: z.string() }),
  bodyName: "ProjectMove",
  example: { node: "two" },
  ok: { schema: projectRecordSchema, description: "Moved" },
  refusals: [
    { error: NotFound },
    { error: Conflict },
    { error: Unavailable },
    { error: TimedOut },
  ],
}, async (
  { hosting: { moves } }: { readonly hosting: { readonly moves: ProjectMoves } },
  { slug, node },
  { caller },
) => viewOf(await moves.move(slug, node, caller)));

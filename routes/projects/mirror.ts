import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { mirrorRequestSchema } from "../../services/mirrors/schemas.ts";
import type { Project } from "../../services/projects/mod.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import type { RouteAccess } from "../access.ts";
import { type Description, tableRoute } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import { projectAccess, projectErrors } from "./route.ts";

const time = z.iso.datetime();
const remoteSchema = z.object({
  url: z.string(),
  username: z.string().nullable(),
  has_password: z.boolean().openapi({ description: "The password is never shown" }),
});
export const mirrorSchema = z.object({
  git: remoteSchema.nullable(),
  fossil: remoteSchema.nullable(),
  every_minutes: z.int(),
  running: z.boolean(),
  next_run_at: time,
  last_run_at: time.nullable(),
  last_success_at: time.nullable(),
  last_error: z.string().nullable().openapi({ description: "Why the last run failed, or null" }),
  failures: z.int().openapi({ description: "Failed runs since the last success" }),
}).openapi("Mirror");

/** Where a project's mirror is managed. */
type Base = "/v1/projects/{slug}/mirror" | "/api/mirror";

type MirrorEndpoint<Prefix extends Base> =
  | `${"GET" | "PUT" | "DELETE"} ${Prefix}`
  | `POST ${Prefix}/run`;

/** A path below which mirrors are managed. */
export interface MirrorPlace<Prefix extends Base> {
  readonly base: Prefix;
  readonly accessOf: (endpoint: MirrorEndpoint<Prefix>) => RouteAccess;
  /** @throws NotFound */
  readonly projectOf: (context: Context<AppEnv>) => Project;
}

function routesOf<Prefix extends Base>(
  { base, accessOf }: Omit<MirrorPlace<Prefix>, "projectOf">,
) {
  const isInProject = base === "/api/mirror";
  const read: ReturnType<typeof errors<404>> = isInProject ? projectErrors() : errors(404);
  const written: ReturnType<typeof errors<404 | 503>> = isInProject
    ? projectErrors(409)
    : errors(404, 503);
  const request = { params: z.object(isInProject ? {} : { slug: z.string() }) };
  const route = <One extends MirrorEndpoint<Prefix>, Described extends Description>(
    name: One,
    description: Described,
  ) => tableRoute(name, description, accessOf(name));
  return {
    show: route(`GET ${base}`, {
      summary: "Show where a project is mirrored, and how the last run ended",
      request,
      responses: { 200: json(mirrorSchema, "The mirror"), ...read },
    }),
    set: route(`PUT ${base}`, {
      summary: "Pull from an upstream Fossil repository and push to a Git remote, on a schedule",
      description:
        "The mirror runs at once, then every `every_minutes`; after failures at longer " +
        "and longer intervals, up to a day. It first pulls from `fossil`, then pushes to `git`; one of " +
        "them may be absent. An empty project becomes a copy of upstream and takes its project code; " +
        "any other project must have that code. A pull only adds: if somebody commits here too, a " +
        "branch forks. Branches and tags of the Git remote are overwritten; other " +
        "ones stay. The password is stored sealed and never shown. Without a new one, it stays as " +
        "long as URL and user do. Local and private addresses are never reached unless " +
        "`webhooks.allow_private` is set, and redirects are not followed. Pushing needs `git` 2.37 or later on " +
        "the server.",
      request: {
        ...request,
        body: jsonRequest(mirrorRequestSchema.meta({ id: "MirrorRequest" }), {
          git: { url: "https://git.example/team/website.git", username: "bot", password: "s3cret" },
          fossil: { url: "https://fossil.example/website" },
          every_minutes: 60,
        }),
      },
      responses: {
        200: json(mirrorSchema, "Changed"),
        201: json(mirrorSchema, "Set"),
        ...written,
        ...errors(400, 413),
      },
    }),
    remove: route(`DELETE ${base}`, {
      summary: "End the mirror of a project; the remote stays as it is",
      request,
      responses: { 204: { description: "Removed" }, ...written },
    }),
    run: route(`POST ${base}/run`, {
      summary: "Let the mirror of a project run now",
      request,
      responses: { 202: json(mirrorSchema, "Queued"), ...written },
    }),
  };
}

/** The routes of a project's mirror below a path. */
export function mirrorBelow<Prefix extends Base>(
  { projectOf, ...place }: MirrorPlace<Prefix>,
  { mirrors }: Services["hosting"],
) {
  const routes = routesOf(place);
  return newRoutes()
    .openapi(
      routes.show,
      async (context) => context.json(await mirrors.show(projectOf(context)), 200),
    )
    .openapi(routes.set, async (context) => {
      const request = context.req.valid("json");
      const { mirror, isNew } = await mirrors.set(projectOf(context), request, callerOf(context));
      return context.json(mirror, isNew ? 201 : 200);
    })
    .openapi(routes.remove, async (context) => {
      await mirrors.remove(projectOf(context), callerOf(context));
      return context.body(null, 204);
    })
    .openapi(
      routes.run,
      async (context) => context.json(await mirrors.run(projectOf(context)), 202),
    );
}

/** `/api/mirror`: a project's mirror, for its admins. */
export function projectMirrorRoutes({ hosting }: Pick<Services, "hosting">) {
  return mirrorBelow({
    base: "/api/mirror",
    accessOf: projectAccess,
    projectOf: (context) => context.get("access").project,
  }, hosting);
}

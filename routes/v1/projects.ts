import { z } from "@hono/zod-openapi";
import { dirname } from "node:path";
import { bodyLimitsOf, wantsLines } from "../../http/mod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import {
  memberRequestSchema,
  newProjectSchema,
  projectChangeSchema,
  receiveUpload,
  viewOf,
} from "../../services/projects/mod.ts";
import { proveAgain } from "../middleware/authenticate.ts";
import { progressLines } from "../progress_lines.ts";
import { callerOf, newRoutes } from "../context.ts";
import { route } from "../route.ts";
import { errors, errorSchema, json, jsonRequest } from "../schemas.ts";

const projectSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  channel: z.string().openapi({ description: "The IRC channel of its events; empty for none" }),
  created_at: z.iso.datetime(),
  archived: z.boolean(),
}).openapi("Project");

const memberSchema = z.object({
  name: z.string(),
  kind: z.enum(["agent", "person", "admin"]),
  role: z.enum(["read", "write", "admin"]),
}).openapi("ProjectMember");

const importSchema = z.object({
  format: z.enum(["fossil", "git"]),
  checkins: z.int().openapi({ description: "Check-ins in the repository" }),
}).openapi("RepositoryImport");

const importLineSchema = z.union([
  z.object({
    done: z.int().openapi({ description: "Commits or artifacts read" }),
    total: z.int().nullable().openapi({ description: "Null while unknown" }),
  }),
  importSchema,
  errorSchema,
]).openapi("RepositoryImportLine");

const params = z.object({ slug: z.string() });
const memberParams = params.extend({ name: z.string() });

const listProjects = route("GET /v1/projects", {
  summary: "List the projects",
  responses: { 200: json(z.array(projectSchema), "The projects, by slug"), ...errors() },
});

const createProject = route("POST /v1/projects", {
  summary: "Make a project with an empty repository",
  request: {
    body: jsonRequest(newProjectSchema.meta({ id: "ProjectRequest" }), {
      slug: "website",
      name: "Website",
      description: "Our public website",
      visibility: "private",
    }),
  },
  responses: { 201: json(projectSchema, "The project"), ...errors(400, 409, 413, 503) },
});

const getProject = route("GET /v1/projects/{slug}", {
  summary: "Show a project",
  request: { params },
  responses: { 200: json(projectSchema, "The project"), ...errors(404) },
});

const changeProject = route("PATCH /v1/projects/{slug}", {
  summary: "Change a project's description and settings, or archive it",
  request: {
    params,
    body: jsonRequest(projectChangeSchema.meta({ id: "ProjectChange" }), { archived: true }),
  },
  responses: { 200: json(projectSchema, "The project"), ...errors(400, 404, 413, 503) },
});

const deleteProject = route("DELETE /v1/projects/{slug}", {
  summary: "Remove a project; its repository is moved aside, not erased",
  request: { params },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

const listMembers = route("GET /v1/projects/{slug}/members", {
  summary: "List a project's members",
  request: { params },
  responses: { 200: json(z.array(memberSchema), "The members, by name"), ...errors(404) },
});

const setMember = route("PUT /v1/projects/{slug}/members/{name}", {
  summary: "Set the role of an account in a project",
  request: {
    params: memberParams,
    body: jsonRequest(memberRequestSchema.meta({ id: "MemberRequest" }), { role: "write" }),
  },
  responses: {
    200: json(memberSchema, "Changed"),
    201: json(memberSchema, "Added"),
    ...errors(400, 404, 409, 413, 503),
  },
});

const removeMember = route("DELETE /v1/projects/{slug}/members/{name}", {
  summary: "Remove a member from a project",
  request: { params: memberParams },
  responses: { 204: { description: "Removed" }, ...errors(404, 503) },
});

const binary = z.any().openapi({ type: "string", format: "binary" });

const exportRepository = route("GET /v1/projects/{slug}/repository", {
  summary: "Download a project's repository",
  request: {
    params,
    query: z.object({
      format: z.enum(["fossil", "git"], { error: 'must be "fossil" or "git"' }).default("fossil")
        .openapi({ description: "A repository file of Fossil, or a stream for git fast-import" }),
    }),
  },
  responses: {
    200: {
      content: {
        "application/x-fossil": { schema: binary },
        "application/x-git-fast-export": { schema: binary },
      },
      description: "The repository",
    },
    ...errors(400, 404, 503, 504),
  },
});

const importRepository = route("PUT /v1/projects/{slug}/repository", {
  summary: "Fill a project's repository",
  description: "The body is a Fossil repository file or a stream of git fast-export, of any " +
    "length. Its artifacts are read, verified and copied.",
  request: {
    params,
    body: { content: { "application/octet-stream": { schema: binary } }, required: true },
  },
  responses: {
    200: {
      content: {
        "application/json": { schema: importSchema },
        "application/x-ndjson": { schema: importLineSchema },
      },
      description: "The result. With `Accept: application/x-ndjson`, lines of progress come " +
        "before it; a failure after the upload is then a last line with `error`",
    },
    ...errors(400, 404, 408, 409, 413, 503, 504),
  },
});

/** `/v1/projects`: projects, their members and their repositories as a whole. */
export function projectRoutes(
  services: Pick<Services, "hosting" | "config" | "identity" | "log">,
) {
  const { hosting, config, log } = services;
  const { projects, repositories } = hosting;
  const { stallMilliseconds } = bodyLimitsOf(config);
  return newRoutes()
    .openapi(listProjects, (context) => context.json(projects.all().map(viewOf), 200))
    .openapi(createProject, async (context) => {
      const held = await projects.create(context.req.valid("json"), callerOf(context));
      return context.json(viewOf(held), 201);
    })
    .openapi(getProject, (context) => {
      const { slug } = context.req.valid("param");
      return context.json(viewOf(projects.require(slug)), 200);
    })
    .openapi(changeProject, async (context) => {
      const { slug } = context.req.valid("param");
      const held = await projects.change(slug, context.req.valid("json"), callerOf(context));
      return context.json(viewOf(held), 200);
    })
    .openapi(deleteProject, async (context) => {
      await projects.remove(context.req.valid("param").slug, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(listMembers, (context) => {
      const { slug } = context.req.valid("param");
      return context.json(projects.members(projects.require(slug)), 200);
    })
    .openapi(setMember, async (context) => {
      const { slug, name } = context.req.valid("param");
      const { role } = context.req.valid("json");
      const { member, isNew } = await projects.setMember(slug, name, role, callerOf(context));
      return context.json(member, isNew ? 201 : 200);
    })
    .openapi(removeMember, async (context) => {
      const { slug, name } = context.req.valid("param");
      await projects.removeMember(slug, name, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(exportRepository, async (context) => {
      const { slug } = context.req.valid("param");
      const { format } = context.req.valid("query");
      const { project } = projects.require(slug);
      const [type, ending] = format === "git"
        ? ["application/x-git-fast-export", "git-fast-export"]
        : ["application/x-fossil", "fossil"];
      const headers = {
        "Content-Type": type,
        "Content-Disposition": `attachment; filename="${slug}.${ending}"`,
      };
      if (context.req.method === "HEAD") return context.body(null, 200, headers);
      const path = await repositories.export(project, format, context.req.raw.signal);
      return context.body(await openOnce(path), 200, headers);
    })
    .openapi(importRepository, async (context) => {
      const { slug } = context.req.valid("param");
      const { project } = projects.require(slug);
      const { signal } = context.req.raw;
      await repositories.requireEmpty(project);
      const { folder } = repositories.files;
      await using received = new AsyncDisposableStack();
      const upload = received.use(
        await receiveUpload(folder, context.req.raw, {
          stallMs: stallMilliseconds,
          maxBytes: config.limits.upload_bytes,
        }),
      );
      await proveAgain(services)(context);
      const caller = callerOf(context);
      if (!wantsLines(context.req.header("accept"))) {
        const { checkins } = await repositories.import(project, upload, { caller, signal });
        return context.json({ format: upload.format, checkins }, 200);
      }
      const held = received.move();
      const lines = progressLines({
        log,
        requestId: context.get("requestId"),
        signal,
        async work(options) {
          await using _ = held;
          const { checkins } = await repositories.import(project, upload, { caller, ...options });
          return { format: upload.format, checkins };
        },
      });
      return new Response(lines, { headers: { "content-type": "application/x-ndjson" } }) as never;
    });
}

/** Opens a file and deletes it with its folder at once; it stays readable while open. */
async function openOnce(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const file = await Deno.open(path);
  await Deno.remove(dirname(path), { recursive: true });
  return file.readable;
}

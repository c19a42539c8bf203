import { z } from "../extended_zod.ts";
import { viewOf } from "../../services/projects/mod.ts";
import {
  memberRequestSchema,
  newProjectSchema,
  projectChangeSchema,
} from "../../services/projects/schemas.ts";
import { callerOf } from "../caller.ts";
import { newRoutes } from "../context.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { repositoryRoutes, type RepositoryServices } from "./project_repository.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import { projectSchema } from "./project_schema.ts";

const memberSchema = z.object({
  name: z.string(),
  kind: z.enum(["agent", "person", "admin"]),
  role: z.enum(["read", "write", "admin"]),
}).openapi("ProjectMember");

const params = z.object({ slug: z.string() });
const memberParams = params.extend({ name: z.string() });

const listProjects = route("GET /v1/projects", {
  summary: "List the projects",
  responses: { 200: json(z.array(projectSchema), "The projects, by slug"), ...errors() },
});

const createProject = route("POST /v1/projects", {
  summary: "Make a project with an empty repository, or with a guide for agents",
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

const moveProject = route("POST /v1/projects/{slug}/move", {
  summary: "Move a project to another node, while it is used",
  description: "Answers when the project is there. Writes wait for the moment of the change.",
  request: {
    params,
    body: jsonRequest(z.strictObject({ node: z.string() }).openapi("ProjectMove"), { node: "two" }),
  },
  responses: { 200: json(projectSchema, "Moved"), ...errors(400, 404, 409, 413, 503, 504) },
});

const acceptRepository = route("POST /v1/projects/{slug}/accept", {
  summary: "Accept a repository file that lacks what the server has received",
  description: "A project with such a file, as from an older backup, is not served before.",
  request: { params },
  responses: { 204: { description: "Accepted" }, ...errors(404, 409, 503, 504) },
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

/** `/v1/projects`: projects, their members and their repositories as a whole. */
export function projectRoutes(services: RepositoryServices) {
  const { projects, moves, repositories } = services.hosting;
  return newRoutes()
    .openapi(
      listProjects,
      (context) => jsonArray(context, projects.all(), viewOf),
    )
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
    .openapi(moveProject, async (context) => {
      const { slug } = context.req.valid("param");
      const held = await moves.move(slug, context.req.valid("json").node, callerOf(context));
      return context.json(viewOf(held), 200);
    })
    .openapi(acceptRepository, async (context) => {
      const { project } = projects.require(context.req.valid("param").slug);
      await repositories.accept(project, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(listMembers, (context) => {
      const { slug } = context.req.valid("param");
      return jsonArray(context, projects.members(projects.require(slug)));
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
    .route("/", repositoryRoutes(services));
}

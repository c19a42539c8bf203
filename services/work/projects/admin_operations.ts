import { z } from "zod";
import { Conflict, NotFound, TimedOut, Unavailable } from "../../kernel/errors.ts";
import {
  Created,
  SerializedJson,
  serverOperation,
} from "../../people/identity/server_operation.ts";
import { writeArray } from "../../kernel/pieces.ts";
import type { Projects } from "./projects.ts";
import { viewOf } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";
import {
  memberRequestSchema,
  newProjectSchema,
  projectChangeSchema,
  projectRecordSchema,
} from "./schemas.ts";

/** What the operations of admins on projects call. */
interface ProjectServices {
  readonly hosting: {
    readonly projects: Projects;
    readonly repositories: ProjectRepositories;
  };
}

const memberSchema = z.object({
  name: z.string(),
  kind: z.enum(["agent", "person", "admin"]),
  role: z.enum(["read", "write", "admin"]),
}).meta({ id: "ProjectMember" });

const bySlug = z.object({ slug: z.string() });
const byMember = bySlug.extend({ name: z.string() });

const theProject = { schema: projectRecordSchema, description: "The project" };
const unknown = { error: NotFound };
const contradicts = { error: Conflict };

export const listProjects = serverOperation({
  http: "GET /v1/projects",
  on: "server",
  summary: "List the projects",
  input: z.object({}),
  ok: { schema: z.array(projectRecordSchema), description: "The projects, by slug" },
  cli: {
    at: "project list",
    about: "list the projects",
    columns: [
      "PROJECT: {slug}",
      "VISIBILITY: {visibility}{archived?, archived}",
      "STARS: {star_count}",
      "name",
    ],
  },
}, async ({ hosting: { projects } }: ProjectServices) => {
  const write = (held: Parameters<typeof viewOf>[0]) => JSON.stringify(viewOf(held));
  return new SerializedJson(await writeArray(projects.all(), write));
});

export const createProject = serverOperation(
  {
    http: "POST /v1/projects",
    on: "server",
    summary: "Make a project with an empty repository, or with a guide for agents",
    input: newProjectSchema,
    bodyName: "ProjectRequest",
    example: {
      slug: "website",
      name: "Website",
      description: "Our public website",
      visibility: "private",
    },
    created: theProject,
    refusals: [contradicts],
    cli: {
      at: "project create <project:slug>",
      about: "make a project with an empty repository",
      aliases: ["add"],
      options: {
        name: { flags: "--name <name>", about: "its display name" },
        description: "its description",
        visibility: {
          flags: "--visibility <who>",
          about: "who may read it (default: private, only its members)",
        },
        agents_md: "add AGENTS.md, which tells agents how to work in the project",
      },
      says: 'The project "{slug}" is {visibility}',
    },
  },
  async ({ hosting: { projects } }: ProjectServices, request, { caller }) =>
    new Created(viewOf(await projects.create(request, caller))),
);

export const getProjectRecord = serverOperation({
  http: "GET /v1/projects/{slug}",
  on: "server",
  summary: "Show a project",
  input: bySlug,
  ok: theProject,
  refusals: [unknown],
}, ({ hosting: { projects } }: ProjectServices, { slug }) => viewOf(projects.require(slug)));

export const changeProject = serverOperation(
  {
    http: "PATCH /v1/projects/{slug}",
    on: "server",
    whileFull: true,
    summary: "Change a project's description and settings, or archive it",
    input: bySlug.extend(projectChangeSchema.shape),
    bodyName: "ProjectChange",
    example: { archived: true },
    ok: theProject,
    refusals: [unknown, { error: Unavailable }],
    cli: [
      {
        at: "project archive <project:slug>",
        about: "make a project read-only",
        options: null,
        sends: { archived: true },
      },
      {
        at: "project unarchive <project:slug>",
        about: "make an archived project writable again",
        options: null,
        sends: { archived: false },
      },
    ],
  },
  async ({ hosting: { projects } }: ProjectServices, { slug, ...change }, { caller }) =>
    viewOf(await projects.change(slug, change, caller)),
);

export const deleteProject = serverOperation({
  http: "DELETE /v1/projects/{slug}",
  on: "server",
  summary: "Remove a project; its repository is moved aside, not erased",
  input: bySlug,
  done: "Removed",
  refusals: [unknown, contradicts],
  cli: {
    at: "project remove <project:slug>",
    about: "remove a project; its repository file is moved aside, and erased later",
    aliases: ["delete"],
  },
}, async ({ hosting: { projects } }: ProjectServices, { slug }, { caller }) => {
  await projects.remove(slug, caller);
});

export const acceptRepository = serverOperation({
  http: "POST /v1/projects/{slug}/accept",
  on: "server",
  summary: "Accept a repository file that lacks what the server has received",
  description: "A project with such a file, as from an older backup, is not served before.",
  input: bySlug,
  done: "Accepted",
  refusals: [unknown, contradicts, { error: TimedOut }],
  cli: {
    at: "project accept <project:slug>",
    about: "accept a repository file that lacks what the server has received",
    says: 'The project "{slug}" is served with the repository file that it has',
    notes: [
      "A project with such a file, as from an older backup, answers 503 until then. What the " +
      "file lacks is lost, unless somebody pushes it again with fossil.",
    ],
  },
}, async ({ hosting: { projects, repositories } }: ProjectServices, { slug }, { caller }) => {
  await repositories.accept(projects.require(slug).project, caller);
});

export const listProjectMembers = serverOperation(
  {
    http: "GET /v1/projects/{slug}/members",
    on: "server",
    summary: "List a project's members",
    input: bySlug,
    ok: { schema: z.array(memberSchema), description: "The members, by name" },
    refusals: [unknown],
    cli: {
      at: "project member list <project:slug>",
      about: "list a project's members",
      columns: ["name", "kind", "role"],
    },
  },
  async ({ hosting: { projects } }: ProjectServices, { slug }) =>
    new SerializedJson(await writeArray(projects.members(projects.require(slug)), JSON.stringify)),
);

export const setProjectMember = serverOperation({
  http: "PUT /v1/projects/{slug}/members/{name}",
  on: "server",
  summary: "Set the role of an account in a project",
  input: byMember.extend(memberRequestSchema.shape),
  bodyName: "MemberRequest",
  example: { role: "write" },
  ok: { schema: memberSchema, description: "Changed" },
  created: { schema: memberSchema, description: "Added" },
  refusals: [unknown, contradicts],
  cli: {
    at: "project member add <project:slug> <account:name> <role>",
    about: "set the role of an account in a project",
    aliases: ["set"],
    examples: [
      { line: "project member add website scout write", purpose: "Let scout commit" },
    ],
  },
}, async ({ hosting: { projects } }: ProjectServices, { slug, name, role }, { caller }) => {
  const { member, isNew } = await projects.setMember(slug, name, role, caller);
  return isNew ? new Created(member) : member;
});

export const removeProjectMember = serverOperation({
  http: "DELETE /v1/projects/{slug}/members/{name}",
  on: "server",
  summary: "Remove a member from a project",
  input: byMember,
  done: "Removed",
  refusals: [unknown],
  cli: {
    at: "project member remove <project:slug> <account:name>",
    about: "remove a member from a project",
    aliases: ["delete"],
  },
}, async ({ hosting: { projects } }: ProjectServices, { slug, name }, { caller }) => {
  await projects.removeMember(slug, name, caller);
});

import { z } from "zod";
import * as operations from "../../services/work/projects/operations.ts";
import { pageFields, projectSchema } from "../../services/work/projects/schemas.ts";
import { reachableSchema } from "../../routes/projects/reachable_schema.ts";
import { type Tool, tool } from "../tool.ts";
import { listCut, partShape } from "../parts.ts";

const { slug, name, description, visibility, archived, channel, rights } = reachableSchema.shape;
const listed = { slug, name, description, visibility, archived, channel, rights };

const listProjects = tool({
  name: "list_projects",
  description:
    "Lists the projects that you may see, with your rights in each. Every other tool for " +
    "projects takes the slug of one. Then get_my_work or list_tickets.",
  does: operations.getProject,
  // Also callers that see no project yet.
  sees: ({ kind, scopes }) => kind !== "guest" && (kind === "operator" || scopes.has("read")),
  input: {
    slug: z.string().optional().describe("Only this project"),
    ...partShape(100),
  },
  output: { projects: z.array(z.object(listed)), total: pageFields.total },
  run({ slug, limit, offset }, { api, principal }) {
    const part = slug === undefined ? { limit, offset } : { limit: MAX_PROJECTS, offset: 0 };
    const found = api.reachable(principal, part);
    const named = found.projects.filter((one) => slug === undefined || one.slug === slug);
    const projects = named.map((
      { slug, name, description, visibility, archived, channel, rights },
    ) => ({ slug, name, description, visibility, archived, channel, rights }));
    const total = slug === undefined ? found.total : projects.length;
    const cut = listCut("projects", "projects", { first: part.offset, total });
    return { data: { projects, total }, cuts: [cut] };
  },
});

/** More projects than one server has. */
const MAX_PROJECTS = 100_000;

const getProject = tool({
  name: "get_project",
  description: "Shows a project with figures of its repository: check-ins, tickets, wiki pages, " +
    "branches, the last change.",
  does: operations.getProject,
  input: {},
  output: {
    ...projectSchema.shape,
    filename: z.string(),
    file_size_bytes: z.int(),
    checkin_count: z.int(),
    last_checkin_at: z.string().nullable(),
    branch_count: z.int(),
    tag_count: z.int(),
    file_count: z.int(),
    fossil_project_name: z.string(),
    fossil_checkin_count: z.int(),
    fossil_ticket_count: z.int(),
    fossil_wiki_page_count: z.int(),
  },
  async run(_input, project) {
    const view = await project.invoke(operations.getProject, {});
    const figures = await project.api.figures(project.slug, project.context.caller);
    return {
      data: {
        ...view,
        filename: `${view.slug}.fossil`,
        file_size_bytes: figures.repository_bytes,
        checkin_count: figures.checkin_count,
        last_checkin_at: figures.last_checkin,
        branch_count: figures.branch_count,
        tag_count: figures.tag_count,
        file_count: figures.file_count,
        fossil_project_name: figures.project_name,
        fossil_checkin_count: figures.checkin_count,
        fossil_ticket_count: figures.ticket_count,
        fossil_wiki_page_count: figures.wiki_page_count,
      },
    };
  },
});

/** `list_projects` and `get_project`. */
export const projectTools: readonly Tool[] = [listProjects, getProject];

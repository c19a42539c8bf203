import { z } from "zod";
import * as operations from "../../services/projects/operations.ts";
import { pageFields, projectSchema } from "../../services/projects/schemas.ts";
import { reachableSchema } from "../../routes/projects/reachable_schema.ts";
import { defineTool, type Tool } from "../tool.ts";
import { fit, maxCharsShape, moreShape } from "../budget.ts";
import { partShape } from "./parts.ts";
import { projectTool, type ProjectTools, type ProjectToolServices } from "./project_tool.ts";

/** `list_projects` and `get_project`. */
export const projectTools: ProjectTools = (
  services,
) => [listProjects(services), getProject(services)];

function listProjects({ api }: ProjectToolServices): Tool {
  const { slug, name, description, visibility, archived, channel, rights } = reachableSchema.shape;
  const listed = { slug, name, description, visibility, archived, channel, rights };
  return defineTool({
    name: "list_projects",
    description: "Lists the projects that you may see, with your rights in each. Start here: " +
      "every other tool for projects takes the slug of one. Then call get_my_work or list_tickets.",
    resource: {
      opens: ({ kind, scopes }) => kind !== "guest" && (kind === "operator" || scopes.has("read")),
      require: () => {},
    },
    readOnly: true,
    hints: { openWorldHint: false },
    input: {
      slug: z.string().optional().describe("Only this project"),
      ...partShape(100, "projects"),
      ...maxCharsShape,
    },
    output: z.object({
      projects: z.array(z.object(listed)),
      total: pageFields.total,
      ...moreShape,
    }),
    run({ slug, limit, offset, max_chars: maxCharacters }, { caller: { principal } }) {
      const part = slug === undefined ? { limit, offset } : { limit: MAX_PROJECTS, offset: 0 };
      const found = api.reachable(principal, part);
      const named = found.projects.filter((one) => slug === undefined || one.slug === slug);
      const projects = named.map((
        { slug, name, description, visibility, archived, channel, rights },
      ) => ({ slug, name, description, visibility, archived, channel, rights }));
      const total = slug === undefined ? found.total : projects.length;
      const cut = {
        field: "projects",
        noun: "projects",
        first: part.offset,
        total,
        next: (position: number) => ({ offset: position }),
      };
      return fit({ projects, total }, [cut], maxCharacters);
    },
  });
}

/** More projects than one server has. */
const MAX_PROJECTS = 100_000;

const getProject = projectTool({
  name: "get_project",
  description:
    "Shows a project with figures of its repository: how many check-ins, tickets, wiki " +
    "pages and branches it has, and when it last changed. Use it to get an overview.",
  needs: "read",
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
    const figures = await project.figures();
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

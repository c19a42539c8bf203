import { z } from "zod";
import type { ProjectApi } from "../../routes/projects/project_api.ts";
import { Invalid } from "../../services/errors.ts";
import { type Action, mayDo, type Principal } from "../../services/identity/mod.ts";
import type { Advice } from "../advice.ts";
import {
  defineTool,
  once,
  type Tool,
  type ToolContext,
  type ToolHints,
  type ToolRights,
} from "../tool.ts";
import { type Cut, type Data, fit, maxCharsShape, moreShape } from "../budget.ts";
import { ProjectCalls } from "./project_calls.ts";

/** What a tool of projects answers. */
export interface ProjectAnswer {
  readonly data: Data;
  /** The fields that may be shortened; the first one is shortened first. */
  readonly cuts?: readonly Cut[];
}

/** A tool that acts in a project, through the repository API. */
export interface ProjectToolDefinition<Input extends z.ZodRawShape> {
  readonly name: string;
  /** What the tool does, when to use it and what to do next, for a model. */
  readonly description: string;
  /** The right that it needs in the project. */
  readonly needs: Exclude<Action, "admin">;
  readonly hints?: ToolHints;
  /** The arguments beside `slug` and `max_chars`. */
  readonly input: Input;
  /** The fields of `data`. */
  readonly output: z.ZodRawShape;
  readonly advice?: Advice;
  /** @throws {ServiceError} The call fails for a reason that the caller may know. */
  run(
    input: z.output<z.ZodObject<Input>>,
    project: ProjectCalls,
  ): Promise<ProjectAnswer>;
}

/** What the tools for projects call, and who sees them. */
export interface ProjectToolServices {
  readonly api: ProjectApi;
  readonly rights: ProjectRights;
}

/** Creates the tools of a file. */
export type ProjectTools = (services: ProjectToolServices) => readonly Tool[];

/** The argument that names the project. */
export const slugShape = {
  slug: z.string().optional().describe(
    "The project's slug; optional if you reach only one project",
  ),
};

/** Longest answer of a tool that takes no `max_chars`. */
const MAX_SHORT_ANSWER = 40_000;

/** Creates a tool that acts in a project. */
export function projectTool<Input extends z.ZodRawShape>(
  definition: ProjectToolDefinition<Input>,
): (services: ProjectToolServices) => Tool {
  const { name, description, needs, input, output, advice, hints = {} } = definition;
  const ownOf = once(() => z.object(input));
  const isLong = needs === "read";
  return ({ api, rights }) =>
    defineTool({
      name,
      description,
      resource: rights[needs],
      readOnly: needs === "read",
      hints: { ...hints, openWorldHint: false },
      input: { ...slugShape, ...input, ...(isLong ? maxCharsShape : {}) },
      output: z.object({ ...output, ...moreShape }),
      advice: { notFound: "Check the arguments; list_projects names your projects", ...advice },
      async run(given: Data, context) {
        requireWholeCharacters(given);
        const { slug, max_chars: maxCharacters = MAX_SHORT_ANSWER, ...rest } = given;
        const project = new ProjectCalls(api, slugOf(api, slug, context), context);
        const own = ownOf().parse(rest);
        const { data, cuts = [] } = await definition.run(own, project);
        return fit(data, cuts, Number(maxCharacters), { isFixed: !isLong });
      },
    });
}

/**
 * Names and texts become parts of URLs and of artifacts, which hold whole characters alone.
 *
 * @throws Invalid if a text has half of a surrogate pair
 */
function requireWholeCharacters(given: Data): void {
  for (const [name, value] of Object.entries(given)) {
    if (!isWhole(value)) {
      throw new Invalid(`"${name}" has half of a character (an unpaired surrogate)`);
    }
  }
}

function isWhole(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWhole(inner));
}

/** Who sees the tools of projects that need a right: those who have it in at least one project. */
export type ProjectRights = Readonly<Record<Exclude<Action, "admin">, ToolRights>>;

export function rightsIn(api: ProjectApi): ProjectRights {
  const rightsFor = (needs: Action): ToolRights => ({
    opens: (principal) => isOpenTo(api, principal, needs),
    // The project itself decides about a call.
    require: () => {},
  });
  return { read: rightsFor("read"), write: rightsFor("write"), status: rightsFor("status") };
}

function isOpenTo(api: ProjectApi, principal: Principal, needs: Action): boolean {
  const { kind, project } = principal;
  if (kind !== "agent" && kind !== "person") {
    const resource = { kind: "project", role: null, visibility: "private" } as const;
    if (mayDo(principal, needs, { ...resource, id: project ?? "" })) return true;
  }
  return api.mayAnywhere(principal, needs);
}

/** How many projects an error names. */
const MAX_NAMED = 20;

/** How much of a slug an error repeats. */
const MAX_SLUG = 100;

/**
 * The project of a call: the named one, or the only one that the caller reaches.
 *
 * @throws Invalid if there is no such project, or it reaches none or several
 */
export function slugOf(
  api: ProjectApi,
  slug: unknown,
  { caller: { principal } }: ToolContext,
): string {
  if (typeof slug === "string" && slug !== "") {
    if (api.reaches(slug, principal)) return slug;
    throw new Invalid(
      `There is no project "${
        slug.slice(0, MAX_SLUG)
      }" that you may see; list_projects names yours`,
    );
  }
  const part = { offset: 0, limit: MAX_NAMED };
  const { projects, total } = api.reachable(principal, part);
  const [only, ...others] = projects.map((project) => project.slug);
  if (only === undefined) {
    throw new Invalid("There is no project that you may see. Ask the operator to add you to one");
  }
  if (others.length === 0) return only;
  const names = [only, ...others].join(", ") + (total > MAX_NAMED ? ", …" : "");
  throw new Invalid(`"slug" is required, because you reach several projects: ${names}`);
}

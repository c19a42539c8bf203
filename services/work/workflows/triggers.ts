/** Which events start a workflow. */
import type { Value } from "./expressions.ts";
import { chooserOf, MAX_TRIED } from "./patterns.ts";
import type { EventFilter } from "./schemas.ts";
import type { EVENTS, Workflow } from "./workflow.ts";

/** Something that happened, which may start workflows. */
export interface WorkflowEvent {
  readonly name: (typeof EVENTS)[number];
  /** Of `pull_request`: a review was opened, or has a new round. */
  readonly activity?: "opened" | "synchronize" | undefined;
  /** The branch that was pushed to, or which a change is for. */
  readonly branch: string;
  /** What changed; null if that is unknown, or too much: every filter of paths lets it pass. */
  readonly paths: readonly string[] | null;
  /** Of `schedule`: the time as the workflow has it. */
  readonly cron?: string | undefined;
  /** Of `workflow_dispatch`. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
}

/** The name by which a workflow hears of an event; null if the event does not start it. */
export function heardAs(workflow: Workflow, event: WorkflowEvent): WorkflowEvent["name"] | null {
  const { on } = workflow.written;
  // A candidate for landing is tested as the review is, unless a workflow tells the two apart.
  const heard = event.name === "merge_group" && !Object.hasOwn(on, "merge_group")
    ? "pull_request"
    : event.name;
  if (!Object.hasOwn(on, heard)) return null;
  const filter = on[heard] ?? null;
  if (Array.isArray(filter)) return filter.some(({ cron }) => cron === event.cron) ? heard : null;
  return filter === null || lets(filter, event) ? heard : null;
}

function lets(filter: EventFilter, event: WorkflowEvent): boolean {
  const { types } = filter;
  if (types !== undefined && event.activity !== undefined && !types.includes(event.activity)) {
    return false;
  }
  return letsBranch(filter, event) && letsPaths(filter, event);
}

function letsBranch(filter: EventFilter, { branch }: WorkflowEvent): boolean {
  const { branches, "branches-ignore": ignored, tags } = filter;
  if (branches !== undefined) return chooserOf(branches)(branch);
  if (ignored !== undefined) return !chooserOf(ignored)(branch);
  return tags === undefined; // A filter of tags alone lets no branch pass.
}

function letsPaths(filter: EventFilter, { paths }: WorkflowEvent): boolean {
  const { paths: chosen, "paths-ignore": ignored } = filter;
  const length = paths?.reduce((sum, path) => sum + path.length, 0) ?? 0;
  if (paths === null || length > MAX_TRIED) return true;
  if (chosen !== undefined) return paths.some(chooserOf(chosen));
  if (ignored === undefined) return true;
  const isIgnored = chooserOf(ignored);
  return paths.some((path) => !isIgnored(path));
}

/** What is wrong with the inputs of a workflow that somebody starts; or the inputs, completed. */
export function inputsOf(
  { written }: Workflow,
  given: Readonly<Record<string, string>>,
): { readonly inputs: Readonly<Record<string, Value>> } | { readonly fault: string } {
  const filter = written.on["workflow_dispatch"] ?? null;
  const declared = filter === null || Array.isArray(filter) ? {} : filter.inputs ?? {};
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) return { fault: `inputs.${unknown}: the workflow has no such input` };
  const inputs: Record<string, Value> = {};
  for (const [name, input] of Object.entries(declared)) {
    const said = given[name] ?? input?.default ?? null;
    if (input?.required === true && (said === null || said === "")) {
      return { fault: `inputs.${name}: is required` };
    }
    const { options } = input ?? {};
    if (options !== undefined && said !== null && !options.includes(String(said))) {
      return { fault: `inputs.${name}: must be one of: ${options.join(", ")}` };
    }
    inputs[name] = typed(input?.type, said);
  }
  return { inputs };
}

function typed(type: string | undefined, said: Value): Value {
  if (type === "boolean") return said === true || said === "true";
  if (type === "number") return said === null ? null : Number(said);
  return said === null ? "" : String(said);
}

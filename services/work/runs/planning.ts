/** From a cause to the jobs that it begins. */
import { DEFINITION_PATH, type Project, type ProjectRepositories } from "../projects/mod.ts";
import { NotFound } from "../../kernel/errors.ts";
import { matchesGlob } from "../../engines/fossil/front/mod.ts";
import type { CheckDefinition, Definition } from "../definitions/mod.ts";
import type { Cause, Job, JobSpec, RunNotice } from "./records.ts";

/** Follows the context of a check as the change under test defines it, which never counts. */
export const AS_CHANGED = " (as changed)";

/** The context under which a fault of a definition is reported. */
export const DEFINITION_CONTEXT = "definition";

/** What begins a run. */
export interface Trigger {
  readonly cause: Cause;
  /** What makes it one of its kind: a second one with the same key begins nothing. */
  readonly causeKey: string;
  /** Open runs of the same subject are superseded; null for none. */
  readonly subject: string | null;
  readonly review: number | null;
  /** What is tested: a whole id. */
  readonly checkin: string;
  /** The target branch: its definition decides. */
  readonly branch: string;
  readonly isTrusted: boolean;
  readonly askedBy: { readonly key: string | null; readonly name: string };
  /** The time of cron that has come. */
  readonly cron?: string;
  /** The only checks, or files of workflows, that are asked for, with what they need. */
  readonly names?: readonly string[] | undefined;
  /** What a workflow is started with. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
}

/** A job that a trigger begins. */
export interface PlannedJob extends
  Pick<
    Job,
    "kind" | "name" | "context" | "counts" | "needs" | "labels" | "spec" | "group"
  > {
  /** Whether it ends earlier jobs of its group. */
  readonly cancelsGroup: boolean;
}

/** What a definition says to a trigger. */
export interface Plan {
  readonly jobs: readonly PlannedJob[];
  readonly notices: readonly RunNotice[];
  /** What is wrong with definitions, by the context under which it is reported. */
  readonly faults: readonly { readonly context: string; readonly text: string }[];
}

/** Longest definition that is read, in bytes; its parser refuses less. */
const MAX_BYTES = 1_000_000;

/** Where definitions of checks come from. */
export interface JobSource {
  /**
   * What a trigger begins.
   *
   * @param definedBy the tip of its branch
   */
  planOf(project: Project, trigger: Trigger, definedBy: string): Promise<Plan>;
  /** The times of cron of a project's main branch, each once. */
  cronOf(project: Project): Promise<readonly string[]>;
}

/** `.muster/checks.yaml`. */
export class CheckDefinitions implements JobSource {
  readonly #repositories: Pick<ProjectRepositories, "read" | "mainBranches">;

  constructor(repositories: Pick<ProjectRepositories, "read" | "mainBranches">) {
    this.#repositories = repositories;
  }

  async planOf(project: Project, trigger: Trigger, definedBy: string): Promise<Plan> {
    const decides = await textAt(this.#repositories, project, definedBy);
    const jobs: PlannedJob[] = [];
    const faults: { context: string; text: string }[] = [];
    const take = async (text: string, suffix: string) => {
      const read = await parsed(text);
      if ("fault" in read) {
        faults.push({ context: `${DEFINITION_CONTEXT}${suffix}`, text: read.fault });
      } else jobs.push(...await this.#jobsOf(project, read.definition, trigger, suffix));
    };
    if (decides !== null) await take(decides, "");
    if (trigger.cause === "review") {
      const changed = await textAt(this.#repositories, project, trigger.checkin);
      if (changed !== null && changed !== decides) await take(changed, AS_CHANGED);
    }
    return { jobs, notices: [], faults };
  }

  async cronOf(project: Project): Promise<readonly string[]> {
    const branch = await this.#repositories.mainBranches.of(project);
    const definition = await definitionAt(this.#repositories, project, branch);
    return [...new Set(definition?.checks.flatMap(({ on }) => on.cron))];
  }

  async #jobsOf(
    project: Project,
    { checks }: Definition,
    trigger: Trigger,
    suffix: string,
  ): Promise<readonly PlannedJob[]> {
    const main = await this.#repositories.mainBranches.of(project);
    const asked = checks.filter((check) => isAsked(check, trigger, main));
    return withNeeded(asked, checks).map((check) => jobFor(check, suffix));
  }
}

/** What a check-in defines; null if it has no definition, or a wrong one. */
export async function definitionAt(
  repositories: Pick<ProjectRepositories, "read">,
  project: Project,
  checkin: string,
): Promise<Definition | null> {
  const text = await textAt(repositories, project, checkin);
  const read = text === null ? null : await parsed(text);
  return read === null || "fault" in read ? null : read.definition;
}

/** The text of the file at a check-in; null if there is none. */
async function textAt(
  repositories: Pick<ProjectRepositories, "read">,
  project: Project,
  checkin: string,
): Promise<string | null> {
  try {
    const { content } = await repositories.read(
      project,
      (repository) => repository.file({ checkin, path: DEFINITION_PATH, maxBytes: MAX_BYTES }),
    );
    return new TextDecoder().decode(content);
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

/** What a text defines, or why it defines nothing. */
async function parsed(
  text: string,
): Promise<{ readonly definition: Definition } | { readonly fault: string }> {
  const { DefinitionInvalid, parseDefinition } = await import("../definitions/mod.ts");
  try {
    return { definition: parseDefinition(text) };
  } catch (error) {
    if (error instanceof DefinitionInvalid) return { fault: error.message };
    throw error;
  }
}

function isAsked(check: CheckDefinition, trigger: Trigger, main: string): boolean {
  const { cause, cron, branch, names } = trigger;
  const { on } = check;
  switch (cause) {
    case "review":
      return on.review;
    case "landing":
      return on.landing;
    case "push":
      return on.push !== null &&
        (on.push.length === 0 ? branch === main : on.push.some((one) => matchesGlob(one, branch)));
    case "cron":
      return cron !== undefined && on.cron.includes(cron);
    case "manual":
      return names === undefined || names.includes(check.name);
  }
}

/** Checks, and those that they need, in the order of the definition. */
function withNeeded(
  asked: readonly CheckDefinition[],
  all: readonly CheckDefinition[],
): readonly CheckDefinition[] {
  const byName = new Map(all.map((check) => [check.name, check]));
  const taken = new Set<CheckDefinition>();
  const take = (check: CheckDefinition) => {
    if (taken.has(check)) return;
    taken.add(check);
    for (const need of check.needs) {
      const needed = byName.get(need);
      if (needed !== undefined) take(needed);
    }
  };
  asked.forEach(take);
  return all.filter((check) => taken.has(check));
}

function jobFor(check: CheckDefinition, suffix: string): PlannedJob {
  const { name, needs, labels, concurrency, commands, shell, timeoutSeconds } = check;
  const { network, image, env, secrets, limits, artifacts, cache } = check;
  const spec: JobSpec = {
    commands,
    shell,
    timeoutSeconds,
    network,
    image,
    env,
    secrets,
    limits,
    artifacts,
    cache,
  };
  return {
    kind: "commands",
    name,
    context: `${name}${suffix}`,
    counts: suffix === "",
    needs: needs.map((need) => `${need}${suffix}`),
    labels,
    spec,
    group: concurrency === null ? null : `${concurrency.group}${suffix}`,
    cancelsGroup: concurrency?.cancel ?? false,
  };
}

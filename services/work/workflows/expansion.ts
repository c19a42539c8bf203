/** The jobs that a workflow makes of an event. */
import { stringify } from "yaml";
import { fieldName } from "../../kernel/validation/mod.ts";
import { DefinitionInvalid } from "../definitions/mod.ts";
import {
  type Contexts,
  ExpressionFault,
  Expressions,
  isList,
  type Value,
  wordsOf,
} from "./expressions.ts";
import { type Combination, combinationsOf, labelOf, MatrixFault, MAX_JOBS } from "./matrix.ts";
import type { WrittenConcurrency, WrittenJob } from "./schemas.ts";
import type { Workflow } from "./workflow.ts";

/** A group of runs or jobs: one of them runs at a time. */
export interface ConcurrencyGroup {
  readonly group: string;
  /** Whether a newer one cancels the one that runs. */
  readonly cancels: boolean;
}

/** A job for a runner, as a workflow describes it. */
export interface WorkflowJob {
  /** The workflow's key: jobs of one matrix share it, and others need it by it. */
  readonly id: string;
  /** The context of its check: `CI / test (linux, 22)`. */
  readonly context: string;
  readonly needs: readonly string[];
  /** The key `if`, which is judged once its needs are over. */
  readonly condition: string | null;
  /** Those that a runner must have. */
  readonly labels: readonly string[];
  readonly timeoutSeconds: number;
  /** Whether it counts as a success if it fails. */
  readonly mayFail: boolean;
  /** Whether its failure cancels the others of its matrix. */
  readonly failsFast: boolean;
  /** Most jobs of its matrix at a time. */
  readonly maxParallel: number | null;
  readonly concurrency: ConcurrencyGroup | null;
  /** A workflow of this job alone, for a runner. */
  readonly payload: string;
  /** The names of its steps. */
  readonly steps: readonly string[];
  /** Why it cannot run here; a sentence without its period. */
  readonly refusal: string | null;
}

/** What a workflow makes of an event. */
export interface Expansion {
  /** What the run is called. */
  readonly title: string;
  readonly concurrency: ConcurrencyGroup | null;
  readonly jobs: readonly WorkflowJob[];
}

/** What the expressions of a workflow may read. */
export interface RunContexts {
  readonly github: Contexts;
  readonly inputs: Contexts;
  readonly vars: Readonly<Record<string, string>>;
}

const MAX_TITLE = 200;
const MAX_CONTEXT = 200;
const MAX_LABELS = 20;
const DEFAULT_TIMEOUT_MINUTES = 360;
const MAX_TIMEOUT_MINUTES = 1440;
/** Most characters of the payloads of one workflow. */
const MAX_PAYLOADS = 8 * 1024 * 1024;

/**
 * The jobs of a workflow, those of a matrix each alone.
 *
 * @throws {DefinitionInvalid} an expression or a matrix is wrong, or there are too many jobs
 */
export function expand(workflow: Workflow, contexts: RunContexts): Expansion {
  const { file, name, written, locate } = workflow;
  const read: Contexts = {
    github: contexts.github,
    forgejo: contexts.github,
    gitea: contexts.github,
    inputs: contexts.inputs,
    vars: contexts.vars,
  };
  /** Names where something is wrong. */
  const at = <Result>(path: readonly PropertyKey[], work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ExpressionFault || error instanceof MatrixFault)) throw error;
      const key = fieldName([...path]);
      throw new DefinitionInvalid(file, [{ ...locate(path), key, message: error.message }]);
    }
  };
  const common = at([], () => new Expressions(read));
  const { "run-name": runName, concurrency } = written;
  const jobs: WorkflowJob[] = [];
  let left = MAX_PAYLOADS;
  for (const [id, job] of Object.entries(written.jobs)) {
    const path = ["jobs", id];
    const combinations = at([...path, "strategy", "matrix"], () => matrixOf(job, common));
    if (jobs.length + Math.max(combinations.length, 1) > MAX_JOBS) {
      const message = `make more than ${MAX_JOBS} jobs`;
      throw new DefinitionInvalid(file, [{ ...locate(["jobs"]), key: "jobs", message }]);
    }
    const all = combinations.length === 0 ? [{}] : combinations;
    for (const [index, matrix] of all.entries()) {
      const strategy = { "job-index": index, "job-total": all.length };
      const expressions = at(path, () => new Expressions({ ...read, matrix, strategy }));
      const one = jobOf({ workflow, id, job, matrix, expressions, at });
      left -= one.payload.length;
      if (left < 0) {
        const message = "make more text than a run may have";
        throw new DefinitionInvalid(file, [{ ...locate(["jobs"]), key: "jobs", message }]);
      }
      jobs.push(one);
    }
  }
  return {
    title: (runName === undefined ? name : at(["run-name"], () => common.interpolate(runName)))
      .trim().slice(0, MAX_TITLE) || name,
    concurrency: at(["concurrency"], () => groupOf(concurrency, common)),
    jobs: distinct(jobs),
  };
}

/** The combinations of a job's matrix; empty if it has none. */
function matrixOf({ strategy }: WrittenJob, expressions: Expressions): Combination[] {
  const { matrix } = strategy ?? {};
  return matrix === undefined ? [] : combinationsOf(expressions.resolve(matrix));
}

interface Expanding {
  readonly workflow: Workflow;
  readonly id: string;
  readonly job: WrittenJob;
  readonly matrix: Combination;
  readonly expressions: Expressions;
  readonly at: <Result>(path: readonly PropertyKey[], work: () => Result) => Result;
}

function jobOf({ workflow, id, job, matrix, expressions, at }: Expanding): WorkflowJob {
  const within = (key: string, ...rest: string[]) => ["jobs", id, key, ...rest];
  const label = labelOf(matrix);
  const name = job.name === undefined
    ? label === "" ? id : `${id} (${label})`
    : at(within("name"), () => expressions.interpolate(job.name ?? ""));
  const labels = at(within("runs-on"), () => labelsOf(job, expressions));
  const minutes = at(
    within("timeout-minutes"),
    () => numberOf(expressions.resolve(job["timeout-minutes"] ?? DEFAULT_TIMEOUT_MINUTES)),
  );
  const parallel = at(within("strategy", "max-parallel"), () => {
    const { "max-parallel": most } = job.strategy ?? {};
    return most === undefined ? null : numberOf(expressions.resolve(most));
  });
  const mayFail = at(
    within("continue-on-error"),
    () => expressions.resolve(job["continue-on-error"]) === true,
  );
  return {
    id,
    context: oneLine(`${workflow.name} / ${name}`).slice(0, MAX_CONTEXT),
    needs: job.needs,
    condition: job.if === undefined || job.if.trim() === "" ? null : job.if,
    labels,
    timeoutSeconds: Math.min(minutes, MAX_TIMEOUT_MINUTES) * 60,
    mayFail,
    failsFast: at(
      within("strategy", "fail-fast"),
      () => expressions.resolve(job.strategy?.["fail-fast"] ?? true) !== false,
    ),
    maxParallel: parallel,
    concurrency: at(within("concurrency"), () => groupOf(job.concurrency, expressions)),
    payload: payloadOf({ workflow, id, job, matrix, name, labels }),
    steps: (job.steps ?? []).map(({ name, run, uses }) =>
      oneLine(name ?? uses ?? run ?? "").slice(0, MAX_TITLE)
    ),
    refusal: job.uses === undefined
      ? null
      : `${job.uses}: workflows of others cannot be called here yet: write its jobs in this file`,
  };
}

/** A workflow of one job, as Forgejo and Gitea give it to their runners. */
function payloadOf(
  { workflow, id, job, matrix, name, labels }: {
    readonly workflow: Workflow;
    readonly id: string;
    readonly job: WrittenJob;
    readonly matrix: Combination;
    readonly name: string;
    readonly labels: readonly string[];
  },
): string {
  const { written } = workflow;
  const lists = Object.entries(matrix).map(([variable, value]) => [variable, [literal(value)]]);
  return stringify({
    name: workflow.name,
    on: Object.keys(written.on),
    env: written.env,
    defaults: written.defaults,
    jobs: {
      [id]: {
        name: literal(name),
        "runs-on": literal(labels),
        // Whether it runs is decided before a runner gets it.
        if: "always()",
        strategy: lists.length === 0 ? undefined : { matrix: Object.fromEntries(lists) },
        env: job.env,
        outputs: job.outputs,
        defaults: job.defaults,
        container: job.container,
        services: job.services,
        steps: job.steps ?? [],
      },
    },
  }, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** A value that the runner, which evaluates what it gets, leaves as it is. */
function literal(value: Value): Value {
  if (typeof value === "string") return value.replaceAll("${{", "${{ '${{' }}");
  if (isList(value)) return value.map(literal);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, literal(item)]));
}

function labelsOf(job: WrittenJob, expressions: Expressions): string[] {
  const runsOn = job["runs-on"] ?? [];
  const written = Array.isArray(runsOn) ? runsOn : runsOn.labels;
  const labels = written.flatMap((label) => {
    const value = expressions.resolve(label);
    return isList(value) ? value.map(wordsOf) : [wordsOf(value)];
  }).filter((label) => label !== "");
  if (labels.length > MAX_LABELS) throw new MatrixFault(`must name at most ${MAX_LABELS} labels`);
  return labels;
}

function groupOf(
  written: WrittenConcurrency | undefined,
  expressions: Expressions,
): ConcurrencyGroup | null {
  if (written === undefined) return null;
  const group = oneLine(expressions.interpolate(written.group)).slice(0, MAX_CONTEXT);
  if (group === "") return null;
  return { group, cancels: expressions.resolve(written["cancel-in-progress"]) === true };
}

/** @throws {MatrixFault} it is no number above 0 */
function numberOf(value: Value): number {
  const number = Number(value);
  if (typeof value === "object" || !(number > 0)) throw new MatrixFault("must be a number above 0");
  return number;
}

/** Jobs whose contexts differ: the second of one name gets a number. */
function distinct(jobs: readonly WorkflowJob[]): WorkflowJob[] {
  const seen = new Map<string, number>();
  return jobs.map((job) => {
    const count = (seen.get(job.context) ?? 0) + 1;
    seen.set(job.context, count);
    if (count === 1) return job;
    return { ...job, context: `${job.context.slice(0, MAX_CONTEXT - 5)} #${count}` };
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").trim();
}

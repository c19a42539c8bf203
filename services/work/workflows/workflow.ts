/** A workflow, read from its file. */
import { faultOf, fieldName } from "../../kernel/validation/mod.ts";
import { DefinitionInvalid, type Locate, readDocument } from "../definitions/mod.ts";
import { MAX_JOBS } from "./matrix.ts";
import {
  JOB_KEYS,
  WORKFLOW_KEYS,
  workflowSchema,
  type WrittenJob,
  type WrittenWorkflow,
} from "./schemas.ts";

/** Something that a workflow asks for, and muster does not do. */
export interface Notice {
  readonly file: string;
  readonly line: number;
  /** The key, or what stands there: `jobs.test.permissions`. */
  readonly what: string;
  /** A sentence without its period. */
  readonly why: string;
}

/** A workflow's file, read. */
export interface Workflow {
  readonly file: string;
  /** As checks begin: the key `name`, else the file's name. */
  readonly name: string;
  readonly written: WrittenWorkflow;
  readonly locate: Locate;
}

/** The events that muster knows. */
export const EVENTS = [
  "push",
  "pull_request",
  "merge_group",
  "schedule",
  "workflow_dispatch",
] as const;
/** What a filter of `pull_request` may name. */
const ACTIVITIES: readonly string[] = ["opened", "synchronize", "reopened"];

const MAX_NAME = 100;

/**
 * Reads a workflow.
 *
 * @throws {DefinitionInvalid} it is not YAML, or a key has a wrong value, or jobs need each other
 */
export function readWorkflow(text: string, file: string): Workflow {
  const read = readDocument(text, { keepsNumbers: true });
  if ("faults" in read) throw new DefinitionInvalid(file, read.faults);
  const { value, locate } = read;
  const parsed = workflowSchema.safeParse(value, { jitless: true });
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const { path, message, missing } = faultOf(issue);
      return { ...locate(path), key: fieldName(path), message: missing ? "is required" : message };
    });
    throw new DefinitionInvalid(file, faults);
  }
  const workflow = {
    file,
    name: (parsed.data.name ?? file.split("/").at(-1) ?? file).slice(0, MAX_NAME),
    written: parsed.data,
    locate,
  };
  requireSound(workflow);
  return workflow;
}

/** The times at which a workflow runs, as cron has them, in UTC. */
export function schedulesOf({ written }: Workflow): string[] {
  const { schedule } = written.on;
  return Array.isArray(schedule) ? schedule.map(({ cron }) => cron) : [];
}

/**
 * What a workflow asks for and muster does not do, whatever starts it.
 *
 * @param actionsUrl where actions come from; null if the server only offers some itself
 */
export function noticesOf(
  { file, written, locate }: Workflow,
  actionsUrl: string | null,
): Notice[] {
  const notices: Notice[] = [];
  const tell = (path: readonly PropertyKey[], why: string) => {
    notices.push({ file, line: locate(path).line, what: fieldName([...path]), why });
  };
  for (const key of Object.keys(written)) {
    if (!WORKFLOW_KEYS.has(key)) tell([key], whyUnread(key));
  }
  for (const [event, filter] of Object.entries(written.on)) {
    if (!(EVENTS as readonly string[]).includes(event)) {
      tell(["on", event], `"${event}" never happens here: muster starts workflows on ${SPOKEN}`);
    } else if (Array.isArray(filter)) {
      for (const [index, entry] of filter.entries()) {
        if ("timezone" in entry) {
          tell(["on", event, index, "timezone"], "Times are in UTC");
        }
      }
    } else if (filter !== null) {
      for (const type of filter.types ?? []) {
        if (!ACTIVITIES.includes(type)) {
          tell(["on", event, "types"], `"${type}" never happens here`);
        }
      }
      for (const key of ["tags", "tags-ignore"] as const) {
        if (filter[key] !== undefined) tell(["on", event, key], "Tags start no workflow");
      }
      for (const key of ["paths", "paths-ignore"] as const) {
        if (event === "push" && filter[key] !== undefined) {
          tell(["on", event, key], "Every push passes filters of paths: they count for reviews");
        }
      }
    }
  }
  for (const [id, job] of Object.entries(written.jobs)) noticesOfJob(id, job, { tell, actionsUrl });
  return notices;
}

const SPOKEN = `${EVENTS.slice(0, -1).join(", ")} and ${EVENTS.at(-1)}`;

type Tell = (path: readonly PropertyKey[], why: string) => void;

function noticesOfJob(
  id: string,
  job: WrittenJob,
  { tell, actionsUrl }: { readonly tell: Tell; readonly actionsUrl: string | null },
): void {
  for (const key of Object.keys(job)) {
    if (!JOB_KEYS.has(key)) tell(["jobs", id, key], whyUnread(key));
  }
  const runsOn = job["runs-on"];
  if (runsOn !== undefined && !Array.isArray(runsOn) && runsOn.group !== undefined) {
    tell(["jobs", id, "runs-on", "group"], "Runners have no groups: the labels alone choose one");
  }
  for (const [index, { uses }] of (job.steps ?? []).entries()) {
    const why = uses === undefined ? null : whyUnserved(uses, actionsUrl);
    if (why !== null) tell(["jobs", id, "steps", index, "uses"], why);
  }
}

function whyUnserved(uses: string, actionsUrl: string | null): string | null {
  const [action = "", ref = ""] = uses.split("@");
  if (/actions\/(?:upload|download)-artifact$/.test(action) && !ref.startsWith("v3")) {
    return "This server speaks to version 3 of the actions for artifacts: name them with @v3";
  }
  if (action.endsWith("actions/cache")) {
    return "The cache is the runner's own: no other runner reads it";
  }
  const isElsewhere = /^(?:\.{0,2}\/|docker:|https?:)/.test(uses);
  if (actionsUrl !== null || isElsewhere) return null;
  if (action !== "actions/checkout") {
    return "This server offers actions/checkout alone: name an address, or set checks.actions_url";
  }
  return /^(?:v[1-9]|main|master)$/.test(ref)
    ? null
    : "This server offers its own actions/checkout as v1 to v9: other versions are not there";
}

function whyUnread(key: string): string {
  return UNREAD[key] ?? "This key is not read";
}

const UNREAD: Readonly<Record<string, string>> = {
  permissions: "The token of a job reads this project and nothing else, whatever stands here",
  environment: "There are no environments: the secrets are the project's",
  description: "This is not shown",
  "enable-email-notifications": "Nobody gets e-mail: those who follow the review are told of it",
};

/** @throws {DefinitionInvalid} jobs without steps or a runner, unknown needs, circles */
function requireSound({ file, written, locate }: Workflow): void {
  const faults: { path: PropertyKey[]; message: string }[] = [];
  const jobs = Object.entries(written.jobs);
  if (jobs.length === 0) faults.push({ path: ["jobs"], message: "must have a job" });
  if (jobs.length > MAX_JOBS) {
    faults.push({ path: ["jobs"], message: `must have at most ${MAX_JOBS} jobs` });
  }
  for (const [id, job] of jobs) {
    for (const need of job.needs) {
      if (Object.hasOwn(written.jobs, need)) continue;
      faults.push({ path: ["jobs", id, "needs"], message: `names "${need}", which is no job` });
    }
    if (job.uses !== undefined) continue;
    for (const key of ["runs-on", "steps"] as const) {
      if (job[key] === undefined) faults.push({ path: ["jobs", id], message: `lacks ${key}` });
    }
  }
  if (faults.length === 0) {
    const circle = circleIn(new Map(jobs.map(([id, { needs }]) => [id, needs])));
    if (circle !== null) {
      faults.push({ path: ["jobs", circle, "needs"], message: "leads back to the job itself" });
    }
  }
  if (faults.length === 0) return;
  const found = faults.map(({ path, message }) => ({
    ...locate(path),
    key: fieldName(path),
    message,
  }));
  throw new DefinitionInvalid(file, found);
}

/** A job that never could start, since it needs itself by way of others; null if there is none. */
function circleIn(needs: ReadonlyMap<string, readonly string[]>): string | null {
  const left = new Map(Array.from(needs, ([id, ids]) => [id, new Set(ids).size]));
  const dependents = Map.groupBy(
    Array.from(needs, ([id, ids]) => [...new Set(ids)].map((need) => ({ id, need }))).flat(),
    ({ need }) => need,
  );
  const free = [...left].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    left.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const count = (left.get(dependent.id) ?? 0) - 1;
      left.set(dependent.id, count);
      if (count === 0) free.push(dependent.id);
    }
  }
  return left.keys().next().value ?? null;
}

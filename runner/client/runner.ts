/** A runner: asks a server for jobs, and runs them. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Assignment } from "../../services/work/runs/assignment.ts";
import { removeFolder, type Sandbox } from "../executor/mod.ts";
import { endInWords, jobInWords, runJob } from "./job.ts";
import { Pauses } from "./retries.ts";
import { Away, Refused, type Server } from "./server.ts";

/** How long a request for a job waits, in seconds. */
const WAIT_SECONDS = 60;

export interface RunnerOptions {
  readonly server: Server;
  /** The ways to keep jobs apart that work here, and may be used, the strongest first. */
  readonly sandboxes: readonly Sandbox[];
  /** A folder of this runner alone. */
  readonly workFolder: string;
  /** How many jobs run at a time. */
  readonly jobs: number;
  /** Of this program. */
  readonly version: string;
  /** Gets each line of the runner's own log. */
  readonly say: (line: string) => void;
  /** No more jobs are asked for. */
  readonly stop: AbortSignal;
  /** Jobs that still run are given back. */
  readonly giveBack: AbortSignal;
}

/**
 * Runs jobs until it is stopped and none runs any more.
 *
 * @throws {Refused} The server does not want this runner.
 */
export async function serveJobs(options: RunnerOptions): Promise<void> {
  const { workFolder, jobs } = options;
  const key = keyOf(workFolder);
  for (const sandbox of options.sandboxes) await sandbox.sweepAll?.(key);
  await removeFolder(join(workFolder, "jobs"));
  await Deno.mkdir(join(workFolder, "jobs"), { recursive: true });
  if (Deno.build.os !== "windows") await Deno.chmod(join(workFolder, "jobs"), 0o711);
  const failed = new AbortController();
  const stop = AbortSignal.any([options.stop, failed.signal]);
  const serve = async () => {
    try {
      await serveOneByOne({ ...options, stop }, key);
    } catch (error) {
      failed.abort();
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: jobs }, serve));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** What the names of this runner's jobs begin with. */
function keyOf(workFolder: string): string {
  return `r${createHash("sha256").update(workFolder).digest("hex").slice(0, 12)}`;
}

async function serveOneByOne(options: RunnerOptions, key: string): Promise<void> {
  const { say, stop } = options;
  while (!stop.aborted) {
    const assignment = await nextJob(options);
    if (assignment === null) continue;
    try {
      await serveJob(options, assignment, key);
    } catch (error) {
      // A fault of this program costs the job its lease, and no other job anything.
      say(`${jobInWords(assignment)}: ${error instanceof Error ? error.stack : error}`);
    }
  }
}

/** The answers to a runner that the server does not want. */
const UNWANTED = [401, 403];

/** Asks until there is a job; null if none came for a while, or the runner is to stop. */
async function nextJob(options: RunnerOptions): Promise<Assignment | null> {
  const { server, sandboxes, version, say, stop } = options;
  const isolation = sandboxes.map(({ kind }) => kind);
  const request = { wait_seconds: WAIT_SECONDS, isolation, version };
  const pauses = new Pauses();
  for (let isAway = false;;) {
    try {
      const assignment = await server.lease(request, stop);
      if (isAway) say("The server is back");
      return assignment;
    } catch (error) {
      if (stop.aborted) return null;
      const isRefusal = error instanceof Refused;
      if (isRefusal && UNWANTED.includes(error.status)) throw error;
      if (!isRefusal && !(error instanceof Away)) throw error;
      if (!isAway) say(`The server has no answer; trying again: ${error.message}`);
      isAway = true;
      await pauses.wait(stop).catch(() => {});
    }
  }
}

async function serveJob(
  options: RunnerOptions,
  assignment: Assignment,
  key: string,
): Promise<void> {
  const { server, workFolder, version, say, giveBack } = options;
  const sandbox = sandboxFor(options.sandboxes, assignment);
  const name = `${key}-${assignment.id.replaceAll(/[^A-Za-z0-9]/g, "")}-${assignment.generation}`;
  const words = jobInWords(assignment);
  say(`${words} begins`);
  const start = performance.now();
  const end = await runJob({
    assignment,
    server,
    sandbox,
    folder: join(workFolder, "jobs", name),
    name,
    greeting: `muster ${version}, check-in ${assignment.checkin}, isolation ${
      sandbox?.about ?? "none"
    }`,
    giveBack,
  });
  say(`${words}: ${endInWords(end, (performance.now() - start) / 1000)}`);
}

/** A check that names an image runs in a container, and no other does. */
function sandboxFor(sandboxes: readonly Sandbox[], { image }: Assignment): Sandbox | null {
  const fits = ({ kind }: Sandbox) => (kind === "podman" || kind === "docker") === (image !== null);
  return sandboxes.find(fits) ?? null;
}

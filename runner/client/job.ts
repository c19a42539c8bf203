/** One job, from its lease to its end. */
import { join } from "node:path";
import { pause } from "../../services/kernel/pause.ts";
import { waitInWords } from "../../services/kernel/words.ts";
import { hashedFiles, keyOfCache } from "../../services/work/definitions/mod.ts";
import type { Assignment, FinishRequest } from "../../services/work/runs/assignment.ts";
import {
  type Ended,
  execute,
  Interruption,
  makeFolders,
  Output,
  type Places,
  removeFolder,
  type Sandbox,
  takeOver,
} from "../executor/mod.ts";
import { findArtifacts, hashesOf, openInside, pack, unpack } from "../files/mod.ts";
import { LogSender } from "./log_sender.ts";
import { untilThere } from "./retries.ts";
import { Away, Refused, type Server } from "./server.ts";

const MEGABYTE = 1024 * 1024;
/** How long a renewal waits, in seconds; at most half of the lease. */
const RENEW_SECONDS = 10;

/** How long the runner tries to give a job back, in milliseconds. */
const GIVE_BACK_MS = 5000;

export interface JobOptions {
  readonly assignment: Assignment;
  readonly server: Server;
  /** What keeps the job apart; null if nothing here can. */
  readonly sandbox: Sandbox | null;
  /** A folder of the job alone, which is not there yet. */
  readonly folder: string;
  /** Unique to the job, of letters, digits and `-`. */
  readonly name: string;
  /** What the log says first: who runs the job. */
  readonly greeting: string;
  /** The job must be given back. */
  readonly giveBack: AbortSignal;
}

type Result = Omit<FinishRequest, "generation">;

/** How a job went, for the runner's own log. */
export type JobEnd = { readonly result: Result } | { readonly lost: string };

/** Runs a job and tells the server. It never rejects because of the job or of the server. */
export async function runJob(options: JobOptions): Promise<JobEnd> {
  const { assignment, server, folder, giveBack } = options;
  /** The lease is no more: nothing about the job is of interest to the server. */
  const lost = new AbortController();
  /** Ends the job's processes. */
  const ended = new AbortController();
  /** The server is told the result, after which there is no lease. */
  let isFinishing = false;
  const lose = (why: string) => {
    if (isFinishing) return;
    if (!lost.signal.aborted) lost.abort(why);
    ended.abort(new Interruption(why, 0));
  };
  const onGiveBack = () => ended.abort(new Interruption("The runner is stopped", 0));
  giveBack.addEventListener("abort", onGiveBack);
  if (giveBack.aborted) onGiveBack();
  const renewing = renew(options, { lost: lost.signal, lose, cancel: ended });
  const log = new LogSender({
    server,
    lease: assignment,
    signal: lost.signal,
    onRefused: (error) => lose(error.message),
  });
  const output = new Output({
    secrets: [...Object.values(assignment.secrets), assignment.token],
    limitBytes: assignment.limits.output_mb * MEGABYTE,
    write: (line) => log.write(line),
  });
  try {
    const result = await perform(options, output, { ended: ended.signal, lost: lost.signal });
    if (giveBack.aborted && !lost.signal.aborted) {
      // A job that is cancelled without the server's wish runs again elsewhere.
      const signal = AbortSignal.any([lost.signal, AbortSignal.timeout(GIVE_BACK_MS)]);
      await server.finish(assignment, { ...result, outcome: "cancelled" }, signal).catch(() => {});
      return { lost: "it was given back" };
    }
    await log.close();
    lost.signal.throwIfAborted();
    isFinishing = true;
    await untilThere(lost.signal, () => server.finish(assignment, result, lost.signal));
    return { result };
  } catch (error) {
    if (error instanceof Refused) return { lost: error.message };
    if (lost.signal.aborted) return { lost: String(lost.signal.reason) };
    throw error;
  } finally {
    giveBack.removeEventListener("abort", onGiveBack);
    lost.abort("It is over");
    await log.close();
    await renewing;
    await removeFolder(folder);
  }
}

/** Keeps the lease until it is lost or over. */
async function renew(
  { assignment, server }: JobOptions,
  { lost, lose, cancel }: {
    lost: AbortSignal;
    lose: (why: string) => void;
    cancel: AbortController;
  },
): Promise<void> {
  let wait = RENEW_SECONDS;
  try {
    for (;;) {
      const seconds = cancel.signal.aborted ? 0 : wait;
      const renewal = await untilThere(lost, () => server.renew(assignment, seconds, lost));
      if (renewal.cancelled) cancel.abort(new Interruption(renewal.reason ?? "It was cancelled"));
      wait = Math.max(1, Math.min(RENEW_SECONDS, Math.floor(renewal.expires_in / 2)));
      // Nothing but the time is left to wait for.
      if (cancel.signal.aborted) {
        await pause(wait * 1000, lost);
        lost.throwIfAborted();
      }
    }
  } catch (error) {
    if (!lost.aborted) lose(error instanceof Refused ? error.message : String(error));
  }
}

interface Signals {
  readonly ended: AbortSignal;
  readonly lost: AbortSignal;
}

/** Does what the job is about; whatever fails here is a result. */
async function perform(options: JobOptions, output: Output, signals: Signals): Promise<Result> {
  const { assignment, sandbox, folder, name, greeting } = options;
  const places = { checkout: join(folder, "checkout"), home: join(folder, "home") };
  try {
    await output.note(greeting);
    if (sandbox === null) return failed("This runner has nothing to run the check in");
    await makeFolders(folder, places);
    const cacheKey = await prepare(options, places, output, signals);
    await takeOver(sandbox, places);
    signals.ended.throwIfAborted();
    const ended = await execute({
      plan: { ...assignment, env: { ...environmentOf(assignment), ...assignment.env } },
      places,
      name,
      sandbox,
      output,
      signal: signals.ended,
    });
    if (!signals.ended.aborted) await keep(options, places, { output, ended, cacheKey }, signals);
    await output.note(ended.summary);
    return ended;
  } catch (error) {
    signals.lost.throwIfAborted();
    if (signals.ended.aborted) {
      return { outcome: "cancelled", exit_code: null, summary: reasonOf(signals.ended.reason) };
    }
    const summary = `The runner failed: ${reasonOf(error)}`;
    await output.note(summary);
    return failed(summary);
  }
}

function failed(summary: string): Result {
  return { outcome: "error", exit_code: null, summary: summary.slice(0, 500).toWellFormed() };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the job can know about itself. */
function environmentOf(assignment: Assignment): Record<string, string> {
  const { project, checkin, name, attempt, run, cause, branch } = assignment;
  return {
    MUSTER_PROJECT: project,
    MUSTER_CHECKIN: checkin,
    MUSTER_CHECK: name,
    MUSTER_ATTEMPT: String(attempt),
    MUSTER_RUN: run,
    MUSTER_CAUSE: cause,
    ...branch === null ? {} : { MUSTER_BRANCH: branch },
  };
}

/**
 * Puts the check-in, and what the cache has, into the checkout.
 *
 * @returns the key of the job's cache, as its files are before it runs; null if it has none
 */
async function prepare(
  { assignment, server }: JobOptions,
  { checkout }: Places,
  output: Output,
  signals: Signals,
): Promise<string | null> {
  const signal = AbortSignal.any([signals.lost, signals.ended]);
  const { cache } = assignment;
  const maxBytes = assignment.limits.disk_mb * MEGABYTE;
  const leftOut = await untilThere(signal, async () => {
    const archive = await server.archive(assignment, signal);
    return await unpack(archive, { folder: checkout, strip: 1, maxBytes });
  });
  if (leftOut > 0) await output.note(`Files that the checkout leaves out: ${leftOut}`);
  if (cache === null) return null;
  const key = keyOfCache(cache.key, await hashesOf(checkout, hashedFiles(cache.key)));
  try {
    const archive = await server.cache(assignment, key, signal);
    if (archive !== null) {
      await unpack(archive, { folder: checkout, strip: 0, maxBytes, only: cache.paths });
    }
    await output.note(
      archive === null ? `There is no cache ${key} yet` : `The cache ${key} is there`,
    );
  } catch (error) {
    signal.throwIfAborted();
    await output.note(`The cache ${key} could not be used: ${reasonOf(error)}`);
  }
  return key;
}

/** Sends what the job leaves: artifacts always, the cache if it succeeded. */
async function keep(
  { assignment, server, folder }: JobOptions,
  { checkout }: Places,
  { output, ended, cacheKey }: { output: Output; ended: Ended; cacheKey: string | null },
  { lost }: Signals,
): Promise<void> {
  const { paths, notes } = await findArtifacts(checkout, assignment.artifacts);
  for (const note of notes) await output.note(note);
  for (const path of paths) {
    await attempt(output, `The artifact ${path}`, lost, async () => {
      const file = await openInside(checkout, path);
      if (file !== null) await server.saveArtifact(assignment, path, file.readable, lost);
    });
  }
  if (assignment.artifacts.length > 0) await output.note(`Artifacts: ${paths.length}`);
  if (cacheKey === null || assignment.cache === null || ended.outcome !== "success") return;
  const archive = join(folder, "cache.tar.gz");
  await attempt(output, `The cache ${cacheKey}`, lost, async () => {
    if (!await pack(checkout, assignment.cache?.paths ?? [], archive)) return;
    const file = await Deno.open(archive);
    await server.saveCache(assignment, cacheKey, file.readable, lost);
  });
}

/** Sends something that the result does not depend on; says so if it fails. */
async function attempt(
  output: Output,
  what: string,
  lost: AbortSignal,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await untilThere(AbortSignal.any([lost, AbortSignal.timeout(PATIENCE_MS)]), send);
  } catch (error) {
    lost.throwIfAborted();
    const why = error instanceof DOMException ? new Away("the server is away") : error;
    await output.note(`${what} is not kept: ${reasonOf(why)}`);
  }
}

/** So long is tried to send an artifact or a cache, in milliseconds. */
const PATIENCE_MS = 10 * 60_000;

/** A job in words, for the runner's own log. */
export function jobInWords({ project, name, checkin, attempt }: Assignment): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  return `${project} ${name} (${checkin.slice(0, 10)}${again})`;
}

/** How it went, in words. */
export function endInWords(end: JobEnd, seconds: number): string {
  const time = waitInWords(Math.round(seconds));
  return "lost" in end
    ? `lost after ${time}: ${end.lost}`
    : `${end.result.outcome} after ${time}: ${end.result.summary}`;
}

/** Ends a job that takes more of the machine than it may. */
import { statfsSync } from "node:fs";
import { pause } from "../../services/kernel/pause.ts";
import { runScript } from "./shell.ts";
import type { Bounds, Places } from "./sandbox.ts";

const EVERY_MS = 500;

/** The size of a folder is measured again after so many times what the last measurement took. */
const SIZE_PAUSE = 20;
const SIZE_EVERY_MS = 2000;
const SIZES = 'du -skx "$@" 2>/dev/null; true';

/** The disk of jobs keeps so much space free for everything else. */
const KEPT_FREE = 256 * 1024 * 1024;

/** The fields of /proc/PID/stat, counted from the one after the name (proc_pid_stat(5)). */
const PARENT = 1;
const SESSION = 3;
const RESIDENT = 21;
const PAGE = 4096;

export interface WatchOptions {
  /** The first process of the job, which leads its session. */
  readonly pid: number;
  readonly places: Places;
  readonly limits: Bounds["limits"];
  /** Is called once, with a sentence without its end. */
  readonly onExceeded: (sentence: string) => void;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** Watches memory and disk until the signal, which ends it. */
export async function watch(options: WatchOptions): Promise<void> {
  const { signal } = options;
  await Promise.all([
    repeat(signal, () => memoryFault(options), options.onExceeded),
    repeat(signal, () => spaceFault(options), options.onExceeded),
    repeat(signal, growth(options), options.onExceeded),
  ]);
}

interface Finding {
  readonly fault: string | null;
  readonly pauseMs: number;
}

async function repeat(
  signal: AbortSignal,
  look: () => Finding | Promise<Finding>,
  onExceeded: (sentence: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    const { fault, pauseMs } = await look();
    if (signal.aborted) return;
    if (fault !== null) return onExceeded(fault);
    await pause(pauseMs, signal);
  }
}

async function memoryFault({ pid, limits }: WatchOptions): Promise<Finding> {
  const { output } = await runScript("cat /proc/[0-9]*/stat 2>/dev/null; true");
  const bytes = residentBytes(output, pid);
  const most = limits.memory_mb * 1024 * 1024;
  const fault = bytes <= most ? null : `used more than ${limits.memory_mb} MB of memory`;
  return { fault, pauseMs: EVERY_MS };
}

/**
 * The memory of a process and its descendants, and of its session, in bytes. What processes share
 * counts for each of them.
 *
 * @param text the lines of /proc/PID/stat
 */
export function residentBytes(text: string, pid: number): number {
  const processes = text.split("\n").flatMap((line) => {
    const end = line.lastIndexOf(")");
    if (end === -1) return [];
    const fields = line.slice(end + 2).split(" ").map(Number);
    const [parent = 0, session = 0, pages = 0] = [PARENT, SESSION, RESIDENT].map((at) =>
      fields[at]
    );
    return [{ pid: parseInt(line), parent, session, pages }];
  });
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const members = new Set(processes.filter(({ session }) => session === pid).map((one) => one.pid));
  const toVisit = [pid, ...members];
  for (let id = toVisit.pop(); id !== undefined; id = toVisit.pop()) {
    members.add(id);
    for (const child of children.get(id) ?? []) {
      if (!members.has(child.pid)) toVisit.push(child.pid);
    }
  }
  const pages = processes.filter((one) => members.has(one.pid))
    .reduce((sum, one) => sum + one.pages, 0);
  return pages * PAGE;
}

function spaceFault({ places }: WatchOptions): Finding {
  const { bavail, bsize } = statfsSync(places.checkout);
  const fault = bavail * bsize > KEPT_FREE ? null : "left too little space on the runner's disk";
  return { fault, pauseMs: EVERY_MS };
}

/** Tells when a job's folders have grown by more than they may since the first measurement. */
function growth({ places, limits }: WatchOptions): () => Promise<Finding> {
  let first: number | null = null;
  return async () => {
    const start = performance.now();
    const { output } = await runScript(SIZES, places.checkout, places.home);
    const kilobytes = output.split("\n").reduce((sum, line) => sum + (parseInt(line) || 0), 0);
    first ??= kilobytes;
    const isOver = (kilobytes - first) / 1024 > limits.disk_mb;
    const took = performance.now() - start;
    return {
      fault: isOver ? `wrote more than ${limits.disk_mb} MB to its folders` : null,
      pauseMs: Math.max(SIZE_EVERY_MS, took * SIZE_PAUSE),
    };
  };
}

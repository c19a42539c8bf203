/** Runs `deno test`, and ends it when its tests hang. */
import { type Scheduler, systemScheduler } from "../services/kernel/scheduler.ts";

/** The end of a test or of a step in the report: its name, and what became of it. */
const RESULT = /^(?:\S+ => )?(.*?) \.\.\. .*?(?:ok|FAILED|ignored|cancelled)\b/;

/** What Deno writes of a test after a minute, and again later. */
const SLOW = /^'(.*)' has been running for over /;

// deno-lint-ignore no-control-regex
const COLORS = /\x1b\[[\d;]*m/g;

/** The number, the name, the state and the parent of a process, as proc_pid_stat(5) has them. */
const PROCESS = /^(\d+) \(.*\) \S (\d+) /;

/** A part of a report without the escapes that color it. */
export function withoutColors(text: string): string {
  return text.replace(COLORS, "");
}

/** Reads the report of `deno test` as it is written. */
export class TestReport {
  readonly #slow = new Set<string>();
  #rest = "";
  #finished = 0;

  /** How many tests and steps have finished. */
  get finished(): number {
    return this.#finished;
  }

  /** The tests that have run for more than a minute, and still run. */
  get slow(): readonly string[] {
    return [...this.#slow];
  }

  /** Takes the next piece of the report. */
  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#read(withoutColors(line));
  }

  #read(line: string): void {
    const slow = SLOW.exec(line)?.[1];
    if (slow !== undefined) return void this.#slow.add(slow);
    const name = RESULT.exec(line)?.[1];
    if (name === undefined) return;
    this.#finished += 1;
    this.#slow.delete(name);
  }
}

/** Options of {@link runWatched}. */
export interface WatchedRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** How long no test may finish before the run is ended, in milliseconds. */
  readonly limitMs: number;
  readonly scheduler?: Pick<Scheduler, "after">;
  /** Takes the report as it is written. */
  readonly write: (bytes: Uint8Array) => void;
}

/** How a run of {@link runWatched} ended. */
export interface RunEnd {
  /** The exit code of the program; 1 if it was ended. */
  readonly code: number;
  /** Whether it was ended because no test finished for too long. */
  readonly hasHung: boolean;
  /** What it wrote. */
  readonly output: string;
}

/**
 * Runs `deno test`. If no test finishes for too long, it ends the program and all that this has
 * started, and writes the names of the tests that hang.
 */
export async function runWatched(options: WatchedRun): Promise<RunEnd> {
  const { program, args, folder, environment, limitMs, write } = options;
  const { scheduler = systemScheduler } = options;
  const report = new TestReport();
  const process = new Deno.Command(program, {
    args: [...args],
    cwd: folder,
    env: { ...environment },
    stdout: "piped",
  }).spawn();
  let hasHung = false;
  const onSilence = () => {
    hasHung = true;
    for (const pid of [process.pid, ...descendantsOf(process.pid)]) kill(pid);
  };
  let callOff = scheduler.after(limitMs, onSilence);
  const decoder = new TextDecoder();
  let output = "";
  for await (const bytes of process.stdout) {
    write(bytes);
    const before = report.finished;
    const text = decoder.decode(bytes, { stream: true });
    output += text;
    report.add(text);
    if (report.finished === before || hasHung) continue;
    callOff();
    callOff = scheduler.after(limitMs, onSilence);
  }
  const { code } = await process.status;
  callOff();
  if (hasHung) write(new TextEncoder().encode(describeHang(report, limitMs)));
  return { code: hasHung ? 1 : code, hasHung, output };
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** The processes that a process has started, and that those have; none without `/proc`. */
function descendantsOf(ancestor: number): readonly number[] {
  const { stdout } = new Deno.Command("bash", {
    args: ["-c", "cat /proc/[0-9]*/stat"],
    stderr: "null",
  }).outputSync();
  const processes = new TextDecoder().decode(stdout).split("\n")
    .map((line) => PROCESS.exec(line)?.slice(1, 3).map(Number) ?? []);
  const found = [ancestor];
  for (const one of found) {
    found.push(...processes.flatMap(([pid, parent]) => parent === one ? [pid ?? 0] : []));
  }
  return found.slice(1);
}

function describeHang({ slow }: TestReport, limitMs: number): string {
  const seconds = limitMs / 1000;
  const names = slow.length > 0
    ? `These tests still ran:\n${slow.map((name) => `  ${name}\n`).join("")}`
    : "Deno named no test that still ran: the loop of events may be blocked, or a module may hang\n";
  return `\nNo test finished for ${seconds} s, so the run was ended. ${names}`;
}

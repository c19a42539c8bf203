/** Runs the commands of one job. */
import { type Assignment, MAX_SUMMARY, type Outcome } from "../../services/work/runs/assignment.ts";
import { pause } from "../../services/kernel/pause.ts";
import { waitInWords } from "../../services/kernel/words.ts";
import { Output } from "./output.ts";
import type { Places, Sandbox } from "./sandbox.ts";
import { PROGRAM_PATH, spawnApart } from "./shell.ts";
import { SUPERVISOR, supervisorScript } from "./supervisor.ts";
import { watch } from "./watch.ts";

/** What a job does and may use. */
export type Plan = Pick<
  Assignment,
  "commands" | "shell" | "timeout_seconds" | "network" | "image" | "env" | "secrets" | "limits"
>;

/** How a job ended. */
export interface Ended {
  readonly outcome: Outcome;
  /** Of the command that failed; null if none did by itself. */
  readonly exit_code: number | null;
  /** What the status of the check says. */
  readonly summary: string;
}

export interface ExecuteOptions {
  readonly plan: Plan;
  readonly places: Places;
  /** Unique to the job, of letters, digits and `-`. */
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly output: Output;
  /** Ends the job; its reason is an {@linkcode Interruption}. */
  readonly signal: AbortSignal;
}

/** Why a job is ended from outside. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** Between the request to end and the end of everything, in milliseconds. */
  readonly graceMs: number;

  /** @param message a sentence without its end */
  constructor(message: string, graceMs = GRACE_MS) {
    super(message);
    this.graceMs = graceMs;
  }
}

/** Between the request to end and the end of everything, in milliseconds. */
const GRACE_MS = 5000;

const ENDED = "It was cancelled";

/** What the shell answers beside a command's own exit codes. */
const SIGNAL_BASE = 128;
const SIGNALS: Readonly<Record<number, string>> = {
  2: "SIGINT",
  6: "SIGABRT",
  9: "SIGKILL",
  11: "SIGSEGV",
  15: "SIGTERM",
  25: "SIGXFSZ: a file is as large as the check may write",
};

/** Why the runner ends a job. */
interface Stop {
  readonly outcome: Outcome;
  readonly summary: string;
}

/**
 * Runs the commands one after the other, until one fails, in the checkout.
 *
 * All processes of the job have ended when it returns, as far as the sandbox can tell.
 */
export async function execute(options: ExecuteOptions): Promise<Ended> {
  const { plan, places, name, sandbox, output, signal } = options;
  const { home } = sandbox.inside(places);
  const env = { PATH: PROGRAM_PATH, HOME: home, LANG: "C.UTF-8", CI: "true", ...plan.env };
  const script = supervisorScript({
    env: { ...env, ...plan.secrets },
    shell: plan.shell,
    commands: plan.commands,
  });
  const marker = crypto.randomUUID();
  const inner = ["/bin/sh", "-c", SUPERVISOR, "muster", marker, `${script.length}`, sandbox.all];
  const process = spawnApart(
    await sandbox.command(plan, { ...places, name }, inner),
    sandbox.environment,
  );
  const control = process.stdin.getWriter();
  const tell = (bytes: Uint8Array<ArrayBuffer>) => control.write(bytes).catch(() => {});
  void tell(script);

  const over = new AbortController();
  let stop: Stop | null = null;
  const end = async (why: Stop, graceMs = GRACE_MS): Promise<void> => {
    if (stop !== null || over.signal.aborted) return;
    stop = why;
    const line = new TextEncoder().encode("end\n");
    void tell(line);
    await pause(graceMs, over.signal);
    if (over.signal.aborted) return;
    void tell(line);
    kill(process);
    await sandbox.sweep?.(name, process.pid);
  };
  const onAbort = () => {
    const { reason } = signal;
    const { message, graceMs } = reason instanceof Interruption ? reason : new Interruption(ENDED);
    void end({ outcome: "cancelled", summary: message }, graceMs);
  };
  const timer = setTimeout(() => {
    const summary = `It took longer than ${waitInWords(plan.timeout_seconds)}`;
    void end({ outcome: "failure", summary });
  }, plan.timeout_seconds * 1000);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  const watching = watch({
    pid: process.pid,
    places,
    limits: plan.limits,
    onExceeded: (sentence) => void end({ outcome: "failure", summary: `The check ${sentence}` }),
    signal: over.signal,
  });

  const progress = new Progress(plan.commands, output);
  const copy = async (stream: "out" | "err", pipe: ReadableStream<Uint8Array>) => {
    const onMarker = () => progress.reach(stream);
    await output.copy(stream, pipe, { marker, onMarker, over: over.signal });
    await progress.end(stream);
  };
  const copying = Promise.all([copy("out", process.stdout), copy("err", process.stderr)]);
  const { code } = await process.status;
  over.abort();
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  // What the job left in the background ends, in a sandbox that does not end it by itself.
  await control.close().catch(() => {});
  await sandbox.sweep?.(name, process.pid);
  await copying;
  await watching;
  const ended = judged(stop, code, progress, plan.commands);
  const summary = output.masked(ended.summary).slice(0, MAX_SUMMARY).toWellFormed();
  return { ...ended, summary };
}

/** Counts the commands that began, by what both pipes say. */
class Progress {
  readonly #commands: readonly string[];
  readonly #output: Output;
  readonly #reached = { out: 0, err: 0 };
  #waiting: (() => void) | null = null;
  #begun = 0;

  constructor(commands: readonly string[], output: Output) {
    this.#commands = commands;
    this.#output = output;
  }

  /** How many commands have begun. */
  get begun(): number {
    return this.#begun;
  }

  /** A pipe has come to the next command, and goes on when the other one has, too. */
  async reach(stream: "out" | "err"): Promise<void> {
    const reached = ++this.#reached[stream];
    if (this.#reached[stream === "out" ? "err" : "out"] < reached) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      return await promise;
    }
    await this.#begin();
  }

  /** A pipe has ended, so that the other one waits for it no more. */
  async end(stream: "out" | "err"): Promise<void> {
    this.#reached[stream] = Infinity;
    if (this.#waiting !== null) await this.#begin();
  }

  async #begin(): Promise<void> {
    const command = this.#commands[this.#begun];
    if (command !== undefined) {
      this.#begun++;
      await this.#output.command(command);
    }
    const go = this.#waiting;
    this.#waiting = null;
    go?.();
  }
}

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended already.
  }
}

function judged(
  stop: Stop | null,
  code: number,
  progress: Progress,
  commands: readonly string[],
): Ended {
  if (stop !== null) return { ...stop, exit_code: null };
  const { begun } = progress;
  if (begun === 0 && code !== 0) {
    return { outcome: "error", exit_code: code, summary: "The runner could not begin the check" };
  }
  if (code === 0) return { outcome: "success", exit_code: 0, summary: "All commands succeeded" };
  const which = commands.length === 1 ? "The command" : `Command ${begun} of ${commands.length}`;
  const first = commands[begun - 1]?.trim().split("\n", 1)[0] ?? "";
  return {
    outcome: "failure",
    exit_code: code,
    summary: `${which} ${endOfCommand(code)}: ${first}`,
  };
}

function endOfCommand(code: number): string {
  const signal = code > SIGNAL_BASE ? SIGNALS[code - SIGNAL_BASE] : undefined;
  return signal === undefined ? `failed with exit code ${code}` : `was ended by ${signal}`;
}

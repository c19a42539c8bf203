import process from "node:process";
import { within } from "./until.ts";

/**
 * How long this thread computes to do some work, in milliseconds, in steps of about ten. Time in
 * which other threads have the core does not count.
 */
export function cpuTimeOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * The same for work that waits in between. What else this thread does meanwhile counts too.
 */
export async function cpuTimeDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** How long another process has computed, in milliseconds. */
export interface Computed {
  /** Its main thread. */
  readonly main: number;
  /** All its threads, in steps of ten. */
  readonly all: number;
}

/** Answers each line with what Linux knows of a process; Deno reads that with all permissions alone. */
const LOOK = `while read -r _; do
  read -r main < "/proc/$0/task/$0/schedstat" && read -r all < "/proc/$0/stat" && echo "$main $all"
done`;

/** A tick of the clock in `/proc/PID/stat`, in milliseconds. */
const TICK = 10;

/** Tells how long another process computes (Linux). It starts no process for each look. */
export class ProcessorTime implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(pid: number) {
    this.#process = new Deno.Command("bash", {
      args: ["-c", LOOK, String(pid)],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reader = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** @throws Error if there is no such process any more */
  read(): Promise<Computed> {
    const looked = this.#last.then(() => this.#look());
    this.#last = looked.catch(() => {});
    return looked;
  }

  async #look(): Promise<Computed> {
    await this.#writer.write(new TextEncoder().encode("\n"));
    let line = "";
    while (!line.endsWith("\n")) {
      const { value, done } = await within(this.#reader.read(), () => "The time of a process");
      if (done) throw new Error("Nobody tells the time of a process");
      line += value;
    }
    // Nanoseconds, two other numbers, and proc_pid_stat(5), whose second field is a name in parentheses.
    const stat = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return {
      main: Number(line.split(" ")[0]) / 1e6,
      all: (Number(stat[11]) + Number(stat[12])) * TICK,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#process.status;
  }
}

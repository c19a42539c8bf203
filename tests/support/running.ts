/** Starts programs of others, such as servers, in separate processes. */
import { WAIT_LIMIT } from "./until.ts";

/** The user of the programs if the test runs as root, which they refuse. */
export const NOBODY = 65_534;

/** The words that run a program as a user without rights. */
export function unprivileged(...words: readonly string[]): string[] {
  if (Deno.uid() !== 0) return [...words];
  return ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...words];
}

/**
 * Runs a program to its end.
 *
 * @param input what it reads from standard input
 */
export async function runWith(
  program: string,
  args: readonly string[],
  input: string,
  options: { readonly cwd?: URL } = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const child = new Deno.Command(program, {
    ...options,
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** A program that runs until it is stopped. */
export class Running {
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;
  readonly #lines: string[] = [];
  /** The number of lines that {@link logged} has read. */
  #seen = 0;
  #wake: () => void = () => {};
  #ended = false;

  constructor(program: string, args: readonly string[]) {
    const [first = "", ...rest] = unprivileged(program);
    const options = { stdin: "null", stdout: "piped", stderr: "piped" } as const;
    this.#process = new Deno.Command(first, { args: [...rest, ...args], ...options }).spawn();
    this.#reading = Promise.all([
      this.#read(this.#process.stdout),
      this.#read(this.#process.stderr),
      this.#process.status.then(() => {
        this.#ended = true;
        this.#wake();
      }),
    ]);
  }

  /** Resolves when a line, from now on, matches. */
  async logged(pattern: RegExp): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake();
    }, WAIT_LIMIT);
    try {
      for (;;) {
        while (this.#seen < this.#lines.length) {
          if (pattern.test(this.#lines[this.#seen++] ?? "")) return;
        }
        if (this.#ended || late) throw new Error(`No ${pattern} in:\n${this.#lines.join("\n")}`);
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the program to do something, and fails if it ends before. */
  async unlessItEnds(done: Promise<void>): Promise<void> {
    const ended = this.#process.status.then(({ code }) => {
      throw new Error(`It ended with code ${code}:\n${this.#lines.join("\n")}`);
    });
    ended.catch(() => {});
    await Promise.race([done, ended]);
  }

  /** The process. */
  get pid(): number {
    return this.#process.pid;
  }

  /** What it has printed so far. */
  get output(): string {
    return this.#lines.join("\n");
  }

  /** Ends it with a signal, and waits. */
  async stop(signal: Deno.Signal = "SIGKILL"): Promise<void> {
    try {
      this.#process.kill(signal);
    } catch {
      // It has ended already.
    }
    await this.#reading;
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.#lines.push(...lines);
      this.#wake();
    }
  }
}

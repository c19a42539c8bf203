/** What a thread did since it was started, in milliseconds. */
export interface ThreadTimes {
  /** On a core. */
  readonly computed: number;
  /** Ready to compute, while other threads had the cores. */
  readonly queued: number;
}

/** Reads what the main thread of another process does (Linux), a tenth of a millisecond each time. */
export class MainThread implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: ReadableStreamDefaultReader<string>;

  /** Begins with a shell that has the file read to it: the runtime opens none of another process. */
  constructor(pid: number) {
    const file = `/proc/${pid}/task/${pid}/schedstat`;
    const script = `while read -r; do read -r times < ${file} && echo "$times"; done`;
    this.#process = new Deno.Command("bash", {
      args: ["-c", script],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#lines = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * A tick of the kernel late at most, 1 to 10 ms, if the thread computes meanwhile.
   *
   * @throws Error if the process is gone
   */
  async times(): Promise<ThreadTimes> {
    await this.#writer.write(REQUEST);
    const { value = "" } = await this.#lines.read();
    const [computed = NaN, queued = NaN] = value.split(" ").map((count) => Number(count) / 1e6);
    if (Number.isNaN(computed + queued)) throw new Error("The process is gone");
    return { computed, queued };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#lines.cancel();
    await this.#process.status;
  }
}

const REQUEST = new TextEncoder().encode("\n");

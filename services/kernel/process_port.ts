/**
 * The protocol of workers over a process, which calls `serveProcess`: each message is a line of JSON on
 * its standard input or output. Nothing is transferred.
 */
import type { FromWorker, ToWorker, WorkerPort } from "./worker_pool.ts";

/** A worker that is a process. To terminate it is to kill it. */
export class ProcessPort implements WorkerPort {
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  readonly #process: Deno.ChildProcess;
  /** Stays open as long as this process lives; the other one watches it. */
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;

  /**
   * @param process its standard input and output are pipes
   * @param maxLine the longest message that it may send, in characters
   */
  constructor(process: Deno.ChildProcess, maxLine: number) {
    this.#process = process;
    this.#input = process.stdin.getWriter();
    void this.#receive(maxLine);
  }

  postMessage(message: ToWorker): void {
    // If it has ended, its output tells.
    this.#input.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)).catch(() => {});
  }

  terminate(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }

  async #receive(maxLine: number): Promise<void> {
    let reason = "It has ended";
    try {
      for await (const line of linesOf(this.#process.stdout, maxLine)) {
        const event = new MessageEvent("message", { data: JSON.parse(line) as FromWorker });
        this.onmessage?.call(this as unknown as Worker, event);
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    this.terminate();
    await this.#process.status;
    await this.#input.close().catch(() => {});
    const event = new ErrorEvent("error", { message: reason, cancelable: true });
    this.onerror?.call(this as unknown as Worker, event);
  }
}

/**
 * The whole lines of a stream of UTF-8.
 *
 * @param max characters of a line
 * @throws RangeError if one is longer
 */
export async function* linesOf(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  max: number,
): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const [first = "", ...rest] = text.split("\n");
    length += first.length;
    if (length > max) throw new RangeError("A message is too long");
    parts.push(first);
    if (rest.length === 0) continue;
    yield parts.join("");
    const last = rest.pop() ?? "";
    yield* rest;
    parts = [last];
    length = last.length;
  }
}

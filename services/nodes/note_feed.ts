import { setImmediate } from "node:timers";

/** Most bytes that wait for another node. One that takes them too slowly is told in another way. */
const MAX_WAITING = 4 * 1024 * 1024;

const encoder = new TextEncoder();

/** What another node is told: lines of text in one answer, which it reads as long as both run. */
export class NoteFeed {
  /** The body of the answer. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** What leaves with the next turn of the event loop. */
  #next = "";

  /** @param onEnd called once, when nothing can be told any more */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => this.end(),
    }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING }));
  }

  /** Tells a line, which may be empty; false if that is not possible. */
  tell(line: string): boolean {
    if (this.#controller === null || line.includes("\n")) return false;
    if (this.#next === "") setImmediate(() => this.#flush());
    this.#next += `${line}\n`;
    return true;
  }

  /** Ends the answer. */
  end(): void {
    const controller = this.#controller;
    if (controller === null) return;
    this.#controller = null;
    this.#onEnd();
    try {
      controller.close();
    } catch {
      // The reader has left.
    }
  }

  #flush(): void {
    const bytes = encoder.encode(this.#next);
    this.#next = "";
    const controller = this.#controller;
    if (controller === null) return;
    controller.enqueue(bytes);
    if ((controller.desiredSize ?? 0) <= 0) this.end();
  }
}

/** Bytes that the runtime gets at once: when it asks for more shows how fast the client reads. */
const PART_BYTES = 64 * 1024;

/** Answers up to this length fit into the buffers of a connection. */
const SHORT_BYTES = 128 * 1024;

/** Types of short answers, and of event streams, which have bounds of their own. */
const SHORT_TYPES = /^(?:application\/json|text\/)/;

/** Whether an answer may be so long that its client takes a while to read it. */
export function isLongAnswer({ headers }: Response): boolean {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared) > SHORT_BYTES;
  return !SHORT_TYPES.test(headers.get("content-type") ?? "");
}

/**
 * The body of an answer, in parts. The runtime would take a whole body into its memory at once, and
 * then call the answer sent.
 */
export class PacedBody {
  /** What the runtime reads. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #clock: { readonly now: number };
  #rest: Uint8Array<ArrayBuffer> | null = null;
  #heldSince: number | null = null;

  /** @param clock the time in milliseconds, from any starting point */
  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, clock: { readonly now: number }) {
    this.#reader = body.getReader();
    this.#clock = clock;
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => this.#pull(controller),
      cancel: (reason) => this.#reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /**
   * Since when the client has taken nothing, though there is something for it; null while it waits
   * for more.
   */
  get heldSince(): number | null {
    return this.#heldSince;
  }

  async #pull(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    this.#heldSince = null;
    const part = this.#rest ?? (await this.#reader.read()).value;
    this.#heldSince = this.#clock.now;
    if (part === undefined) return controller.close();
    this.#rest = part.length > PART_BYTES ? part.subarray(PART_BYTES) : null;
    controller.enqueue(part.subarray(0, PART_BYTES));
  }
}

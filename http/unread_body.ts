import { withBody } from "./body.ts";

/** How much of an unread body is read, and for how long. */
interface Bounds {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** For a connection that has shown a valid credential, and for any other. */
const TRUSTED: Bounds = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 };
const STRANGER: Bounds = { bytes: 256 * 1024, milliseconds: 2_000 };

/** How long a client has to read the answer to a request whose body has not ended, in milliseconds. */
const LINGER_MILLISECONDS = 1000;

/** Whether a request may have a body that the runtime passes on. */
export function mayHaveBody({ method }: Request): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Whether a request may have a body longer than the bound of a stranger's. */
export function mayBeLong({ headers }: Request): boolean {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared) > STRANGER.bytes;
  return headers.get("transfer-encoding") !== null;
}

/**
 * A request whose body may have no end. Once it is answered, no more of the body is read than
 * {@linkcode leave} does, so that its client has to wait.
 */
export class WatchedRequest {
  /** The request for the handler. */
  readonly request: Request;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  /** The declared bytes that have not come; NaN if no length was declared. */
  #left: number;
  #hasEnded = false;
  #isLeft = false;
  #endLinger: () => void = () => {};
  readonly #over = new Promise<{ done: true; value?: never }>((resolve) => {
    this.#endLinger = () => resolve({ done: true });
  });

  /** @param body of the request */
  constructor(given: Request, body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#left = Number(given.headers.get("content-length") ?? NaN);
    this.#reader = body.getReader();
    const watched = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => this.#pull(controller),
      cancel: () => {
        this.#isLeft = true;
      },
    }, { highWaterMark: 0 });
    this.request = withBody(given, watched);
  }

  /**
   * Reads and drops some of a body that the handler has not begun to read, and stops reading. The
   * connection ends with what is left, but not at once, so that the client can read the answer. If
   * the body were cancelled before the answer has been sent, the runtime would read to its end.
   */
  async leave(trusted: boolean): Promise<void> {
    if (!this.#hasEnded) await dropUnreadBody(this.request, trusted, "hold");
    this.#isLeft = true;
    if (this.#hasEnded) return;
    const end = () => {
      this.#reader.cancel().catch(() => {});
      this.#endLinger();
    };
    Deno.unrefTimer(setTimeout(end, LINGER_MILLISECONDS));
  }

  async #pull(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    const { value, done } = this.#isLeft ? await this.#over : await this.#reader.read();
    // Nobody may take what has come for the whole body.
    if (this.#isLeft) throw new Error("The body was left unread");
    this.#left -= value?.byteLength ?? 0;
    this.#hasEnded = done || this.#left <= 0;
    if (done) controller.close();
    else controller.enqueue(value);
  }
}

/**
 * Reads and drops the body of a request that was answered without it. If the server closed the
 * connection while the client still sends, the client would lose the answer (RFC 9112, section 9.6).
 *
 * @param rest what to do beyond the bounds: cancel the body, or hold it for somebody else to cancel
 * @returns null if nothing is unread
 */
export function dropUnreadBody(
  request: Request,
  trusted: boolean,
  rest: "cancel" | "hold" = "cancel",
): Promise<void> | null {
  if (request.bodyUsed || request.body === null || request.body.locked) return null;
  return drop(request.body, trusted ? TRUSTED : STRANGER, rest);
}

async function drop(
  body: ReadableStream<Uint8Array>,
  { bytes, milliseconds }: Bounds,
  rest: "cancel" | "hold",
): Promise<void> {
  const reader = body.getReader();
  const { promise: late, resolve } = Promise.withResolvers<{ done: true; value?: never }>();
  const timer = setTimeout(() => resolve({ done: true }), milliseconds);
  try {
    for (let left = bytes; left > 0;) {
      const { value, done } = await Promise.race([reader.read(), late]);
      if (done) break;
      left -= value.byteLength;
    }
  } catch {
    // The client is gone, and its answer with it.
  } finally {
    clearTimeout(timer);
    if (rest === "cancel") await reader.cancel().catch(() => {});
  }
}

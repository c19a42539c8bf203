import type { Config } from "../services/operation/config/mod.ts";
import { Invalid, ServiceError, TooLarge, TooSlow } from "../services/kernel/errors.ts";
import { shortAscii } from "../services/engines/irc/mod.ts";
import { requireBounded } from "../services/kernel/validation/mod.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a body, which JSON requires to be UTF-8 (RFC 8259, section 8.1). A byte order mark is
 * dropped.
 *
 * @throws Invalid if it is not UTF-8
 */
function decodeBody(bytes: ArrayBuffer): string {
  try {
    return shortAscii(new Uint8Array(bytes)) ?? decoder.decode(bytes);
  } catch {
    throw new Invalid("The body is not valid UTF-8");
  }
}

/**
 * The text of a body.
 *
 * @throws Invalid if it is not UTF-8, is nested too deeply or has too many entries
 */
function shallowText(bytes: ArrayBuffer, maxEntries: number | undefined): string {
  const text = decodeBody(bytes);
  requireBounded(text, maxEntries);
  return text;
}

/** The runtime has several errors for a body that ends early, but no class for them. */
function refusalOf(error: unknown): unknown {
  return error instanceof ServiceError ? error : new Invalid("The body is incomplete");
}

/** The bounds of a request's body. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Between two of its parts. */
  readonly stallMilliseconds: number;
  /** Most entries of all its arrays and objects; a usual number, if absent. */
  readonly maxEntries?: number;
}

/** The bounds that the configuration sets. */
export function bodyLimitsOf({ limits }: Pick<Config, "limits">): BodyLimits {
  return { maxBytes: limits.body_bytes, stallMilliseconds: limits.body_seconds * 1000 };
}

/** Most entries of a request to a model: schemas read few of them. */
const MODEL_ENTRIES = 400_000;

/** The bounds of a request to a model, which may hold a long conversation. */
export function modelBodyLimitsOf({ limits, llm }: Pick<Config, "limits" | "llm">): BodyLimits {
  return {
    ...bodyLimitsOf({ limits }),
    maxBytes: llm.limits.request_bytes,
    maxEntries: MODEL_ENTRIES,
  };
}

/** Methods whose body the runtime drops. */
export const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Whether a request has a body, which may be empty. */
export function hasBody(request: Request): boolean {
  if (BODILESS.has(request.method)) return false;
  // Not by `request.body` alone: to create a stream costs more than to read a body that has arrived.
  return request.headers.get("content-length") !== null || request.body !== null;
}

/** In place of a URL that is not valid. */
const NO_URL = "http://localhost/";

/**
 * The same request with another body. The constructor of `Request` would refuse some methods, such as
 * TRACE, write others in capitals, and resolve `..` in the URL.
 */
export function withBody(
  given: Request,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>,
): Request {
  const { method, headers, url } = given;
  const valid = URL.canParse(url) ? url : NO_URL;
  const request = new Request(valid, { method: "POST", headers, body });
  // Few ask for it, and to make one that follows another costs more than the rest.
  Object.defineProperty(request, "signal", { get: () => given.signal });
  if (request.method !== method) Object.defineProperty(request, "method", { value: method });
  if (request.url !== url) Object.defineProperty(request, "url", { value: url });
  return request;
}

/** The same request, if its body can still be read; else, who reads it gets the error. */
export function unreadable(request: Request, error: ServiceError): Request {
  if (BODILESS.has(request.method)) return request;
  return withBody(request, new ReadableStream({ start: (stream) => stream.error(error) }));
}

/** Bodies up to this length are read in one piece, with one deadline. */
const SMALL_BYTES = 65_536;

/** How long a body may take that has its place only for a time. */
const LONG_MILLISECONDS = 120_000;

function tooSlow(): TooSlow {
  return new TooSlow("The body did not arrive in time");
}

/** Reads bodies of requests, within the same bounds. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #maxEntries: number | undefined;
  readonly #deadlines: Deadlines;

  constructor(limits: BodyLimits) {
    this.#maxBytes = limits.maxBytes;
    this.#maxEntries = limits.maxEntries;
    this.#deadlines = new Deadlines(limits.stallMilliseconds, tooSlow);
  }

  /** Whether a body of this declared length is read in one piece. */
  isShort(length: number): boolean {
    return length > 0 && length <= SMALL_BYTES && length <= this.#maxBytes;
  }

  /**
   * Reads the body of a request, the text of JSON.
   *
   * @throws TooLarge as soon as it exceeds the limit, TooSlow if a part does not arrive in time,
   * Invalid if it is incomplete, not UTF-8 or nested too deeply
   */
  read(request: Request): Promise<string> {
    const declared = Number(request.headers.get("content-length") ?? NaN);
    if (declared > this.#maxBytes) return Promise.reject(this.#tooLarge());
    if (declared <= SMALL_BYTES) return this.readShortText(request);
    return this.#readParts(request.body).then((bytes) => shallowText(bytes, this.#maxEntries));
  }

  /** Reads a body whose declared length is short, as {@linkcode read} does. */
  readShortText(request: Request): Promise<string> {
    return this.#inTime(request.arrayBuffer()).then((bytes) =>
      shallowText(bytes, this.#maxEntries)
    );
  }

  /**
   * Reads a body whose declared length is short, as it is.
   *
   * @throws TooSlow if it does not arrive in time, Invalid if it is incomplete
   */
  async readShort(request: Request): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#inTime(request.arrayBuffer()));
  }

  /**
   * Reads the body of a request, as it is, within two minutes.
   *
   * @param shortBytes the usual length
   * @param onLong called once it is longer than that, and awaited before more is read; may throw
   * @throws TooLarge as soon as it exceeds the limit, TooSlow if a part does not arrive in time,
   * Invalid if it is incomplete, and what `onLong` throws
   */
  async readBytes(
    request: Request,
    shortBytes: number,
    onLong: () => Promise<void>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const declared = Number(request.headers.get("content-length") ?? 0);
    if (declared > this.#maxBytes) throw this.#tooLarge();
    let begun = performance.now();
    let isLong = false;
    const onLength = async (length: number) => {
      if (performance.now() - begun > LONG_MILLISECONDS) throw tooSlow();
      if (isLong || length <= shortBytes) return;
      isLong = true;
      await onLong();
      begun = performance.now();
    };
    await onLength(declared);
    return new Uint8Array(await this.#readParts(request.body, onLength));
  }

  async #readParts(
    body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
    onLength?: (length: number) => Promise<void>,
  ): Promise<ArrayBuffer> {
    if (body === null) return new ArrayBuffer(0);
    const reader = body.getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for (;;) {
      const { value, done } = await this.#inTime(reader.read());
      if (done) return await new Blob(parts).arrayBuffer();
      length += value.byteLength;
      if (length > this.#maxBytes) throw this.#tooLarge();
      await onLength?.(length);
      parts.push(value);
    }
  }

  /**
   * Waits for data from the client, up to the time limit.
   *
   * @throws TooSlow, Invalid if the client disconnects or breaks the framing of the body, and why
   * {@linkcode unreadable} says that it cannot be read
   */
  #inTime<Result>(sent: Promise<Result>): Promise<Result> {
    return this.#deadlines.limit(sent, refusalOf);
  }

  #tooLarge(): TooLarge {
    return new TooLarge(`The body is larger than ${this.#maxBytes} bytes`);
  }
}

/** How often in its limit a task is looked at, so that it ends at most a quarter too late. */
const LOOKS = 4;

/** A task that has not ended yet. */
interface Running {
  /** The number of looks before it. */
  readonly since: number;
  readonly fail: (error: Error) => void;
}

/**
 * Limits how long tasks may take. All of them have the same limit, so one timer is enough, and a
 * task that ends in time neither sets one nor reads the clock.
 */
class Deadlines {
  readonly #milliseconds: number;
  readonly #newError: () => Error;
  /** The oldest first. */
  readonly #running = new Set<Running>();
  #look = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param milliseconds the limit, which a task may exceed by a quarter
   * @param newError creates the error of a task that exceeds it
   */
  constructor(milliseconds: number, newError: () => Error) {
    this.#milliseconds = milliseconds;
    this.#newError = newError;
  }

  /**
   * Waits for a task.
   *
   * @param asError turns what the task throws into the error of the caller
   * @throws that error, or the one of a task that is late
   */
  limit<Result>(task: Promise<Result>, asError: (error: unknown) => unknown): Promise<Result> {
    return new Promise((resolve, fail) => {
      const running = { since: this.#look, fail };
      this.#running.add(running);
      if (this.#timer === undefined) this.#startTimer();
      task.then(
        (result) => {
          this.#running.delete(running);
          resolve(result);
        },
        (error) => {
          this.#running.delete(running);
          fail(asError(error));
        },
      );
    });
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.#endLate(), this.#milliseconds / LOOKS);
    Deno.unrefTimer(this.#timer);
  }

  #endLate(): void {
    this.#timer = undefined;
    this.#look++;
    for (const running of this.#running) {
      // It may have begun just before its first look.
      if (this.#look - running.since <= LOOKS) break;
      this.#running.delete(running);
      running.fail(this.#newError());
    }
    if (this.#running.size > 0) this.#startTimer();
  }
}

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

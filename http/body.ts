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
function shallowText(bytes: ArrayBuffer): string {
  const text = decodeBody(bytes);
  requireBounded(text);
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
}

/** The bounds that the configuration sets. */
export function bodyLimitsOf({ limits }: Pick<Config, "limits">): BodyLimits {
  return { maxBytes: limits.body_bytes, stallMilliseconds: limits.body_seconds * 1000 };
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
  readonly #deadlines: Deadlines;

  constructor(limits: BodyLimits) {
    this.#maxBytes = limits.maxBytes;
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
    return this.#readParts(request.body).then(shallowText);
  }

  /** Reads a body whose declared length is short, as {@linkcode read} does. */
  readShortText(request: Request): Promise<string> {
    return this.#inTime(request.arrayBuffer()).then(shallowText);
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

import { Buffer } from "node:buffer";
import { type AnswerHead, MalformedAnswer, readAnswerHead } from "./answer_head.ts";
import { type BodyDecoder, decoderOf } from "./body_decoder.ts";

/** Bytes that are read at a time. */
const READ_BYTES = 16_384;

/** Bodies up to this length are read as a whole, in bytes. */
const WHOLE_BYTES = 65_536;

/** A status whose answer has the framing of a body, and no body (RFC 9110, section 15.3.6). */
const RESET_CONTENT = 205;

/** Most interim answers (RFC 9110, section 15.2) before an answer. */
const MAX_INTERIM = 16;

/** A connection that ended before anything of an answer came. */
export class NoAnswer extends Error {}

/** An answer as it comes from a connection. */
export interface RawAnswer extends Pick<AnswerHead, "status" | "headers"> {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

export interface ConnectionOptions {
  readonly conn: Deno.Conn;
  /** Called when it waits for its next request. */
  readonly onIdle: (connection: Connection) => void;
  /** Called once, when it takes no more requests. */
  readonly onClosed: (connection: Connection) => void;
}

/**
 * An HTTP/1.1 connection to another node, for one request at a time. It costs a third of what the
 * runtime's `fetch` does. It always reads, so that it knows at once when the other end closes it.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #buffer = new Uint8Array(READ_BYTES);
  /** The read that is under way. */
  #reading: Promise<number | null>;
  #isOpen = true;
  #isIdle = true;
  /** Whether it has answered a request. */
  #isUsed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#reading = this.#read();
  }

  /** Whether it takes requests. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether it has answered a request before. Its other end may be about to close it. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Closes it. A request that is under way fails. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.#options.conn.close();
    } catch {
      // The runtime has already closed it.
    }
    this.#options.onClosed(this);
  }

  /**
   * Sends a request, and resolves when the head of its answer has come; for a short answer, when all
   * of it has.
   *
   * @param request its bytes
   * @throws NoAnswer if nothing of an answer comes; MalformedAnswer; the runtime's errors
   */
  async exchange(method: string, request: Uint8Array): Promise<RawAnswer> {
    this.#isIdle = false;
    try {
      const written = this.#write(request);
      const { head, rest } = await this.#head(method);
      const { status, headers } = head;
      const decoder = decoderOf(head.body);
      let parts = decoder.decode(rest);
      if (!decoder.isDone) {
        // The next bytes come into the same memory.
        parts = parts.map((part) => part.slice());
        const isShort = head.body.kind === "bytes" && head.body.bytes <= WHOLE_BYTES;
        if (!isShort && status !== RESET_CONTENT) {
          return { status, headers, body: this.#stream(decoder, parts, { head, written }) };
        }
        while (!decoder.isDone) parts.push(...decoder.decode(await this.#next(decoder)));
      }
      const hasBody = head.body.kind !== "none" && status !== RESET_CONTENT;
      const body = hasBody ? joined(parts) : null;
      await this.#finish(head, written);
      return { status, headers, body };
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Never fails: the answer does not come then. */
  async #write(bytes: Uint8Array): Promise<void> {
    const { conn } = this.#options;
    try {
      for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
    } catch {
      this.close();
    }
  }

  async #head(
    method: string,
  ): Promise<{ readonly head: AnswerHead; readonly rest: Uint8Array<ArrayBuffer> }> {
    let bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    let interim = 0;
    for (;;) {
      const length = await this.#reading;
      if (length === null) {
        throw bytes.length === 0
          ? new NoAnswer("The connection has ended")
          : new MalformedAnswer("The head is cut off");
      }
      const arrived = this.#buffer.subarray(0, length);
      bytes = bytes.length === 0 ? arrived : Buffer.concat([bytes, arrived]);
      for (;;) {
        const head = readAnswerHead(bytes, method);
        if (head === null) break;
        const rest = bytes.subarray(head.length);
        if (head.status >= 200) return { head, rest };
        if (++interim > MAX_INTERIM) throw new MalformedAnswer("The answer does not begin");
        bytes = rest;
      }
      bytes = bytes.slice();
      this.#reading = this.#read();
    }
  }

  /** The next bytes of a body; they stay until the next read. */
  async #next(decoder: BodyDecoder): Promise<Uint8Array<ArrayBuffer>> {
    this.#reading = this.#read();
    const length = await this.#reading;
    if (length !== null) return this.#buffer.slice(0, length);
    decoder.end();
    return new Uint8Array(0);
  }

  #stream(
    decoder: BodyDecoder,
    first: readonly Uint8Array<ArrayBuffer>[],
    { head, written }: { readonly head: AnswerHead; readonly written: Promise<void> },
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      start(controller) {
        for (const part of first) controller.enqueue(part);
      },
      pull: async (controller) => {
        try {
          for (let came = false; !came && !decoder.isDone;) {
            for (const part of decoder.decode(await this.#next(decoder))) {
              controller.enqueue(part);
              came = true;
            }
          }
        } catch (error) {
          this.close();
          throw error;
        }
        if (!decoder.isDone) return;
        controller.close();
        await this.#finish(head, written);
      },
      cancel: () => this.close(),
    }, { highWaterMark: 0 });
  }

  /** The answer has come to its end, perhaps before the request has. */
  async #finish({ isKept }: AnswerHead, written: Promise<void>): Promise<void> {
    await written;
    this.#isUsed = true;
    if (!isKept || !this.#isOpen) return this.close();
    this.#isIdle = true;
    this.#reading = this.#read();
    this.#options.onIdle(this);
  }

  /** Reads into the buffer. Null at the end, which closes an idle connection. */
  async #read(): Promise<number | null> {
    let length: number | null = null;
    try {
      length = await this.#options.conn.read(this.#buffer);
    } catch {
      // It has ended in a bad way, or was closed here.
    }
    // Nothing may come without a request.
    if (this.#isIdle) this.close();
    return length;
  }
}

/** Parts in memory of their own. */
function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first.slice() : Buffer.concat(parts);
}

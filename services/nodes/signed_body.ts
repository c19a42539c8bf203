import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { Unavailable } from "../errors.ts";
import { RETRY_SECONDS } from "./away.ts";
import { isSameCode, type Mac } from "./mac.ts";

/** Longest content of a chunk, in bytes. */
const MAX_CHUNK = 65_536;

/** Bytes of a chunk's length, and of its code. */
const LENGTH_BYTES = 4;
const CODE_BYTES = 32;
const HEAD_BYTES = LENGTH_BYTES + CODE_BYTES;

/** In the length of a chunk: whether it is the last one. */
const LAST = 0x8000_0000;

type Bytes = Uint8Array<ArrayBuffer>;

/** The codes of the chunks of one body: each covers all chunks before it, and the mark. */
class Codes {
  readonly #mac: Mac;
  #code: string;

  /** @param code of the mark */
  constructor(mac: Mac, code: string) {
    this.#mac = mac;
    this.#code = code;
  }

  /** The code of the next chunk, in hexadecimal digits. */
  next(content: Uint8Array, isLast: boolean): string {
    const end = isLast ? "last" : "more";
    return this.#code = this.#mac.of(`chunk\n${this.#code}\n${end}\n${hash("sha256", content)}`);
  }
}

/** Signs the body of a request, by chunk. */
export class BodySigner {
  readonly #codes: Codes;

  /** @param code of the request's mark */
  constructor(mac: Mac, code: string) {
    this.#codes = new Codes(mac, code);
  }

  /** A whole body, of any length. */
  whole(body: Uint8Array): Bytes {
    const chunks: Bytes[] = [];
    for (let at = 0; at === 0 || at < body.length; at += MAX_CHUNK) {
      chunks.push(this.#chunk(body.subarray(at, at + MAX_CHUNK), at + MAX_CHUNK >= body.length));
    }
    const [first] = chunks;
    return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  }

  /** A body that streams. Its last chunk is empty. */
  stream(body: ReadableStream<Uint8Array>): ReadableStream<Bytes> {
    const reader = body.getReader();
    return new ReadableStream<Bytes>({
      pull: async (controller) => {
        const { value, done } = await reader.read();
        if (done) {
          controller.enqueue(this.#chunk(new Uint8Array(0), true));
          return controller.close();
        }
        for (let at = 0; at === 0 || at < value.length; at += MAX_CHUNK) {
          controller.enqueue(this.#chunk(value.subarray(at, at + MAX_CHUNK), false));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  #chunk(content: Uint8Array, isLast: boolean): Bytes {
    const chunk = Buffer.alloc(HEAD_BYTES + content.length);
    chunk.writeUInt32BE((isLast ? LAST : 0) + content.length);
    chunk.write(this.#codes.next(content, isLast), LENGTH_BYTES, "hex");
    chunk.set(content, HEAD_BYTES);
    return chunk;
  }
}

/** Verifies the body of a request, by chunk: nobody sees what is not verified. */
export class BodyVerifier {
  readonly #codes: Codes;
  /** What has come of the next chunk, in parts and in bytes. */
  #parts: Uint8Array[] = [];
  #length = 0;
  /** How many bytes the next chunk has, as far as that is known. */
  #needed = HEAD_BYTES;
  #isDone = false;

  /** @param code of the request's mark */
  constructor(mac: Mac, code: string) {
    this.#codes = new Codes(mac, code);
  }

  /**
   * The content of a whole body.
   *
   * @throws Unavailable if it is not what the sender has signed
   */
  whole(signed: Uint8Array): Bytes {
    const parts = this.#take(signed);
    this.#end();
    const [first] = parts;
    return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
  }

  /** The content of a body that streams. It fails with Unavailable where it is not as signed. */
  stream(signed: ReadableStream<Uint8Array>): ReadableStream<Bytes> {
    const reader = signed.getReader();
    return new ReadableStream<Bytes>({
      pull: async (controller) => {
        try {
          for (let came = false; !came;) {
            const { value, done } = await reader.read();
            if (done) {
              this.#end();
              return controller.close();
            }
            for (const part of this.#take(value)) {
              controller.enqueue(part);
              came = true;
            }
          }
        } catch (error) {
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /** The contents of the chunks that have come, without empty ones. */
  #take(bytes: Uint8Array): Bytes[] {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    if (this.#isDone && this.#length > 0) throw changed();
    // Joined once there is enough, so that small pieces cost no more.
    if (this.#length < this.#needed) return [];
    const buffer = Buffer.concat(this.#parts);
    const parts: Bytes[] = [];
    let at = 0;
    for (this.#needed = HEAD_BYTES; buffer.length - at >= this.#needed;) {
      const head = buffer.readUInt32BE(at);
      const length = head & ~LAST;
      if (this.#isDone || length > MAX_CHUNK) throw changed();
      this.#needed = HEAD_BYTES + length;
      if (buffer.length - at < this.#needed) break;
      const content = buffer.subarray(at + HEAD_BYTES, at + this.#needed);
      const code = buffer.toString("hex", at + LENGTH_BYTES, at + HEAD_BYTES);
      const isLast = head >= LAST;
      if (!isSameCode(code, this.#codes.next(content, isLast))) throw changed();
      if (length > 0) parts.push(content);
      this.#isDone = isLast;
      at += this.#needed;
      this.#needed = HEAD_BYTES;
    }
    this.#parts = [buffer.subarray(at)];
    this.#length = buffer.length - at;
    if (this.#isDone && this.#length > 0) throw changed();
    return parts;
  }

  #end(): void {
    if (!this.#isDone) throw changed();
  }
}

function changed(): Unavailable {
  return new Unavailable("The body of another node's request was changed on its way; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

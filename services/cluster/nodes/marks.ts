import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { Unavailable } from "../../kernel/errors.ts";
import { type NodeRecord, RETRY_SECONDS } from "../../kernel/nodes.ts";

/** The header with the mark of a request from another node. */
export const MARK_HEADER = "X-Muster-Forwarded";

/** How old a mark may be, and how far the clocks of two nodes may differ, in milliseconds. */
const MAX_AGE = 60_000;

/** Longest mark, in characters: that of the longest target which an HTTP server reads. */
const MAX_LENGTH = 262_144;

/** Nonces of one sender that are remembered, by default. */
const REMEMBERED = 32_768;

/** Most senders whose nonces are remembered. */
const MAX_SENDERS = 64;

/** What a node says about a request that it sends to another one. */
export interface Mark {
  /**
   * `forwarded`: a client's request, with the client's own credential. `internal`: the node's own
   * request, for which the mark is the credential.
   */
  readonly kind: "forwarded" | "internal";
  readonly from: string;
  readonly to: string;
  /** When the receiver started: it remembers no nonces from before. */
  readonly toStarted: number;
  /** When it was signed, in Unix milliseconds. */
  readonly time: number;
  /** No other mark of the sender has it. */
  readonly nonce: string;
  /** The client's address. */
  readonly address: string;
  readonly requestId: string;
  /** Whether the client came over TLS. */
  readonly secure: boolean;
  /** The target of the client's request, if it comes with another one. */
  readonly target?: string | undefined;
  /** Whether the sender keeps the client's connection, and need not be told whose request it is. */
  readonly kept?: boolean | undefined;
}

/**
 * Why a mark that a node has signed does not count. `stale`: more than a minute ago, or with a clock
 * that differs by as much. `misdirected`: for another node, whose address leads here. `restarted`:
 * this node has started again since. `repeated`: it has come before, or may have.
 */
export type RefusedMark = "stale" | "misdirected" | "restarted" | "repeated";

/** What only the sender of a request knows. */
export type MarkContent = Pick<
  Mark,
  "kind" | "address" | "requestId" | "secure" | "target" | "kept"
>;

/** What a mark holds for: it opens no other request. */
export interface MarkedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** Those with a credential count. */
  readonly headers: Pick<Headers, "get">;
}

/** A mark as it is sent, and what signs the body that follows it. */
interface Signed {
  readonly header: string;
  readonly body: BodySigner;
}

/** A mark that holds, and what verifies the body that follows it. */
export interface Verified {
  readonly mark: Mark;
  readonly body: BodyVerifier;
}

export interface MarksOptions {
  /** The secret that all nodes share, for this purpose alone; for a {@linkcode Mac}. */
  readonly key: string;
  /** This node. */
  readonly self: Pick<NodeRecord, "name" | "startedAt">;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Nonces of one sender that are remembered: so many at least, and at most twice as many. */
  readonly remembered?: number;
}

/**
 * Signs the requests of this node to others, and verifies those of others to this one. A mark holds
 * once, so a copy that somebody took on the way is refused. README.md has the format.
 */
export class Marks {
  readonly #options: MarksOptions;
  readonly #mac: Mac;
  /** By the sender. */
  readonly #seen = new Map<string, SeenNonces>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#mac = new Mac(options.key);
  }

  /** Signs a request to another node. */
  sign(
    { kind, address, requestId, secure, target, kept }: MarkContent,
    to: Pick<NodeRecord, "name" | "startedAt">,
    request: MarkedRequest,
  ): Signed {
    const { self, clock } = this.#options;
    const mark: Mark = {
      kind,
      from: self.name,
      to: to.name,
      toStarted: to.startedAt,
      time: clock(),
      nonce: crypto.randomUUID(),
      address,
      requestId,
      secure,
      target,
      kept,
    };
    const payload = Buffer.from(JSON.stringify(mark)).toString("base64url");
    const code = this.#codeOf(payload, request);
    return { header: `${payload}.${code}`, body: new BodySigner(this.#mac, code) };
  }

  /**
   * Reads the mark of a request, which then does not hold any more.
   *
   * @returns null if no node has signed it for this request
   */
  read(text: string, request: MarkedRequest): Verified | RefusedMark | null {
    if (text.length > MAX_LENGTH) return null;
    const [payload = "", code = ""] = text.split(".");
    if (!isSameCode(code, this.#codeOf(payload, request))) return null;
    // Only a node can have signed it.
    const mark: Mark = JSON.parse(Buffer.from(payload, "base64url").toString());
    const { self, clock } = this.#options;
    const now = clock();
    if (Math.abs(now - mark.time) > MAX_AGE) return "stale";
    if (mark.to !== self.name) return "misdirected";
    if (mark.toStarted !== self.startedAt) return "restarted";
    if (this.#seenOf(mark.from, now)?.add(mark) !== true) return "repeated";
    return { mark, body: new BodyVerifier(this.#mac, code) };
  }

  /** Null if there are too many senders. */
  #seenOf(sender: string, now: number): SeenNonces | null {
    const known = this.#seen.get(sender);
    if (known !== undefined) return known;
    if (this.#seen.size >= MAX_SENDERS) {
      for (const [other, { newest }] of this.#seen) {
        if (newest < now - 2 * MAX_AGE) this.#seen.delete(other);
      }
      if (this.#seen.size >= MAX_SENDERS) return null;
    }
    const seen = new SeenNonces(this.#options.remembered ?? REMEMBERED);
    this.#seen.set(sender, seen);
    return seen;
  }

  #codeOf(payload: string, { method, target, headers }: MarkedRequest): string {
    // None of them can contain a line break.
    const credential = `${headers.get("authorization") ?? ""}\n${headers.get("cookie") ?? ""}`;
    return this.#mac.of(`request\n${method}\n${target}\n${hash("sha256", credential)}\n${payload}`);
  }
}

/**
 * Nonces of one sender, in two generations. When the older one is forgotten, no mark counts any more
 * that is not younger than all of it, by the clock of the sender.
 */
class SeenNonces {
  #young = new Set<string>();
  #old = new Set<string>();
  #newest = -Infinity;
  #newestOfOld = -Infinity;
  #forgotten = -Infinity;
  readonly #remembered: number;

  /** @param remembered how many a generation has */
  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  /** The time of the newest mark. */
  get newest(): number {
    return this.#newest;
  }

  /** Remembers a nonce; false if it may have come before. */
  add({ nonce, time }: Pick<Mark, "nonce" | "time">): boolean {
    if (time <= this.#forgotten || this.#young.has(nonce) || this.#old.has(nonce)) return false;
    if (this.#young.size >= this.#remembered) {
      this.#forgotten = this.#newestOfOld;
      this.#newestOfOld = this.#newest;
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(nonce);
    this.#newest = Math.max(this.#newest, time);
    return true;
  }
}

/** Bytes of a block and of a digest of SHA-256. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * HMAC with SHA-256 (RFC 2104) and one key, in a third of the time of `createHmac`, which makes a
 * stream for each text.
 */
export class Mac {
  /** The key with its inner padding, which is ASCII like the key. */
  readonly #inner: string;
  /** The key with its outer padding, and room for the inner digest. */
  readonly #outer = new Uint8Array(BLOCK + DIGEST);

  /**
   * @param key of up to 64 characters of ASCII
   * @throws RangeError if it is another one
   */
  constructor(key: string) {
    if (!/^[\0-\x7f]{1,64}$/.test(key)) throw new RangeError("The key is not of 64 bytes of ASCII");
    const bytes = new TextEncoder().encode(key.padEnd(BLOCK, "\0"));
    this.#inner = String.fromCharCode(...bytes.map((byte) => byte ^ 0x36));
    this.#outer.set(bytes.map((byte) => byte ^ 0x5c));
  }

  /** The code of a text, in hexadecimal digits. */
  of(text: string): string {
    const digest = hash("sha256", this.#inner + text);
    for (let at = 0; at < DIGEST; at++) {
      const high = valueOf(digest.charCodeAt(2 * at));
      this.#outer[BLOCK + at] = high << 4 | valueOf(digest.charCodeAt(2 * at + 1));
    }
    return hash("sha256", this.#outer);
  }
}

/** The value of a hexadecimal digit in lower case. */
function valueOf(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}

/** Whether two codes are the same, in a time that does not tell where they differ. */
function isSameCode(given: string, right: string): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < right.length; at++) {
    difference |= given.charCodeAt(at) ^ right.charCodeAt(at);
  }
  return difference === 0;
}

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
class BodySigner {
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
class BodyVerifier {
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

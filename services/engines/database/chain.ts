/** The chain of the event log's rows: hashes, and seals over both ends. */
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";

/** The hash before the first event. */
export const GENESIS = "0".repeat(64);

/** The columns of a row that its hash covers. */
export interface ChainedRow {
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly actor: string;
  readonly actorId: string | null;
  readonly address: string | null;
  readonly cause: string | null;
  /** The JSON text as it is stored. */
  readonly data: string;
}

/**
 * The hash of a row: SHA-256, in hex, over the hash of the row before it and a JSON array of the
 * row's columns in their order.
 */
export function eventHash(previous: string, row: ChainedRow): string {
  const { seq, time, type, actor, actorId, address, cause, data } = row;
  const columns = [seq, time, type, actor, actorId, address, cause, data];
  return createHash("sha256").update(previous).update(JSON.stringify(columns)).digest("hex");
}

/** What a seal covers. */
export interface Sealed {
  readonly seq: number;
  readonly hash: string;
}

/** Bytes of a block of SHA-256. */
const BLOCK = 64;

/**
 * Seals checkpoints with HMAC-SHA-256 (RFC 2104). Implemented here because the version in
 * `node:crypto` warns on Deno 2.4, and the one in WebCrypto is asynchronous.
 */
export class Seal {
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  /** @param secret at least 32 random bytes, as text */
  constructor(secret: string) {
    const key = Buffer.alloc(BLOCK);
    createHash("sha256").update(secret).digest().copy(key);
    this.#inner = key.map((byte) => byte ^ 0x36) as Buffer;
    this.#outer = key.map((byte) => byte ^ 0x5c) as Buffer;
  }

  /** The seal of a checkpoint, in hex. */
  of(name: string, { seq, hash }: Sealed): string {
    const text = JSON.stringify(["muster event log", name, seq, hash]);
    const inner = createHash("sha256").update(this.#inner).update(text).digest();
    return createHash("sha256").update(this.#outer).update(inner).digest("hex");
  }

  /** Whether the seal of a checkpoint is right. */
  holds(name: string, checkpoint: Sealed & { readonly seal: string }): boolean {
    const expected = Buffer.from(this.of(name, checkpoint));
    const found = Buffer.from(checkpoint.seal);
    return expected.length === found.length && timingSafeEqual(expected, found);
  }
}

/**
 * Writes a pack: objects, each compressed, some as deltas of others.
 *
 * @see {@link https://git-scm.com/docs/gitformat-pack}
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { OBJECT_KINDS, type ObjectKind } from "./objects.ts";

const OFS_DELTA = 6;
const REF_DELTA = 7;
/** Bytes that are collected for one write. */
const PIECE_BYTES = 64 * 1024;
export const PACK_HEADER_BYTES = 12;
/** Most bytes of an entry's head: a size, and a name or a distance. */
const MAX_HEAD_BYTES = 32;

/** What an entry of a pack is: a whole object, or a delta of another one. */
export type EntryForm =
  | { readonly kind: ObjectKind }
  /** The place in the pack where the base begins. */
  | { readonly baseOffset: number }
  /** The name of the base: one at the receiver, or anywhere in the pack. */
  | { readonly baseName: Uint8Array };

/** Writes the entries of a pack to a sink, in pieces, and its checksum at the end. */
export class PackWriter {
  readonly #sink: (piece: Uint8Array) => void;
  readonly #hash = createHash("sha1");
  #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #filled = 0;
  #written = 0;

  /**
   * @param count of the entries that follow
   * @param sink takes pieces; each is in use until it returns
   */
  constructor(count: number, sink: (piece: Uint8Array) => void) {
    this.#sink = sink;
    this.#filled = this.#piece.write("PACK", "latin1");
    this.#filled = this.#piece.writeUInt32BE(2, this.#filled);
    this.#filled = this.#piece.writeUInt32BE(count, this.#filled);
  }

  /** The place where the next entry begins. */
  get offset(): number {
    return this.#written + this.#filled;
  }

  /**
   * Writes an entry.
   *
   * @param size of the object or delta, in bytes, before it is compressed
   * @param compressed a zlib stream
   */
  entry(form: EntryForm, size: number, compressed: Uint8Array): void {
    const { offset } = this;
    if (this.#filled + MAX_HEAD_BYTES > PIECE_BYTES) this.#flush();
    this.#filled = writeHead(this.#piece, this.#filled, { form, size, offset });
    this.add(compressed);
  }

  /** Writes bytes of entries that another pack has at the same place. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + PIECE_BYTES - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === PIECE_BYTES) this.#flush();
    }
  }

  /** Writes the checksum; returns the length of the pack in bytes. */
  finish(): number {
    this.#flush();
    const checksum = this.#hash.digest();
    this.#sink(checksum);
    return this.#written + checksum.length;
  }

  #flush(): void {
    const piece = this.#piece.subarray(0, this.#filled);
    this.#hash.update(piece);
    this.#sink(piece);
    this.#written += this.#filled;
    this.#filled = 0;
  }
}

/** Writes the bytes before an entry's content; returns where they end. */
function writeHead(
  piece: Buffer,
  start: number,
  { form, size, offset }: {
    readonly form: EntryForm;
    readonly size: number;
    readonly offset: number;
  },
): number {
  const type = "kind" in form
    ? OBJECT_KINDS.indexOf(form.kind) + 1
    : "baseOffset" in form
    ? OFS_DELTA
    : REF_DELTA;
  let at = start;
  let rest = Math.floor(size / 0x10);
  let byte = (type << 4) | (size % 0x10);
  for (; rest > 0; rest = Math.floor(rest / 0x80)) {
    piece[at++] = byte | 0x80;
    byte = rest % 0x80;
  }
  piece[at++] = byte;
  if ("baseName" in form) {
    piece.set(form.baseName, at);
    return at + form.baseName.length;
  }
  return "baseOffset" in form ? writeDistance(piece, at, offset - form.baseOffset) : at;
}

/** Writes groups of seven bits, the highest first, of which each but the last adds one. */
function writeDistance(piece: Buffer, start: number, distance: number): number {
  const bytes = [distance % 0x80];
  for (let rest = Math.floor(distance / 0x80); rest > 0; rest = Math.floor(rest / 0x80)) {
    rest--;
    bytes.push((rest % 0x80) | 0x80);
  }
  for (let place = 0; place < bytes.length; place++) {
    piece[start + place] = bytes[bytes.length - 1 - place]!;
  }
  return start + bytes.length;
}

/**
 * Reads a pack that somebody has sent: entry by entry, each inflated.
 *
 * @see {@link https://git-scm.com/docs/gitformat-pack}
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { INFLATE_KEEPS_LIMIT, InflateError, inflateFirst } from "../../kernel/zlib_extent.ts";
import { GitError } from "./error.ts";
import { NAME_BYTES, OBJECT_KINDS, type ObjectKind } from "./objects.ts";
import { PACK_HEADER_BYTES } from "./pack.ts";

const OFS_DELTA = 6;
const REF_DELTA = 7;
/** Bytes of the checksum at the end. */
const CHECKSUM_BYTES = NAME_BYTES;
/** Bytes that are read at once. */
const WINDOW_BYTES = 256 * 1024;
/** Most bytes of an entry before its content. */
const MAX_HEAD_BYTES = 64;
/** Most bytes of a compressed content beyond its own length. */
const MAX_EXCESS_BYTES = 64 * 1024;

/** What an entry is: a whole object, or a delta of another one. */
export type PackForm =
  | { readonly kind: ObjectKind }
  | { readonly baseOffset: number }
  | { readonly baseName: Uint8Array };

/** An entry of a pack. */
export interface PackEntry {
  /** Where it begins. */
  readonly offset: number;
  readonly form: PackForm;
  /** The object, or the delta. */
  readonly content: Uint8Array;
}

/** Where a pack is, and its bounds. */
export interface PackSource {
  /** Reads bytes at a place into a buffer; returns how many, 0 at the end. */
  read(at: number, into: Uint8Array): number;
  /** Bytes of the pack. */
  readonly length: number;
  readonly maxEntries: number;
  /** Of an object or a delta. */
  readonly maxBytes: number;
}

/**
 * Reads a pack; at the end, its checksum is checked. An entry is in use until the next one is asked for.
 *
 * @throws {GitError} it is malformed, cut short or beyond a bound
 */
export function* readPack(source: PackSource): Generator<PackEntry> {
  const window = new Window(source);
  const head = window.peek(PACK_HEADER_BYTES);
  if (head.length < PACK_HEADER_BYTES || head.toString("latin1", 0, 4) !== "PACK") {
    throw new GitError("The push has no pack, or only a part of it");
  }
  const version = head.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw new GitError(`A pack of version ${version} is unknown`);
  const count = head.readUInt32BE(8);
  if (count > source.maxEntries) {
    throw new GitError(`The pack has ${count} objects, the limit is ${source.maxEntries}`);
  }
  window.skip(PACK_HEADER_BYTES);
  for (let entry = 0; entry < count; entry++) yield readEntry(window, source.maxBytes);
  window.finish();
}

function readEntry(window: Window, maxBytes: number): PackEntry {
  const offset = window.at;
  const head = window.peek(MAX_HEAD_BYTES);
  let place = 0;
  const next = () => {
    const byte = head[place++];
    if (byte === undefined) throw cutShort();
    return byte;
  };
  let byte = next();
  const type = (byte >> 4) & 0x7;
  let size = byte & 0xf;
  for (let scale = 0x10; byte >= 0x80; scale *= 0x80) {
    if (scale > 2 ** 45) throw new GitError("An object has a size that is too large");
    byte = next();
    size += (byte & 0x7f) * scale;
  }
  if (size > maxBytes) {
    throw new GitError(`An object has ${size} bytes, the limit is ${maxBytes}`);
  }
  const form = formOf(type, offset, {
    next,
    take: (count) => {
      if (place + count > head.length) throw cutShort();
      return head.subarray(place, place += count);
    },
  });
  window.skip(place);
  return { offset, form, content: window.inflate(size) };
}

function formOf(
  type: number,
  offset: number,
  head: { next(): number; take(count: number): Uint8Array },
): PackForm {
  if (type === OFS_DELTA) return { baseOffset: offset - distanceOf(head.next) };
  if (type === REF_DELTA) return { baseName: head.take(NAME_BYTES).slice() };
  const kind = OBJECT_KINDS[type - 1];
  if (kind === undefined) throw new GitError(`An object has the unknown type ${type}`);
  return { kind };
}

/** See `distanceOf` of a pack that is written. */
function distanceOf(next: () => number): number {
  let byte = next();
  let distance = byte & 0x7f;
  while (byte >= 0x80) {
    if (distance > 2 ** 42) throw new GitError("A delta has a base that is too far away");
    byte = next();
    distance = (distance + 1) * 0x80 + (byte & 0x7f);
  }
  return distance;
}

/** The next bytes of a pack. */
class Window {
  /** The place of the next byte. */
  at = 0;
  readonly #source: PackSource;
  readonly #hash = createHash("sha1");
  #bytes = Buffer.alloc(0);
  /** Where the unread bytes begin. */
  #start = 0;
  /** The place of the byte after those that were read from the source. */
  #end = 0;

  constructor(source: PackSource) {
    this.#source = source;
  }

  /** So many bytes, or as many as there are before the checksum. */
  peek(count: number): Buffer {
    this.#fill(count);
    const most = Math.max(0, this.#source.length - CHECKSUM_BYTES - this.at);
    return this.#bytes.subarray(this.#start, this.#start + Math.min(count, most));
  }

  skip(count: number): void {
    this.#start += count;
    this.at += count;
  }

  /** Inflates what comes next to so many bytes. */
  inflate(size: number): Buffer {
    const most = size + (size >> 8) + MAX_EXCESS_BYTES;
    for (let count = Math.min(most, size + 1024, WINDOW_BYTES);;) {
      const bytes = this.peek(count);
      try {
        const first = inflateFirst(bytes, size, !INFLATE_KEEPS_LIMIT);
        if (first === null) throw new GitError("An object is longer than it declares");
        if (first.content.length !== size) {
          throw new GitError("An object has another size than it declares");
        }
        this.skip(first.end);
        return first.content;
      } catch (error) {
        if (!(error instanceof InflateError)) throw error;
        if (!error.isCutShort) {
          throw new GitError("An object is damaged: it cannot be inflated");
        }
        if (bytes.length < count || count === most) throw cutShort();
        count = Math.min(most, count * 4);
      }
    }
  }

  /** Checks that nothing is left but the checksum of all that came before. */
  finish(): void {
    const { length } = this.#source;
    this.#fill(CHECKSUM_BYTES);
    const checksum = this.#bytes.subarray(this.#start, this.#start + CHECKSUM_BYTES);
    if (this.at !== length - CHECKSUM_BYTES) throw new GitError("The pack has bytes after its end");
    if (!this.#hash.digest().equals(checksum)) {
      throw new GitError("The pack does not have its checksum: it was damaged on the way");
    }
  }

  #fill(count: number): void {
    const unread = this.#bytes.length - this.#start;
    if (unread >= count) return;
    const wanted = Math.max(count, WINDOW_BYTES) - unread;
    const missing = Math.min(wanted, this.#source.length - this.#end);
    if (missing <= 0) return;
    const bytes = Buffer.allocUnsafe(unread + missing);
    this.#bytes.copy(bytes, 0, this.#start);
    for (let filled = unread; filled < bytes.length;) {
      const read = this.#source.read(this.#end, bytes.subarray(filled));
      if (read === 0) throw cutShort();
      const hashed = Math.min(read, this.#source.length - CHECKSUM_BYTES - this.#end);
      if (hashed > 0) this.#hash.update(bytes.subarray(filled, filled + hashed));
      filled += read;
      this.#end += read;
    }
    this.#bytes = bytes;
    this.#start = 0;
  }
}

function cutShort(): GitError {
  return new GitError("The pack is cut short");
}

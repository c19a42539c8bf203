/**
 * Tar archives in the pax form: headers of POSIX "ustar", preceded by records for names that do not
 * fit.
 *
 * @see {@link https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html}
 */
import { constants, deflateRawSync } from "node:zlib";
import { decodeUtf8, encodeUtf8 } from "../../codec/mod.ts";
import { type ArchiveFile, crc32, permissionsOf } from "./zip.ts";

const BLOCK = 512;
/** Field widths of the header. */
const NAME_BYTES = 100;
const LINK_BYTES = 100;
/** An archive is a multiple of this many bytes. */
const RECORD = 20 * BLOCK;

type TypeFlag = "0" | "2" | "x";

/**
 * Writes a tar archive, one file after the other; only one is in memory.
 *
 * @param date Unix milliseconds, for every file.
 */
export function* tarArchive(files: Iterable<ArchiveFile>, date: number): Generator<Uint8Array> {
  let total = 0;
  for (const chunk of entries(files, Math.floor(date / 1000))) {
    total += chunk.length;
    yield chunk;
  }
  const end = 2 * BLOCK;
  yield new Uint8Array(end + (RECORD - (total + end) % RECORD) % RECORD);
}

function* entries(files: Iterable<ArchiveFile>, seconds: number): Generator<Uint8Array> {
  for (const file of files) {
    const isLink = file.mode === "link";
    const name = encodeUtf8(file.path);
    const link = isLink ? file.content : new Uint8Array(0);
    const records = [
      ...(fits(name, NAME_BYTES) ? [] : [paxRecord("path", file.path)]),
      ...(fits(link, LINK_BYTES) ? [] : [paxRecord("linkpath", decodeUtf8(link))]),
    ];
    if (records.length > 0) {
      const body = encodeUtf8(records.join(""));
      const size = body.length;
      yield header({ name: encodeUtf8("pax"), type: "x", mode: 0o644, size, seconds });
      yield* padded(body);
    }
    const type = isLink ? "2" : "0";
    const size = isLink ? 0 : file.content.length;
    yield header({ name, link, type, mode: permissionsOf(file.mode), size, seconds });
    if (!isLink) yield* padded(file.content);
  }
}

/** Whether bytes are plain ASCII and have room in a field. */
function fits(bytes: Uint8Array, width: number): boolean {
  return bytes.length <= width && bytes.every((byte) => byte < 0x80);
}

/** A record "LENGTH KEY=VALUE\n", whose length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = encodeUtf8(rest).length;
  let length = bytes + 1;
  while (bytes + `${length}`.length !== length) length = bytes + `${length}`.length;
  return `${length}${rest}`;
}

interface Header {
  readonly name: Uint8Array;
  readonly link?: Uint8Array;
  readonly type: TypeFlag;
  readonly mode: number;
  readonly size: number;
  readonly seconds: number;
}

function header({ name, link, type, mode, size, seconds }: Header): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (offset: number, text: string) => block.set(encodeUtf8(text), offset);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  block.set(name.subarray(0, NAME_BYTES), 0);
  put(100, octal(mode, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(Math.max(0, seconds), 11));
  put(148, " ".repeat(8));
  put(156, type);
  if (link !== undefined) block.set(link.subarray(0, LINK_BYTES), 157);
  put(257, "ustar\x0000");
  put(148, `${octal(block.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
  return block;
}

/** Content, and zeros up to the next block. */
function* padded(content: Uint8Array): Generator<Uint8Array> {
  yield content;
  const rest = content.length % BLOCK;
  if (rest > 0) yield new Uint8Array(BLOCK - rest);
}

/** Bytes packed at once. */
const CHUNK = 256 * 1024;

/**
 * Packs a stream as one gzip member (RFC 1952) in bounded memory: each piece is packed separately
 * and ends on a whole byte, so that together they form one deflate stream. The header has no file
 * name and no time, so that the same bytes give the same archive.
 */
export function* gzip(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
  const buffer = new Uint8Array(CHUNK);
  let [used, total, crc] = [0, 0, 0];
  for (const chunk of chunks) {
    crc = crc32(chunk, crc);
    total += chunk.length;
    for (let start = 0; start < chunk.length;) {
      const part = chunk.subarray(start, start + CHUNK - used);
      buffer.set(part, used);
      used += part.length;
      start += part.length;
      if (used < CHUNK) continue;
      yield pack(buffer, constants.Z_SYNC_FLUSH);
      used = 0;
    }
  }
  yield pack(buffer.subarray(0, used), constants.Z_FINISH);
  const trailer = new DataView(new ArrayBuffer(8));
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, total >>> 0, true);
  yield new Uint8Array(trailer.buffer);
}

function pack(bytes: Uint8Array, finishFlush: number): Uint8Array {
  const packed = deflateRawSync(bytes, { finishFlush });
  return new Uint8Array(packed.buffer, packed.byteOffset, packed.length);
}

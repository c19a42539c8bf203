/**
 * Zip archives.
 *
 * @see {@link https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT}
 */
import { deflateRawSync } from "node:zlib";
import { encodeUtf8 } from "../../codec/mod.ts";
import { FossilError } from "../../error.ts";

/** Values that need more than 32 bits are refused. */
const MAX_32 = 0xffffffff;
const MAX_FILES = 0xffff;
/** Version 2.0: deflate and folders. */
const VERSION = 20;
/** Made on Unix, so that readers take the permissions. */
const MADE_BY = (3 << 8) | VERSION;
/** Names are UTF-8. */
const FLAGS = 1 << 11;
const DEFLATE = 8;
/** File types of Unix in `st_mode`. */
const REGULAR = 0o100000;
const SYMLINK = 0o120000;

/** A file's entry in the central directory. */
interface Written {
  readonly name: Uint8Array;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly mode: number;
}

/**
 * Writes a zip archive, one file after the other; only one is in memory.
 *
 * @param date Unix milliseconds, for every file.
 * @throws {FossilError} `limit` if the archive would need 64-bit fields.
 */
export function* zipArchive(files: Iterable<ArchiveFile>, date: number): Generator<Uint8Array> {
  const written: Written[] = [];
  const time = dosTime(date);
  let offset = 0;
  for (const file of files) {
    const packed = deflateRawSync(file.content);
    const entry: Written = {
      name: encodeUtf8(file.path),
      crc: crc32(file.content),
      packed: packed.length,
      size: file.content.length,
      offset,
      mode: (file.mode === "link" ? SYMLINK : REGULAR) | permissionsOf(file.mode),
    };
    const header = localHeader(entry, time, date);
    offset += header.length + packed.length;
    if (offset > MAX_32 || written.length >= MAX_FILES) {
      throw new FossilError("limit", "The tree is too large for a zip archive");
    }
    written.push(entry);
    yield header;
    yield new Uint8Array(packed.buffer, packed.byteOffset, packed.length);
  }
  const start = offset;
  for (const entry of written) {
    const header = centralHeader(entry, time, date);
    offset += header.length;
    yield header;
  }
  yield endRecord(written.length, offset - start, start);
}

/** Date and time of MS-DOS, in UTC: in units of two seconds, from 1980 on. */
function dosTime(date: number): number {
  const moment = new Date(Math.max(date, Date.UTC(1980, 0, 1)));
  const day = ((moment.getUTCFullYear() - 1980) << 9) | ((moment.getUTCMonth() + 1) << 5) |
    moment.getUTCDate();
  const time = (moment.getUTCHours() << 11) | (moment.getUTCMinutes() << 5) |
    (moment.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}

/** The extra field "extended timestamp": the modification time in Unix seconds. */
function timeField(date: number): number[] {
  const seconds = Math.floor(date / 1000);
  return [...short(0x5455), ...short(5), 1, ...long(seconds)];
}

function short(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff];
}

function long(value: number): number[] {
  return [...short(value & 0xffff), ...short((value >>> 16) & 0xffff)];
}

/** The common part of both headers of a file. */
function commonFields(entry: Written, time: number, extra: readonly number[]): number[] {
  return [
    ...short(VERSION),
    ...short(FLAGS),
    ...short(DEFLATE),
    ...long(time),
    ...long(entry.crc),
    ...long(entry.packed),
    ...long(entry.size),
    ...short(entry.name.length),
    ...short(extra.length),
  ];
}

function localHeader(entry: Written, time: number, date: number): Uint8Array {
  const extra = timeField(date);
  const fields = [...long(0x04034b50), ...commonFields(entry, time, extra)];
  return Uint8Array.from([...fields, ...entry.name, ...extra]);
}

function centralHeader(entry: Written, time: number, date: number): Uint8Array {
  const extra = timeField(date);
  return Uint8Array.from([
    ...long(0x02014b50),
    ...short(MADE_BY),
    ...commonFields(entry, time, extra),
    ...short(0),
    ...short(0),
    ...short(0),
    ...short(0),
    ...short(entry.mode),
    ...long(entry.offset),
    ...entry.name,
    ...extra,
  ]);
}

function endRecord(count: number, size: number, offset: number): Uint8Array {
  return Uint8Array.from([
    ...long(0x06054b50),
    ...short(0),
    ...short(0),
    ...short(count),
    ...short(count),
    ...long(size),
    ...long(offset),
    ...short(0),
  ]);
}

/** Table of the CRC-32 of ISO 3309, which zip and gzip use. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) {
    remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0);
  }
  return remainder;
});

/** CRC-32 of bytes, or of bytes that follow those which gave `previous`. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  let crc = ~previous;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** One file of an archive. */
export interface ArchiveFile {
  /** Path from the top of the archive, with "/". */
  readonly path: string;
  readonly mode: "file" | "executable" | "link";
  /** Bytes; the target of a link. */
  readonly content: Uint8Array;
}

/** Bits of the permissions that files of a mode have. */
export function permissionsOf(mode: ArchiveFile["mode"]): number {
  return mode === "file" ? 0o644 : mode === "executable" ? 0o755 : 0o777;
}

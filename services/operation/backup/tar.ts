/**
 * The form of archives: POSIX ustar, which every `tar` reads.
 *
 * @see {@link https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06}
 */
import { BackupError } from "./names.ts";

export const BLOCK = 512;

const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** Fields of a header: place and length in bytes. */
const FIELDS = {
  name: [0, NAME_BYTES],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  time: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, PREFIX_BYTES],
} as const;

type Field = keyof typeof FIELDS;

/** Sizes from here on stand in base 256, as GNU tar writes them. */
const OCTAL_LIMIT = 8 ** 11;

/** A file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
}

/**
 * Makes the header of a file that only its owner may read.
 *
 * @param time Unix seconds
 * @throws BackupError if the name is too long
 */
export function tarHeader({ name, bytes }: TarEntry, time: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (field: Field, text: string) =>
    block.set(new TextEncoder().encode(text), FIELDS[field][0]);
  const [prefix, rest] = split(name);
  put("name", rest);
  put("prefix", prefix);
  put("mode", "0000600\0");
  put("owner", "0000000\0");
  put("group", "0000000\0");
  put("time", `${octal(time)}\0`);
  put("type", "0");
  put("magic", "ustar\x0000");
  if (bytes < OCTAL_LIMIT) put("size", `${octal(bytes)}\0`);
  else putLarge(block, bytes);
  put("checksum", `${checksum(block).toString(8).padStart(6, "0")}\0 `);
  return block;
}

/**
 * Reads a header.
 *
 * @returns null for the block of zeros that ends an archive
 * @throws BackupError if it is no header of a file
 */
export function readTarHeader(block: Uint8Array<ArrayBuffer>): TarEntry | null {
  if (block.every((byte) => byte === 0)) return null;
  const get = (field: Field) => {
    const [place, length] = FIELDS[field];
    return new TextDecoder().decode(block.subarray(place, place + length)).split("\0", 1)[0] ?? "";
  };
  if (Number.parseInt(get("checksum"), 8) !== checksum(block)) {
    throw new BackupError("The archive is damaged, or is no archive of muster");
  }
  const [prefix, rest, type] = [get("prefix"), get("name"), get("type")];
  const name = prefix === "" ? rest : `${prefix}/${rest}`;
  if (type !== "0" && type !== "") {
    throw new BackupError(`The archive holds "${name}", which is no regular file`);
  }
  return { name, bytes: sizeIn(block, get("size")) };
}

/** Zeros that fill the last block of a file. */
export function padding(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((BLOCK - bytes % BLOCK) % BLOCK);
}

function split(name: string): [prefix: string, rest: string] {
  const length = (text: string) => new TextEncoder().encode(text).length;
  if (length(name) <= NAME_BYTES) return ["", name];
  for (let slash = name.lastIndexOf("/"); slash > 0; slash = name.lastIndexOf("/", slash - 1)) {
    const [prefix, rest] = [name.slice(0, slash), name.slice(slash + 1)];
    if (length(rest) <= NAME_BYTES && length(prefix) <= PREFIX_BYTES) return [prefix, rest];
  }
  throw new BackupError(`The name "${name}" is too long for an archive`);
}

function octal(value: number): string {
  return Math.floor(value).toString(8).padStart(11, "0");
}

function putLarge(block: Uint8Array<ArrayBuffer>, bytes: number): void {
  const view = new DataView(block.buffer);
  view.setUint8(FIELDS.size[0], 0x80);
  view.setBigUint64(FIELDS.size[0] + 4, BigInt(bytes));
}

function sizeIn(block: Uint8Array<ArrayBuffer>, text: string): number {
  const [place] = FIELDS.size;
  const view = new DataView(block.buffer, block.byteOffset);
  const size = view.getUint8(place) === 0x80
    ? Number(view.getBigUint64(place + 4))
    : Number.parseInt(text, 8);
  if (Number.isSafeInteger(size) && size >= 0) return size;
  throw new BackupError("The archive is damaged: a file in it has no length");
}

/** The sum of all bytes, with the field itself as spaces. */
function checksum(block: Uint8Array): number {
  const [place, length] = FIELDS.checksum;
  let sum = 0;
  for (const [index, byte] of block.entries()) {
    sum += index >= place && index < place + length ? 0x20 : byte;
  }
  return sum;
}

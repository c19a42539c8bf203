/**
 * Packets, the frames of Git's protocol: four hexadecimal digits with the length, and data.
 *
 * @see {@link https://git-scm.com/docs/gitprotocol-common}
 */
import { Buffer } from "node:buffer";
import { GitError } from "./error.ts";

/** Bytes of a packet's length. */
const HEAD_BYTES = 4;
/** Most bytes of data in a packet. */
export const MAX_PACKET_DATA = 65_516;

/** A packet without data: it ends a message, separates its parts, or ends an answer. */
export type Mark = "flush" | "delimiter" | "end";

/** A packet that was read: a mark, or data. */
export type Packet = Mark | Uint8Array;

const MARKS: readonly Mark[] = ["flush", "delimiter", "end"];

/** A packet with text in UTF-8. */
export function textPacket(text: string): Uint8Array<ArrayBuffer> {
  return packetOf(Buffer.byteLength(text), (data) => data.write(text));
}

/** Packets with a text each, as one. */
export function textPackets(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const packets = texts.map((text) => {
    const length = Buffer.byteLength(text);
    if (length > MAX_PACKET_DATA) throw new RangeError(`A packet of ${length} bytes is too long`);
    return (HEAD_BYTES + length).toString(16).padStart(HEAD_BYTES, "0") + text;
  });
  return new TextEncoder().encode(packets.join(""));
}

/** A packet with bytes, after one byte that names their channel, if there is one. */
export function dataPacket(data: Uint8Array, channel?: number): Uint8Array<ArrayBuffer> {
  const before = channel === undefined ? [] : [channel];
  return packetOf(before.length + data.length, (target) => {
    target.set(before);
    target.set(data, before.length);
  });
}

function packetOf(length: number, fill: (data: Buffer) => void): Uint8Array<ArrayBuffer> {
  if (length > MAX_PACKET_DATA) throw new RangeError(`A packet of ${length} bytes is too long`);
  const packet = new Uint8Array(HEAD_BYTES + length);
  const buffer = Buffer.from(packet.buffer);
  buffer.write((HEAD_BYTES + length).toString(16).padStart(HEAD_BYTES, "0"), "latin1");
  fill(buffer.subarray(HEAD_BYTES));
  return packet;
}

/** A packet without data. */
export function markPacket(mark: Mark): Uint8Array<ArrayBuffer> {
  const packet = new Uint8Array(HEAD_BYTES).fill(0x30);
  packet[HEAD_BYTES - 1] = 0x30 + MARKS.indexOf(mark);
  return packet;
}

/**
 * Reads the packets of a whole message. The data are views of it.
 *
 * @throws {GitError} a length is malformed, or the message is cut short
 */
export function* readPackets(message: Uint8Array): Generator<Packet> {
  for (let at = 0; at < message.length;) {
    const { packet, end } = readPacket(message, at);
    yield packet;
    at = end;
  }
}

/**
 * Reads the packet at a place; returns where it ends. The data are a view of the message.
 *
 * @throws {GitError} its length is malformed, or it is cut short
 */
export function readPacket(
  message: Uint8Array,
  at: number,
): { readonly packet: Packet; readonly end: number } {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.length);
  const digits = buffer.toString("latin1", at, at + HEAD_BYTES);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new GitError("A packet has no length");
  const length = Number.parseInt(digits, 16);
  const start = at + HEAD_BYTES;
  const mark = MARKS[length];
  if (mark !== undefined) return { packet: mark, end: start };
  const end = at + length;
  if (length < HEAD_BYTES || end > buffer.length) throw new GitError("A packet is cut short");
  return { packet: message.subarray(start, end), end };
}

/** The text of a packet's data, without the line end that it may have. */
export function lineOf(data: Uint8Array): string {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  return Buffer.from(data.buffer, data.byteOffset, end).toString();
}

/**
 * Pushing to another server, over HTTP: what it is sent before the pack, and what it answers.
 *
 * @see {@link https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server}
 */
import { Buffer } from "node:buffer";
import { GitError } from "./error.ts";
import { lineOf, markPacket, MAX_PACKET_DATA, readPackets, textPacket } from "./pkt_line.ts";
import type { RefCommand } from "./receive_pack.ts";

const NO_OBJECT = "0".repeat(40);
const CAPABILITIES = "report-status-v2 side-band-64k push-options object-format=sha1";

/**
 * What a push sends before its pack: the change of one reference.
 *
 * @throws {GitError} an option is longer than the protocol allows
 */
export function pushHead(
  { ref, from, to }: RefCommand,
  options: readonly string[],
  agent: string,
): Uint8Array {
  if (options.some((option) => Buffer.byteLength(option) > MAX_PACKET_DATA)) {
    throw new GitError(`An option of a push has at most ${MAX_PACKET_DATA} bytes`);
  }
  const change = `${from ?? NO_OBJECT} ${to ?? NO_OBJECT} ${ref}`;
  return Buffer.concat([
    textPacket(`${change}\0${CAPABILITIES} agent=${agent}`),
    markPacket("flush"),
    ...options.map((option) => textPacket(option)),
    markPacket("flush"),
  ]);
}

/** What became of a push of one reference. */
export interface PushAnswer {
  /** Why it was refused; null if it was not. */
  readonly refusal: string | null;
  /** The reference that has changed, if that is another one. */
  readonly instead: string | null;
  /** Lines for people. */
  readonly notices: readonly string[];
}

const BAND = { report: 1, notice: 2 } as const;

/**
 * Reads the answer to a push.
 *
 * @throws {GitError} it is malformed or cut short
 */
export function readPushAnswer(message: Uint8Array): PushAnswer {
  const report: Uint8Array[] = [];
  const notices: Uint8Array[] = [];
  for (const packet of readPackets(message)) {
    if (typeof packet === "string") continue;
    if (packet[0] === BAND.report) report.push(packet.subarray(1));
    else if (packet[0] === BAND.notice) notices.push(packet.subarray(1));
    else throw new GitError(`It says: ${lineOf(packet.subarray(1)).slice(0, 300)}`);
  }
  const lines = [...readPackets(Buffer.concat(report))]
    .flatMap((packet) => typeof packet === "string" ? [] : lineOf(packet));
  const after = (start: string) =>
    lines.find((line) => line.startsWith(start))?.slice(start.length) ?? null;
  const unpacked = after("unpack ");
  const refused = after("ng ");
  if (unpacked === null || (refused === null && after("ok ") === null)) {
    throw new GitError("Its answer is cut short: look whether the push has arrived");
  }
  return {
    refusal: unpacked !== "ok" ? unpacked : refused?.replace(/^\S+ /, "") ?? null,
    instead: after("option refname "),
    notices: Buffer.concat(notices).toString().split("\n").filter((line) => line !== ""),
  };
}

/**
 * What `git push` sends, and what it is answered.
 *
 * @see {@link https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server}
 */
import { Buffer } from "node:buffer";
import type { AdvertisedRef } from "./answers.ts";
import { GitError } from "./error.ts";
import { isObjectName } from "./objects.ts";
import {
  dataPacket,
  lineOf,
  markPacket,
  MAX_PACKET_DATA,
  readPacket,
  textPacket,
} from "./pkt_line.ts";

/** The name that no object has. */
const NO_OBJECT = "0".repeat(40);
/** Most references of one push, and the longest name of one, in bytes and in parts. */
const MAX_COMMANDS = 20_000;
const MAX_REF_BYTES = 1000;
const MAX_REF_PARTS = 64;
/** Most options of a push; each is at most a packet long. */
const MAX_OPTIONS = 100;
/** Most bytes before the pack. */
export const MAX_PUSH_HEAD = 8 * 1024 * 1024;

/** What becomes of a reference. */
export interface RefCommand {
  readonly ref: string;
  /** The object that the client has seen there; null for none. */
  readonly from: string | null;
  /** Null if it is deleted. */
  readonly to: string | null;
}

/** What a push says before its pack. */
export interface PushHead {
  /** Empty if the client only asks whether it may push. */
  readonly commands: readonly RefCommand[];
  readonly options: readonly string[];
  readonly reports: "nothing" | "status" | "status and options";
  /** Whether all of it happens, or nothing. */
  readonly isAtomic: boolean;
  readonly isQuiet: boolean;
  readonly hasSideBand: boolean;
  /** Where the pack begins. */
  readonly length: number;
}

/** What became of a reference. */
export interface RefReport {
  readonly ref: string;
  /** Why it was refused, in a few words; null if it was not. */
  readonly refusal: string | null;
  /** The reference that has changed in place of it, if that is another one. */
  readonly instead?: Omit<RefCommand, "to"> & { readonly to: string };
}

/**
 * Reads what a push says before its pack.
 *
 * @param message the beginning of the push
 * @throws {GitError} it is malformed, or longer than what is given
 */
export function parsePush(message: Uint8Array): PushHead {
  const reader = new HeadReader(message);
  const commands: RefCommand[] = [];
  let capabilities = new Set<string>();
  for (const data of reader.part()) {
    const isFirst = commands.length === 0;
    const end = isFirst ? data.indexOf(0) : -1;
    if (end >= 0) capabilities = new Set(lineOf(data.subarray(end + 1)).split(" "));
    const line = lineOf(end < 0 ? data : data.subarray(0, end));
    if (/^shallow [0-9a-f]{40}$/.test(line)) continue;
    if (commands.length === MAX_COMMANDS) {
      throw new GitError(`A push has at most ${MAX_COMMANDS} references: push fewer at once`);
    }
    commands.push(commandOf(line));
  }
  if (new Set(commands.map(({ ref }) => ref)).size < commands.length) {
    throw new GitError("A push names a reference twice");
  }
  const has = (name: string) => capabilities.has(name);
  const format = [...capabilities].find((name) => name.startsWith("object-format="));
  if (format !== undefined && format !== "object-format=sha1") {
    throw new GitError("This server has objects with SHA-1 names only");
  }
  const options: string[] = [];
  if (commands.length > 0 && has("push-options")) {
    for (const data of reader.part()) {
      if (options.length === MAX_OPTIONS) throw new GitError("A push has too many options");
      options.push(lineOf(data));
    }
  }
  return {
    commands,
    options,
    reports: has("report-status-v2")
      ? "status and options"
      : has("report-status")
      ? "status"
      : "nothing",
    isAtomic: has("atomic"),
    isQuiet: has("quiet"),
    hasSideBand: has("side-band-64k"),
    length: reader.at,
  };
}

function commandOf(line: string): RefCommand {
  const [, from = "", to = "", ref = ""] = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
  const isWhole = isObjectName(from) && isObjectName(to) && from + to !== NO_OBJECT + NO_OBJECT;
  if (!isWhole) throw new GitError("A push has a line that is no change of a reference");
  if (Buffer.byteLength(ref) > MAX_REF_BYTES) {
    throw new GitError(`The name of a reference has at most ${MAX_REF_BYTES} bytes`);
  }
  if (ref.split("/").length > MAX_REF_PARTS) {
    throw new GitError(`The name of a reference has at most ${MAX_REF_PARTS} parts`);
  }
  return { ref, from: from === NO_OBJECT ? null : from, to: to === NO_OBJECT ? null : to };
}

/** Reads packets up to a flush, and knows where it is. */
class HeadReader {
  at = 0;
  readonly #message: Uint8Array;

  constructor(message: Uint8Array) {
    this.#message = message;
  }

  *part(): Generator<Uint8Array> {
    for (;;) {
      const { packet, end } = readPacket(this.#message, this.at);
      this.at = end;
      if (packet === "flush") return;
      if (typeof packet === "string") throw new GitError("A push has an unknown packet");
      yield packet;
    }
  }
}

/**
 * Whether Git takes a name for a reference.
 *
 * @see {@link https://git-scm.com/docs/git-check-ref-format}
 */
export function isRefName(ref: string): boolean {
  if (/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(ref) || ref.includes("\ufffd")) {
    return false;
  }
  return ref.startsWith("refs/") &&
    ref.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** The references, as a push begins with them. */
export function* advertiseToPusher(
  refs: readonly Pick<AdvertisedRef, "ref" | "object">[],
  agent: string,
): Generator<Uint8Array> {
  const capabilities = "report-status report-status-v2 delete-refs side-band-64k quiet atomic " +
    `ofs-delta object-format=sha1 push-options agent=${agent}`;
  yield textPacket("# service=git-receive-pack\n");
  yield markPacket("flush");
  const lines = refs.map(({ ref, object }) => `${object} ${ref}`);
  const [first = `${NO_OBJECT} capabilities^{}`, ...rest] = lines;
  yield textPacket(`${first}\0${capabilities}\n`);
  for (const line of rest) yield textPacket(`${line}\n`);
  yield markPacket("flush");
}

/** Channels of the side band. */
const BAND = { report: 1, notice: 2 } as const;

/** A packet that tells the client that the server still works. */
export function keepAlive(): Uint8Array {
  return dataPacket(new Uint8Array(0), BAND.notice);
}

/**
 * The answer to a push.
 *
 * @param failure why nothing of it could be read; null if it could
 * @param notices lines for people
 */
export function* reportPush(
  { reports, hasSideBand }: Pick<PushHead, "reports" | "hasSideBand">,
  { failure, refs, notices }: {
    readonly failure: string | null;
    readonly refs: readonly RefReport[];
    readonly notices: readonly string[];
  },
): Generator<Uint8Array> {
  if (hasSideBand) {
    for (const notice of notices) yield* inBand(Buffer.from(`${notice}\n`), BAND.notice);
  }
  const lines = reports === "nothing" ? [] : [
    textPacket(`unpack ${failure === null ? "ok" : oneLine(failure)}\n`),
    ...refs.flatMap((ref) => linesOf(ref, reports === "status and options")),
    markPacket("flush"),
  ];
  if (!hasSideBand) return yield* lines;
  yield* inBand(Buffer.concat(lines), BAND.report);
  yield markPacket("flush");
}

function linesOf({ ref, refusal, instead }: RefReport, hasOptions: boolean): Uint8Array[] {
  if (refusal !== null) return [textPacket(`ng ${ref} ${oneLine(refusal)}\n`)];
  const options = !hasOptions || instead === undefined ? [] : [
    `refname ${instead.ref}`,
    `old-oid ${instead.from ?? NO_OBJECT}`,
    `new-oid ${instead.to}`,
  ];
  return [
    textPacket(`ok ${ref}\n`),
    ...options.map((option) => textPacket(`option ${option}\n`)),
  ];
}

function* inBand(bytes: Uint8Array, channel: number): Generator<Uint8Array> {
  const most = MAX_PACKET_DATA - 1;
  for (let at = 0; at < bytes.length; at += most) {
    yield dataPacket(bytes.subarray(at, at + most), channel);
  }
}

/** Longest reason in a report, in characters. */
const MAX_REASON = 1000;

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, MAX_REASON);
}

/**
 * Fetching from another server, over HTTP: what it is asked, and what it answers.
 *
 * @see {@link https://git-scm.com/docs/gitprotocol-http}
 * @see {@link https://git-scm.com/docs/gitprotocol-v2}
 */
import { Buffer } from "node:buffer";
import { GitError } from "./error.ts";
import { isObjectName } from "./objects.ts";
import { lineOf, markPacket, readPacket, readPackets, textPacket } from "./pkt_line.ts";

/** Most references of a server. */
const MAX_REFS = 50_000;
/** Longest sentence of a server that an error repeats, in characters. */
const MAX_SENTENCE = 300;
const NO_OBJECT = "0".repeat(40);
const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const SERVICE = "# service=git-upload-pack";

/** A branch or a tag of a server. */
export interface RemoteRef {
  /** Below `refs/heads` or `refs/tags`. */
  readonly ref: string;
  /** The name of its object. */
  readonly object: string;
}

/** The branches and tags of a server. */
export interface RemoteRefs {
  /** The branch that HEAD stands for; null if the server does not say, or HEAD stands for none. */
  readonly head: string | null;
  readonly refs: readonly RemoteRef[];
}

/** How a server begins: with its references in version 0, which version 2 is asked for. */
export interface RemoteGreeting {
  readonly version: 0 | 2;
  readonly capabilities: ReadonlySet<string>;
  /** Null in version 2. */
  readonly refs: RemoteRefs | null;
}

/** What is wanted of a server, and what is here. */
export interface Wanted {
  readonly wants: readonly string[];
  /** Commits that are here; the server need not know them. */
  readonly haves: readonly string[];
  /** Commits in each line, in version 2; absent for all. */
  readonly depth?: number;
  /** What to leave out, in version 2, as `blob:none`; absent for nothing. */
  readonly filter?: string;
}

/**
 * Reads how a server begins.
 *
 * @throws {GitError} it is malformed, or a refusal, or the server's objects have SHA-256 names
 */
export function readGreeting(message: Uint8Array): RemoteGreeting {
  const lines: Uint8Array[] = [];
  for (const packet of readPackets(message)) {
    if (typeof packet === "string") continue;
    const line = lineOf(packet);
    requireNoRefusal(line);
    if (line !== SERVICE && line !== "version 1") lines.push(packet);
  }
  const [first, ...rest] = lines;
  if (first === undefined) throw new GitError("It says nothing of its references");
  if (lineOf(first) === "version 2") {
    const capabilities = new Set(rest.map(lineOf));
    requireSha1(capabilities);
    return { version: 2, capabilities, refs: null };
  }
  const end = first.indexOf(0);
  const capabilities = new Set(end < 0 ? [] : lineOf(first.subarray(end + 1)).split(" "));
  requireSha1(capabilities);
  const texts = [lineOf(end < 0 ? first : first.subarray(0, end)), ...rest.map(lineOf)];
  const symref = [...capabilities].find((one) => one.startsWith("symref=HEAD:"));
  const collected = new RefCollector(symref?.slice("symref=HEAD:".length) ?? null);
  for (const text of texts) {
    if (text.startsWith("shallow ")) continue;
    const [, object = "", name = ""] = /^([0-9a-f]{40}) (.+)$/.exec(text) ?? [];
    if (object === "") throw new GitError("It names a reference in a form that Git does not have");
    if (object !== NO_OBJECT) collected.add(name, object);
  }
  return { version: 0, capabilities, refs: collected.finish() };
}

/** Asks for the references, in version 2. */
export function listRequest(greeting: RemoteGreeting, agent: string): Uint8Array {
  return Buffer.concat([
    ...commandLines("ls-refs", greeting, agent),
    ...["symrefs", "ref-prefix HEAD", `ref-prefix ${HEADS}`, `ref-prefix ${TAGS}`].map(linePacket),
    markPacket("flush"),
  ]);
}

/**
 * Reads the answer to {@linkcode listRequest}.
 *
 * @throws {GitError} it is malformed, or a refusal
 */
export function readRefs(message: Uint8Array): RemoteRefs {
  const collected = new RefCollector(null);
  for (const packet of readPackets(message)) {
    if (typeof packet === "string") continue;
    const line = lineOf(packet);
    requireNoRefusal(line);
    const [object = "", name = "", ...attributes] = line.split(" ");
    if (object === "unborn") continue;
    if (!isObjectName(object) || name === "") {
      throw new GitError("It names a reference in a form that Git does not have");
    }
    const target = attributes.find((one) => one.startsWith("symref-target:"));
    if (name === "HEAD") collected.head = target?.slice("symref-target:".length) ?? null;
    collected.add(name, object);
  }
  return collected.finish();
}

/** Asks for objects, all at once: the server finds out what is common. */
export function fetchRequest(
  greeting: RemoteGreeting,
  { wants, haves, depth, filter }: Wanted,
  agent: string,
): Uint8Array {
  const haveLines = haves.map((name) => linePacket(`have ${name}`));
  if (greeting.version === 2) {
    return Buffer.concat([
      ...commandLines("fetch", greeting, agent),
      ...["ofs-delta", "thin-pack", "no-progress"].map(linePacket),
      ...depth === undefined ? [] : [linePacket(`deepen ${depth}`)],
      ...filter === undefined ? [] : [linePacket(`filter ${filter}`)],
      ...wants.map((name) => linePacket(`want ${name}`)),
      ...haveLines,
      linePacket("done"),
      markPacket("flush"),
    ]);
  }
  const used = ["side-band-64k", "ofs-delta", "thin-pack", "no-progress"]
    .filter((name) => greeting.capabilities.has(name));
  if (!used.includes("side-band-64k")) throw new GitError("It is too old: it has no side band");
  const [first, ...others] = wants;
  return Buffer.concat([
    linePacket(`want ${first} ${used.join(" ")} agent=${agent}`),
    ...others.map((name) => linePacket(`want ${name}`)),
    markPacket("flush"),
    ...haveLines,
    linePacket("done"),
  ]);
}

/** Asks how long objects are, in version 2. */
export function sizesRequest(
  greeting: RemoteGreeting,
  names: readonly string[],
  agent: string,
): Uint8Array {
  return Buffer.concat([
    ...commandLines("object-info", greeting, agent),
    linePacket("size"),
    ...names.map((name) => linePacket(`oid ${name}`)),
    markPacket("flush"),
  ]);
}

/**
 * Reads the answer to {@linkcode sizesRequest}: bytes, by name.
 *
 * @throws {GitError} it is malformed, or a refusal
 */
export function readSizes(message: Uint8Array): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const packet of readPackets(message)) {
    if (typeof packet === "string") continue;
    const line = lineOf(packet);
    requireNoRefusal(line);
    const [, name = "", size = ""] = /^([0-9a-f]{40}) ([0-9]{1,15})$/.exec(line) ?? [];
    if (name !== "") sizes.set(name, Number(size));
  }
  return sizes;
}

const BAND = { pack: 1, notice: 2, failure: 3 } as const;

/** Takes the pack out of the answer to {@linkcode fetchRequest}, while it comes. */
export class PackAnswer {
  #rest: Uint8Array = new Uint8Array(0);
  /** Whether the packets are those of the side band. */
  #isPack: boolean;
  #isEnded = false;

  constructor(greeting: Pick<RemoteGreeting, "version">) {
    // Version 0 has a few lines before the pack, which begin with a letter.
    this.#isPack = greeting.version === 0;
  }

  /**
   * Takes bytes of the answer.
   *
   * @returns bytes of the pack, which are valid as long as what was given
   * @throws {GitError} the answer is malformed, or the server has failed
   */
  *take(bytes: Uint8Array): Generator<Uint8Array> {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (isWhole(all, at)) {
      const { packet, end } = readPacket(all, at);
      at = end;
      if (this.#isEnded) throw new GitError("Something follows its pack");
      if (typeof packet !== "string") yield* this.#takePacket(packet);
      else if (packet === "flush") this.#isEnded = true;
    }
    this.#rest = all.slice(at);
  }

  /** @throws {GitError} the answer was cut short */
  finish(): void {
    if (!this.#isEnded || this.#rest.length > 0) throw new GitError("Its pack is cut short");
  }

  *#takePacket(packet: Uint8Array): Generator<Uint8Array> {
    const channel = this.#isPack ? packet[0] : undefined;
    if (channel === BAND.pack) return yield packet.subarray(1);
    if (channel === BAND.notice) return;
    const text = lineOf(channel === BAND.failure ? packet.subarray(1) : packet);
    if (channel === BAND.failure) throw refusal(text);
    requireNoRefusal(text);
    if (text === "packfile") this.#isPack = true;
  }
}

/** Whether a whole packet begins at a place. */
function isWhole(bytes: Uint8Array, at: number): boolean {
  if (at + 4 > bytes.length) return false;
  const length = Number.parseInt(Buffer.from(bytes.subarray(at, at + 4)).toString("latin1"), 16);
  // What is no length is refused where it is read.
  return Number.isNaN(length) || at + length <= bytes.length;
}

class RefCollector {
  head: string | null;
  readonly #refs: RemoteRef[] = [];
  #headObject: string | null = null;

  constructor(head: string | null) {
    this.head = head;
  }

  add(name: string, object: string): void {
    if (name === "HEAD") this.#headObject = object;
    if (!name.startsWith(HEADS) && !name.startsWith(TAGS) || name.endsWith("^{}")) return;
    if (this.#refs.push({ ref: name, object }) > MAX_REFS) {
      throw new GitError(`It has more than ${MAX_REFS} branches and tags`);
    }
  }

  finish(): RemoteRefs {
    const refs = this.#refs;
    const isHere = (ref: string | null) => refs.some((one) => one.ref === ref);
    // Old servers do not say what HEAD stands for: then it is the first branch that is there, too.
    const guess = refs.find(({ ref, object }) =>
      ref.startsWith(HEADS) && object === this.#headObject
    );
    return { head: isHere(this.head) ? this.head : guess?.ref ?? null, refs };
  }
}

function commandLines(
  command: string,
  { capabilities }: RemoteGreeting,
  agent: string,
): Uint8Array[] {
  const format = capabilities.has("object-format=sha1") ? ["object-format=sha1"] : [];
  return [
    ...[`command=${command}`, `agent=${agent}`, ...format].map(linePacket),
    markPacket("delimiter"),
  ];
}

function linePacket(line: string): Uint8Array {
  return textPacket(`${line}\n`);
}

function requireNoRefusal(line: string): void {
  if (line.startsWith("ERR ")) throw refusal(line.slice("ERR ".length));
}

function refusal(text: string): GitError {
  return new GitError(`It says: ${text.replace(/\p{Cc}+/gu, " ").trim().slice(0, MAX_SENTENCE)}`);
}

function requireSha1(capabilities: ReadonlySet<string>): void {
  const format = [...capabilities].find((one) => one.startsWith("object-format="));
  if (format === undefined || format === "object-format=sha1") return;
  throw new GitError("Its objects have SHA-256 names, and those here have SHA-1 names");
}

/**
 * Requests for the references and objects of a repository, as `git clone` and `git fetch` send them.
 *
 * @see {@link https://git-scm.com/docs/gitprotocol-v2}
 * @see {@link https://git-scm.com/docs/gitprotocol-pack}
 */
import { GitError } from "./error.ts";
import { EVERYTHING, type ObjectFilter, parseFilter } from "./filter.ts";
import { isObjectName } from "./objects.ts";
import { lineOf, type Packet, readPackets } from "./pkt_line.ts";

/** Most names of one request. */
const MAX_NAMES = 200_000;
/** Most prefixes of references that count; a request with more gets all of them. */
const MAX_PREFIXES = 65_536;

/** How much of the history a client wants. */
export interface Depth {
  /** Commits in each line, from what it wants; infinite for all. */
  readonly commits: number | null;
  /** Whether the commits count from where its history ends now. */
  readonly isRelative: boolean;
  /** Commits since a time, in Unix seconds. */
  readonly since: number | null;
  /** Commits that these references do not reach. */
  readonly not: readonly string[];
}

/** How the answer is framed: whole, or in packets of a channel each, of so many bytes. */
export type SideBand = "none" | "small" | "large";

/** A request for objects. */
export interface FetchRequest {
  /** Objects that the client wants, by name. */
  readonly wants: readonly string[];
  /** Commits that the client has; this server need not know them. */
  readonly haves: readonly string[];
  /** Whether it wants the pack now, whatever is common. */
  readonly isDone: boolean;
  readonly waitsForDone: boolean;
  /** Commits whose parents the client does not have. */
  readonly shallows: readonly string[];
  /** Null for the whole history, or as much as the client has. */
  readonly depth: Depth | null;
  readonly filter: ObjectFilter;
  /** Whether deltas may have bases that only the client has. */
  readonly isThin: boolean;
  /** Whether a delta may name its base by its place in the pack. */
  readonly takesOffsets: boolean;
  /** Whether annotated tags of what is sent are sent too. */
  readonly includesTags: boolean;
  readonly wantsProgress: boolean;
  readonly sideBand: SideBand;
}

/** A request for references. */
export interface ListRequest {
  /** Whether to name the objects that annotated tags are of. */
  readonly peels: boolean;
  /** Whether to name the targets of symbolic references. */
  readonly showsSymrefs: boolean;
  /** Whether to name HEAD if it points at no commit yet. */
  readonly showsUnborn: boolean;
  /** Beginnings of the references that the client wants; empty for all. */
  readonly prefixes: readonly string[];
}

/** A request of the protocol's version 2. */
export type Command =
  | { readonly name: "ls-refs"; readonly list: ListRequest }
  | { readonly name: "fetch"; readonly fetch: FetchRequest }
  | { readonly name: "object-info"; readonly objects: readonly string[] };

/** A fetch while it is read. */
class FetchDraft {
  readonly wants = new Set<string>();
  readonly haves = new Set<string>();
  readonly shallows = new Set<string>();
  readonly options = new Set<string>();
  readonly not: string[] = [];
  filter: ObjectFilter = EVERYTHING;
  commits: number | null = null;
  since: number | null = null;

  /** Takes a line that both versions have; returns whether it is one. */
  take(line: string): boolean {
    const space = line.indexOf(" ");
    const value = space < 0 ? "" : line.slice(space + 1);
    switch (space < 0 ? line : line.slice(0, space)) {
      case "want":
        return this.#add(this.wants, value);
      case "have":
        return this.#add(this.haves, value);
      case "shallow":
        return this.#add(this.shallows, value);
      case "deepen":
        this.commits = depthOf(value);
        return true;
      case "deepen-since":
        this.since = secondsOf(value);
        return true;
      case "deepen-not":
        if (this.not.push(value) > MAX_PREFIXES) throw tooMany();
        return true;
      case "filter":
        this.filter = parseFilter(value);
        return true;
      default:
        return false;
    }
  }

  finish(sideBand: SideBand): FetchRequest {
    const { options, commits, since, not } = this;
    if (commits !== null && (since !== null || not.length > 0)) {
      throw new GitError('"deepen" goes neither with "deepen-since" nor with "deepen-not"');
    }
    const isWhole = commits === null && since === null && not.length === 0;
    const isRelative = options.has("deepen-relative");
    return {
      wants: [...this.wants],
      haves: [...this.haves],
      isDone: options.has("done"),
      waitsForDone: options.has("wait-for-done"),
      shallows: [...this.shallows],
      depth: isWhole ? null : { commits, isRelative, since, not },
      filter: this.filter,
      isThin: options.has("thin-pack"),
      takesOffsets: options.has("ofs-delta"),
      includesTags: options.has("include-tag"),
      wantsProgress: !options.has("no-progress"),
      sideBand,
    };
  }

  #add(names: Set<string>, name: string): boolean {
    if (!isObjectName(name)) {
      throw new GitError(`"${name.slice(0, 50)}" is not the name of an object`);
    }
    if (names.add(name).size > MAX_NAMES) throw tooMany();
    return true;
  }
}

function tooMany(): GitError {
  return new GitError(`A request names at most ${MAX_NAMES} objects`);
}

/** Git's own number for the whole history. */
const WHOLE_HISTORY = 0x7fff_ffff;

function depthOf(text: string): number {
  const depth = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
  if (depth < 1) throw new GitError(`"deepen ${text.slice(0, 20)}" is malformed`);
  return depth >= WHOLE_HISTORY ? Infinity : depth;
}

function secondsOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new GitError("A time is malformed");
  return Number(text);
}

/**
 * Reads a request of version 2.
 *
 * @throws {GitError} it is malformed, or this server does not know it
 */
export function parseCommand(message: Uint8Array): Command {
  const packets = readPackets(message);
  let name: string | null = null;
  for (const line of linesOf(packets)) {
    const [key, value = ""] = splitOnce(line, "=");
    if (key === "command") name = value;
    else if (key === "object-format" && value !== "sha1") {
      throw new GitError(`This repository names objects by SHA-1, not by "${value.slice(0, 20)}"`);
    }
  }
  const lines = linesOf(packets);
  switch (name) {
    case "ls-refs":
      return { name, list: parseList(lines) };
    case "fetch":
      return { name, fetch: parseFetch(lines) };
    case "object-info":
      return { name, objects: parseObjects(lines) };
    default:
      throw new GitError(`This server has no command "${(name ?? "").slice(0, 50)}"`);
  }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** The text of packets up to a mark. */
function* linesOf(packets: Iterator<Packet>): Generator<string> {
  for (let next = packets.next(); next.done !== true; next = packets.next()) {
    if (typeof next.value === "string") return;
    yield lineOf(next.value);
  }
}

function parseList(lines: Iterable<string>): ListRequest {
  const options = new Set<string>();
  const prefixes: string[] = [];
  for (const line of lines) {
    if (line.startsWith("ref-prefix ")) prefixes.push(line.slice("ref-prefix ".length));
    else options.add(line);
    if (options.size > MAX_PREFIXES) throw tooMany();
  }
  return {
    peels: options.has("peel"),
    showsSymrefs: options.has("symrefs"),
    showsUnborn: options.has("unborn"),
    prefixes: prefixes.length > MAX_PREFIXES ? [] : prefixes,
  };
}

function parseFetch(lines: Iterable<string>): FetchRequest {
  const draft = new FetchDraft();
  for (const line of lines) {
    if (draft.take(line)) continue;
    if (!FETCH_OPTIONS.has(line)) {
      throw new GitError(`A fetch has the unknown line "${line.slice(0, 50)}"`);
    }
    draft.options.add(line);
  }
  return draft.finish("large");
}

/** What a fetch of version 2 may say in a word. */
const FETCH_OPTIONS: ReadonlySet<string> = new Set([
  "deepen-relative",
  "done",
  "include-tag",
  "no-progress",
  "ofs-delta",
  "thin-pack",
  "wait-for-done",
]);

function parseObjects(lines: Iterable<string>): string[] {
  const objects: string[] = [];
  for (const line of lines) {
    if (line === "size") continue;
    const name = line.startsWith("oid ") ? line.slice("oid ".length) : "";
    if (!isObjectName(name)) {
      throw new GitError(`"${line.slice(0, 50)}" is no object and no attribute`);
    }
    if (objects.push(name) > MAX_NAMES) throw tooMany();
  }
  return objects;
}

/** How a client of version 0 wants to learn what is common. */
export type Acknowledging = "single" | "multiple" | "detailed";

/** A fetch of version 0. */
export interface OldFetch extends FetchRequest {
  readonly acknowledging: Acknowledging;
  /** Whether the client takes the pack as soon as enough is common. */
  readonly needsNoDone: boolean;
}

/**
 * Reads a request of version 0; null for an empty one, by which a client says that it wants nothing.
 *
 * @throws {GitError} it is malformed
 */
export function parseOldFetch(message: Uint8Array): OldFetch | null {
  const draft = new FetchDraft();
  for (const packet of readPackets(message)) {
    if (typeof packet === "string") continue;
    const line = lineOf(packet);
    const [want, capabilities] = draft.wants.size === 0 ? splitAfterName(line) : [line, undefined];
    for (const capability of capabilities?.split(" ") ?? []) draft.options.add(capability);
    if (line === "done") draft.options.add(line);
    else if (!draft.take(want)) throw new GitError(`"${line.slice(0, 50)}" is malformed`);
  }
  const { options } = draft;
  if (draft.wants.size === 0) return null;
  return {
    ...draft.finish(
      options.has("side-band-64k") ? "large" : options.has("side-band") ? "small" : "none",
    ),
    acknowledging: options.has("multi_ack_detailed")
      ? "detailed"
      : options.has("multi_ack")
      ? "multiple"
      : "single",
    needsNoDone: options.has("no-done"),
  };
}

/** `want NAME`, and the capabilities behind it in the first line. */
function splitAfterName(line: string): [string, string | undefined] {
  const end = "want ".length + 40;
  return line.startsWith("want ") && line.length > end
    ? [line.slice(0, end), line.slice(end + 1)]
    : [line, undefined];
}

/** Unpacks what a push brings, beside the repository, and checks that nothing is missing. */
import { BoundedMap } from "../../../../kernel/bounded_map.ts";
import {
  applyDelta,
  bytesOfName,
  deltaLengths,
  GitError,
  hexOf,
  nameOfObject,
  type PackEntry,
  readPack,
} from "../../../git/mod.ts";
import { MAX_ARTIFACT_BYTES } from "../../codec/mod.ts";
import { removeDerived } from "../../content/mod.ts";
import { ComputingTime } from "../../computing_time.ts";
import { FossilError } from "../../error.ts";
import type { GitCompanion } from "../door/mod.ts";
import { checkObject } from "../check.ts";
import { requireConnected } from "./connected.ts";
import { type Draft, type DraftObject, FileDraft, keyOf } from "./draft.ts";
import { NewHistory } from "./history.ts";
import { AllObjects, contentOf, findKnown, type KnownObject, sizeOf } from "./known.ts";
import { Oddities } from "../oddities.ts";
import { ShortDraft } from "./short_draft.ts";

/** Most objects of a push. */
const MAX_OBJECTS = 2_000_000;
/** Longest chain of deltas that Git makes. */
const MAX_DEPTH = 4095;
/** Most bytes of all objects together: so many, or so many for each byte of the pack; and at last. */
const MAX_EXPANDED = { always: 256 * 1024 ** 2, perByte: 500, atLast: 8 * 1024 ** 3 } as const;
/** Bytes of objects that are kept in memory, because they are the bases of others. */
const KEPT_BYTES = 48 * 1024 * 1024;

/** A pack in a file. */
export interface SentPack {
  readonly source: string;
  /** Where it begins. */
  readonly start: number;
  /** The draft to make of it. */
  readonly target: string;
  /** The objects at which references will point. */
  readonly tips: readonly string[];
  /** Those of which the answer tells what they build on. */
  readonly based: readonly string[];
}

/** A push whose objects are in a draft. */
export interface UnpackedPush {
  /** Where the draft is; or its bytes, if they are few. */
  readonly draft: string | Uint8Array;
  readonly bases: PushBases;
  /** Sentences about what is odd, and allowed. */
  readonly oddities: readonly string[];
  /** Whether to store it keeps others waiting. */
  readonly isLong: boolean;
}

/**
 * Unpacks a push.
 *
 * @param progress called with the bytes of objects so far; throws if the work must end
 * @throws {FossilError} `invalid` or `limit` if something is malformed, missing or beyond a bound
 */
export function unpackPush(
  companion: GitCompanion,
  pack: SentPack,
  progress: (bytes: number) => void,
): UnpackedPush {
  const { target } = pack;
  try {
    // What an earlier attempt has left that was interrupted.
    removeDerived(target);
    using draft = FileDraft.create(target);
    const unpacked = companion.reader.read(() => {
      companion.update();
      return unpackInto(draft, companion, pack, {
        maxBytes: MAX_ARTIFACT_BYTES,
        mostBytes,
        progress,
      });
    });
    draft.finish();
    return { draft: target, ...unpacked };
  } catch (error) {
    throw error instanceof GitError ? new FossilError("invalid", error.message) : error;
  }
}

/** How long others wait for a push to be unpacked or stored, in milliseconds. */
const PATIENCE_MS = 100;
/** Most bytes of the objects of a push that is unpacked in memory. */
const SHORT_BYTES = 256 * 1024;

/** A push is not as short as it was taken for. */
class NotShort extends Error {}

/**
 * Unpacks a push in memory, which keeps nobody waiting; null if that cannot be done: `unpackPush` does
 * it then, or tells what is wrong.
 */
export function unpackShortPush(companion: GitCompanion, pack: SentPack): UnpackedPush | null {
  using draft = new ShortDraft();
  try {
    return companion.reader.read(() => {
      if (!companion.updateIfShort()) return null;
      const time = new ComputingTime();
      const progress = () => {
        if (time.exceeds(PATIENCE_MS)) throw new NotShort();
      };
      const bounds = { maxBytes: SHORT_BYTES, mostBytes: () => SHORT_BYTES, progress };
      const unpacked = unpackInto(draft, companion, pack, bounds);
      return { draft: draft.pack(), ...unpacked };
    });
  } catch (error) {
    const isKnown = error instanceof GitError || error instanceof FossilError ||
      error instanceof NotShort;
    if (!isKnown) throw error;
    return null;
  }
}

interface UnpackBounds {
  /** Of an object. */
  readonly maxBytes: number;
  /** Of all objects and deltas, by the bytes of the pack. */
  mostBytes(length: number): number;
  progress(bytes: number): void;
}

/** Reads a pack into a draft, and checks that nothing is missing. */
function unpackInto(
  draft: Draft,
  companion: GitCompanion,
  { source, start, tips, based }: SentPack,
  { maxBytes, mostBytes, progress }: UnpackBounds,
): Omit<UnpackedPush, "draft"> {
  using file = Deno.openSync(source);
  const length = file.statSync().size - start;
  const unpacker = new Unpacker(companion, draft, { maxBytes, mostBytes: mostBytes(length) });
  const read = (at: number, into: Uint8Array) => {
    file.seekSync(start + at, Deno.SeekMode.Start);
    return file.readSync(into) ?? 0;
  };
  const check = () => progress(unpacker.bytes);
  for (const entry of readPack({ read, length, maxEntries: MAX_OBJECTS, maxBytes })) {
    check();
    unpacker.take(entry);
  }
  unpacker.finish(check);
  const objects = new AllObjects(companion, draft);
  requireConnected(objects, tips, check);
  return {
    bases: basesOf(objects, based),
    oddities: unpacker.oddities.sentences(),
    isLong: isLong(objects, draft, tips),
  };
}

/** Most tips of which the bases are found, and most of one. */
const MAX_BASES = { tips: 100, each: 100 } as const;

/**
 * The commits of the repository on which what is pushed builds, by the pushed object; of one that the
 * repository has, itself.
 */
export type PushBases = Readonly<Record<string, readonly string[]>>;

/** About what it takes to store things, in milliseconds: a kilobyte is of contents or of manifests. */
const COSTS = { object: 0.15, commit: 0.3, kilobyte: 0.05 } as const;

/** Whether to store a push takes long: each commit may name every file. */
function isLong(objects: AllObjects, draft: Draft, tips: readonly string[]): boolean {
  const least = draft.size * COSTS.object + draft.bytes / 1024 * COSTS.kilobyte;
  if (least > PATIENCE_MS) return true;
  const { commits } = new NewHistory(objects, commitsOf(objects, tips));
  const { db } = objects.companion.reader.repository;
  const longest = db.value<number>(
    "SELECT max(size) FROM (SELECT size FROM event JOIN blob ON rid=objid WHERE type='ci' " +
      "ORDER BY mtime DESC LIMIT 10)",
  ) ?? 0;
  const each = COSTS.commit + longest / 1024 * COSTS.kilobyte;
  return least + commits.length * each > PATIENCE_MS;
}

function basesOf(objects: AllObjects, based: readonly string[]): PushBases {
  const commits = commitsOf(objects, based.slice(0, MAX_BASES.tips));
  const history = new NewHistory(objects, commits);
  return Object.fromEntries(
    commits.map((tip) => [tip, history.bases(bytesOfName(tip)).slice(0, MAX_BASES.each)]),
  );
}

function commitsOf(objects: AllObjects, tips: readonly string[]): string[] {
  return tips.filter((tip) => objects.kindOf(bytesOfName(tip)) === "commit");
}

function mostBytes(length: number): number {
  const { always, perByte, atLast } = MAX_EXPANDED;
  return Math.min(atLast, Math.max(always, length * perByte));
}

/** What a delta waits for: the key of a name, or the number of an entry. */
type Base = string | number;

interface WaitingDelta {
  /** The number of its entry. */
  readonly entry: number;
  /** Its row in the draft. */
  readonly row: number;
}

class Unpacker {
  readonly #companion: GitCompanion;
  readonly #draft: Draft;
  /** Of each entry: where it begins, the row of its object (0 while it waits), and its depth. */
  readonly #offsets: number[] = [];
  readonly #rows: number[] = [];
  readonly #depths: number[] = [];
  /** Depth of the objects that came as deltas, by their rows. */
  readonly #depthOf = new Map<number, number>();
  readonly #waiting = new Map<Base, WaitingDelta[]>();
  readonly #kept = new BoundedMap<Base, DraftObject>({
    most: KEPT_BYTES,
    mostOfOne: KEPT_BYTES / 2,
    weigh: ({ content }) => content.length + 200,
  });
  readonly #maxBytes: number;
  readonly #mostBytes: number;
  readonly oddities = new Oddities(Date.now() / 1000);
  /** Of all objects and deltas so far. */
  bytes = 0;

  /**
   * @param bounds.maxBytes of an object
   * @param bounds.mostBytes of all objects and deltas
   */
  constructor(
    companion: GitCompanion,
    draft: Draft,
    bounds: { readonly maxBytes: number; readonly mostBytes: number },
  ) {
    this.#companion = companion;
    this.#draft = draft;
    this.#maxBytes = bounds.maxBytes;
    this.#mostBytes = bounds.mostBytes;
  }

  take({ offset, form, content }: PackEntry): void {
    const entry = this.#offsets.push(offset) - 1;
    this.#rows.push(0);
    this.#depths.push(0);
    if ("kind" in form) return this.#store(entry, { kind: form.kind, content });
    const base = "baseName" in form ? keyOf(form.baseName) : this.#entryAt(form.baseOffset);
    const found = this.#baseOf(base, "baseName" in form ? form.baseName : null);
    if (found !== null) return this.#resolve(entry, content, found);
    this.#count(content.length);
    const waiting = { entry, row: this.#draft.keep(content) };
    const others = this.#waiting.get(base);
    if (others === undefined) this.#waiting.set(base, [waiting]);
    else others.push(waiting);
  }

  /** Resolves the deltas whose bases came after them. */
  finish(check: () => void): void {
    const ready = [...this.#waiting.keys()].filter((base) => this.#baseOf(base, null) !== null);
    for (let base = ready.pop(); base !== undefined; base = ready.pop()) {
      const deltas = this.#waiting.get(base) ?? [];
      this.#waiting.delete(base);
      for (const { entry, row } of deltas) {
        check();
        this.#resolve(entry, this.#draft.kept(row), this.#baseOf(base, null)!);
        const name = keyOf(this.#draft.nameAt(this.#rows[entry]!));
        for (const next of [entry, name]) if (this.#waiting.has(next)) ready.push(next);
      }
    }
    if (this.#waiting.size === 0) return;
    throw new GitError("The pack has deltas whose bases are neither in it nor in the project");
  }

  /** The entry that begins at a place. */
  #entryAt(offset: number): number {
    const offsets = this.#offsets;
    let [low, high] = [0, offsets.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (offsets[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    if (offsets[low] !== offset) throw new GitError("A delta has no base where it says");
    return low;
  }

  /** A base and its depth; null if it is not here. */
  #baseOf(base: Base, name: Uint8Array | null): { base: DraftObject; depth: number } | null {
    if (typeof base === "number") {
      const row = this.#rows[base]!;
      return row === 0 ? null : { base: this.#at(row), depth: this.#depths[base]! };
    }
    const bytes = name ?? Uint8Array.from(base, (character) => character.charCodeAt(0));
    const row = this.#draft.rowOf(bytes);
    if (row !== 0) return { base: this.#at(row), depth: this.#depthOf.get(row) ?? 0 };
    const kept = this.#kept.get(base);
    if (kept !== undefined) return { base: kept, depth: 0 };
    const known = findKnown(this.#companion, bytes);
    if (known === null) return null;
    this.#requireShort(known);
    const object = { kind: known.kind, content: contentOf(this.#companion, known) };
    this.#kept.set(base, object);
    return { base: object, depth: 0 };
  }

  #at(row: number): DraftObject {
    const kept = this.#kept.get(row);
    if (kept !== undefined) return kept;
    const object = this.#draft.at(row);
    this.#kept.set(row, object);
    return object;
  }

  #resolve(
    entry: number,
    delta: Uint8Array,
    { base: { kind, content }, depth }: { readonly base: DraftObject; readonly depth: number },
  ): void {
    if (depth + 1 > MAX_DEPTH) throw new GitError(`A delta has more than ${MAX_DEPTH} bases`);
    this.#depths[entry] = depth + 1;
    const { result } = deltaLengths(delta);
    // Before it takes memory.
    this.#require(result);
    this.#store(entry, { kind, content: applyDelta(content, delta, this.#maxBytes) });
  }

  #store(entry: number, object: DraftObject): void {
    const { kind, content } = object;
    this.#count(content.length);
    const name = nameOfObject(kind, content);
    this.#checkObject(name, object);
    const row = this.#draft.add(name, object);
    this.#rows[entry] = row;
    const depth = this.#depths[entry]!;
    if (depth > 0) this.#depthOf.set(row, Math.max(depth, this.#depthOf.get(row) ?? 0));
    this.#kept.set(row, object);
  }

  #checkObject(name: Uint8Array, { kind, content }: DraftObject): void {
    const hex = hexOf(name);
    try {
      checkObject({ kind, hex, content }, this.oddities);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      const { message } = error;
      const what = /^[A-Z]/.test(message) ? `is malformed: ${message}` : message;
      throw new GitError(`The ${kind} ${hex} ${what}`);
    }
    const known = findKnown(this.#companion, name);
    if (known === null) return;
    const before = contentOf(this.#companion, known);
    if (known.kind === kind && isSame(before, content)) return;
    throw new GitError(`The ${kind} ${hex} has other bytes than the one that is here`);
  }

  /** Checks the length of an object of the repository, before it takes memory. */
  #requireShort(known: KnownObject): void {
    if (sizeOf(this.#companion, known) <= this.#maxBytes) return;
    throw new FossilError("limit", `An object may have ${this.#maxBytes} bytes`);
  }

  #count(bytes: number): void {
    this.#require(bytes);
    this.bytes += bytes;
  }

  #require(bytes: number): void {
    if (this.bytes + bytes <= this.#mostBytes) return;
    throw new FossilError(
      "limit",
      `The objects of this push may have ${this.#mostBytes} bytes together, and have more`,
    );
  }
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

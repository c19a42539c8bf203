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
import { FossilError } from "../../error.ts";
import type { GitCompanion } from "../door/mod.ts";
import { checkObject } from "../check.ts";
import { requireConnected } from "./connected.ts";
import { Draft, type DraftObject, keyOf } from "./draft.ts";
import { NewHistory } from "./history.ts";
import { AllObjects, contentOf, findKnown } from "./known.ts";
import { Oddities } from "../oddities.ts";

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

/** What is in a draft. */
export interface UnpackedPush {
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
  { source, start, target, tips, based }: SentPack,
  progress: (bytes: number) => void,
): UnpackedPush {
  try {
    // What an earlier attempt has left that was interrupted.
    removeDerived(target);
    using draft = Draft.create(target);
    using file = Deno.openSync(source);
    const length = file.statSync().size - start;
    const unpacker = new Unpacker(companion, draft, length);
    const read = (at: number, into: Uint8Array) => {
      file.seekSync(start + at, Deno.SeekMode.Start);
      return file.readSync(into) ?? 0;
    };
    const check = () => progress(unpacker.bytes);
    const bounds = { maxEntries: MAX_OBJECTS, maxBytes: MAX_ARTIFACT_BYTES };
    const unpacked = companion.reader.read(() => {
      companion.update();
      for (const entry of readPack({ read, length, ...bounds })) {
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
    });
    draft.finish();
    return unpacked;
  } catch (error) {
    throw error instanceof GitError ? new FossilError("invalid", error.message) : error;
  }
}

/** Most tips of which the bases are found, and most of one. */
const MAX_BASES = { tips: 100, each: 100 } as const;

/**
 * The commits of the repository on which what is pushed builds, by the pushed object; of one that the
 * repository has, itself.
 */
export type PushBases = Readonly<Record<string, readonly string[]>>;

/** Bytes that are stored without keeping anybody waiting, and what a commit counts beside its own. */
const SHORT_BYTES = 256 * 1024;
const COMMIT_BYTES = 8 * 1024;

/** Whether to store a push takes long: each commit may name every file. */
function isLong(objects: AllObjects, draft: Draft, tips: readonly string[]): boolean {
  if (draft.bytes > SHORT_BYTES) return true;
  const commits = tips.filter((tip) => objects.kindOf(bytesOfName(tip)) === "commit");
  const history = new NewHistory(objects, commits);
  const { db } = objects.companion.reader.repository;
  const longest = db.value<number>(
    "SELECT max(size) FROM (SELECT size FROM event JOIN blob ON rid=objid WHERE type='ci' " +
      "ORDER BY mtime DESC LIMIT 10)",
  ) ?? 0;
  return history.commits.length * (COMMIT_BYTES + longest) > SHORT_BYTES;
}

function basesOf(objects: AllObjects, tips: readonly string[]): PushBases {
  const commits = tips.slice(0, MAX_BASES.tips)
    .filter((tip) => objects.kindOf(bytesOfName(tip)) === "commit");
  const history = new NewHistory(objects, commits);
  return Object.fromEntries(
    commits.map((tip) => [tip, history.bases(bytesOfName(tip)).slice(0, MAX_BASES.each)]),
  );
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
  readonly #mostBytes: number;
  readonly oddities = new Oddities(Date.now() / 1000);
  /** Of all objects and deltas so far. */
  bytes = 0;

  /** @param length of the pack, in bytes */
  constructor(companion: GitCompanion, draft: Draft, length: number) {
    const { always, perByte, atLast } = MAX_EXPANDED;
    this.#companion = companion;
    this.#draft = draft;
    this.#mostBytes = Math.min(atLast, Math.max(always, length * perByte));
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
        const { name } = this.#draft.db.row<{ name: Uint8Array }>(
          "SELECT name FROM object WHERE id=?",
          this.#rows[entry]!,
        )!;
        for (const next of [entry, keyOf(name)]) if (this.#waiting.has(next)) ready.push(next);
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
    this.#store(entry, { kind, content: applyDelta(content, delta, MAX_ARTIFACT_BYTES) });
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

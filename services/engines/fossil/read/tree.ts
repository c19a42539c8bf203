import { firstIndex } from "../../../kernel/first_index.ts";
import type { FileCard } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { readRef } from "./checkins.ts";
import { changedFiles, lastChanges } from "./last_change.ts";
import { filesBelow, findFileOf, normalizePath, treeOf } from "./manifests.ts";
import type { Reader, Sized } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { CheckinRef, Tree, TreeEntry } from "./shapes.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** What to list. */
export interface TreeOptions {
  /** Any name; absent for the tip of the main branch. */
  readonly checkin?: string;
  /** A folder; the root if absent. */
  readonly path?: string;
  /** Every file below the folder by its full path, and no folders. */
  readonly recursive?: boolean;
  /** Leaves `last_checkin` null, which saves most of the time. */
  readonly withoutLastCheckin?: boolean;
}

/**
 * Approximate memory of an entry of a listing, of one that it may share with an earlier listing, and
 * of a check-in that it names, in bytes.
 */
const [ENTRY_BYTES, SHARED_BYTES, NAMED_BYTES] = [200, 50, 40];

/** A listing, with the rows of the check-ins that it names, or that an earlier one named. */
interface Listed {
  readonly rid: number;
  readonly entries: readonly TreeEntry[];
  readonly named: ReadonlySet<number>;
  /** Most rows in `named`: with more, it is made anew, and has only those that it names. */
  readonly mostNamed: number;
}

/** Rows of earlier listings that one may have, beside as many as it had when it was made anew. */
const MORE_NAMED = 100;

/**
 * A folder at a check-in, in byte order of the names.
 *
 * @throws {FossilError} `missing` if there is no such folder, or no such check-in; `ambiguous`.
 */
export function readTree(reader: Reader, options: TreeOptions = {}): Tree {
  return reader.read(() => {
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const path = normalizePath(options.path ?? "");
    const { recursive = false, withoutLastCheckin = false } = options;
    const wanted = { recursive, withoutLastCheckin, path };
    const key = `${recursive} ${withoutLastCheckin} ${path}`;
    const mend = (known: Sized<Listed>, touched: readonly number[]) =>
      isTouched(known.value, touched) ? null : known;
    const latest = reader.lasting(`latest listing ${key}`, () => ({ value: { rid }, bytes: 200 }));
    const listed = reader.lasting(`listing ${rid} ${key}`, () => {
      const before = reader.lastingIfCached(`listing ${latest.rid} ${key}`, mend);
      const changed = before && listChanged(reader, before, rid, wanted);
      const value = changed ?? list(reader, rid, wanted);
      const { entries, named } = value;
      const each = changed === null ? ENTRY_BYTES : SHARED_BYTES;
      return { value, bytes: 200 + entries.length * each + named.size * NAMED_BYTES };
    }, mend);
    latest.rid = rid;
    return { checkin, path, entries: listed.entries };
  });
}

/**
 * Whether writes may have changed a listing: a check-in that it names says something else, or a file
 * without content may have got it.
 */
function isTouched({ named, entries }: Listed, touched: readonly number[]): boolean {
  return touched.some((rid) => named.has(rid)) ||
    entries.some(({ type, size }) => type !== "dir" && size === null);
}

/** What to list below which folder. */
type Wanted = Required<Omit<TreeOptions, "checkin">>;

function list(reader: Reader, rid: number, wanted: Wanted): Listed {
  const files = filesBelow(treeOf(reader, rid), wanted.path);
  if (files.length === 0 && wanted.path !== "") {
    throw new FossilError("missing", `There is no folder "${wanted.path}"`);
  }
  const named = new Set<number>();
  const entries = entriesOf(reader, rid, files, wanted, named);
  return { rid, entries, named, mostNamed: 2 * named.size + MORE_NAMED };
}

/**
 * A listing made from that of an earlier check-in, and from the files that changed since; null if
 * many did, nothing is left, or it would have too many rows of earlier ones.
 */
function listChanged(reader: Reader, before: Listed, rid: number, wanted: Wanted): Listed | null {
  const { mostNamed } = before;
  if (before.named.size > mostNamed) return null;
  const { path, recursive, withoutLastCheckin } = wanted;
  const prefix = path === "" ? "" : `${path}/`;
  const changed = changedFiles(reader, before.rid, rid)?.filter((name) => name.startsWith(prefix));
  if (changed === undefined) return null;
  const named = new Set(before.named);
  const files = changed.flatMap((name) => findFileOf(reader, rid, name) ?? []);
  const fresh = new TextMap(
    entriesOf(reader, rid, files, wanted, named).map((entry) => [placeOf(entry), entry]),
  );
  const places = new TextSet(changed.map((name) => {
    const slash = recursive ? -1 : name.indexOf("/", prefix.length);
    return name.slice(recursive ? 0 : prefix.length, slash < 0 ? undefined : slash + 1);
  }));
  const entries: TreeEntry[] = [];
  let next = 0;
  for (const place of [...places].sort(compareUtf8)) {
    const start = firstIndex(
      before.entries.length,
      (index) => compareUtf8(placeOf(before.entries[index]!), place) >= 0,
      next,
    );
    for (; next < start; next++) entries.push(before.entries[next]!);
    const known = before.entries[next];
    const isKnown = known !== undefined && placeOf(known) === place;
    if (isKnown) next++;
    let entry = fresh.get(place);
    const isFolder = place.endsWith("/");
    const last = isKnown ? known.last_checkin : null;
    if (isFolder && (entry === undefined || !(withoutLastCheckin || isNewer(entry, last)))) {
      // The file that was changed last may be gone: the others of the folder count.
      const inside = filesBelow(treeOf(reader, rid), `${prefix}${place.slice(0, -1)}`);
      [entry] = entriesOf(reader, rid, inside, wanted, named);
    }
    if (entry !== undefined) entries.push(entry);
  }
  for (; next < before.entries.length; next++) entries.push(before.entries[next]!);
  return entries.length === 0 && path !== "" ? null : { rid, entries, named, mostNamed };
}

/** What sorts an entry among others: where its files stand in the byte order of their paths. */
function placeOf({ name, type }: TreeEntry): string {
  return type === "dir" ? `${name}/` : name;
}

/** @param named gets the rows of the check-ins that the entries name */
function entriesOf(
  reader: Reader,
  rid: number,
  files: readonly FileCard[],
  { path, recursive, withoutLastCheckin }: Wanted,
  named: Set<number>,
): TreeEntry[] {
  const start = path === "" ? 0 : path.length + 1;
  const shown = recursive ? files : files.filter(({ name }) => !name.includes("/", start));
  const changes = withoutLastCheckin ? new TextMap<number>() : lastChanges(reader, rid, files);
  const listing = new Listing(reader, sizesOf(reader, shown), changes);
  const entries = recursive
    ? files.map((card) => listing.file(card, card.name))
    : listing.folder(files, start);
  for (const row of listing.named) named.add(row);
  return entries;
}

/** Sizes of files by hash, in bytes; -1 for missing content. */
function sizesOf(reader: Reader, files: readonly FileCard[]): Map<string, number> {
  const rows = reader.repository.db.rows<{ uuid: string; size: number }>(
    "SELECT uuid, size FROM json_each(?) CROSS JOIN blob ON uuid=value",
    JSON.stringify(files.map(({ hash }) => hash)),
  );
  return new Map(rows.map(({ uuid, size }) => [uuid, size]));
}

/** Makes entries; reads each check-in once. */
class Listing {
  readonly #reader: Reader;
  readonly #sizes: ReadonlyMap<string, number>;
  /** Check-in that last changed a file, by the file's path. */
  readonly #changes: ReadonlyMap<string, number>;
  readonly #refs = new Map<number, CheckinRef | null>();

  constructor(
    reader: Reader,
    sizes: ReadonlyMap<string, number>,
    changes: ReadonlyMap<string, number>,
  ) {
    this.#reader = reader;
    this.#sizes = sizes;
    this.#changes = changes;
  }

  /** Rows of the check-ins that the entries name. */
  get named(): Iterable<number> {
    return this.#refs.keys();
  }

  file(card: FileCard, name: string): TreeEntry {
    const size = this.#sizes.get(card.hash ?? "") ?? -1;
    return {
      name,
      type: card.mode === "link" ? "link" : "file",
      uuid: card.hash,
      size: size < 0 ? null : size,
      executable: card.mode === "executable",
      last_checkin: this.#lastChange(card.name),
    };
  }

  /** Files and folders directly in a folder; their names begin at an index of the paths. */
  folder(files: readonly FileCard[], start: number): TreeEntry[] {
    const entries = new TextMap<TreeEntry>();
    for (const card of files) {
      const slash = card.name.indexOf("/", start);
      if (slash < 0) {
        const name = card.name.slice(start);
        entries.set(name, this.file(card, name));
        continue;
      }
      const name = card.name.slice(start, slash);
      const last = newer(entries.get(name)?.last_checkin, this.#lastChange(card.name));
      entries.set(name, { ...FOLDER, name, last_checkin: last });
    }
    return [...entries.values()];
  }

  #lastChange(path: string): CheckinRef | null {
    const rid = this.#changes.get(path);
    if (rid === undefined) return null;
    const known = this.#refs.get(rid);
    if (known !== undefined) return known;
    const ref = readRef(this.#reader, rid);
    this.#refs.set(rid, ref);
    return ref;
  }
}

const FOLDER = { type: "dir", uuid: null, size: null, executable: false } as const;

function isNewer({ last_checkin: last }: TreeEntry, than: CheckinRef | null): boolean {
  return last !== null && (than === null || last.timestamp > than.timestamp);
}

function newer(left: CheckinRef | null | undefined, right: CheckinRef | null): CheckinRef | null {
  if (left === null || left === undefined) return right;
  return right !== null && right.timestamp > left.timestamp ? right : left;
}

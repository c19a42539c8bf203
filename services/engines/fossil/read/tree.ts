import type { FileCard } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import { readRef } from "./checkins.ts";
import { lastChanges } from "./last_change.ts";
import { filesBelow, normalizePath, treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { CheckinRef, Tree, TreeEntry } from "./shapes.ts";
import { TextMap } from "../text/mod.ts";

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

/** Approximate memory of a path with its last change, and of an entry of a listing, in bytes. */
const [CHANGE_BYTES, ENTRY_BYTES] = [150, 200];

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
    const key = `listing ${rid} ${recursive} ${withoutLastCheckin} ${path}`;
    const entries = reader.cached(key, () => {
      const value = list(reader, rid, { recursive, withoutLastCheckin, path });
      return { value, bytes: 200 + value.length * ENTRY_BYTES };
    });
    return { checkin, path, entries };
  });
}

function list(
  reader: Reader,
  rid: number,
  { path, recursive, withoutLastCheckin }: Required<Omit<TreeOptions, "checkin">>,
): TreeEntry[] {
  const files = filesBelow(treeOf(reader, rid), path);
  if (files.length === 0 && path !== "") {
    throw new FossilError("missing", `There is no folder "${path}"`);
  }
  const changes = withoutLastCheckin
    ? new TextMap<number>()
    : reader.cached(`last changes ${rid} ${path}`, () => {
      const value = lastChanges(reader, rid, files);
      return { value, bytes: 200 + value.size * CHANGE_BYTES };
    });
  const start = path === "" ? 0 : path.length + 1;
  const shown = recursive ? files : files.filter(({ name }) => !name.includes("/", start));
  const listing = new Listing(reader, sizesOf(reader, shown), changes);
  return recursive
    ? files.map((card) => listing.file(card, card.name))
    : listing.folder(files, path);
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

  /** Files and folders directly in a folder. */
  folder(files: readonly FileCard[], path: string): TreeEntry[] {
    const start = path === "" ? 0 : path.length + 1;
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

function newer(left: CheckinRef | null | undefined, right: CheckinRef | null): CheckinRef | null {
  if (left === null || left === undefined) return right;
  return right !== null && right.timestamp > left.timestamp ? right : left;
}

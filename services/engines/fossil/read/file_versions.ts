import { ancestryOf } from "./ancestry.ts";
import type { Reader } from "./reader.ts";

/** A file as one check-in left it. */
export interface FileVersion {
  readonly checkin: number;
  /** Row of the content. */
  readonly file: number;
  /** Name of the content. */
  readonly uuid: string;
  /** Size of the content in bytes, -1 if it is missing. */
  readonly size: number;
}

/** A change of a check-in against its primary parent, to the file of one name. */
interface Change {
  readonly checkin: number;
  /** Row of the content, 0 if the file was deleted. */
  readonly file: number;
  readonly uuid: string | null;
  readonly size: number | null;
  /** Whether the parent has the file. */
  readonly hasBefore: number;
  /** Id of the name that it has there, 0 for the same. */
  readonly oldName: number;
}

/** Approximate memory of a change, in bytes. */
const CHANGE_BYTES = 300;

const CHANGES =
  `SELECT mid AS checkin, fid AS file, uuid, size, pid>0 AS hasBefore, pfnid AS oldName
  FROM mlink LEFT JOIN blob ON blob.rid=fid WHERE fnid=? AND NOT isaux`;

/**
 * The versions of a file that a check-in has and had, newest first: back along primary parents and
 * through renames, to where the file was added. Needs `read`.
 */
export function* versionsOf(reader: Reader, checkin: number, path: string): Generator<FileVersion> {
  const ancestry = ancestryOf(reader);
  const select = "SELECT fnid FROM filename WHERE name=?";
  const seen = new Set<number>();
  let name = reader.repository.db.value<number>(select, path) ?? 0;
  for (let next = checkin; next !== 0;) {
    const change = lastOf(ancestry.primaryChain(next), changesOf(reader, name));
    // Only a loop of parents leads to one again.
    if (change === null || change.file === 0 || seen.has(change.checkin)) return;
    seen.add(change.checkin);
    const { file, uuid, size } = change;
    yield { checkin: change.checkin, file, uuid: uuid ?? "", size: size ?? -1 };
    if (change.hasBefore === 0) return;
    next = ancestry.primaryParent(change.checkin);
    name = change.oldName || name;
  }
}

/** The changes of the files of a name, by check-in. */
function changesOf(reader: Reader, name: number): ReadonlyMap<number, Change> {
  return reader.cached(`changes of ${name}`, () => {
    const rows = reader.repository.db.rows<Change>(CHANGES, name);
    const value = new Map(rows.map((row) => [row.checkin, row]));
    return { value, bytes: 200 + value.size * CHANGE_BYTES };
  });
}

function lastOf(chain: Iterable<number>, changes: ReadonlyMap<number, Change>): Change | null {
  if (changes.size === 0) return null;
  for (const checkin of chain) {
    const change = changes.get(checkin);
    if (change !== undefined) return change;
  }
  return null;
}

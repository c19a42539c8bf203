/** Recorded renames, followed from one check-in to another. */
import { Moves, type Rename } from "../graph/mod.ts";
import { addTo, TextMap } from "../text/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import type { Renames } from "./changes.ts";
import type { Reader } from "./reader.ts";

/** The recorded renames by check-in, and the last row of `mlink` that was read. */
class KnownRenames {
  readonly byCheckin = new Map<number, Rename[]>();
  #lastRow = 0;

  /** Adds what was recorded since. */
  update({ repository: { db } }: Reader): void {
    const rows = db.rows<Rename & { mid: number }>(
      `SELECT mid, old.name AS "from", new.name AS "to" FROM mlink
         JOIN filename AS old ON old.fnid=pfnid JOIN filename AS new ON new.fnid=mlink.fnid
        WHERE mlink.rowid>? AND pfnid>0 AND NOT isaux`,
      this.#lastRow,
    );
    for (const { mid, from, to } of rows) addTo(this.byCheckin, mid, { from, to });
    this.#lastRow = db.value<number | null>("SELECT max(rowid) FROM mlink") ?? 0;
  }
}

/** Every recorded rename, by check-in. */
function renamesByCheckin(reader: Reader): ReadonlyMap<number, readonly Rename[]> {
  const compute = () => {
    const renames = new KnownRenames();
    renames.update(reader);
    return renames;
  };
  return reader.growing("renames", compute, (renames) => renames.update(reader)).byCheckin;
}

/**
 * Names of files at one check-in by their names at another. Goes back along the primary parents of
 * `from` to the check-in where both lines meet, and from there to `to`. Needs `read`.
 */
export function renamesBetween(reader: Reader, from: number, to: number): Renames {
  const renames = renamesByCheckin(reader);
  if (renames.size === 0) return new TextMap();
  const ancestry = ancestryOf(reader);
  const line = new Set(ancestry.primaryChain(to));
  const back: number[] = [];
  for (const rid of ancestry.primaryChain(from)) {
    if (line.has(rid)) {
      const forth: number[] = [];
      for (const next of line) {
        if (next === rid) break;
        forth.push(next);
      }
      return compose(renames, back, forth.reverse());
    }
    back.push(rid);
  }
  return new TextMap();
}

/**
 * Reverts the renames of some check-ins, newest first, then applies those of others, oldest first.
 */
function compose(
  renames: ReadonlyMap<number, readonly Rename[]>,
  back: readonly number[],
  forth: readonly number[],
): Renames {
  const moves = new Moves();
  for (const rid of back) {
    moves.add((renames.get(rid) ?? []).map(({ from, to }) => ({ from: to, to: from })));
  }
  for (const rid of forth) moves.add(renames.get(rid) ?? []);
  return new TextMap([...moves.paths].filter(([start, now]) => start !== now));
}

import { type Ancestry, extendAncestry, loadAncestry } from "../graph/mod.ts";
import type { Reader } from "./reader.ts";

/** The ancestry. It changes with the next write. Needs `read`. */
export function ancestryOf(reader: Reader): Ancestry {
  const { db } = reader.repository;
  return reader.growing(
    "ancestry",
    () => loadAncestry(db),
    (ancestry) => extendAncestry(db, ancestry),
  );
}

/** The newest check-in that two check-ins have in common; null for none. Needs `read`. */
export function commonAncestor(reader: Reader, one: number, other: number): number | null {
  return reader.cached(`common ancestor of ${one} and ${other}`, () => {
    const select = "SELECT mtime FROM event WHERE objid=?";
    const day = (rid: number) => reader.repository.db.value<number>(select, rid) ?? 0;
    const [value = null] = ancestryOf(reader).commonAncestors(one, other)
      .toSorted((left, right) => day(right) - day(left));
    return { value, bytes: 200 };
  });
}

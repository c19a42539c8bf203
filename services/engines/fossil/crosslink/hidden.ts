import type { Manifest } from "../artifact/mod.ts";
import type { Database } from "../content/mod.ts";
import { type ArtifactSource, manifestFiles } from "./files.ts";

/** A check-in that amends another one than its primary parent. */
interface Row {
  readonly rid: number;
  readonly parent: number;
  readonly baseline: number;
  /** What the parent amends. */
  readonly other: number | null;
}

/**
 * Files that check-ins took away although `mlink`, as the program makes it, has no row for that: a
 * delta manifest adds them, and the next one with the same baseline has them no more.
 *
 * @returns paths; null if any file may have changed without a row, because a check-in does not amend
 * what its parent amends
 */
export function hiddenDeletions(
  source: ArtifactSource & { readonly db: Database },
  checkins: readonly number[],
): readonly string[] | null {
  const rows = source.db.rows<Row>(
    `SELECT cid AS rid, pid AS parent, baseid AS baseline,
         (SELECT baseid FROM plink AS before WHERE before.cid=plink.pid AND before.isprim) AS other
       FROM json_each(?) CROSS JOIN plink ON cid=value AND isprim
      WHERE baseid IS NOT NULL AND baseid<>pid`,
    JSON.stringify(checkins),
  );
  if (rows.some(({ baseline, other }) => baseline !== other)) return null;
  return rows.flatMap(({ rid, parent }) => {
    const [child, before] = [manifestOf(source, rid), manifestOf(source, parent)];
    if (child === null || before === null) return [];
    const files = manifestFiles(source, child);
    return before.files.map(({ name }) => name)
      .filter((name) => files.findOwn(name) === null && files.find(name) === null);
  });
}

function manifestOf(source: ArtifactSource, rid: number): Manifest | null {
  const artifact = source.artifact(rid);
  return artifact?.kind === "manifest" ? artifact : null;
}

/** What to tell another server that is here already. */
import { hexOf } from "../../../git/mod.ts";
import type { GitCompanion } from "./companion.ts";

/** Most commits that are named. */
const MAX_NAMED = 2000;

/** A line of first parents. */
interface Line {
  readonly commit: number;
  /** Commits since the last one that was named, and how many there are to the next one. */
  readonly walked: number;
  readonly step: number;
}

/**
 * Names of commits that some references reach: their tips, and more and more rarely what is before
 * them, so that another server finds a common one even if it has lost the tips. Null if an update of
 * the objects must come first.
 */
export function havesOf(companion: GitCompanion, refs: readonly string[]): string[] | null {
  if (!companion.updateIfShort()) return null;
  const { graph, db } = companion;
  const select = `SELECT coalesce(peeled, ref.object) AS name, place FROM ref
    JOIN object ON object.name=coalesce(peeled, ref.object) WHERE ref.name=?`;
  const seen = new Set<number>();
  const names: string[] = [];
  let lines: Line[] = refs.flatMap((ref) => {
    const commit = db.row<{ place: number }>(select, ref)?.place ?? 0;
    return commit === 0 ? [] : [{ commit, walked: 0, step: 0 }];
  });
  while (lines.length > 0) {
    const next: Line[] = [];
    for (const { commit, walked, step } of lines) {
      if (commit === 0 || seen.has(commit)) continue;
      seen.add(commit);
      const isNamed = walked === step;
      if (isNamed && names.push(hexOf(companion.commitName(commit))) === MAX_NAMED) return names;
      next.push({
        commit: graph.firstParent(commit),
        walked: isNamed ? 1 : walked + 1,
        step: isNamed ? Math.max(1, step * 2) : step,
      });
    }
    lines = next;
  }
  return names;
}

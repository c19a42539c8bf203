/** The files of a merge, and changes to them that decide its conflicts. */
import { type FileCard, parseArtifact } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { ManifestFiles } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import { changeTree, type FileChange, type MakeTree, type PutFile } from "../write/mod.ts";
import type { MergePlan } from "./plan.ts";
import type { Conflict } from "./types.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** The conflicts of a plan of which no change says anything. */
export function unresolvedConflicts(
  { preview }: MergePlan,
  resolutions: readonly FileChange[],
): readonly Conflict[] {
  const decided = new TextSet(
    resolutions.flatMap((change) => [
      change.path,
      ...change.kind === "move" ? [change.from] : [],
    ]),
  );
  return preview.conflicts.filter((conflict) => !pathsOf(conflict).some((it) => decided.has(it)));
}

function pathsOf({ path, ours, theirs }: Conflict): string[] {
  return [path, ours, theirs].flatMap((one) =>
    typeof one === "string" ? [one] : one === null ? [] : [one.path]
  );
}

/** The files of a clean plan: stores merged contents, records renames. */
export function treeOf(plan: MergePlan): MakeTree {
  return (before, put) => before.changesTo(cardsOf(plan, put));
}

/**
 * The files of a plan with changes to them. A file in conflict begins as the target has it; what a
 * change deletes may be gone already.
 */
export function resolvedTree(plan: MergePlan, resolutions: readonly FileChange[]): MakeTree {
  return (before, put) => {
    const { conflicts } = plan.preview;
    const disputed = new TextSet(conflicts.map(({ path }) => path));
    const concerned = new TextSet(conflicts.flatMap(pathsOf));
    const merged = cardsOf(plan, put).filter(({ name }) => !disputed.has(name));
    const ours = conflicts.flatMap(({ ours }): FileCard[] =>
      ours === null ? [] : [{ name: ours.path, hash: ours.hash, mode: ours.mode, oldName: null }]
    );
    const cards = new TextMap([...ours, ...merged].map((card) => [card.name, card]));
    const changes = resolutions.filter(({ kind, path }) =>
      kind !== "delete" || cards.has(path) || !concerned.has(path)
    );
    const files = [...cards.values()].toSorted((a, b) => compareUtf8(a.name, b.name));
    for (const card of changeTree(new ManifestFiles(files), changes, put)) {
      const { name, hash, oldName } = card;
      if (hash === null) cards.delete(name);
      else cards.set(name, { ...card, oldName: oldName ?? cards.get(name)?.oldName ?? null });
    }
    return before.changesTo([...cards.values()]);
  };
}

function cardsOf({ files, contents }: MergePlan, put: PutFile): FileCard[] {
  return files.map(({ path, hash, mode, oursPath, isCombined }): FileCard => {
    if (isCombined) {
      const content = contents.read(hash);
      if (parseArtifact(content) !== null) {
        throw new FossilError("invalid", `File "${path}" is a valid artifact of Fossil itself`);
      }
      put(content);
    }
    return { name: path, hash, mode, oldName: oursPath === path ? null : oursPath };
  });
}

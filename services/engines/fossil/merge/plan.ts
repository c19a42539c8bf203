/** Plans a merge without writing anything. */
import { compareUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { manifestOf } from "../write/mod.ts";
import { type Ancestor, Ancestors } from "./ancestor.ts";
import { CheckinGraph } from "./graph.ts";
import { Renames } from "./renames.ts";
import { type MergeOutput, type ResultFile, TreeMerge } from "./three_way.ts";
import { Contents, type Tree } from "./tree.ts";
import type { Conflict, MergedFile, MergePreview, MergeSides, PickSides } from "./types.ts";
import type { HunkTexts } from "./text.ts";
import { TextSet } from "../text/mod.ts";

/** A planned merge. */
export interface MergePlan {
  readonly preview: MergePreview;
  readonly files: readonly ResultFile[];
  readonly contents: Contents;
}

/** The context of a merge. */
interface Workshop {
  readonly graph: CheckinGraph;
  readonly contents: Contents;
  readonly ancestors: Ancestors;
  readonly renames: Renames;
}

function workshopOf(repository: Repository): Workshop {
  const graph = new CheckinGraph(repository);
  const contents = new Contents(repository);
  const renames = new Renames(repository, graph, contents);
  return { graph, contents, renames, ancestors: new Ancestors(graph, contents, renames) };
}

/** Row of an available check-in. */
function checkinRid(repository: Repository, hash: string): number {
  manifestOf(repository, hash);
  return repository.ridOf(hash);
}

/** Plans the merge of two lines. Needs `read`. */
export function planMerge(
  repository: Repository,
  sides: MergeSides & { readonly decided?: HunkTexts },
): MergePlan {
  const { ours, theirs } = sides;
  const [left, right] = [checkinRid(repository, ours), checkinRid(repository, theirs)];
  const shop = workshopOf(repository);
  const common = shop.graph.commonAncestors(left, right);
  if (common.length === 0) {
    throw new FossilError("invalid", `"${ours}" and "${theirs}" have no common ancestor`);
  }
  const isMerged = common.includes(right);
  const { decided } = sides;
  const output = runMerge(shop, { ancestor: shop.ancestors.join(common), left, right }, decided);
  const ancestors = common.map((rid) => repository.store.hashOf(rid) ?? "");
  return planOf(repository, shop, { ours, theirs, ancestors, isMerged }, output);
}

/** Plans a cherry-pick or back-out of a check-in. Needs `read`. */
export function planPick(repository: Repository, sides: PickSides): MergePlan {
  const { onto, checkin, backout = false } = sides;
  const manifest = manifestOf(repository, checkin);
  const base = sides.base ?? manifest.parents[0];
  if (base === undefined) {
    throw new FossilError("invalid", `"${checkin}" has no parent to compare it with`);
  }
  const left = checkinRid(repository, onto);
  const [before, after] = [checkinRid(repository, base), checkinRid(repository, checkin)];
  const shop = workshopOf(repository);
  const [from, to] = backout ? [after, before] : [before, after];
  const output = runMerge(shop, { ancestor: shop.ancestors.single(from), left, right: to });
  const ancestors = [backout ? checkin : base];
  const subject = { ours: onto, theirs: checkin, ancestors, isMerged: false };
  return planOf(repository, shop, subject, output);
}

interface Rows {
  readonly ancestor: Ancestor;
  readonly left: number;
  readonly right: number;
}

function runMerge(
  { contents }: Workshop,
  { ancestor, left, right }: Rows,
  decided?: HunkTexts,
): MergeOutput {
  return new TreeMerge(contents, decided).run({
    ancestor: ancestor.files,
    ours: contents.tree(left),
    theirs: contents.tree(right),
    toOurs: ancestor.match(left),
    toTheirs: ancestor.match(right),
  });
}

interface Subject extends MergeSides {
  readonly ancestors: readonly string[];
  readonly isMerged: boolean;
}

function planOf(
  repository: Repository,
  { contents }: Workshop,
  subject: Subject,
  { files, conflicts }: MergeOutput,
): MergePlan {
  const tree = contents.tree(repository.ridOf(subject.ours));
  const isClean = conflicts.length === 0;
  const preview = { ...subject, isClean, files: changesTo(tree, files, conflicts), conflicts };
  return { preview, files, contents };
}

/** The changes of the result against the target check-in, sorted by path. */
function changesTo(
  tree: Tree,
  files: readonly ResultFile[],
  conflicts: readonly Conflict[],
): MergedFile[] {
  const changes: MergedFile[] = [];
  const left = new TextSet(tree.keys());
  for (const { ours } of conflicts) left.delete(ours?.path ?? "");
  for (const file of files) {
    const { path, oursPath, isCombined } = file;
    left.delete(path);
    left.delete(oursPath ?? path);
    const before = oursPath === null ? undefined : tree.get(oursPath);
    if (before === undefined) changes.push({ path, kind: "added", from: null, isCombined });
    else if (before.path !== path) {
      changes.push({ path, kind: "renamed", from: before.path, isCombined });
    } else if (before.hash !== file.hash || before.mode !== file.mode) {
      changes.push({ path, kind: "modified", from: null, isCombined });
    }
  }
  for (const path of left) changes.push({ path, kind: "deleted", from: null, isCombined: false });
  return changes.toSorted((a, b) => compareUtf8(a.path, b.path));
}

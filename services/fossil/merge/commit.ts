/** Commits planned merges. */
import { type FileCard, parseArtifact } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, branchOf, type MakeTree, manifestOf, writeTree } from "../write/mod.ts";
import { type MergePlan, planMerge, planPick } from "./plan.ts";
import type { MergeResult, NewMerge, NewPick } from "./types.ts";

/** Digits of a hash in a generated comment. */
const SHOWN_DIGITS = 10;

/**
 * Merges a check-in into another one, as one transaction: either creates the merge check-in, or
 * changes nothing and returns the conflicts.
 *
 * @throws {FossilError} `missing` if a check-in is unknown; `invalid` if the two have no common
 * ancestor; `conflict` if it is merged already, or the result would fork a branch, continue a
 * closed one, or be older than its parent.
 */
export function writeMerge(repository: Repository, merge: NewMerge): MergeResult {
  return atomically(repository, merge, () => {
    const plan = planMerge(repository, merge);
    const { ours, theirs } = merge;
    if (plan.preview.isMerged) {
      throw new FossilError("conflict", `"${theirs}" is merged already`);
    }
    if (!plan.preview.isClean) return { checkin: null, preview: plan.preview };
    const comment = merge.comment ?? mergeComment(repository, merge);
    const merged = [theirs];
    const integrated = [...merge.integrate === true ? merged : [], ...merge.closes ?? []];
    const options = {
      parent: ours,
      comment,
      merged,
      integrated,
      allowFork: merge.allowFork ?? false,
      ...(merge.branch === undefined ? {} : { branch: merge.branch }),
    };
    const checkin = writeTree(repository, { ...authorOf(merge), ...options }, treeOf(plan));
    return { checkin, preview: plan.preview };
  });
}

/**
 * Applies the changes of a check-in to another one, or reverts them. Like `writeMerge`, but the
 * result does not descend from the check-in: a Q card names it.
 *
 * @throws {FossilError} as `writeMerge`; `invalid` if the result would change nothing.
 */
export function writePick(repository: Repository, pick: NewPick): MergeResult {
  return atomically(repository, pick, () => {
    const plan = planPick(repository, pick);
    if (!plan.preview.isClean) return { checkin: null, preview: plan.preview };
    const { onto: parent, checkin: hash, backout = false, base = null } = pick;
    const original = manifestOf(repository, hash).comment ?? "";
    const comment = pick.comment ??
      (backout ? `Backout [${hash.slice(0, SHOWN_DIGITS)}]: ${original}` : original);
    const cherrypicks = [{ hash, backout, base }];
    const options = { parent, comment, cherrypicks, allowFork: pick.allowFork ?? false };
    const checkin = writeTree(repository, { ...authorOf(pick), ...options }, treeOf(plan));
    return { checkin, preview: plan.preview };
  });
}

/** The plan is computed inside the writing transaction, so that no other write interferes. */
function atomically(repository: Repository, author: Author, work: () => MergeResult): MergeResult {
  return repository.write({ user: author.user, ip: author.ip ?? null }, work);
}

function authorOf({ user, date, ip }: Author): Author {
  return ip === undefined ? { user, date } : { user, date, ip };
}

function mergeComment(repository: Repository, { ours, theirs }: NewMerge): string {
  const [into, from] = [ours, theirs].map((hash) => branchOf(repository, hash));
  const what = from === undefined || from === into ? `[${theirs.slice(0, SHOWN_DIGITS)}]` : from;
  return into === undefined ? `Merge ${what}` : `Merge ${what} into ${into}`;
}

/** The files of the result: stores merged contents, records renames. */
function treeOf({ files, contents }: MergePlan): MakeTree {
  return (_, put) =>
    files.map(({ path, hash, mode, oursPath, isCombined }): FileCard => {
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

/** Commits planned merges. */
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import {
  type Author,
  branchOf,
  closeTicket,
  isOpenLeaf,
  manifestOf,
  writeAs,
  writeTree,
} from "../write/mod.ts";
import { planMerge, planPick } from "./plan.ts";
import { resolvedTree, treeOf, unresolvedConflicts } from "./resolution.ts";
import type { MergeResult, NewMerge, NewPick } from "./types.ts";

/** Digits of a hash in a generated comment. */
const SHOWN_DIGITS = 10;

/**
 * Merges a check-in into another one, as one transaction: either creates the merge check-in, or
 * changes nothing and returns the conflicts. The plan is a part of it, so that no other write
 * interferes.
 *
 * @throws {FossilError} `missing` if a check-in is unknown; `invalid` if the two have no common
 * ancestor; `conflict` if it is merged already, or the result would fork a branch, continue a
 * closed one, or be older than its parent.
 */
export function writeMerge(repository: Repository, merge: NewMerge): MergeResult {
  return writeAs(repository, merge, () => {
    const plan = planMerge(repository, merge);
    const { theirs } = merge;
    if (plan.preview.isMerged) {
      throw new FossilError("conflict", `"${theirs.slice(0, SHOWN_DIGITS)}" is merged already`);
    }
    if (merge.onlyTip === true) requireTip(repository, theirs);
    const { resolutions = [] } = merge;
    const unresolved = unresolvedConflicts(plan, resolutions);
    if (unresolved.length > 0) {
      return { checkin: null, preview: { ...plan.preview, conflicts: unresolved } };
    }
    const checkin = writeTree(
      repository,
      { ...authorOf(merge), ...checkinOf(repository, merge) },
      resolutions.length === 0 ? treeOf(plan) : resolvedTree(plan, resolutions),
    );
    for (const ticket of merge.resolves ?? []) {
      closeTicket(repository, { ...authorOf(merge), ticket });
    }
    return { checkin, preview: plan.preview };
  });
}

function checkinOf(repository: Repository, merge: NewMerge) {
  const { ours: parent, theirs } = merge;
  return {
    parent,
    comment: merge.comment ?? mergeComment(repository, merge),
    merged: [theirs],
    integrated: [...merge.integrate === true ? [theirs] : [], ...merge.closes ?? []],
    allowFork: merge.allowFork ?? false,
    ...(merge.branch === undefined ? {} : { branch: merge.branch }),
    followParents: merge.followParents ?? false,
  };
}

function requireTip(repository: Repository, hash: string): void {
  if (isOpenLeaf(repository, hash)) return;
  throw new FossilError("conflict", `"${hash}" is not the open tip of its branch`);
}

/**
 * Applies the changes of a check-in to another one, or reverts them. Like `writeMerge`, but the
 * result does not descend from the check-in: a Q card names it.
 *
 * @throws {FossilError} as `writeMerge`; `invalid` if the result would change nothing.
 */
export function writePick(repository: Repository, pick: NewPick): MergeResult {
  return writeAs(repository, pick, () => {
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

function authorOf({ user, date, ip, mark }: Author): Author {
  return {
    user,
    date,
    ...(ip === undefined ? {} : { ip }),
    ...(mark === undefined ? {} : { mark }),
  };
}

function mergeComment(repository: Repository, { ours, theirs }: NewMerge): string {
  const [into, from] = [ours, theirs].map((hash) => branchOf(repository, hash));
  const what = from === undefined || from === into ? `[${theirs.slice(0, SHOWN_DIGITS)}]` : from;
  return into === undefined ? `Merge ${what}` : `Merge ${what} into ${into}`;
}

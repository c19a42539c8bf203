/** Tips of branches, and the refusals of outdated tips and of conflicts. */
import { Conflict, Invalid, NotFound } from "../errors.ts";
import type { MergePreview, PooledRepository } from "../fossil/mod.ts";
import { isPassing, type WorkspaceLine } from "./records.ts";

/** Most conflicts that a response lists. */
const MAX_CONFLICTS = 1000;

/** @throws Conflict if the workspace's tip is not the check-in that the caller expects */
export function requireTip({ tip }: WorkspaceLine, expected: string | undefined): void {
  if (expected === undefined || tip.startsWith(expected)) return;
  throw new Conflict("The workspace has moved on: its tip is another check-in", { tip });
}

/**
 * Checks that work may be merged into a branch. A merge into a workspace or a landing candidate would
 * bypass the workspace's owner and claim, or the review and the checks.
 *
 * @throws Invalid if it is the branch of a workspace or of a landing candidate
 */
export function requireTarget(branch: string): void {
  if (!isPassing(branch)) return;
  throw new Invalid(
    `"${branch}" belongs to a workspace or the landing queue, so nothing is merged into it`,
  );
}

/**
 * The tip of a branch.
 *
 * @throws NotFound if the branch does not exist or is closed
 */
export async function requireBranchTip(
  repository: PooledRepository,
  branch: string,
): Promise<string> {
  const tip = await repository.branchTip(branch);
  if (tip === null) throw new NotFound(`There is no open branch "${branch}"`);
  return tip;
}

/** Refuses a merge with conflicts. */
export function mergeConflict({ conflicts }: Pick<MergePreview, "conflicts">): Conflict {
  return new Conflict("The merge has conflicts", {
    conflicts: conflicts.slice(0, MAX_CONFLICTS).map(({ path, kind }) => ({ path, kind })),
  });
}

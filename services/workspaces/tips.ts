/** What a change finds at the tips of branches, and the refusals of what it does not expect. */
import { Conflict, NotFound } from "../errors.ts";
import type { MergePreview, PooledRepository } from "../fossil/mod.ts";
import type { WorkspaceLine } from "./records.ts";

/** Conflicts that one answer lists. */
const MAX_CONFLICTS = 1000;

/** @throws Conflict where a workspace is not at the check-in that a caller takes for its tip */
export function requireTip({ tip }: WorkspaceLine, expected: string | undefined): void {
  if (expected === undefined || tip.startsWith(expected)) return;
  throw new Conflict("The workspace has moved on: its tip is another check-in", { tip });
}

/**
 * The tip of a branch.
 *
 * @throws NotFound where the branch does not exist, or is closed
 */
export async function requireBranchTip(
  repository: PooledRepository,
  branch: string,
): Promise<string> {
  const tip = await repository.branchTip(branch);
  if (tip === null) throw new NotFound(`There is no open branch "${branch}"`);
  return tip;
}

/** The refusal of a merge whose sides contradict each other. */
export function mergeConflict({ conflicts }: Pick<MergePreview, "conflicts">): Conflict {
  return new Conflict("The merge has conflicts", {
    conflicts: conflicts.slice(0, MAX_CONFLICTS).map(({ path, kind }) => ({ path, kind })),
  });
}

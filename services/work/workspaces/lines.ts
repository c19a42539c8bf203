/** The branches of workspaces in the repository: their lines and tips, and what a write left there. */
import { Conflict, Invalid, NotFound } from "../../kernel/errors.ts";
import type { MergePreview, PooledRepository, ReceivedArtifact } from "../../engines/fossil/mod.ts";
import { branchOf, isPassing, type Workspace, type WorkspaceLine } from "./records.ts";

/**
 * The lines of workspaces, in the same order.
 *
 * @param target the branch into which they will be merged; null for the main branch
 */
export async function linesOf(
  repository: PooledRepository,
  workspaces: readonly Workspace[],
  target: string | null = null,
): Promise<WorkspaceLine[]> {
  if (workspaces.length === 0) return [];
  const lines = await repository.lines(
    workspaces.map((workspace) => ({
      branch: branchOf(workspace),
      start: workspace.startedAs,
      ...(workspace.status === "merged" ? {} : { target }),
      ...(workspace.status === "active" ? { mayRestart: true } : {}),
    })),
  );
  return lines.map(({ tip, base, checkins, begins_empty, leaves, is_closed }, index) => ({
    tip: workspaces[index]?.tip ?? tip,
    base: workspaces[index]?.status === "merged" ? workspaces[index].base : base,
    commitsMade: begins_empty ? checkins - 1 : checkins,
    leaves,
    isClosed: is_closed,
  }));
}

/** The line of one workspace; see {@link linesOf}. */
export async function lineOf(
  repository: PooledRepository,
  workspace: Workspace,
  target: string | null = null,
): Promise<WorkspaceLine> {
  const [line] = await linesOf(repository, [workspace], target);
  if (line === undefined) throw new Error("A line is missing from the answer");
  return line;
}

/** Most conflicts that a response lists, and most hunks in all of them. */
const [MAX_CONFLICTS, MAX_HUNKS] = [1000, 50];

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
  let left = MAX_HUNKS;
  return new Conflict("The merge has conflicts", {
    conflicts: conflicts.slice(0, MAX_CONFLICTS).map(({ path, kind, hunks = [] }) => {
      const shown = hunks.slice(0, left);
      left -= shown.length;
      return { path, kind, ...shown.length === 0 ? {} : { hunks: shown } };
    }),
  });
}

/** A check-in that a write left. */
export type ReceivedCheckin = Extract<ReceivedArtifact, { kind: "checkin" }>;

/** The check-in that a write left on a branch. */
export function checkinOn(
  artifacts: readonly ReceivedArtifact[],
  branch: string,
): ReceivedCheckin | undefined {
  return artifacts.find((artifact): artifact is ReceivedCheckin =>
    artifact.kind === "checkin" && artifact.branch === branch
  );
}

/** Whether a write left a card that closes check-ins (`+`) or opens them again (`-`). */
export function hasClosedTag(artifacts: readonly ReceivedArtifact[], sign: "+" | "-"): boolean {
  return artifacts.some((artifact) =>
    artifact.kind === "tag" &&
    artifact.tags.some((tag) => tag.name === "closed" && tag.sign === sign)
  );
}

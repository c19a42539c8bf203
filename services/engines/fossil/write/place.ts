/** The place of a check-in: its parent and its branch. */
import { mainBranch, TAG } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { manifestOf } from "./checkin.ts";

/** Branch of check-ins without a branch tag. */
const DEFAULT_BRANCH = "trunk";

/** The place of a check-in, as given by its author. */
export interface PlaceRequest {
  /** Name of the branch; the main branch if absent. */
  readonly branch?: string;
  /** Full hash of the check-in before; the tip of the branch if absent. */
  readonly parent?: string;
}

/** The place of a check-in. */
export interface Place {
  /** Full hash of the primary parent. */
  readonly parent: string;
  /** Name of the branch that the check-in starts; null if it continues its parent's. */
  readonly newBranch: string | null;
}

/**
 * Finds the place of a check-in. An existing branch continues at its tip, or at a parent on it. A
 * new one starts at the parent, or at the tip of the main branch.
 *
 * @throws {FossilError} `conflict` if the parent is on another branch than the one named; `missing`
 * if the parent is not a check-in, or the repository has none.
 */
export function placeCheckin(
  repository: Repository,
  { branch, parent }: PlaceRequest = {},
): Place {
  return repository.read(() => {
    if (parent !== undefined) manifestOf(repository, parent);
    const main = mainBranch(repository);
    const name = branch ?? main;
    const tip = tipOf(repository, name);
    if (tip === null) {
      return { parent: parent ?? startOf(repository, main), newBranch: name };
    }
    if (parent === undefined) return { parent: tip, newBranch: null };
    if (tipOf(repository, name, parent) !== null) return { parent, newBranch: null };
    throw new FossilError("conflict", `Check-in "${parent}" is not on the branch "${name}"`);
  });
}

/** The start of a branch whose author names no parent. */
function startOf(repository: Repository, main: string): string {
  const start = tipOf(repository, main) ?? newest(repository, "1");
  if (start === null) throw new FossilError("missing", "The repository has no check-in");
  return start;
}

/**
 * Newest check-in of a branch; null if there is none.
 *
 * @param only considers only the check-in with this hash.
 */
function tipOf(repository: Repository, branch: string, only?: string): string | null {
  const condition = `coalesce((SELECT value FROM tagxref
    WHERE tagid=${TAG.branch} AND tagtype>0 AND rid=objid),'${DEFAULT_BRANCH}')=?`;
  return only === undefined
    ? newest(repository, condition, branch)
    : newest(repository, `uuid=? AND ${condition}`, only, branch);
}

function newest(
  repository: Repository,
  condition: string,
  ...values: readonly string[]
): string | null {
  return repository.db.value<string>(
    `SELECT uuid FROM event JOIN blob ON rid=objid WHERE type='ci' AND ${condition}
      ORDER BY mtime DESC, objid DESC LIMIT 1`,
    ...values,
  ) ?? null;
}

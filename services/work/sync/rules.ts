/** What a principal may push to a project: the API's own rules, as plain data for the worker. */
import type { NameRule, PushRules } from "../../engines/fossil/mod.ts";
import { LFS_FOLDER } from "../../engines/fossil/front/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { actorOf, type ProjectAccess } from "../projects/mod.ts";
import type { Protection } from "../protection/mod.ts";
import type { Releases } from "../releases/mod.ts";
import { branchOf, LANDING_PREFIX, type Workspaces } from "../workspaces/mod.ts";

/**
 * How far the clock of a client may be ahead, in milliseconds. An artifact of the far future would
 * win over every later change.
 */
const MAX_AHEAD_MS = 5 * 60_000;

/** Branches that only muster starts. They follow the rules of workspaces that are active. */
const RESERVED: readonly NameRule[] = [
  { pattern: `${LANDING_PREFIX}*`, refusal: "only the landing queue writes to it" },
  {
    pattern: branchOf({ name: "*" }),
    refusal:
      "there is no active workspace of this name: create it with POST /api/workspaces/create",
  },
];

/** Unversioned files that come by another way. */
const LFS: NameRule = { pattern: `${LFS_FOLDER}*`, refusal: "it belongs to Git LFS" };

export interface PushRuleParts {
  readonly protection: Pick<Protection, "closedTo">;
  readonly workspaces: Pick<Workspaces, "pushRefusals">;
  readonly releases: Pick<Releases, "fileRules">;
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * The rules for a push by a caller who may write. They hold while nothing else is written to the
 * project: ask for them where the push is received.
 *
 * @throws Unauthorized for a caller without a credential
 */
export async function pushRulesOf(
  { protection, workspaces, releases, accounts, clock }: PushRuleParts,
  access: ProjectAccess,
): Promise<PushRules> {
  const { project, principal, isAdmin } = access;
  const actor = actorOf({ principal, isAdmin }, undefined, accounts);
  const caller = { principal, address: null, requestId: null };
  const { pushes, merges } = protection.closedTo(project, isAdmin);
  return {
    pusher: actor.name,
    users: isAdmin ? null : [actor.name],
    role: isAdmin ? "admin" : "write",
    latest: clock() + MAX_AHEAD_MS,
    branches: [...RESERVED, ...pushes],
    merges,
    workspaces: await workspaces.pushRefusals(project, { caller, actor, isAdmin }),
    files: [LFS, ...await releases.fileRules(project)],
    hasBounds: true,
    closedKinds: isAdmin ? {} : { private: "only admins of the project push private artifacts" },
  };
}

import type { PushRules } from "../../engines/fossil/mod.ts";
import { LANDING_PREFIX } from "../workspaces/mod.ts";

/** How far the clocks upstream may be ahead, in milliseconds. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;

/**
 * What a project accepts from upstream: everything but the branches of the landing queue and of its
 * own active workspaces. Other branches named `workspace/…` are ordinary here.
 *
 * @param own the branches of its active workspaces
 */
export function upstreamRules(now: number, own: readonly string[]): PushRules {
  const landing = "upstream may not write to branches that muster keeps for itself";
  const active = "it belongs to an active workspace of this project: merge or abandon that first";
  return {
    pusher: "muster",
    users: null,
    role: "admin",
    latest: now + MAX_AHEAD_MS,
    branches: [{ pattern: `${LANDING_PREFIX}*`, refusal: landing }],
    merges: [],
    workspaces: Object.fromEntries(own.map((branch) => [branch, active])),
    files: [],
    hasBounds: false,
    closedKinds: { private: "a mirror has no private artifacts" },
  };
}

import type { Change } from "../database/mod.ts";
import type { Reception } from "../projects/mod.ts";
import type { WorkFence } from "./interfaces.ts";
import { branchOf } from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

/** Renews the leases of holders who pushed a check-in to the workspace of their ticket. */
export async function renewPushedWork(
  { store, claims }: {
    readonly store: Pick<WorkspaceStore, "active">;
    readonly claims: Pick<WorkFence, "renewing">;
  },
  { project, artifacts, originOf, isOwn }: Reception,
): Promise<Change> {
  const prefix = branchOf({ name: "" });
  const pushers = new Map<string, string>();
  for (const artifact of artifacts) {
    if (artifact.kind !== "checkin" || !artifact.branch.startsWith(prefix)) continue;
    const { actorId } = originOf(artifact);
    if (actorId !== null && !isOwn(artifact)) {
      pushers.set(artifact.branch.slice(prefix.length), actorId);
    }
  }
  const acts = [];
  for (const [name, key] of pushers) {
    const workspace = await store.active(project, name);
    if (workspace === null || workspace.ticket === null) continue;
    acts.push({ ticket: workspace.ticket, holder: { key } });
  }
  return claims.renewing(project, acts);
}

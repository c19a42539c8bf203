import type { Change } from "../database/mod.ts";
import type { Reception } from "../projects/mod.ts";
import type { WorkFence } from "./interfaces.ts";
import { branchOf } from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

/**
 * Notes the work of those who pushed a check-in to their workspace: when it changed last, and the
 * lease of its ticket.
 */
export async function renewPushedWork(
  { store, claims }: {
    readonly store: Pick<WorkspaceStore, "active" | "touching">;
    readonly claims: Pick<WorkFence, "renewing">;
  },
  { project, artifacts, originOf, isOwn, now }: Reception,
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
  const statements = [];
  for (const [name, key] of pushers) {
    const workspace = await store.active(project, name);
    if (workspace === null) continue;
    if (workspace.owner.key === key) statements.push(store.touching(workspace, now));
    if (workspace.ticket !== null) acts.push({ ticket: workspace.ticket, holder: { key } });
  }
  const renewed = claims.renewing(project, acts);
  return { ...renewed, statements: [...renewed.statements ?? [], ...statements] };
}

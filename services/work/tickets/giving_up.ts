import type { Project } from "../projects/mod.ts";
import type { FenceRequest } from "./claim_requests.ts";
import type { Claim } from "./records.ts";
import { refusalOf, requireGeneration } from "./refusals.ts";

/** What {@link fenceGivingUp} asks of the claims. */
export interface ClaimsOfWork {
  fence(project: Pick<Project, "id">, request: FenceRequest): Promise<Claim>;
  active(project: Pick<Project, "id">, ticket: string): Claim | null;
  newest(project: Pick<Project, "id">, ticket: string): Promise<Claim | null>;
}

/**
 * The fence of writes that give work up, such as abandoning a workspace. An agent may tidy up after it
 * has released or ended its claim, but not once its lease has run out: its work waits for the ticket's
 * next holder.
 *
 * @throws Conflict like {@link ClaimsOfWork.fence}
 */
export async function fenceGivingUp(
  claims: ClaimsOfWork,
  project: Pick<Project, "id">,
  { ticket, actor, generation }: FenceRequest,
): Promise<void> {
  if (claims.active(project, ticket) !== null) {
    await claims.fence(project, { ticket, actor, generation });
    return;
  }
  const past = await claims.newest(project, ticket);
  if (past === null) return;
  const outcome = past.outcome ?? "lapsed";
  if (past.holder.key !== actor.key) {
    if (generation !== undefined) throw refusalOf(past, outcome);
    return;
  }
  requireGeneration(past, generation);
  if (outcome === "lapsed" || outcome === "revoked") throw refusalOf(past, outcome);
}

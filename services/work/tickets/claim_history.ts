/** Claims in the database, also those that ended. */
import type { Database } from "../../engines/database/mod.ts";
import { type Claim, claimOf, type Holder } from "./records.ts";

/** A claim and whether work was submitted under it. */
export interface PastClaim extends Claim {
  readonly isSubmitted: boolean;
}

/** A span of time in Unix milliseconds. */
export interface Span {
  readonly from: number;
  /** Does not belong to it; Infinity if it has no end, which PostgreSQL takes for no number. */
  readonly to: number;
}

function claimsOf({ tables }: Database, projectId: string, ticket: string) {
  return tables.selectFrom("claims").selectAll()
    .where("project_id", "=", projectId).where("ticket", "=", ticket);
}

/** The newest claim of a ticket, active or not; null if there never was one. */
export async function newestClaim(
  database: Database,
  projectId: string,
  ticket: string,
): Promise<Claim | null> {
  const row = await claimsOf(database, projectId, ticket)
    .orderBy("generation", "desc").limit(1).executeTakeFirst();
  return row === undefined ? null : claimOf(row);
}

/** Whether a holder has ever had a ticket. */
export async function hasHeld(
  database: Database,
  { projectId, ticket, holder }: Pick<Claim, "projectId" | "ticket"> & { readonly holder: Holder },
): Promise<boolean> {
  const row = await claimsOf(database, projectId, ticket).where("holder_key", "=", holder.key)
    .limit(1).executeTakeFirst();
  return row !== undefined;
}

/** The claims of a ticket that began or ended in a span of time, the newest first. */
export async function pastClaims(
  database: Database,
  { projectId, ticket, limit }: Pick<Claim, "projectId" | "ticket"> & { readonly limit: number },
  { from, to }: Span,
): Promise<readonly PastClaim[]> {
  const begun = claimsOf(database, projectId, ticket);
  const rows = await (to === Infinity ? begun : begun.where("claimed_at", "<", to))
    .where((where) => where.or([where("claimed_at", ">=", from), where("ended_at", ">=", from)]))
    .orderBy("generation", "desc").limit(limit).execute();
  return rows.map((row) => ({ ...claimOf(row), isSubmitted: row.summary !== null }));
}

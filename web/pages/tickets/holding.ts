import { viewOfClaim } from "../../../services/work/tickets/mod.ts";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

/** Who holds a ticket, and its strikes. */
export interface Holding {
  readonly holder: string | null;
  /** When the lease ends, in ISO 8601; null if nobody holds it. */
  readonly until: string | null;
  readonly strikes: number;
  /** Whether the ticket waits for a person. */
  readonly isStruck: boolean;
}

/** Reads the holding of a ticket, which is in memory. */
export function holdingOf(
  visit: Visit,
  { access: { project } }: OpenProject,
  ticket: string,
): Holding {
  const { claims, projects } = visit.services.hosting;
  const claim = claims.active(project, ticket);
  const strikes = claims.strikes(project, ticket);
  return {
    holder: claim?.holder.name ?? null,
    until: claim === null ? null : viewOfClaim(claim).expires_at,
    strikes,
    isStruck: strikes >= projects.settingsOf(project.id).strikes,
  };
}

import type { Change } from "../../engines/database/mod.ts";
import type { Reception } from "../projects/mod.ts";
import type { Claims } from "./claims.ts";

/**
 * Renews the leases of holders who pushed a change of their ticket, as a change through the API does.
 * Who wrote to the file without a push is not known.
 */
export function renewPushed(
  claims: Pick<Claims, "active" | "renewing">,
  { project, artifacts, originOf, isOwn, settled }: Reception,
): Change {
  const ended = new Set(
    settled.filter(({ type }) => type === "project.claim").map(({ data }) => data["ticket"]),
  );
  const acts = artifacts.flatMap((artifact) => {
    if (artifact.kind !== "ticket" || isOwn(artifact) || ended.has(artifact.ticket)) return [];
    const { actorId } = originOf(artifact);
    return actorId === null ? [] : [{ ticket: artifact.ticket, holder: { key: actorId } }];
  });
  return claims.renewing(project, acts);
}

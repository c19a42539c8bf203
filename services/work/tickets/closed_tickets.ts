import type { Change } from "../../engines/database/mod.ts";
import type { Reception } from "../projects/mod.ts";
import type { ClaimBook } from "./claim_book.ts";
import type { ClaimStatements } from "./claim_statements.ts";

/**
 * Ends the claims of tickets that any program has closed. The work is done, so this is no strike. A
 * claim that the same step ends in another way, such as by a merge, is left alone.
 */
export function endClosed(
  { book, statements }: { readonly book: ClaimBook; readonly statements: ClaimStatements },
  { project, artifacts, settled, originOf, now }: Reception,
): Change {
  const ended = new Set(
    settled.filter(({ type }) => type === "project.claim")
      .map(({ data }) => data["ticket"]),
  );
  const changes: Change[] = [];
  for (const artifact of artifacts) {
    if (artifact.kind !== "ticket" || !artifact.is_closed || ended.has(artifact.ticket)) continue;
    const claim = book.find(project.id, artifact.ticket);
    if (claim === null) continue;
    ended.add(artifact.ticket);
    const origin = originOf(artifact);
    const by = artifact.user === claim.holder.name ? {} : { by: artifact.user };
    changes.push(statements.end(project, claim, { outcome: "closed", now, origin, ...by }));
  }
  return {
    statements: changes.flatMap((change) => change.statements ?? []),
    events: changes.flatMap((change) => change.events ?? []),
  };
}

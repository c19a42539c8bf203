import type { OpenProject } from "../project.ts";
import type { Visit } from "../visit.ts";

/** Whose page it is, and the project in which the name stands. */
export interface NamePlace {
  readonly visit: Visit;
  readonly project: Pick<OpenProject, "access">;
}

/**
 * A name in the work of a project. It links to the page of the account if the visitor may see that
 * account. Other names may come from an imported repository.
 */
export function AccountName({ visit, project, name }: NamePlace & { readonly name: string }) {
  const to = addressOf(visit, project, name);
  return to === null ? <b>{name}</b> : <a class="strong plain-link" href={to}>{name}</a>;
}

function addressOf(
  { services, session, isAdmin }: Visit,
  { access: { held } }: NamePlace["project"],
  name: string,
): string | null {
  const account = session === null ? null : services.accounts.find(name);
  if (account === null) return null;
  if (account.kind === "agent") return `/agents/${encodeURIComponent(account.name)}`;
  const isKnown = isAdmin || held.members.has(account.id);
  return isKnown ? `/people/${encodeURIComponent(account.name)}` : null;
}

/** The name of a person or an admin, with a link to their page. */
export function PersonLink({ name }: { readonly name: string }) {
  return <a href={`/people/${encodeURIComponent(name)}`}>{name}</a>;
}

import { Forbidden, Unauthorized } from "../errors.ts";
import type { AccountDirectory, Principal } from "../identity/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** In whose name something is done in a project. */
export interface Actor {
  /**
   * By which actors are compared: the account's internal id; for a name that the API token gives and
   * no account has, `name:` and the name folded.
   */
  readonly key: string;
  /** As it is shown, and as the user of artifacts. */
  readonly name: string;
  readonly kind: "agent" | "person" | "admin" | "operator" | "project" | "name";
}

/** The caller of a request in a project, as far as its actor depends on it. */
export interface ActingCaller {
  readonly principal: Principal;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
}

/**
 * The actor of a request.
 *
 * @param named the `agent_id` that the request gives, if it gives one
 * @throws Forbidden where it is another's, and the caller may not act for others
 */
export function actorOf(
  { principal, isAdmin }: ActingCaller,
  named: string | null | undefined,
  accounts: Pick<AccountDirectory, "find">,
): Actor {
  const { kind, id } = principal;
  if (kind === "guest") throw new Unauthorized("This needs a credential");
  const name = named?.trim() || principal.name;
  if (foldCase(name) === foldCase(principal.name)) {
    const key = id ?? (kind === "project" ? `token:${principal.tokenId}` : kind);
    return { key, name: principal.name, kind };
  }
  if (!isAdmin) {
    throw new Forbidden(`You are "${principal.name}" and cannot act as "${name}"`);
  }
  const account = accounts.find(name);
  if (account === null) return { key: `name:${foldCase(name)}`, name, kind: "name" };
  return { key: account.id, name: account.name, kind: account.kind };
}

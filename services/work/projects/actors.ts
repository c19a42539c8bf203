import { Forbidden, Unauthorized } from "../../kernel/errors.ts";
import { type AccountDirectory, isNameOf, type Principal } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { HaltCheck } from "./access.ts";

/** The account in whose name a request acts in a project. */
export interface Actor {
  /**
   * Identifies the actor: the internal id of its account, which the sessions of an agent share. The
   * API token may name an actor without an account; its key is `name:` and the folded name.
   */
  readonly key: string;
  /** For display, and the user of artifacts. */
  readonly name: string;
  readonly kind: "agent" | "person" | "admin" | "operator" | "project" | "runner" | "name";
}

/** Finds accounts, and the sessions of agents, by name. */
export type ActorAccounts = Pick<AccountDirectory, "find" | "session">;

/** The keys of actors with an account. */
const ACCOUNT_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether an actor had an account that is revoked or gone. */
export function hasEnded(
  { key }: Pick<Actor, "key">,
  accounts: Pick<AccountDirectory, "get">,
): boolean {
  if (!ACCOUNT_ID.test(key)) return false;
  const account = accounts.get(key);
  return account === null || account.revokedAt !== null;
}

/** The fields of a request's caller on which its actor depends. */
export interface ActingCaller {
  readonly principal: Principal;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
  readonly halts?: HaltCheck | undefined;
}

/**
 * The actor of a request.
 *
 * @param named the request's `agent_id`, if any
 * @throws Halted if it names a halted agent
 * @throws Forbidden if it names somebody else and the caller may not act for others
 */
export function actorOf(
  { principal, isAdmin, halts }: ActingCaller,
  named: string | null | undefined,
  accounts: ActorAccounts,
): Actor {
  const { kind } = principal;
  if (kind === "guest" || kind === "bot") throw new Unauthorized("This needs a credential");
  if (kind === "runner" || kind === "job") throw new Forbidden("Runners and jobs change nothing");
  const name = named?.trim() || principal.name;
  if (isNameOf(principal, name)) {
    return { key: actorKeyOf(principal), name: principal.name, kind };
  }
  if (!isAdmin) {
    throw new Forbidden(`You are "${principal.name}" and cannot act as "${name}"`);
  }
  const account = accounts.find(name);
  if (account === null) return { key: `name:${foldCase(name)}`, name, kind: "name" };
  halts?.requireGoingById(account.id);
  return {
    key: account.id,
    kind: account.kind,
    name: accounts.session(name)?.name ?? account.name,
  };
}

/**
 * Whether two actors are the same. The sessions of an agent share its key, so that they count as one,
 * and have names of their own.
 */
export function isSameActor(
  one: Pick<Actor, "key" | "name">,
  other: Pick<Actor, "key" | "name">,
): boolean {
  return one.key === other.key && foldCase(one.name) === foldCase(other.name);
}

/** The key under which what a principal does in projects is kept. */
export function actorKeyOf({ id, kind, tokenId }: Principal): string {
  return id ?? (kind === "project" ? `token:${tokenId}` : kind);
}

/**
 * The key of the account by which a list is filtered.
 *
 * @param name of the account; `me` is the caller
 * @returns undefined without a name; a key that nobody has if there is no such account
 */
export function accountKeyOf(
  name: string | undefined,
  caller: ActingCaller,
  accounts: ActorAccounts,
): string | undefined {
  if (name === undefined) return undefined;
  if (name !== "me") return accounts.find(name)?.id ?? "";
  return caller.principal.kind === "guest" ? "" : actorOf(caller, undefined, accounts).key;
}

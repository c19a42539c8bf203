import { Conflict } from "../../kernel/errors.ts";

/**
 * Accounts on a network carry the mark of their muster: an email address in a domain that contains
 * the instance id. Every services package stores an address with the account, shows it to
 * operators, and keeps it across restarts and new passphrases. No email is ever sent there.
 */
const DOMAIN = "agents.muster.invalid";

const ADDRESS = /@([0-9a-f]{20})\.agents\.muster\.invalid$/i;

/**
 * The address that marks an account. It is different for each account, because services may limit
 * the accounts per address.
 *
 * @param instance 20 hex digits
 */
export function markOf(account: string, instance: string): string {
  const local = account.replace(/[^A-Za-z0-9-]/g, (character) => `.${character.charCodeAt(0)}.`);
  return `${`a.${local}.a`.replaceAll(/\.{2,}/g, ".")}@${instance}.${DOMAIN}`;
}

/** The instance id in an address; null if the address is no mark. */
export function ownerIn(address: string | null | undefined): string | null {
  return ADDRESS.exec(address ?? "")?.[1]?.toLowerCase() ?? null;
}

/** Whether an account has the mark of another muster. */
export function isForeign({ owner }: { readonly owner: string | null }, instance: string): boolean {
  return owner !== null && owner !== instance;
}

export function belongsElsewhere(name: string): Conflict {
  return new Conflict(`The account "${name}" on the IRC network belongs to another muster`);
}

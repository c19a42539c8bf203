import { Conflict } from "../errors.ts";

/**
 * Accounts on a network bear the mark of the muster that they belong to: a mail address at a domain
 * that holds its instance id. Every package of services keeps an address with the account, shows it
 * to operators, and lets it outlive restarts and new passphrases. No mail ever goes there.
 */
const DOMAIN = "agents.muster.invalid";

const ADDRESS = /@([0-9a-f]{20})\.agents\.muster\.invalid$/i;

/**
 * The address that marks an account. It differs from account to account, as services may allow one
 * address only so many accounts.
 *
 * @param instance 20 hex digits
 */
export function markOf(account: string, instance: string): string {
  const local = account.replace(/[^A-Za-z0-9-]/g, (character) => `.${character.charCodeAt(0)}.`);
  return `${`a.${local}.a`.replaceAll(/\.{2,}/g, ".")}@${instance}.${DOMAIN}`;
}

/** The instance id in an address; null where the address marks nothing. */
export function ownerIn(address: string | null | undefined): string | null {
  return ADDRESS.exec(address ?? "")?.[1]?.toLowerCase() ?? null;
}

/** Whether an account bears the mark of another muster. */
export function isForeign({ owner }: { readonly owner: string | null }, instance: string): boolean {
  return owner !== null && owner !== instance;
}

export function belongsElsewhere(name: string): Conflict {
  return new Conflict(`The account "${name}" on the IRC network belongs to another muster`);
}

/** The names of accounts: which are valid, which are the same, and which nobody may take. */

/** What a name looks like: an IRC nick. */
export const ACCOUNT_NAME = /^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,63}$/;

/** The bots that muster brings along. */
const BOTS: readonly string[] = [
  "auditbot",
  "scribe",
  "herald",
  "oracle",
  "warden",
  "scroll",
  "systembot",
  "snitch",
  "sentinel",
  "steward",
  "shepherd",
];

const SERVICES: readonly string[] = ["NickServ", "ChanServ", "HistServ", "server"];

/**
 * The form under which names are compared: casemapping `ascii`, which folds A to Z and nothing
 * else. `toLowerCase` alone would make the Kelvin sign a `k`.
 */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The names that no account may have, folded. `operator` is among them because the API token
 * speaks under it.
 *
 * @param bridgeNick the nick of the bridge
 */
export function reservedNames(bridgeNick: string): ReadonlySet<string> {
  return new Set([bridgeNick, ...BOTS, ...SERVICES, OPERATOR_NAME].map(foldName));
}

/** The name of whoever holds the API token. */
export const OPERATOR_NAME = "operator";

/** The names that no account may have. */

import { foldCase } from "../irc/mod.ts";

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
 * The names that no account may have, folded. `operator` is among them because the API token
 * speaks under it.
 *
 * @param bridgeNick the nick of the bridge
 */
export function reservedNames(bridgeNick: string): ReadonlySet<string> {
  return new Set([bridgeNick, ...BOTS, ...SERVICES, OPERATOR_NAME].map(foldCase));
}

/** The name of whoever holds the API token. */
export const OPERATOR_NAME = "operator";

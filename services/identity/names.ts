/** The names that no account may have. */

import { foldCase } from "../irc/mod.ts";

/** The built-in bots. */
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

/** Names that a path of the API would hide, such as `/v1/agents/register`. */
const PATHS: readonly string[] = ["register"];

/**
 * The names that no account may have, folded. `operator` is among them because the API token
 * speaks under it.
 *
 * @param bridgeNick the nick of the bridge
 */
export function reservedNames(bridgeNick: string): ReadonlySet<string> {
  return new Set([bridgeNick, ...BOTS, ...SERVICES, ...PATHS, OPERATOR_NAME].map(foldCase));
}

/** Whether a name belongs to an IRC service, such as NickServ. */
export function isServiceName(name: string): boolean {
  return SERVICES.some((service) => foldCase(service) === foldCase(name));
}

/** The name of the operator, who holds the API token. */
export const OPERATOR_NAME = "operator";

/** The names that no account may have. */

import { foldCase } from "../../engines/irc/mod.ts";

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

/** Names that address everybody: many chat clients highlight them for all who are there. */
const EVERYBODY: readonly string[] = ["all", "channel", "everybody", "everyone", "here"];

/** What people without an account are called. Guests may still have them as nicks. */
const STRANGERS: readonly string[] = ["anonymous", "guest", "nobody"];

/** Whether a name addresses everybody. No new account may have it, and no guest as a nick. */
export function addressesEverybody(name: string): boolean {
  return EVERYBODY.includes(foldCase(name));
}

/** Whether a name means everybody or a stranger. No new account may have it. */
export function isCommonName(name: string): boolean {
  return addressesEverybody(name) || STRANGERS.includes(foldCase(name));
}

/** Names that no account may have. */
export interface ReservedNames {
  has(folded: string): boolean;
}

/**
 * The names that no account may have. `operator` is among them because the API token speaks under
 * it.
 *
 * @param bridgeNick the nick of the bridge
 * @param isNode whether this server is one of several, whose bridges have this nick, a hyphen and
 * the name of their node
 */
export function reservedNames(bridgeNick: string, isNode: boolean): ReservedNames {
  const names = new Set([bridgeNick, ...BOTS, ...SERVICES, ...PATHS, OPERATOR_NAME].map(foldCase));
  if (!isNode) return names;
  const beginning = `${foldCase(bridgeNick)}-`;
  return { has: (folded) => names.has(folded) || folded.startsWith(beginning) };
}

/** Whether a name belongs to an IRC service, such as NickServ. */
export function isServiceName(name: string): boolean {
  return SERVICES.some((service) => foldCase(service) === foldCase(name));
}

/** The name of the operator, who holds the API token. */
export const OPERATOR_NAME = "operator";

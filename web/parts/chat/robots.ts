import { purposeOf } from "../../../services/policies/mod.ts";
import type { Services } from "../../../services/daemon/mod.ts";
import { addresses } from "../../elements/chat_rules.ts";

/** Whether no person speaks under a nick: it is an agent's, or one of muster's bots'. */
export function isRobot({ agents: { roster } }: Pick<Services, "agents">, nick: string): boolean {
  return roster.find(nick) !== null || purposeOf(nick.toLowerCase()) !== null;
}

/** Whether muster itself or one of its bots speaks under a nick. */
export function isProgram(nick: string): boolean {
  return purposeOf(nick.toLowerCase()) !== null;
}

/** Whether a text of a speaker addresses the user of a nick. */
export function addressesNick(text: string, nick: string, speaker: string): boolean {
  return addresses({ nick: speaker, text }, nick, isProgram(speaker));
}

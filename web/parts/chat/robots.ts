import type { NameTest } from "../../../services/chat/chats/mod.ts";
import { bridgeNickOf } from "../../../services/operation/config/mod.ts";
import { purposeOf } from "../../../services/chat/policies/mod.ts";
import type { Services } from "../../../services/operation/daemon/mod.ts";
import { addresses } from "../../elements/chat_rules.ts";

/** Who speaks under a nick: muster itself or one of its bots, an agent, or anybody else. */
export type SpeakerKind = "program" | "agent" | "person";

/** Who speaks under a nick. */
export function speakerOf(
  services: Pick<Services, "agents" | "config">,
  nick: string,
): SpeakerKind {
  if (isProgram(services, nick)) return "program";
  return services.agents.roster.find(nick) === null ? "person" : "agent";
}

/** Whether no person speaks under a nick. */
export function isRobot(services: Pick<Services, "agents" | "config">, nick: string): boolean {
  return speakerOf(services, nick) !== "person";
}

function isProgram({ config }: Pick<Services, "config">, nick: string): boolean {
  const folded = nick.toLowerCase();
  return folded === bridgeNickOf(config).toLowerCase() || purposeOf(folded) !== null;
}

/** Decides whether a text of a speaker addresses the user of a nick. */
export function addressing(services: Pick<Services, "config">): NameTest {
  return (text, nick, speaker) =>
    addresses({ nick: speaker, text }, nick, isProgram(services, speaker));
}

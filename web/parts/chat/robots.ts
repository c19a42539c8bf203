import { purposeOf } from "../../../services/policies/mod.ts";
import type { Services } from "../../../services/daemon/mod.ts";

/** Whether no person speaks under a nick: it is an agent's, or one of muster's bots'. */
export function isRobot({ agents: { roster } }: Pick<Services, "agents">, nick: string): boolean {
  return roster.find(nick) !== null || purposeOf(nick.toLowerCase()) !== null;
}

import { amount } from "../../kernel/words.ts";
import {
  auditbot,
  herald,
  oracle,
  scribe,
  scroll,
  systembot,
} from "../../chat/bots/catalog/mod.ts";
import type { BotDefinition, HeraldDesk } from "../../chat/bots/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import type { DataFolder } from "../config/mod.ts";
import type { Status } from "../metrics/mod.ts";
import { guardBots, type GuardSurroundings } from "./guard_bots.ts";

/** What the bots are made of. */
export interface BotParts {
  readonly services: { readonly status: Status; readonly eventLog: EventLog };
  readonly guarded: GuardSurroundings;
  readonly bridge: Bridge;
  readonly desk: HeraldDesk;
  readonly folder: DataFolder;
}

/** Every bot that this version runs. */
export function botDefinitions(
  { services: { status, eventLog }, guarded, bridge, desk, folder }: BotParts,
): readonly BotDefinition[] {
  return [
    auditbot(eventLog),
    oracle(bridge),
    scribe({ history: bridge, folder: folder.file("logs/scribe"), dataFolder: folder.path }),
    scroll(bridge),
    systembot({
      status: () => {
        const { uptime, agents, status: state } = status.read();
        const channels = bridge.channels().length;
        return `${state}: up ${uptime}, ${amount(agents, "agent")}, ${amount(channels, "channel")}`;
      },
      users: (channel) => bridge.users(channel),
    }),
    ...guardBots(guarded),
    herald(desk),
  ];
}

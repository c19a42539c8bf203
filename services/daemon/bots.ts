import {
  amount,
  auditbot,
  type BotDefinition,
  Bots,
  type BotsOptions,
  herald,
  HeraldDesk,
  oracle,
  reportChannels,
  scribe,
  scroll,
  type Speaker,
  systembot,
} from "../bots/mod.ts";
import type { DataFolder } from "../config/mod.ts";
import type { Bridge } from "../bridge/mod.ts";
import { GUEST, type Principal } from "../identity/mod.ts";
import type { Status } from "../metrics/mod.ts";
import { guardBots } from "./guard_bots.ts";
import type { Hosting } from "./hosting.ts";
import { startLeading } from "./leading.ts";
import type { IrcHost } from "./irc_host.ts";
import type { Services } from "./services.ts";
import type { Stores } from "./stores.ts";

/** The services that bots use. */
export interface BotServices
  extends Pick<Services, "llm" | "policies" | "eventLog">, Pick<BotsOptions, "voices"> {
  readonly bridge: Bridge | null;
  readonly status: Status;
  readonly irc: Pick<IrcHost, "claimReports" | "mutes" | "server" | "people">;
  readonly hosting: Pick<Hosting, "projects" | "claims" | "reads">;
}

/** The bots, and what takes events for one of them. */
export interface RunningBots {
  readonly bots: Bots;
  readonly herald: HeraldDesk;
}

/**
 * Starts the bots that their policies enable. Null if there is no bridge, through which they hear,
 * or no store of policies.
 */
export async function startBots(
  services: BotServices,
  stores: Stores,
  started: AsyncDisposableStack,
): Promise<RunningBots | null> {
  const { database, scheduler, log, folder, identity: { accounts, tokenKey: key } } = stores;
  const { bridge, policies, eventLog, llm: { gateway }, voices } = services;
  if (bridge === null || policies === null) return null;
  const settings = () => policies.of("herald");
  const desk = new HeraldDesk({ database, settings, key, scheduler });
  const bots = new Bots({
    definitions: [
      ...definitionsOf(bridge, services, folder),
      ...guardBots({ irc: services.irc, bridge, accounts, hosting: services.hosting }),
      herald(desk),
    ],
    policies,
    bridge,
    accounts,
    networkAccounts: services.irc.people.speakers,
    voices,
    eventLog,
    gateway,
    mayRead: (speaker, channel) => mayRead(speaker, channel, bridge),
    database,
    scheduler,
    log,
  });
  const claim = () => services.irc.claimReports?.(reportChannels(policies));
  claim();
  started.defer(policies.onChanged(claim));
  await startLeading(stores, {
    async start() {
      await desk.load();
      bots.start();
    },
    stop: () => bots.stop(),
  }, started);
  return { bots, herald: desk };
}

/** Every bot that this version runs. */
function definitionsOf(
  bridge: Bridge,
  { status, eventLog }: BotServices,
  folder: DataFolder,
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
  ];
}

/** Whether a speaker may read a channel: as a user of the server, or by being there. */
function mayRead(
  { kind, id, nick, account }: Speaker,
  channel: string,
  bridge: Bridge,
): boolean {
  if (kind === null || id === null) return bridge.sees(nick, channel);
  const principal: Principal = { ...GUEST, kind, id, name: account ?? nick };
  return bridge.mayRead(channel, { principal, address: null, requestId: null });
}

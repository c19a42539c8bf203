import {
  type BotDefinition,
  type BotName,
  Bots,
  type BotsOptions,
  type BotSource,
  HeraldDesk,
  reportChannels,
  type Speaker,
} from "../../chat/bots/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { Policies } from "../../chat/policies/mod.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import type { Llm } from "../../models/llm/mod.ts";
import { GUEST, type Principal } from "../../people/identity/mod.ts";
import type { Status } from "../metrics/mod.ts";
import type { BotParts } from "./bot_definitions.ts";
import type { Hosting } from "./hosting.ts";
import { startLeading } from "./leading.ts";
import type { IrcHost } from "./irc_host.ts";
import type { Stores } from "./stores.ts";

/** The services that bots use. */
export interface BotServices extends Pick<BotsOptions, "voices"> {
  readonly llm: Pick<Llm, "gateway">;
  /** Null if the configuration turns the policy store off. */
  readonly policies: Policies | null;
  readonly eventLog: EventLog;
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
  const { bridge, policies, llm: { gateway }, voices } = services;
  if (bridge === null || policies === null) return null;
  const settings = () => policies.of("herald");
  const guard = () => stores.leadership.guard();
  const desk = new HeraldDesk({ database, settings, key, scheduler, guard });
  const bots = new Bots({
    sources: sourcesOf({
      services,
      guarded: { irc: services.irc, bridge, accounts, hosting: services.hosting },
      bridge,
      desk,
      folder,
    }),
    policies,
    bridge,
    accounts,
    networkAccounts: services.irc.people.speakers,
    voices,
    gateway,
    mayRead: (speaker, channel) => mayRead(speaker, channel, bridge),
    database,
    guard,
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
    async stop() {
      desk.leave();
      await bots.stop();
    },
  }, started);
  return { bots, herald: desk };
}

/** Bots that act on users: they need muster's own IRC server. */
const ACTING: readonly BotName[] = ["warden", "steward"];

/** The names of all bots, in reading order. */
const NAMES: readonly BotName[] = [
  "auditbot",
  "oracle",
  "scribe",
  "scroll",
  "systembot",
  ...ACTING,
  "snitch",
  "sentinel",
  "shepherd",
  "herald",
];

/** Every bot; their definitions are made when the first of them is enabled. */
function sourcesOf(parts: BotParts): readonly BotSource[] {
  let made: readonly BotDefinition[] | null = null;
  const load = async (name: BotName) => {
    const { botDefinitions } = await import("./bot_definitions.ts");
    const found = (made ??= botDefinitions(parts)).find((bot) => bot.name === name);
    if (found === undefined) throw new Error(`There is no bot "${name}"`);
    return found;
  };
  const { mutes, server } = parts.guarded.irc;
  const mayAct = mutes !== null && server !== null;
  return NAMES.filter((name) => mayAct || !ACTING.includes(name))
    .map((name) => ({ name, load: () => load(name) }));
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

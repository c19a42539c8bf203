import type { AdminLogin, Admins } from "../admins/mod.ts";
import type { Agents, IrcAccounts } from "../agents/mod.ts";
import { DirectMessages, type Inboxes } from "../inboxes/mod.ts";
import { Bridge, StoredChannels } from "../bridge/mod.ts";
import { changedKeys, type Config } from "../config/mod.ts";
import type { EventLog } from "../events/mod.ts";
import type { Identity, OperatorToken, Tokens, WebSessions } from "../identity/mod.ts";
import type { IrcServer } from "../irc/mod.ts";
import type { IrcBans } from "../irc_server/bans/mod.ts";
import { type Llm, openLlm } from "../llm/mod.ts";
import type { Log } from "../log.ts";
import { Metrics } from "../metrics/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { Policies } from "../policies/mod.ts";
import { Status } from "../metrics/mod.ts";
import { openEmbedded } from "./embedded.ts";
import { openExternal } from "./external.ts";
import type { IrcHost } from "./irc_host.ts";
import type { IrcListeners } from "./irc_listeners.ts";
import type { Certificate, DaemonOptions } from "./options.ts";
import { openStores, retentionOf, type Stores } from "./stores.ts";

/** What HTTP and MCP serve. */
export interface Services {
  readonly config: Config;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly metrics: Pick<
    Metrics,
    "requestAnswered" | "toolCalled" | "streamOpened" | "streamClosed" | "render"
  >;
  readonly status: Status;
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly webSessions: WebSessions;
  readonly agents: Agents;
  readonly inboxes: Inboxes;
  readonly directMessages: DirectMessages;
  readonly ircAccounts: IrcAccounts;
  /** Null where the IRC server is not part of this program. */
  readonly ircServer: Pick<IrcServer, "clients"> | null;
  readonly ircBans: IrcBans | null;
  readonly llm: Llm;
  readonly eventLog: EventLog;
  /** Null where the configuration turns the policy store off. */
  readonly policies: Policies | null;
  /** Null where the configuration turns admins off, as is their login. */
  readonly admins: Admins | null;
  readonly adminLogin: AdminLogin | null;
  /** Null where the configuration turns the bridge off. */
  readonly bridge: Bridge | null;
}

/** The services, running. */
export interface Daemon {
  readonly services: Services;
  /** Opens the ports of IRC; null where the IRC server is not part of this program. */
  readonly ircListeners: IrcListeners | null;
  /**
   * Takes from a configuration what can change while the services run.
   *
   * @param renewed the certificate, where it is another than before
   */
  reconfigure(config: Config, renewed: Certificate | null): void;
  /** Tells the streams and the IRC clients that it is over and closes them. */
  quiesce(): Promise<void>;
  /** Finishes what is being written and closes everything, in reverse of the start. */
  stop(): Promise<void>;
}

/**
 * Builds the services from the configuration and starts them; no port is open yet. Where one fails, those that were
 * started before it are stopped again.
 *
 * @throws DataFolderError, DatabaseError, SecretFileError, StartError where the start is impossible
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await using started = new AsyncDisposableStack();
  const stores = await openStores(options, started);
  const { config, log, database, scheduler, events, identity } = stores;
  const external = config.irc.mode === "external";
  const irc = external
    ? await openExternal(stores, started)
    : await openEmbedded(options, stores, started);
  const { people, server: ircServer, bans: ircBans, network } = irc;

  const policies = config.policies.enabled
    ? await Policies.open({ database, log, clock: scheduler.now, bridge: config.bridge })
    : null;
  const bridge = config.bridge.enabled ? await startBridge({ stores, irc, policies }) : null;
  if (bridge !== null) started.defer(() => bridge.stop());
  irc.attach(bridge);
  const directMessages = makeDirectMessages(stores, irc, bridge);
  const environment = (variable: string) => Deno.env.get(variable);
  const llm = openLlm({ database, config: config.llm, environment, log, scheduler });
  const { gateway } = llm;
  started.defer(() => gateway.close());
  const { agents } = people;
  const { refusals } = identity;
  const metrics = new Metrics({
    ...{ irc: ircServer, network, bridge, agents, llm: gateway, refusals },
    history: stores.history,
    http: options.http ?? null,
  });
  started.defer(() => metrics.close());
  const status = makeStatus(stores, irc, bridge);
  database.warm();

  const running = started.move();
  const { eventLog } = events;
  return {
    services: {
      ...{
        ...identity,
        ...people,
        config,
        log,
        scheduler,
        metrics,
        status,
        eventLog,
        policies,
        llm,
        bridge,
      },
      ...{ ircServer, ircBans, directMessages },
    },
    ircListeners: irc.listeners,
    reconfigure: (changed, renewed) => {
      irc.reconfigure(changed, renewed);
      stores.history?.retain(retentionOf(changed));
      people.inboxes.retain(retentionOf(changed).age);
      llm.backends.reconfigure(changed.llm.backends);
      events.reloaded(changedKeys(config, changed));
    },
    quiesce: async () => {
      people.inboxes.close();
      await gateway.close();
      await bridge?.stop();
      await irc.close();
      eventLog.close();
    },
    stop: () => running.disposeAsync(),
  };
}

interface BridgeSurroundings {
  readonly stores: Stores;
  readonly irc: IrcHost;
  readonly policies: Policies | null;
}

async function startBridge(
  { stores, irc, policies }: BridgeSurroundings,
): Promise<Bridge> {
  const { config, database, log } = stores;
  const { nick, channels, buffer_size, max_channels } = config.bridge;
  const ttlMinutes = () => (policies?.of("bridge") ?? config.bridge).web_user_ttl_minutes;
  const store = new StoredChannels(database);
  const bridge = new Bridge({
    nick,
    channels,
    bufferSize: buffer_size,
    maxChannels: max_channels,
    maxChannelsPerAgent: config.limits.channels_per_agent,
    store,
    restored: await store.list(),
    webUserTtlMilliseconds: () => ttlMinutes() * 60_000,
    speakers: irc.people.virtualUsers,
    ...irc.bridgeOptions,
    log,
  });
  bridge.start();
  return bridge;
}

function makeDirectMessages(
  { config, log, identity: { accounts } }: Stores,
  { people }: IrcHost,
  bridge: Bridge | null,
): DirectMessages {
  const { agents, virtualUsers, inboxes, isOnline } = people;
  const { roster, sendLimits } = agents;
  const bridgeNick = config.bridge.nick;
  return new DirectMessages({
    ...{ roster, sendLimits, accounts, virtualUsers, inboxes, isOnline, bridge, bridgeNick, log },
  });
}

function makeStatus(
  { database, scheduler }: Stores,
  { people, network }: IrcHost,
  bridge: Bridge | null,
): Status {
  return new Status({
    clock: scheduler.now,
    agents: () => people.agents.counts().total,
    healthy: () => database.trouble === null,
    recheck: () => database.probe(),
    parts: {
      database: () => database.trouble === null,
      bridge: () => bridge === null || bridge.ready,
      network: () => network?.trouble ?? true,
    },
  });
}

import type { AdminLogin, Admins } from "../admins/mod.ts";
import type { Agents, IrcAccounts } from "../agents/mod.ts";
import type { Inboxes } from "../attendance/mod.ts";
import { Bridge } from "../bridge/mod.ts";
import { changedKeys, type Config } from "../config/mod.ts";
import type { EventLog } from "../events/mod.ts";
import type { Identity, OperatorToken, Tokens, WebSessions } from "../identity/mod.ts";
import type { IrcServer } from "../irc/mod.ts";
import { IrcBans } from "../irc_bans/mod.ts";
import { type Llm, openLlm } from "../llm/mod.ts";
import type { Log } from "../log.ts";
import { Metrics } from "../metrics/mod.ts";
import { Policies } from "../policies/mod.ts";
import { Status } from "../status.ts";
import { type IrcAddresses, ircChanges, ircUrl, listen, makeIrcServer } from "./irc.ts";
import type { Certificate, DaemonOptions } from "./options.ts";
import { openPeople, type People } from "./people.ts";
import { openStores, type Stores } from "./stores.ts";

/** What the doors (HTTP, MCP) serve. */
export interface Services {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly status: Status;
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly webSessions: WebSessions;
  readonly agents: Agents;
  readonly inboxes: Inboxes;
  readonly ircAccounts: IrcAccounts;
  /** Null where the IRC server is not part of this program. */
  readonly ircServer: IrcServer | null;
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
  readonly ircAddresses: IrcAddresses;
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
 * Builds the services from the configuration and starts them. Where one fails, those that were
 * started before it are stopped again.
 *
 * @throws DataFolderError, DatabaseError, SecretFileError, StartError where the start is impossible
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await using started = new AsyncDisposableStack();
  const stores = await openStores(options, started);
  const { config, log, database, scheduler, events, room } = stores;

  const later = { server: () => irc, address: () => ircUrl(config, ircAddresses) };
  const people = openPeople(stores, later, started);
  const { accounts } = room;
  const enforce = () => void irc.enforceBans();
  const ircBans = new IrcBans({ database, accounts, enforce, clock: scheduler.now });
  const irc = makeIrcServer(stores, people, ircBans);
  started.defer(() => irc.close());
  const ircAddresses = listen(irc, options);

  const policies = config.policies.enabled
    ? new Policies({ database, log, clock: scheduler.now, bridge: config.bridge })
    : null;
  const bridge = config.bridge.enabled ? startBridge({ config, log, irc, policies, people }) : null;
  if (bridge !== null) started.defer(() => bridge.stop());
  const environment = (variable: string) => Deno.env.get(variable);
  const llm = openLlm({ database, config: config.llm, environment, log, scheduler });
  const { gateway } = llm;
  started.defer(() => gateway.close());
  const { agents } = people;
  const metrics = new Metrics({ irc, bridge, agents, llm: gateway, refusals: room.refusals });
  started.defer(() => metrics.close());
  const status = makeStatus(stores, people, bridge);
  database.warm();

  const running = started.move();
  const { eventLog } = events;
  return {
    services: {
      ...{ ...room, ...people, config, log, metrics, status, eventLog, policies, llm, bridge },
      ...{ ircServer: irc, ircBans },
    },
    ircAddresses,
    reconfigure: (changed, renewed) => {
      irc.reconfigure(ircChanges(changed));
      llm.backends.reconfigure(changed.llm.backends);
      if (renewed !== null) irc.renewCertificate(renewed);
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
  readonly config: Config;
  readonly log: Log;
  readonly irc: IrcServer;
  readonly policies: Policies | null;
  readonly people: Pick<People, "attendance" | "inboxes">;
}

function startBridge({ config, log, irc, policies, people }: BridgeSurroundings): Bridge {
  const { nick, channels, buffer_size, max_channels } = config.bridge;
  const ttlMinutes = () => (policies?.of("bridge") ?? config.bridge).web_user_ttl_minutes;
  const bridge = new Bridge({
    nick,
    channels,
    bufferSize: buffer_size,
    maxChannels: max_channels,
    webUserTtlMilliseconds: () => ttlMinutes() * 60_000,
    connect: () => irc.connect({ account: nick, privileged: true }),
    onPosted: (channel, message) => people.inboxes.takePosted(channel, message),
    speakers: people.attendance,
    log,
  });
  bridge.start();
  return bridge;
}

function makeStatus(
  { database, scheduler }: Stores,
  { agents }: Pick<People, "agents">,
  bridge: Bridge | null,
): Status {
  return new Status({
    clock: scheduler.now,
    agents: () => agents.counts().total,
    healthy: () => database.trouble === null,
    recheck: () => database.probe(),
    parts: {
      database: () => database.trouble === null,
      bridge: () => bridge === null || bridge.ready,
    },
  });
}

import { AdminLogin, Admins, type AdminsOptions } from "./admins/mod.ts";
import { AccountAuthority, Agents, IrcAccounts, type Sessions, type Speech } from "./agents/mod.ts";
import { Attendance, Inboxes } from "./attendance/mod.ts";
import { Bridge } from "./bridge/mod.ts";
import {
  type Address,
  changedKeys,
  type Config,
  formatAddress,
  parseAddress,
} from "./config/mod.ts";
import { DataFolder } from "./data_folder.ts";
import { Database } from "./database/mod.ts";
import { type EventLog, openEvents } from "./events/mod.ts";
import {
  type Identity,
  type IdentityRoom,
  openIdentity,
  openKeyFile,
  type OperatorToken,
  type Tokens,
  type WebSessions,
} from "./identity/mod.ts";
import { type IrcObserver, IrcServer, type IrcServerOptions } from "./irc/mod.ts";
import { IrcModeration } from "./irc_moderation.ts";
import { type Llm, openLlm } from "./llm/mod.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics/mod.ts";
import { Policies } from "./policies/mod.ts";
import { systemScheduler } from "./scheduler.ts";
import { Status } from "./status.ts";
import { VERSION } from "./version.ts";

/** The program cannot start; the message says why in one sentence. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface DaemonOptions {
  readonly config: Config;
  readonly log: Log;
  /** PEM texts for every listener with TLS, or null. */
  readonly certificate: { readonly cert: string; readonly key: string } | null;
  /** The API token that the environment pins, or null. */
  readonly pinnedToken: string | null;
  /** Unix milliseconds. */
  readonly clock?: () => number;
}

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
  /** Where IRC listens; null where it does not. */
  readonly ircAddresses: { readonly plain: Address | null; readonly tls: Address | null };
  /**
   * Takes from a configuration what can change while the services run.
   *
   * @param renewed the certificate, where it is another than before
   */
  reconfigure(config: Config, renewed: DaemonOptions["certificate"]): void;
  /** Tells the streams and the IRC clients that it is over and closes them. */
  quiesce(): Promise<void>;
  /** Finishes what is being written and closes everything, in reverse of the start. */
  stop(): Promise<void>;
}

/**
 * Builds the services from the configuration and starts them. Where one fails, those that were
 * started before it are stopped again.
 *
 * @throws DataFolderError, DatabaseError, StartError where the start is impossible
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await using started = new AsyncDisposableStack();
  const { config, log, pinnedToken, clock = Date.now } = options;

  const folder = DataFolder.open(config.data_dir);
  started.defer(() => folder.close());
  const journalKey = await openKeyFile(folder.file("event_key"));
  const database = new Database(folder.file("muster.db"), { journalKey });
  started.defer(() => database.close());
  const scheduler = { ...systemScheduler, now: clock };
  const events = openEvents({
    ...{ database, scheduler, log, version: VERSION },
    maxEvents: config.events.max_events,
    maxDays: config.events.max_days,
  });
  started.defer(() => events.close());
  const room = await openIdentity({
    folder: folder.path,
    database,
    pinnedToken,
    bridgeNick: config.bridge.nick,
    adminsEnabled: config.admins.enabled,
    ...loginLimits(config),
    scheduler,
    log,
  });
  started.defer(() => room.close());

  // The registry asks the IRC server, which is made later and tells the registry in turn.
  const sessions: Sessions = {
    disconnectAccount: (account, reason) => irc.disconnectAccount(account, reason),
    isOnline: (account) => irc.isOnline(account),
  };
  const serverAddress = () => ircUrl(config, ircAddresses);
  const shared = { database, sessions, serverAddress, clock, log, ...room };
  const agents = new Agents(shared);
  started.defer(() => agents.close());
  const minPasswordLength = config.irc.accounts.min_password_length;
  const ircAccounts = new IrcAccounts({ ...shared, minPasswordLength });
  const administration = openAdmins(config, shared);

  const moderation = new IrcModeration({ database, accounts: room.accounts, scheduler, log });
  started.defer(() => moderation.close());
  const { identity } = room;
  const { roster, speech } = agents;
  const attendance = new Attendance({
    ...{ identity, roster, speech, scheduler, log },
    users: {
      findUser: (user) => irc.findUser(user),
      addUser: (user) => irc.addUser(user),
      isMember: (account, channel) => irc.isMember(account, channel),
    },
  });
  started.defer(() => attendance.close());
  const hears = attendance.hears.bind(attendance);
  const { nick: bridgeNick } = config.bridge;
  const inboxes = new Inboxes({ identity, roster, hears, bridgeNick, scheduler, log });
  started.defer(() => inboxes.close());
  const observer = observerOf({ agents, attendance, inboxes, moderation });
  const irc = new IrcServer(ircOptions({ config, database, room, speech, observer, log }));
  started.defer(() => irc.close());
  const ircAddresses = listen(irc, options);
  const policies = config.policies.enabled
    ? new Policies({ ...shared, bridge: config.bridge })
    : null;
  const bridge = config.bridge.enabled
    ? startBridge({ config, irc, policies, speakers: attendance, inboxes, log })
    : null;
  if (bridge !== null) started.defer(() => bridge.stop());
  const status = new Status({
    clock,
    agents: () => agents.counts().total,
    healthy: () => database.trouble === null,
    recheck: () => database.probe(),
    parts: {
      database: () => database.trouble === null,
      bridge: () => bridge === null || bridge.ready,
    },
  });
  const environment = (variable: string) => Deno.env.get(variable);
  const llm = openLlm({ database, config: config.llm, environment, log, scheduler });
  started.defer(() => llm.gateway.close());
  const metrics = new Metrics({ irc, bridge, agents, llm: llm.gateway, refusals: room.refusals });
  started.defer(() => metrics.close());
  database.warm();

  const running = started.move();
  const { eventLog } = events;
  const base = { config, log, metrics, status, eventLog, policies };
  return {
    services: { ...room, ...administration, ...base, agents, inboxes, ircAccounts, llm, bridge },
    ircAddresses,
    reconfigure: (changed, renewed) => {
      irc.reconfigure(ircChanges(changed));
      if (renewed !== null) irc.renewCertificate(renewed);
      events.reloaded(changedKeys(config, changed));
    },
    quiesce: async () => {
      await llm.gateway.close();
      await bridge?.stop();
      await irc.close();
      eventLog.close();
    },
    stop: () => running.disposeAsync(),
  };
}

function openAdmins(
  config: Config,
  shared: AdminsOptions & IdentityRoom,
): Pick<Services, "admins" | "adminLogin"> {
  if (!config.admins.enabled) return { admins: null, adminLogin: null };
  const adminLogin = new AdminLogin({ ...shared, ...loginLimits(config) });
  return { admins: new Admins(shared), adminLogin };
}

interface Observers {
  readonly agents: Agents;
  readonly attendance: Attendance;
  readonly inboxes: Inboxes;
  readonly moderation: IrcModeration;
}

function observerOf(observers: Observers): IrcObserver {
  const { agents, attendance, inboxes, moderation } = observers;
  return {
    sessionStarted: ({ account }) => agents.sessionSeen(account),
    sessionEnded({ account }) {
      agents.sessionSeen(account);
      attendance.sessionEnded(account);
    },
    operatorGranted: (event) => moderation.operatorGranted(event),
    kicked: (event) => moderation.kicked(event),
    modeChanged: (event) => moderation.modeChanged(event),
    messageSent(message) {
      if (message.sender.account !== null) agents.speech.sent(message.sender.account);
      inboxes.take(message);
    },
  };
}

/** How many wrong passwords, and how many logins to the web pages, within which time. */
function loginLimits({ limits }: Config): { attempts: number; window: number } {
  return { attempts: limits.login_attempts, window: limits.login_window_minutes * 60_000 };
}

interface BridgeSurroundings {
  readonly config: Config;
  readonly irc: IrcServer;
  readonly policies: Policies | null;
  readonly speakers: Attendance;
  readonly inboxes: Inboxes;
  readonly log: Log;
}

function startBridge(surroundings: BridgeSurroundings): Bridge {
  const { config, irc, policies, speakers, inboxes, log } = surroundings;
  const { nick, channels, buffer_size, max_channels } = config.bridge;
  const ttlMinutes = () => (policies?.of("bridge") ?? config.bridge).web_user_ttl_minutes;
  const bridge = new Bridge({
    nick,
    channels,
    bufferSize: buffer_size,
    maxChannels: max_channels,
    webUserTtlMilliseconds: () => ttlMinutes() * 60_000,
    connect: () => irc.connect({ account: nick, privileged: true }),
    onPosted: (channel, message) => inboxes.takePosted(channel, message),
    ...{ speakers, log },
  });
  bridge.start();
  return bridge;
}

interface IrcSurroundings {
  readonly config: Config;
  readonly database: Database;
  readonly room: IdentityRoom;
  readonly speech: Speech;
  readonly observer: IrcObserver;
  readonly log: Log;
}

function ircOptions(surroundings: IrcSurroundings): IrcServerOptions {
  const { config, database, room, speech, observer, log } = surroundings;
  const { irc } = config;
  const { accounts, logins } = room;
  return {
    ...ircChanges(config),
    serverName: irc.server_name,
    serverDescription: irc.server_description,
    networkName: irc.network_name,
    version: `muster-${VERSION}`,
    password: irc.password === "" ? null : irc.password,
    requireAccount: irc.require_account,
    accounts: new AccountAuthority({
      ...{ database, accounts, logins, speech },
      operators: irc.operators,
    }),
    observer,
    log,
  };
}

/** What can change while the IRC server runs. */
function ircChanges({ irc }: Config): Pick<IrcServerOptions, "motd" | "limits"> {
  const { history, limits } = irc;
  const rate = (perSecond: number, burst: number) => perSecond === 0 ? null : { perSecond, burst };
  return {
    ...(irc.motd === "" ? {} : { motd: irc.motd }),
    limits: {
      lineBytes: limits.line_bytes,
      receiveQueueBytes: limits.recvq_bytes,
      sendQueueBytes: limits.sendq_bytes,
      strangerRate: rate(limits.flood_lines_per_second, limits.flood_burst),
      accountRate: rate(limits.account_lines_per_second, limits.account_burst),
      connections: limits.connections,
      connectionsPerAddress: limits.connections_per_address || null,
      registrationSeconds: limits.registration_seconds,
      historyMessages: history.messages,
      historyBytes: history.bytes,
    },
  };
}

function listen(irc: IrcServer, { config, certificate }: DaemonOptions): Daemon["ircAddresses"] {
  const open = (text: string, tls: DaemonOptions["certificate"]): Address | null => {
    const address = parseAddress(text);
    if (address === null) return null;
    try {
      const { hostname, port } = irc.listen({ ...address, ...(tls === null ? {} : { tls }) });
      return { hostname, port };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartError(`IRC cannot listen on ${formatAddress(address)}: ${reason}`);
    }
  };
  return { plain: open(config.irc.listen, null), tls: open(config.irc.tls_listen, certificate) };
}

/** The address of the IRC server as agents are told it. */
function ircUrl({ irc }: Config, { plain, tls }: Daemon["ircAddresses"]): string {
  const scheme = tls === null ? "irc" : "ircs";
  const told = parseAddress(irc.public_address);
  if (told !== null) return `${scheme}://${formatAddress(told)}`;
  const bound = tls ?? plain;
  if (bound === null) return "";
  const everywhere = bound.hostname === "0.0.0.0" || bound.hostname === "::";
  const hostname = everywhere ? Deno.hostname() : bound.hostname;
  return `${scheme}://${formatAddress({ hostname, port: bound.port })}`;
}

/** The services about accounts on a database of their own, without any network. */
import { join } from "node:path";
import { AdminLogin, Admins } from "../../services/admins/mod.ts";
import {
  Agents,
  EmbeddedProvisioning,
  IrcAccounts,
  type Provisioning,
  registrationSchema,
  Roster,
  SendLimits,
  type Sessions,
} from "../../services/agents/mod.ts";
import {
  AccountAuthority,
  type IrcOperator,
  SelfRegistration,
} from "../../services/irc_server/mod.ts";
import { DirectMessages, Inboxes, InboxStore } from "../../services/inboxes/mod.ts";
import { configSchema } from "../../services/config/mod.ts";
import { Database } from "../../services/database/mod.ts";
import { EventLog } from "../../services/events/mod.ts";
import {
  type Caller,
  type IdentityServices,
  openIdentity,
  OPERATOR,
} from "../../services/identity/mod.ts";
import { IrcBans } from "../../services/irc_server/bans/mod.ts";
import { RegisteredChannels } from "../../services/irc_server/services/mod.ts";
import { type Llm, openLlm } from "../../services/llm/mod.ts";
import type { Log } from "../../services/log.ts";
import { Policies } from "../../services/policies/mod.ts";
import { TestScheduler } from "./scheduler.ts";
import { withFolder } from "./temporary.ts";

/** The operator, calling from this machine. */
export const BY_OPERATOR: Caller = Object.freeze({
  principal: OPERATOR,
  address: "127.0.0.1",
  requestId: "request-1",
});

/** Time that stands still until it is moved, also as a clock alone. */
export class TestClock extends TestScheduler {
  readonly read = () => this.now();
}

/** IRC sessions as a list of accounts. */
export class TestSessions implements Sessions {
  readonly online = new Set<string>();
  /** How often it was looked for sessions of the banned. */
  banned = 0;
  /** What was closed, as `account: reason`. */
  readonly closed: string[] = [];
  /** Accounts whose nick was freed of guests. */
  readonly freed: string[] = [];
  /** Channels that became muster's. */
  readonly claimed: string[] = [];
  /** Accounts of which nothing is kept any more. */
  readonly forgotten: string[] = [];

  disconnectAccount(account: string, reason: string): number {
    this.closed.push(`${account}: ${reason}`);
    return this.online.delete(account) ? 1 : 0;
  }

  freeNick(account: string): void {
    this.freed.push(account);
  }

  forgetAccount(account: string): void {
    this.forgotten.push(account);
  }

  claimChannels(channels: readonly string[]): void {
    this.claimed.push(...channels);
  }

  isOnline(account: string): boolean {
    return this.online.has(account);
  }
}

/** A logger that keeps everything, as text. */
export class TestLog implements Log {
  readonly lines: string[] = [];

  debug(message: string, properties?: Record<string, unknown>): void {
    this.#keep("debug", message, properties);
  }
  info(message: string, properties?: Record<string, unknown>): void {
    this.#keep("info", message, properties);
  }
  warn(message: string, properties?: Record<string, unknown>): void {
    this.#keep("warn", message, properties);
  }
  error(message: string, properties?: Record<string, unknown>): void {
    this.#keep("error", message, properties);
  }

  #keep(level: string, message: string, properties?: Record<string, unknown>): void {
    this.lines.push(`${level} ${message} ${Deno.inspect(properties, { depth: 5 })}`);
  }
}

/** What a test can set. */
export interface TestServicesOptions {
  readonly pinnedToken?: string;
  readonly operators?: readonly IrcOperator[];
  /** Whether admins are switched on; they are where nothing is said. */
  readonly adminsEnabled?: boolean;
  /** The configuration's key `llm`. */
  readonly llm?: unknown;
  /** What the process environment holds, as far as the LLM gateway looks. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How accounts get to IRC, where that is not the server of the same program. */
  readonly provisioning?: (
    surroundings: {
      readonly database: Database;
      readonly accounts: IdentityServices["accounts"];
      readonly clock: TestClock;
      readonly log: TestLog;
    },
  ) => Promise<Provisioning>;
}

/** The services, and what stands in for the world around them. */
export interface TestServices extends IdentityServices {
  readonly folder: string;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly policies: Policies;
  readonly agents: Agents;
  /** Of agents that hear every channel. */
  readonly inboxes: Inboxes;
  /** Without IRC: agents alone can be reached. */
  readonly directMessages: DirectMessages;
  readonly ircAccounts: IrcAccounts;
  readonly ircBans: IrcBans;
  readonly authority: AccountAuthority;
  /** Of which an account registers two, and gives two others a status there. */
  readonly channels: RegisteredChannels;
  readonly admins: Admins;
  readonly adminLogin: AdminLogin;
  readonly llm: Llm;
  readonly sessions: TestSessions;
  readonly clock: TestClock;
  readonly log: TestLog;
}

/** Opens the services in a folder; with its files the state of an earlier time comes back. */
export async function openServices(
  folder: string,
  options: TestServicesOptions = {},
  clock = new TestClock(),
): Promise<TestServices> {
  const database = new Database(join(folder, "muster.db"));
  const log = new TestLog();
  const sessions = new TestSessions();
  const limits = { attempts: 10, window: 15 * 60_000 };
  const identityServices = await openIdentity({
    folder,
    database,
    pinnedToken: options.pinnedToken ?? null,
    bridgeNick: "bridge",
    adminsEnabled: options.adminsEnabled ?? true,
    ...limits,
    scheduler: clock,
    log,
  }).catch(async (error) => {
    await database.close();
    throw error;
  });
  const { accounts, revocations, identity, logins, passwords, scram, tokens, webSessions } =
    identityServices;
  const serverAddress = () => "irc://irc.example:6667";
  const shared = {
    ...{ database, accounts, scram, tokens, webSessions, revocations, sessions, serverAddress },
    provisioning: await options.provisioning?.({ database, accounts, clock, log }) ??
      new EmbeddedProvisioning(sessions),
    clock: clock.read,
  };
  const roster = await Roster.open({ database, accounts });
  const sendLimits = new SendLimits(roster, clock.read);
  const agents = new Agents({ ...shared, identity, roster, sendLimits, log });
  const eventLog = await EventLog.open({ database, scheduler: clock, log });
  const bridge = { enabled: true, web_user_ttl_minutes: 5 };
  const policies = await Policies.open({ database, bridge, clock: clock.read, log });
  const ircAccounts = new IrcAccounts({
    ...{ ...shared, passwords, minPasswordLength: 8 },
    ownsPasswords: options.provisioning === undefined,
  });
  const ircBans = await IrcBans.open({
    ...shared,
    clock: clock.read,
  });
  ircBans.enforceOn({ enforceBans: () => sessions.banned++ });
  const admins = new Admins({ ...shared, passwords });
  const adminLogin = new AdminLogin({ ...identityServices, ...limits, clock: clock.read });
  const operators = options.operators ?? [];
  const inboxes = new Inboxes({
    ...{ identity, roster, log, bridgeNick: "bridge" },
    hears: () => true,
    store: new InboxStore({ database, age: null, scheduler: clock, log }),
    scheduler: clock,
  });
  const directMessages = new DirectMessages({
    ...{ roster, sendLimits, accounts, inboxes, log },
    ...{ bridge: null, bridgeNick: "bridge", isOnline: () => false },
    virtualUsers: {
      attends: () => false,
      tell: () => null,
      requireVoice: () => {},
      admit: ({ id }, messages) => id === null ? undefined : sendLimits.admit(id, messages),
    },
  });
  const perHour = 2;
  const channels = await RegisteredChannels.open({
    ...{ database, accounts, scheduler: clock, log },
    ...{ perAccount: 2, accessEntries: 2, secret: new Uint8Array(32) },
  });
  const authority = new AccountAuthority({
    ...{ accounts, roster, logins, operators, sendLimits, channels },
    configured: ["#general"],
  });
  authority.allowRegistration(
    new SelfRegistration({ accounts, ircAccounts, perHour, clock: clock.read }),
  );
  const llm = openLlm({
    ...{ database, log, scheduler: clock },
    config: configSchema.parse({ llm: options.llm ?? {} }).llm,
    environment: (name) => options.environment?.[name],
  });
  return {
    ...identityServices,
    ...{ folder, database, eventLog, policies },
    ...{
      agents,
      inboxes,
      directMessages,
      ircAccounts,
      ircBans,
      channels,
      authority,
      admins,
      adminLogin,
    },
    ...{ llm, sessions, clock, log },
    async close() {
      eventLog.close();
      await llm.gateway.close();
      await inboxes.stop();
      await channels.close();
      await agents.close();
      await identityServices.close();
      await database.close();
    },
  };
}

/** Runs a test on services of its own. */
export async function withServices(
  run: (services: TestServices) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withFolder(async (folder) => {
    const services = await openServices(folder, options);
    try {
      await run(services);
    } finally {
      await services.close();
    }
  });
}

/** Registers an agent and gives its passphrase. */
export async function anAgent(
  { agents }: Pick<TestServices, "agents">,
  nick: string,
  more: { type?: string; channels?: string[] } = {},
): Promise<string> {
  const request = registrationSchema.parse({ nick, ...more });
  const { credentials } = await agents.register(request, BY_OPERATOR);
  return credentials.passphrase;
}

/** The types of the events that were logged, in order. */
export async function eventTypes({ database }: Pick<TestServices, "database">): Promise<string[]> {
  const rows = await database.tables.selectFrom("events").select("type").orderBy("seq").execute();
  return rows.map(({ type }) => type);
}

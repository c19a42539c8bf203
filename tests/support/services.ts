/** The services of the daemon in a separate folder, with their IRC server in memory. */
import { join } from "node:path";
import type { Provisioning, Sessions } from "../../services/people/agents/mod.ts";
import { registrationSchema } from "../../services/people/agents/schemas.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import {
  type DaemonOptions,
  openEmbedded,
  openStores,
  type Services,
  startServices,
} from "../../services/operation/daemon/mod.ts";
import type { StartExamination } from "../../services/operation/control/mod.ts";
import {
  type Caller,
  type IdentityServices,
  OPERATOR,
  type PasswordCosts,
} from "../../services/people/identity/mod.ts";
import type { UserDirectory } from "../../services/chat/irc_server/virtual_users/mod.ts";
import type { Log } from "../../services/kernel/log.ts";
import { CHEAP_PASSWORDS } from "./cheap_passwords.ts";
import { placeDatabase } from "./migrated_database.ts";
import { databaseOf } from "./postgres.ts";
import { TestScheduler } from "./scheduler.ts";
import { withFolder } from "./temporary.ts";

/** The operator, calling from this machine. */
export const BY_OPERATOR: Caller = Object.freeze({
  principal: OPERATOR,
  address: "127.0.0.1",
  requestId: "request-1",
});

/** IRC sessions as a list of accounts. */
export class TestSessions implements Sessions {
  readonly online = new Set<string>();
  /** Counts the enforcements of bans. */
  banned = 0;
  /** The closed sessions, as `account: reason`. */
  readonly closed: string[] = [];
  /** Accounts whose nick was taken from guests. */
  readonly freed: string[] = [];
  /** Channels that became muster's. */
  readonly claimed: string[] = [];
  /** Accounts whose traces were erased. */
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

/** An IRC server on which every agent is in every channel, and speaks nowhere. */
const EVERYWHERE: UserDirectory = {
  findUser: () => null,
  addUser: () => null,
  isMember: () => true,
  standing: () => ({ exists: true, member: true, visible: true, refusal: null }),
  isAlone: () => false,
};

/** A logger that keeps everything, as text. */
export class TestLog implements Log {
  readonly #lines: string[] = [];
  /** Makes the lines that nobody has read yet. Few tests read any, and a line takes time. */
  readonly #unread: (() => string)[] = [];

  get lines(): readonly string[] {
    for (const write of this.#unread.splice(0)) this.#lines.push(write());
    return this.#lines;
  }

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
  request(level: "debug" | "info", properties: Record<string, unknown>): void {
    this.#keep(level, "Request", properties);
  }

  #keep(level: string, message: string, properties?: Record<string, unknown>): void {
    this.#unread.push(() => `${level} ${message} ${Deno.inspect(properties, { depth: 5 })}`);
  }
}

/** Options of a test. */
export interface TestServicesOptions {
  readonly pinnedToken?: string;
  /** Keys of the configuration, over those of {@link testConfig}. */
  readonly config?: TestConfig;
  /** Examines the program; by default, it does not examine itself. */
  readonly startExamination?: StartExamination;
  /** The environment variables that the LLM gateway reads. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Accounts log in to the IRC server of the program, instead of {@link TestSessions}. */
  readonly ircServer?: boolean;
  /** What a guess at a password costs; by default, next to nothing. */
  readonly passwordCosts?: PasswordCosts;
  /** How accounts get to IRC, if that is not the server of the same program. */
  readonly provisioning?: (stores: TestStores) => Promise<Provisioning>;
  /** The services of one of several nodes; see `nodes.ts`. */
  readonly node?: { readonly name: string; readonly database: string };
}

/** Sections of the configuration, as the file has them. */
export type TestConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

type TestStores = Awaited<ReturnType<typeof openStores>>;
type TestHost = Awaited<ReturnType<typeof openEmbedded>>;

/** The services, and the stand-ins for the world around them. */
export interface TestServices
  extends
    Omit<IdentityServices, "close">,
    Omit<Services, keyof Presence>,
    Presence,
    Pick<TestHost, "authority" | "channels" | "mutes" | "server">,
    Pick<TestHost["people"], "virtualUsers" | "botPort"> {
  readonly folder: string;
  readonly database: TestStores["database"];
  readonly leadership: TestStores["leadership"];
  readonly sessions: TestSessions;
  readonly clock: TestScheduler;
  readonly log: TestLog;
  close(): Promise<void>;
}

/** Services that the configuration can turn off; few tests do. */
type Presence = {
  readonly [Name in "admins" | "adminLogin" | "ircBans" | "policies"]: NonNullable<Services[Name]>;
};

/** The configuration of a test: nothing listens, no limit of speed, no history, and no bridge. */
async function testConfig(
  folder: string,
  sections: TestConfig = {},
  node?: TestServicesOptions["node"],
): Promise<Config> {
  const irc = {
    server_name: "irc.test",
    listen: "",
    public_address: "irc.example:6667",
    require_account: false,
    accounts: { self_registration: true, registrations_per_hour: 2 },
    channels: { per_account: 2, access_entries: 2 },
    history: { persist: false },
    limits: { flood_lines_per_second: 0, account_lines_per_second: 0 },
    ...sections["irc"],
  };
  const bridge = { enabled: false, ...sections["bridge"] };
  const database = { url: node?.database ?? await databaseOf(folder) };
  const config = configSchema.parse({ ...sections, data_dir: folder, database, irc, bridge });
  // Nodes have no IRC server of their own; for these tests it stands in for the network.
  return node === undefined
    ? config
    : { ...config, node: { name: node.name, url: `http://${node.name}.example` } };
}

/**
 * Opens the services in a folder, with the state in its files. Agents hear every channel, unless
 * the test uses the IRC server.
 */
export async function openServices(
  folder: string,
  options: TestServicesOptions = {},
  clock = new TestScheduler(),
): Promise<TestServices> {
  await using started = new AsyncDisposableStack();
  const [log, sessions] = [new TestLog(), new TestSessions()];
  const daemon: DaemonOptions = {
    config: await testConfig(folder, options.config, options.node),
    pinnedToken: options.pinnedToken ?? null,
    environment: (name) => options.environment?.[name],
    scheduler: clock,
    ...options.startExamination === undefined ? {} : { startExamination: options.startExamination },
    certificate: null,
    passwordCosts: options.passwordCosts ?? CHEAP_PASSWORDS,
    log,
  };
  if (daemon.config.database.url === "") await placeDatabase(join(folder, "muster.db"));
  const stores = await openStores(daemon, started);
  const provisioning = await options.provisioning?.(stores);
  const irc = await openEmbedded(daemon, stores, started, {
    ...(options.ircServer === true ? {} : { sessions, users: EVERYWHERE }),
    ...(provisioning === undefined ? {} : { provisioning }),
  });
  if (options.ircServer !== true) irc.bans.enforceOn({ enforceBans: () => sessions.banned++ });
  const services = await startServices(daemon, stores, irc, started);
  started.defer(() => stores.leadership.end());
  const running = started.move();
  return {
    ...stores.identity,
    ...irc.people,
    ...services as Services & Presence,
    folder,
    database: stores.database,
    leadership: stores.leadership,
    server: irc.server,
    authority: irc.authority,
    mutes: irc.mutes,
    channels: irc.channels,
    sessions,
    clock,
    log,
    close: () => running.disposeAsync(),
  };
}

/** Runs a test on separate services. */
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

/** Registers an agent and returns its passphrase. */
export async function anAgent(
  { agents }: Pick<TestServices, "agents">,
  nick: string,
  more: { type?: string; channels?: string[] } = {},
): Promise<string> {
  const request = registrationSchema.parse({ nick, ...more });
  const { credentials } = await agents.register(request, BY_OPERATOR);
  return credentials.passphrase;
}

/** The types of the logged events, in order, except for those about the program. */
export async function eventTypes({ database }: Pick<TestServices, "database">): Promise<string[]> {
  const rows = await database.tables.selectFrom("events").select("type")
    .where("type", "not like", "program.%").orderBy("seq").execute();
  return rows.map(({ type }) => type);
}

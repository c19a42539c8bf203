import { Conflict, Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { Connect } from "../bridge/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { IrcConsole, stripFormatting } from "./console.ts";
import type { AccountInfo, ServicesDesk, ServicesDialect } from "./dialect.ts";
import type { MissingRight, NetworkAccount, NetworkAccounts, NetworkStatus } from "./network.ts";
import { markOf, ownerIn } from "./network_accounts.ts";
import { type Credentials, IrcSession, type SessionOptions, SessionRefused } from "./session.ts";

/** Longest passphrase that fits the line that sends it. */
const MAX_PASSPHRASE = 200;

/** ChanServ's answer for an unregistered channel, from Atheme and Anope. */
const UNREGISTERED = /is not registered|isn't registered/;

/** The answer of services if our rights or the loaded modules are not enough. */
const DENIED = /not authori[sz]ed|access denied|do not have|(?:unknown|invalid) command/i;

/** Most characters of an answer of services that are passed on. */
const MAX_QUOTED = 300;

export interface ServicesNetworkOptions {
  /** Opens a connection to the network. */
  readonly connect: Connect;
  readonly dialect: ServicesDialect;
  /** The nick of the connection to services. */
  readonly nick: string;
  readonly serverPassword: string | null;
  /** The account whose rights services check. */
  readonly login: Credentials;
  /** Credentials for OPER. */
  readonly operator: Credentials;
  /** The nicks of the services. */
  readonly nickServ: string;
  readonly chanServ: string;
  /** The id of this instance of muster. */
  readonly instance: string;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The accounts of a network whose services, Atheme or Anope, are spoken to as a person would. What
 * a command did is not read from the words that answer it: the account is looked at afterwards.
 */
export class ServicesNetwork implements NetworkAccounts {
  /** Each time is a connection of its own. */
  readonly verifiesCheaply = false;
  readonly console: IrcConsole;
  readonly #options: ServicesNetworkOptions;
  readonly #desk: ServicesDesk;
  /** Short connections that are open at present. */
  readonly #sessions = new Set<IrcSession>();
  #closed = false;

  constructor(options: ServicesNetworkOptions) {
    this.#options = options;
    const { dialect, nickServ } = options;
    this.console = new IrcConsole({ ...options, greeting: dialect.greeting });
    this.#desk = {
      nickServ,
      converse: (command) => this.console.converse(nickServ, command),
      logIn: (account, passphrase) => this.#logIn(account, passphrase),
    };
  }

  async register(account: string, passphrase: string): Promise<"created" | "exists"> {
    checkPassphrase(passphrase);
    if (await this.#info(account) !== null) return "exists";
    const { nickServ, operator } = this.#options;
    let session: IrcSession;
    try {
      session = await this.#open({ nick: account, anyNick: false, login: null, operator });
    } catch (error) {
      if (!(error instanceof SessionRefused)) throw error;
      if (error.what === "taken nick") return "exists";
      throw error.what === "nick" ? new Conflict(error.message) : error;
    }
    let isLoggedIn: boolean;
    try {
      // Some servers truncate a nick that is too long.
      if (!isSame(session.nick, account)) {
        throw new Conflict(`The nick "${account}" is too long for the IRC network`);
      }
      const command = `REGISTER ${passphrase} ${markOf(account, this.#options.instance)}`;
      const answer = await session.converse(nickServ, command);
      isLoggedIn = isSame(session.account, account);
      if (!isLoggedIn && await this.#info(account) === null) {
        throw this.#refusal(`register "${account}"`, answer, passphrase);
      }
    } finally {
      this.#leave(session);
    }
    for (const command of this.#options.dialect.settle(account)) await this.#ask(command);
    return isLoggedIn || await this.verify(account, passphrase) ? "created" : "exists";
  }

  async setPassphrase(account: string, passphrase: string): Promise<void> {
    checkPassphrase(passphrase);
    const { dialect } = this.#options;
    await this.#endingSessions(await this.#found(account), "Passphrase changed", async () => {
      await dialect.setPassphrase(this.#desk, account, passphrase);
      if (await this.verify(account, passphrase)) return;
      throw new Unavailable(`NickServ did not set the passphrase of "${account}"`);
    });
  }

  async mark(account: string, passphrase: string | null): Promise<boolean> {
    const { dialect, instance } = this.#options;
    if (ownerIn((await this.#found(account)).address) === instance) return true;
    await dialect.setAddress(this.#desk, account, markOf(account, instance), passphrase);
    return ownerIn((await this.#found(account)).address) === instance;
  }

  async verify(account: string, passphrase: string): Promise<boolean> {
    const session = await this.#logIn(account, passphrase, true);
    if (session !== null) {
      this.#leave(session);
      return true;
    }
    // A login is refused too while services are away.
    await this.#info(account);
    return false;
  }

  async suspend(account: string, reason: string): Promise<void> {
    const info = await this.#found(account);
    await this.#endingSessions(info, reason, async () => {
      if (info.suspended) return;
      const answer = await this.#ask(this.#options.dialect.suspend(account, oneLine(reason)));
      if ((await this.#found(account)).suspended) return;
      throw this.#refusal(`suspend "${account}"`, answer);
    });
  }

  async unsuspend(account: string): Promise<void> {
    if (!(await this.#found(account)).suspended) return;
    const answer = await this.#ask(this.#options.dialect.unsuspend(account));
    if (!(await this.#found(account)).suspended) return;
    throw this.#refusal(`release "${account}"`, answer);
  }

  async remove(account: string): Promise<void> {
    const info = await this.#info(account);
    if (info === null || !isSame(info.account, account)) return;
    await this.#endingSessions(info, "Account deleted", async () => {
      let answer: readonly string[] = [];
      for (const command of this.#options.dialect.remove(account)) {
        answer = await this.#ask(command);
      }
      if (await this.find(account) === null) return;
      throw this.#refusal(`remove "${account}"`, answer);
    });
  }

  async find(account: string): Promise<NetworkAccount | null> {
    const info = await this.#info(account);
    if (info === null || !isSame(info.account, account)) return null;
    return { account: info.account, suspended: info.suspended, owner: ownerIn(info.address) };
  }

  /** Services list accounts, but neither all of them nor the properties needed here. */
  list(): Promise<null> {
    return Promise.resolve(null);
  }

  async setChannelStatus(
    channel: string,
    account: string,
    status: NetworkStatus | null,
  ): Promise<boolean> {
    const { dialect, chanServ, log } = this.#options;
    for (const command of dialect.channelStatus(channel, account, status)) {
      const lines = await this.console.ask(chanServ, command);
      if (lines.some((line) => UNREGISTERED.test(line))) return false;
      const said = lines.find((line) => DENIED.test(line));
      if (said === undefined) continue;
      log.warn("The services of the IRC network refuse to set statuses", {
        service: chanServ,
        channel,
        said,
      });
      return false;
    }
    return true;
  }

  get session(): number | null {
    return this.console.session;
  }

  async missingRights(): Promise<readonly MissingRight[]> {
    const missing: MissingRight[] = [];
    for (const [name, command] of Object.entries(this.#options.dialect.probes)) {
      const lines = await this.#ask(command);
      if (lines.some((line) => DENIED.test(line))) missing.push({ name, stops: "accounts" });
    }
    if (!await this.console.mayEnd()) missing.push({ name: "KILL", stops: "accounts" });
    return missing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const session of this.#sessions) this.#leave(session);
    await this.console.close();
  }

  /**
   * Makes a change and ends the sessions from before it: first the present ones, because services
   * may hold the nick of an online user for a while, then those that came meanwhile.
   */
  async #endingSessions(
    info: AccountInfo,
    reason: string,
    change: () => Promise<void>,
  ): Promise<void> {
    await this.#endSessions(info, reason);
    await change();
    await this.#endSessions(info, reason);
  }

  async #endSessions({ account, online }: AccountInfo, reason: string): Promise<void> {
    for (const nick of await this.console.sessionsOf(account, [account, ...online])) {
      await this.console.end(nick, oneLine(reason));
    }
  }

  /** @throws NotFound */
  async #found(account: string): Promise<AccountInfo> {
    const info = await this.#info(account);
    if (info !== null && isSame(info.account, account)) return info;
    throw new NotFound(`There is no account "${account}" on the IRC network`);
  }

  async #info(account: string): Promise<AccountInfo | null> {
    const lines = await this.#ask(`INFO ${account}`);
    const info = this.#options.dialect.readInfo(lines);
    if (info !== "unclear") return info;
    throw this.#refusal(`tell of "${account}"`, lines);
  }

  #ask(command: string): Promise<readonly string[]> {
    return this.console.ask(this.#options.nickServ, command);
  }

  async #logIn(
    account: string,
    passphrase: string,
    loginOnly = false,
  ): Promise<IrcSession | null> {
    const login = { name: account, password: passphrase };
    const { nick } = this.#options;
    try {
      return await this.#open({ nick, anyNick: true, login, operator: null, loginOnly });
    } catch (error) {
      if (error instanceof SessionRefused && error.what === "login") return null;
      throw error;
    }
  }

  async #open(
    as: Pick<SessionOptions, "nick" | "anyNick" | "login" | "operator" | "loginOnly">,
  ): Promise<IrcSession> {
    const { connect, scheduler, serverPassword, nickServ } = this.#options;
    const shared = { connect, scheduler, serverPassword, nickServ };
    const session = await IrcSession.open({ ...shared, ...as });
    this.#sessions.add(session);
    session.onClose = () => this.#sessions.delete(session);
    if (!this.#closed) return session;
    this.#leave(session);
    throw new Unavailable("The server is shutting down");
  }

  #leave(session: IrcSession): void {
    this.#sessions.delete(session);
    session.close();
  }

  /** The answer of services that refused, without a secret that it may repeat. */
  #refusal(what: string, answer: readonly string[], secret?: string): Unavailable {
    const words = answer.map(stripFormatting).join(" ").slice(0, MAX_QUOTED);
    const said = secret === undefined ? words : words.replaceAll(secret, "…");
    const { dialect, nickServ } = this.#options;
    return new Unavailable(
      `${nickServ} of ${dialect.name} did not ${what}: ${said === "" ? "no answer" : said}`,
    );
  }
}

/** Services split words at spaces. */
function checkPassphrase(passphrase: string): void {
  if (/^[^\s\p{Cc}]+$/u.test(passphrase) && passphrase.length <= MAX_PASSPHRASE) return;
  throw new Invalid(
    `On this IRC network a password must have no spaces and at most ${MAX_PASSPHRASE} characters`,
  );
}

function isSame(one: string | null, other: string): boolean {
  return one !== null && foldCase(one) === foldCase(other);
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, 200);
}

import { Conflict, Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { ErgoAnswer, ErgoApi } from "./ergo_api.ts";
import type {
  MissingRight,
  NetworkAccount,
  NetworkAccounts,
  NetworkStatus,
  ServicesConsole,
} from "./network.ts";
import { markOf, ownerIn } from "./network_accounts.ts";

/** The command that NickServ requires to confirm an erasure. */
const CONFIRMATION = /\bERASE\s+\S+\s+([0-9A-Za-z]+)\s*$/;

/** The answer to `SAGET … email`. */
const ADDRESS = /^Your stored e-mail address is: (\S+)$/;

/** A line of `SUSPEND LIST`. */
const SUSPENSION = /^Account (\S+) suspended at /;

/** ChanServ's answer for an unregistered channel. */
const UNREGISTERED = /^Channel (?:does not exist|is not registered)/;

/** The answer of services to an operator who lacks the capability of a command. */
const RESTRICTED = /^Command restricted|^Insufficient oper privs/;

/** Commands that change nothing, each with the capability that Ergo checks first. */
const PROBES = [
  { name: "accreg", stops: "accounts", service: "NickServ", command: "SAGET * email" },
  { name: "ban", stops: "accounts", service: "NickServ", command: "SUSPEND DEL *" },
  { name: "chanreg", stops: "channels", service: "ChanServ", command: "LIST ^$" },
] as const;

/** Longest part of Ergo's answer that is passed on. */
const MAX_REASON = 200;

export interface ErgoAccountsOptions {
  readonly api: ErgoApi;
  /**
   * The connection of an operator with the capabilities `accreg`, `ban` and `chanreg`; since
   * version 2.9, Ergo requires `ban` to suspend an account.
   */
  readonly console: ServicesConsole;
  /** The id of this instance of muster. */
  readonly instance: string;
}

/**
 * The accounts of an Ergo network. Its HTTP API creates and checks accounts and sets passphrases.
 * An operator does the rest through NickServ and ChanServ: suspending, removing, ending sessions
 * and setting statuses in channels.
 *
 * @see https://github.com/ergochat/ergo/blob/master/docs/API.md
 */
export class ErgoAccounts implements NetworkAccounts {
  readonly verifiesCheaply = true;
  readonly #api: ErgoApi;
  readonly #console: ServicesConsole;

  readonly #instance: string;

  constructor(options: ErgoAccountsOptions) {
    this.#api = options.api;
    this.#instance = options.instance;
    this.#console = options.console;
  }

  async register(account: string, passphrase: string): Promise<"created" | "exists"> {
    const answer = await this.#call("/v1/ns/saregister", { accountName: account, passphrase });
    if (answer.success) {
      await this.mark(account);
      return "created";
    }
    switch (answer.errorCode) {
      case "ACCOUNT_EXISTS":
        return "exists";
      case "INVALID_PASSPHRASE":
        throw new Invalid("The IRC network does not accept this password");
      default:
        throw new Conflict(`The IRC network refuses the account "${account}": ${reasonOf(answer)}`);
    }
  }

  async setPassphrase(account: string, passphrase: string): Promise<void> {
    const answer = await this.#call("/v1/ns/passwd", { accountName: account, passphrase });
    if (!answer.success) throw refusal(account, answer);
    // Only a suspension ends all sessions of an account, whatever their nicks.
    await this.suspend(account, "Passphrase changed");
    await this.unsuspend(account);
  }

  async mark(account: string): Promise<true> {
    const mark = markOf(account, this.#instance);
    const lines = await this.#console.ask("NickServ", `SASET ${account} email ${mark}`);
    this.#expect(lines, account, /^Successfully changed/, /^No such account/);
    return true;
  }

  async verify(account: string, passphrase: string): Promise<boolean> {
    const answer = await this.#call("/v1/check_auth", { accountName: account, passphrase });
    return answer.success;
  }

  async suspend(account: string, reason: string): Promise<void> {
    const lines = await this.#console.ask("NickServ", `SUSPEND ADD ${account} ${reason}`);
    this.#expect(lines, account, /^Successfully suspended/, /^No such account/);
  }

  async unsuspend(account: string): Promise<void> {
    const lines = await this.#console.ask("NickServ", `SUSPEND DEL ${account}`);
    this.#expect(lines, account, /^Successfully un-?suspended|not suspended/, /^No such account/);
  }

  async remove(account: string): Promise<void> {
    if (await this.find(account) === null) return;
    const asked = await this.#console.ask("NickServ", `ERASE ${account}`);
    const code = asked.map((line) => CONFIRMATION.exec(line)?.[1]).find(Boolean);
    if (code === undefined) throw refused(asked);
    const done = await this.#console.ask("NickServ", `ERASE ${account} ${code}`);
    if (await this.find(account) !== null) throw refused(done);
  }

  async find(account: string): Promise<NetworkAccount | null> {
    const body = { accountName: account };
    const info = await this.#call("/v1/ns/info", body);
    if (info.success) {
      const name = info.accountName ?? account;
      return { account: name, suspended: false, owner: await this.#ownerOf(name) };
    }
    const settings = await this.#api.call("/v1/ns/saget", body);
    if (settings?.success) {
      return { account, suspended: true, owner: await this.#ownerOf(account) };
    }
    if (settings?.errorCode === "ACCOUNT_DOES_NOT_EXIST") return null;
    const folded = foldCase(account);
    const listed = (await this.#names()).find((name) => foldCase(name) === folded);
    if (listed === undefined) return null;
    return { account: listed, suspended: true, owner: await this.#ownerOf(listed) };
  }

  async list(): Promise<readonly NetworkAccount[]> {
    const [names, suspensions] = [
      await this.#names(),
      await this.#console.ask("NickServ", "SUSPEND LIST"),
    ];
    const suspended = new Set(
      suspensions.flatMap((line) => SUSPENSION.exec(line)?.[1] ?? []).map(foldCase),
    );
    return names.map((account) => ({
      account,
      owner: null,
      suspended: suspended.has(foldCase(account)),
    }));
  }

  async setChannelStatus(
    channel: string,
    account: string,
    status: NetworkStatus | null,
  ): Promise<boolean> {
    const changes = status === "operator" ? ["+o"] : status === "voice" ? ["+v"] : ["-o", "-v"];
    for (const change of changes) {
      const lines = await this.#console.ask("ChanServ", `AMODE ${channel} ${change} ${account}`);
      if (lines.some((line) => /\bpriv/i.test(line))) {
        throw new Conflict(`The operator of irc.services.oper may not set modes in ${channel}`);
      }
      if (lines.some((line) => UNREGISTERED.test(line))) return false;
    }
    return true;
  }

  get session(): number | null {
    return this.#console.session;
  }

  async missingRights(): Promise<readonly MissingRight[]> {
    await this.#call("/v1/ns/passwd", { accountName: "", passphrase: "" });
    const missing: MissingRight[] = [];
    for (const { name, stops, service, command } of PROBES) {
      const lines = await this.#console.ask(service, command);
      if (lines.some((line) => RESTRICTED.test(line))) missing.push({ name, stops });
    }
    return missing;
  }

  async close(): Promise<void> {
    this.#api.close();
    await this.#console.close();
  }

  async #ownerOf(account: string): Promise<string | null> {
    const lines = await this.#console.ask("NickServ", `SAGET ${account} email`);
    return ownerIn(lines.map((line) => ADDRESS.exec(line)?.[1]).find(Boolean));
  }

  async #names(): Promise<string[]> {
    const { accounts } = await this.#call("/v1/ns/list", {});
    return (accounts ?? []).map(({ accountName }) => accountName);
  }

  async #call(path: string, body: Readonly<Record<string, string>>): Promise<ErgoAnswer> {
    const answer = await this.#api.call(path, body);
    if (answer !== null) return answer;
    throw new Unavailable(`The API of the IRC network has no ${path}: this Ergo is too old`);
  }

  #expect(lines: readonly string[], account: string, done: RegExp, missing: RegExp): void {
    if (lines.some((line) => done.test(line))) return;
    if (lines.some((line) => missing.test(line))) throw noSuchAccount(account);
    throw refused(lines);
  }
}

function refusal(account: string, answer: ErgoAnswer): Error {
  switch (answer.errorCode) {
    case "ACCOUNT_DOES_NOT_EXIST":
      return noSuchAccount(account);
    case "INVALID_PASSPHRASE":
      return new Invalid("The IRC network does not accept this password");
    default:
      return new Unavailable(`The IRC network refused: ${reasonOf(answer)}`);
  }
}

function noSuchAccount(account: string): NotFound {
  return new NotFound(`The IRC network has no account "${account}"`);
}

function refused(lines: readonly string[]): Unavailable {
  const said = lines.at(-1)?.slice(0, MAX_REASON) ?? "nothing";
  return new Unavailable(`NickServ of the IRC network refused: ${said}`);
}

function reasonOf({ error, errorCode }: ErgoAnswer): string {
  return (error ?? errorCode ?? "no reason given").slice(0, MAX_REASON);
}

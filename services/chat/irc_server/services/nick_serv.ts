import { Conflict, Forbidden, Invalid } from "../../../kernel/errors.ts";
import type { IrcAccounts } from "../../../people/agents/mod.ts";
import type { Account, AccountDirectory, Logins } from "../../../people/identity/mod.ts";
import { foldCase, type ServiceCaller, type Verification } from "../../../engines/irc/mod.ts";
import { CommandService, type ServiceCommand } from "./command_service.ts";
import type { RegisteredChannels } from "./registered_channels.ts";

export interface NickServOptions {
  readonly accounts: AccountDirectory;
  readonly logins: Logins;
  readonly ircAccounts: IrcAccounts;
  readonly channels: RegisteredChannels;
  /** Whether people may register accounts. */
  readonly selfRegistration: boolean;
}

/** The kinds of account that log in on IRC. */
const KINDS = ["agent", "person", "admin"] as const;

/** NickServ: logs people in, and manages their accounts and nicks. */
export function nickServ(options: NickServOptions): CommandService {
  const accounts = new NickServ(options);
  return new CommandService({
    nick: "NickServ",
    realname: "Looks after accounts and nicks",
    commands: new Map([
      ...commandsOfNicks(accounts, options.selfRegistration),
      ...commandsOfAccounts(accounts),
    ]),
    aliases: { ID: "IDENTIFY", LOGIN: "IDENTIFY", REGAIN: "RECOVER", RELEASE: "GHOST" },
  });
}

function commandsOfNicks(
  accounts: NickServ,
  selfRegistration: boolean,
): [string, ServiceCommand][] {
  return [
    ["IDENTIFY", {
      usage: "[account] password",
      purpose: "Logs you in.",
      words: 1,
      details: ["Without an account, the one that has your nick. A password with spaces needs it."],
      run: (words, caller) => accounts.identify(words, caller),
    }],
    ["REGISTER", {
      usage: "password",
      purpose: selfRegistration
        ? "Makes an account with the name of your nick."
        : "Is refused here: the operator of this server makes accounts.",
      words: 1,
      run: (words, caller) => accounts.register(words, caller),
    }],
    ["GHOST", {
      usage: "nick [password]",
      purpose: "Ends the session that holds your nick.",
      words: 1,
      details: ["With a password you are logged in first."],
      run: (words, caller) => accounts.ghost(words, caller),
    }],
    ["RECOVER", {
      usage: "nick [password]",
      purpose: "Ends the session that holds your nick, and gives it to you.",
      words: 1,
      details: ["With a password you are logged in first."],
      run: (words, caller) => accounts.recover(words, caller),
    }],
  ];
}

function commandsOfAccounts(accounts: NickServ): [string, ServiceCommand][] {
  return [
    ["PASSWD", {
      usage: "old new",
      purpose: "Changes your password, and ends your other sessions.",
      words: 2,
      details: ["The new password is the last word and has no spaces."],
      run: (words, caller) => accounts.changePassword(words, caller),
    }],
    ["SET", {
      usage: "PASSWORD old new",
      purpose: "The same as PASSWD.",
      words: 3,
      run: ([what = "", ...words], caller) =>
        what.toUpperCase() === "PASSWORD"
          ? accounts.changePassword(words, caller)
          : caller.reply("There is nothing else to set than PASSWORD."),
    }],
    ["INFO", {
      usage: "[account]",
      purpose: "Tells about an account, or yours.",
      words: 0,
      run: (words, caller) => accounts.tell(words, caller),
    }],
    ["LOGOUT", {
      usage: "",
      purpose: "Tells how to log out.",
      words: 0,
      run: (_, caller) => caller.reply("Disconnect to log out: your nick is your account's."),
    }],
  ];
}

class NickServ {
  readonly #options: NickServOptions;

  constructor(options: NickServOptions) {
    this.#options = options;
  }

  async identify(words: readonly string[], caller: ServiceCaller): Promise<void> {
    const [name = "", ...rest] = words.length === 1 ? [caller.nick, ...words] : words;
    if (isSame(name, caller.account)) {
      return caller.reply(`You are logged in as ${caller.account} already.`);
    }
    const outcome = await caller.logIn(name, () => this.#verify(name, rest.join(" "), caller));
    if (outcome.kind === "accepted") caller.reply(`You are logged in as ${outcome.account}.`);
    else caller.reply(refusalOf(outcome));
  }

  async register([password = "", ...more]: readonly string[], caller: ServiceCaller) {
    if (!this.#options.selfRegistration) {
      throw new Forbidden("Accounts are made by the operator of this server.");
    }
    if (caller.account !== null) throw new Conflict(`You are logged in as ${caller.account}.`);
    const [mail, ...others] = more;
    if (others.length > 0 || (mail !== undefined && !/^\*$|@/.test(mail))) {
      throw new Invalid("A password here cannot contain spaces.");
    }
    const outcome = await caller.register(caller.nick, password);
    switch (outcome.kind) {
      case "registered": {
        const note = mail?.includes("@") ? " The mail address is not kept." : "";
        return caller.reply(`The account ${outcome.account} is yours.${note}`);
      }
      case "refused":
        return caller.reply(`${outcome.reason}.`);
      case "throttled": {
        const seconds = outcome.retryAfterSeconds;
        const text = `Too many accounts from your address, try again in ${seconds} seconds.`;
        return caller.reply(text);
      }
      case "unavailable":
        return caller.reply("Accounts cannot be made at the moment.");
    }
  }

  async ghost([nick = "", ...password]: readonly string[], caller: ServiceCaller): Promise<void> {
    if (!await this.#logInFor(nick, password, caller)) return;
    switch (caller.release(nick)) {
      case "released":
        return caller.reply(`The user of ${nick} is gone.`);
      case "absent":
        return caller.reply(`Nobody has ${nick}.`);
      case "own":
        return caller.reply("That is you.");
      case "refused":
        return caller.reply(notYours(nick));
    }
  }

  async recover([nick = "", ...password]: readonly string[], caller: ServiceCaller): Promise<void> {
    if (!await this.#logInFor(nick, password, caller)) return;
    const released = caller.release(nick);
    if (released === "refused") return caller.reply(notYours(nick));
    if (released !== "own") caller.takeNick(nick);
    caller.reply(`${nick} is yours again.`);
  }

  /** The last word is the new password; the old one may have spaces. */
  async changePassword(words: readonly string[], caller: ServiceCaller): Promise<void> {
    const { accounts, logins, ircAccounts } = this.#options;
    const account = caller.account === null ? null : accounts.find(caller.account);
    if (account === null) throw new Forbidden("Log in first.");
    if (account.kind !== "person") throw new Forbidden(keptElsewhere(account));
    const next = words.at(-1) ?? "";
    const { personSchema } = await import("../../../people/agents/schemas.ts");
    const parsed = personSchema.shape.password.safeParse(next);
    if (!parsed.success) throw new Invalid(`The password ${parsed.error.issues[0]?.message}.`);
    const attempt = { name: account.name, password: words.slice(0, -1).join(" ") };
    const { address } = caller;
    const outcome = await logins.logIn({ ...attempt, address, door: "nickserv" }, ["person"]);
    if (outcome.kind !== "accepted") return caller.reply(refusalOf(outcome));
    await ircAccounts.changePassword(outcome.account, next, address);
    if (caller.gone) return;
    const ended = caller.endOtherSessions("Password changed");
    caller.reply(
      `Your password is changed.${ended === 0 ? "" : ` Other sessions ended: ${ended}.`}`,
    );
  }

  tell([name = ""]: readonly string[], caller: ServiceCaller): void {
    const { accounts, channels } = this.#options;
    const account = accounts.find(name || (caller.account ?? caller.nick));
    if (account === null) return caller.reply("There is no such account.");
    const since = new Date(account.createdAt).toISOString().slice(0, 10);
    caller.reply(`${account.name} is ${describeKind(account)}, made on ${since}.`);
    if (account.revokedAt !== null) caller.reply("It can no longer log in.");
    if (!isSame(account.name, caller.account) && !caller.isOperator) return;
    const own = channels.listOf(account).map(({ name, right }) => `${name} (${right})`);
    caller.reply(own.length === 0 ? "No channels." : `Channels: ${own.join(", ")}`);
  }

  #verify(name: string, password: string, { address }: ServiceCaller): Promise<Verification> {
    const attempt = { name, password, address, door: "nickserv" } as const;
    return this.#options.logins.logIn(attempt, KINDS).then((outcome) =>
      outcome.kind === "accepted" ? { ...outcome, account: outcome.account.name } : outcome
    );
  }

  /** Logs in to the account that owns a nick, if a password is given. False if it is wrong. */
  async #logInFor(nick: string, password: readonly string[], caller: ServiceCaller) {
    if (password.length === 0) return true;
    const outcome = await caller.logIn(
      nick,
      () => this.#verify(nick, password.join(" "), caller),
    );
    if (outcome.kind !== "accepted") caller.reply(refusalOf(outcome));
    return outcome.kind === "accepted" && !caller.gone;
  }
}

function refusalOf(
  outcome: Exclude<Verification, { kind: "accepted" }> | { kind: string },
): string {
  if ("retryAfterSeconds" in outcome) {
    return `Too many wrong passwords, try again in ${outcome.retryAfterSeconds} seconds.`;
  }
  return outcome.kind === "refused"
    ? "The account or the password is wrong."
    : "Passwords cannot be checked at the moment.";
}

function notYours(nick: string): string {
  return `${nick} is not your account's; log in first, or give its password.`;
}

function describeKind({ kind }: Account): string {
  switch (kind) {
    case "agent":
      return "an agent of the registry";
    case "admin":
      return "an admin";
    case "person":
      return "an account of a person";
  }
}

function keptElsewhere({ kind, name }: Account): string {
  return kind === "agent"
    ? `${name} is an agent: its passphrase is the registry's, and not changed here.`
    : `${name} is an admin: the password is changed by "muster admin passwd".`;
}

function isSame(name: string, account: string | null): boolean {
  return account !== null && foldCase(name) === foldCase(account);
}

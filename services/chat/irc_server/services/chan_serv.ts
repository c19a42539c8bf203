import { Conflict, Forbidden, Invalid, NotFound, Unavailable } from "../../../kernel/errors.ts";
import type { Account, AccountDirectory } from "../../../people/identity/mod.ts";
import {
  type ChannelControl,
  type ChannelStatus,
  foldCase,
  type GrantableStatus,
  isChannelName,
  type ServiceCaller,
} from "../../../engines/irc/mod.ts";
import { ircOriginOf } from "../moderation.ts";
import { CommandService, type ServiceCommand } from "./command_service.ts";
import type { RegisteredChannel, RegisteredChannels } from "./registered_channels.ts";

/** The nick under which it works. */
const NICK = "ChanServ";

/** Most members whose status one command changes. */
const MAX_NICKS = 20;

export interface ChanServOptions {
  readonly accounts: AccountDirectory;
  readonly channels: RegisteredChannels;
  /** The channels of the IRC server. */
  readonly control: ChannelControl;
  /** The status that the registry of agents gives an account in a channel; null for none. */
  readonly registryStatus: (account: string, channel: string) => ChannelStatus | null;
}

/** ChanServ: registers channels, and gives their members the statuses that the founder chooses. */
export function chanServ(options: ChanServOptions): CommandService {
  const desk = new ChanServ(options);
  return new CommandService({
    nick: NICK,
    realname: "Looks after channels",
    commands: new Map([...commandsOfFounders(desk), ...commandsOfMembers(desk)]),
    aliases: { UNREGISTER: "DROP", FOUNDER: "TRANSFER" },
  });
}

function commandsOfFounders(desk: ChanServ): [string, ServiceCommand][] {
  return [
    ["REGISTER", {
      usage: "#channel",
      purpose: "Registers a channel in which you are an operator.",
      details: ["Its topic and modes are kept while nobody is in it, and over restarts."],
      words: 1,
      run: (words, caller) => desk.register(words, caller),
    }],
    ["DROP", {
      usage: "#channel",
      purpose: "Lets a channel of yours be like any other again.",
      words: 1,
      run: (words, caller) => desk.drop(words, caller),
    }],
    ["TRANSFER", {
      usage: "#channel account",
      purpose: "Gives a channel of yours to somebody else.",
      words: 2,
      run: (words, caller) => desk.transfer(words, caller),
    }],
    ["AMODE", {
      usage: "#channel [+o|-o|+v|-v account]",
      purpose: "Gives an account a status on every join, or lists such accounts.",
      words: 1,
      run: (words, caller) => desk.amode(words, caller),
    }],
  ];
}

function commandsOfMembers(desk: ChanServ): [string, ServiceCommand][] {
  const commands: [string, ServiceCommand][] = [
    ["INFO", {
      usage: "#channel",
      purpose: "Tells whose a channel is.",
      words: 1,
      run: (words, caller) => desk.tell(words, caller),
    }],
    ["LIST", {
      usage: "",
      purpose: "Lists the channels in which you are founder or have a status.",
      words: 0,
      run: (_, caller) => desk.list(caller),
    }],
    ["TOPIC", {
      usage: "#channel text",
      purpose: "Changes the topic, also of a channel that you are not in.",
      words: 2,
      run: (words, caller) => desk.setTopic(words, caller),
    }],
  ];
  for (const [name, add, status, purpose] of STATUS_COMMANDS) {
    commands.push([name, {
      usage: "#channel [nick ...]",
      purpose,
      details: ["Without a nick: you."],
      words: 1,
      run: (words, caller) => desk.changeStatus(words, { add, status }, caller),
    }]);
  }
  return commands;
}

/** Their names, the change and the status, and their help. */
const STATUS_COMMANDS: readonly (readonly [string, boolean, GrantableStatus, string])[] = [
  ["OP", true, "operator", "Makes members operators."],
  ["DEOP", false, "operator", "Makes members operators no longer."],
  ["VOICE", true, "voice", "Gives members voice."],
  ["DEVOICE", false, "voice", "Takes voice from members."],
];

class ChanServ {
  readonly #options: ChanServOptions;

  constructor(options: ChanServOptions) {
    this.#options = options;
  }

  async register([name = ""]: readonly string[], caller: ServiceCaller): Promise<void> {
    const { channels, control } = this.#options;
    const account = this.#accountOf(caller);
    if (!isChannelName(name)) throw new Invalid("That is not the name of a channel.");
    const operator = control.isOperator(caller.nick, name);
    if (operator === null) throw new Forbidden(`You are not in ${name}.`);
    if (!operator) throw new Forbidden(`Only an operator of ${name} can register it.`);
    const present = control.state(name);
    if (present === null) throw new NotFound(`There is no channel ${name}.`);
    await channels.register(present, account, this.#originOf(caller));
    await control.setKept(name, true, null);
    caller.reply(`${present.name} is registered, and yours.`);
  }

  async drop([name = ""]: readonly string[], caller: ServiceCaller): Promise<void> {
    const { channels, control } = this.#options;
    const channel = this.#ownedBy(caller, name);
    await channels.drop(channel, this.#originOf(caller));
    await control.setKept(name, false, channel.founder);
    caller.reply(`${channel.name} is no longer registered.`);
  }

  async transfer(
    [name = "", account = ""]: readonly string[],
    caller: ServiceCaller,
  ): Promise<void> {
    const { channels, control } = this.#options;
    const channel = this.#ownedBy(caller, name);
    const founder = this.#find(account);
    if (channel.founder !== null && isSame(founder.name, channel.founder)) {
      throw new Conflict(`${channel.name} already belongs to ${founder.name}.`);
    }
    await channels.transfer(channel, founder, this.#originOf(caller));
    const grant = { add: true, status: "operator", by: NICK, actor: caller.actor } as const;
    control.setAccountStatus(name, founder.name, grant);
    caller.reply(`${channel.name} is ${founder.name}'s now.`);
  }

  tell([name = ""]: readonly string[], caller: ServiceCaller): void {
    const { channels } = this.#options;
    const channel = this.#visible(name, caller);
    const since = new Date(channel.registeredAt).toISOString().slice(0, 10);
    const founder = channel.founder ??
      "nobody any more: an IRC operator can TRANSFER or DROP it";
    caller.reply(`${channel.name} is registered since ${since}. Founder: ${founder}.`);
    const right = caller.account === null ? null : channels.rightOf(caller.account, name);
    if (right !== null && right !== "founder") caller.reply(`You have the status ${right}.`);
  }

  list(caller: ServiceCaller): void {
    const own = this.#options.channels.listOf(this.#accountOf(caller));
    if (own.length === 0) return caller.reply("You have no channels.");
    caller.reply(...own.map(({ name, right }) => `${name} (${right})`));
  }

  async amode(
    [name = "", change, account = ""]: readonly string[],
    caller: ServiceCaller,
  ): Promise<void> {
    if (change === undefined) return this.#listAccess(name, caller);
    const [, sign, letter] = /^([+-])([ov])$/.exec(change) ?? [];
    if (letter === undefined || account === "") {
      throw new Invalid("Use AMODE #channel +o account; +v, -o and -v work likewise.");
    }
    const status = letter === "o" ? "operator" : "voice";
    await this.#setAccess(name, account, { add: sign === "+", status }, caller);
  }

  async setTopic([name = "", ...text]: readonly string[], caller: ServiceCaller): Promise<void> {
    const channel = this.#governedBy(caller, name);
    const done = { by: NICK, actor: caller.actor };
    const keeping = await this.#options.control.setTopic(name, text.join(" "), done);
    if (keeping === "refused" || keeping === "full") {
      throw new Unavailable(
        `The topic of ${channel.name} cannot be stored at the moment. Try again.`,
      );
    }
    caller.reply(
      keeping === null
        ? `Nobody is in ${channel.name} at present.`
        : `The topic of ${channel.name} is changed.`,
    );
  }

  changeStatus(
    [name = "", ...nicks]: readonly string[],
    change: { readonly add: boolean; readonly status: GrantableStatus },
    caller: ServiceCaller,
  ): void {
    const channel = this.#governedBy(caller, name);
    const targets = nicks.length === 0 ? [caller.nick] : nicks.slice(0, MAX_NICKS);
    for (const nick of targets) this.#changeMember(channel, nick, change, caller);
  }

  #changeMember(
    channel: RegisteredChannel,
    nick: string,
    change: { readonly add: boolean; readonly status: GrantableStatus },
    caller: ServiceCaller,
  ): void {
    const { control } = this.#options;
    const member = control.member(channel.name, nick);
    if (member === null) return caller.reply(`${nick} is not in ${channel.name}.`);
    if (member.privileged) return caller.reply(`${member.nick} belongs to this server.`);
    const { account } = member;
    if (account !== null && this.#isRegistrys(account, channel)) {
      return caller.reply(registrys(account, channel));
    }
    const isFounder = account !== null && channel.founder !== null &&
      isSame(account, channel.founder);
    if (!change.add && isFounder && !isSame(account, caller.account)) {
      return caller.reply(`${member.nick} is the founder of ${channel.name}.`);
    }
    const done = { ...change, by: NICK, actor: caller.actor };
    if (!control.setStatus(channel.name, nick, done)) {
      caller.reply(`Nothing changes for ${member.nick}.`);
    }
  }

  async #setAccess(
    name: string,
    accountName: string,
    { add, status }: { readonly add: boolean; readonly status: GrantableStatus },
    caller: ServiceCaller,
  ): Promise<void> {
    const { channels, control } = this.#options;
    const channel = this.#ownedBy(caller, name);
    const account = this.#find(accountName);
    if (this.#isRegistrys(account.name, channel)) {
      throw new Conflict(registrys(account.name, channel));
    }
    const before = channels.rightOf(account.name, name);
    if (before === "founder") {
      throw new Conflict(`${account.name} is the founder of ${channel.name}.`);
    }
    if ((before === status) === add) {
      throw new Conflict(`${account.name} ${add ? "is" : "is not"} ${status} in ${channel.name}.`);
    }
    await channels.setAccess(channel, account, add ? status : null, this.#originOf(caller));
    const live = { by: NICK, actor: caller.actor };
    if (add && before !== null) {
      control.setAccountStatus(name, account.name, { ...live, add: false, status: before });
    }
    control.setAccountStatus(name, account.name, { ...live, add, status });
    const what = add ? `is ${status} in` : `is ${status} no longer in`;
    caller.reply(`${account.name} ${what} ${channel.name}.`);
  }

  #listAccess(name: string, caller: ServiceCaller): void {
    const channel = this.#governedBy(caller, name);
    const entries = this.#options.channels.accessOf(channel);
    if (entries.length === 0) return caller.reply(`Nobody has a status in ${channel.name}.`);
    caller.reply(...entries.map(({ account, status }) => `${account} (${status})`));
  }

  /** Finds a channel for its founder and for IRC operators. */
  #ownedBy(caller: ServiceCaller, name: string): RegisteredChannel {
    const channel = this.#visible(name, caller);
    const account = caller.isOperator ? null : this.#accountOf(caller);
    if (account !== null && this.#options.channels.rightOf(account.name, name) !== "founder") {
      throw new Forbidden(`${channel.name} is not yours.`);
    }
    return channel;
  }

  /** The channel, for its operators by right and for operators of the server. */
  #governedBy(caller: ServiceCaller, name: string): RegisteredChannel {
    const channel = this.#visible(name, caller);
    if (!caller.isOperator && !this.#isChannelOperator(caller.account, name)) {
      throw new Forbidden(`You have no rights in ${channel.name}.`);
    }
    return channel;
  }

  #registered(name: string): RegisteredChannel {
    const channel = this.#options.channels.get(name);
    if (channel === null) throw new NotFound(`${name} is not registered.`);
    return channel;
  }

  /** Finds a channel; outsiders do not find a secret one. */
  #visible(name: string, caller: ServiceCaller): RegisteredChannel {
    const { channels, control } = this.#options;
    const channel = this.#registered(name);
    const secret = channels.find(name)?.flags.includes("s") ?? false;
    const inside = control.member(name, caller.nick) !== null ||
      (caller.account !== null && channels.rightOf(caller.account, name) !== null);
    if (secret && !inside && !caller.isOperator) throw new NotFound(`${name} is not registered.`);
    return channel;
  }

  #isChannelOperator(account: string | null, channel: string): boolean {
    if (account === null) return false;
    const { channels, registryStatus } = this.#options;
    return (registryStatus(account, channel) ?? channels.statusOf(account, channel)) === "operator";
  }

  #isRegistrys(account: string, { name }: RegisteredChannel): boolean {
    return this.#options.registryStatus(account, name) !== null;
  }

  #accountOf({ account }: ServiceCaller): Account {
    const found = account === null ? null : this.#options.accounts.find(account);
    if (found === null) throw new Forbidden("Log in first; NickServ tells how.");
    return found;
  }

  #find(name: string): Account {
    const account = this.#options.accounts.find(name);
    if (account !== null && account.revokedAt === null) return account;
    throw new NotFound(`There is no account ${name}.`);
  }

  #originOf({ actor }: ServiceCaller) {
    return ircOriginOf(this.#options.accounts, actor);
  }
}

function registrys(account: string, { name }: RegisteredChannel): string {
  return `What ${account} is in ${name}, the registry of agents says; it is not changed here.`;
}

function isSame(name: string, account: string | null): boolean {
  return account !== null && foldCase(name) === foldCase(account);
}

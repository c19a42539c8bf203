import { Conflict, Invalid, NotFound } from "../../kernel/errors.ts";
import { foldCase, parseDuration, type PresentUser } from "../../engines/irc/mod.ts";
import { authorOf, type Mute, type Mutes, type Spoken } from "../irc_server/mutes/mod.ts";
import type { BotCommand, BotCommandCall, BotContext, BotName, Right, Speaker } from "./bot.ts";
import { NO_CHANNEL } from "./readable.ts";

/** Characters of a reason. */
const MAX_REASON = 200;

/** The IRC server of this program, as bots that moderate see it. */
export interface ModeratedServer {
  readonly mutes: Pick<Mutes, "add" | "lift" | "list" | "setJudge">;
  /** The user of a nick at present; null if nobody has it. */
  present(nick: string): PresentUser | null;
}

/** Why and where a bot acts. */
export interface Order {
  /** Null: nowhere in particular, or in all channels. */
  readonly channel: string | null;
  readonly reason: string;
  /** Who gave the command; absent if the bot acts by itself. */
  readonly speaker?: Speaker;
}

/** Warns, mutes and kicks for a bot. Each act is in the event log, with its reason and its cause. */
export class Moderator {
  readonly #context: BotContext<BotName>;
  readonly #server: ModeratedServer;

  constructor(context: BotContext<BotName>, server: ModeratedServer) {
    this.#context = context;
    this.#server = server;
  }

  /**
   * Finds somebody to act upon. Nobody acts upon operators, or upon muster's own users.
   *
   * @param isAbsentFine whether an account that is not on IRC will do
   * @throws NotFound, Conflict
   */
  find(nick: string, channel: string | null, isAbsentFine = false): Spoken {
    const present = this.#server.present(nick);
    if (present === null) {
      const { id, account } = this.#context.speakerOf(nick, nick);
      if (isAbsentFine && id !== null && account !== null) return { nick, account, address: "" };
      throw new NotFound(`Nobody on IRC is called ${nick}`);
    }
    const refusal = this.protection(present, channel);
    if (refusal !== null) throw new Conflict(refusal);
    return present;
  }

  /**
   * Finds who said something. The account counts, if there is one: somebody else may have the nick
   * now.
   *
   * @throws NotFound if a guest has left, Conflict
   */
  findSpeaker({ nick, account }: Speaker, channel: string): Spoken {
    const present = this.#server.present(nick);
    const isSameUser = present !== null &&
      (account === null
        ? present.account === null
        : present.account !== null && isSame(present.account, account));
    if (isSameUser) return this.find(nick, channel);
    if (account !== null) return { nick: account, account, address: "" };
    throw new NotFound(`${nick} has left`);
  }

  /** Why nobody acts upon a user; null if it can be done. */
  protection(
    { nick, isOperator, isPrivileged }: PresentUser,
    channel: string | null,
  ): string | null {
    if (isPrivileged) return `${nick} belongs to muster`;
    if (isOperator) return `${nick} is an IRC operator`;
    if (channel !== null && this.#context.isChannelOperator(nick, channel)) {
      return `${nick} is operator of ${channel}`;
    }
    return null;
  }

  /** Warns somebody in private. */
  warn(target: Spoken, order: Order): void {
    const { channel, reason, speaker } = short(order);
    this.#context.record("irc.warned", this.#data(target, { channel, reason }), speaker);
    const where = channel === null ? "" : ` (${channel})`;
    this.#context.tell(target.nick, `You are warned${by(speaker)}${where}: ${reason}`);
  }

  /**
   * Mutes somebody at once, in one channel or in all. Resolves when that is on disk.
   *
   * @param duration in milliseconds
   * @throws Conflict if there are too many mutes, Unavailable
   */
  async mute(target: Spoken, order: Order, duration: number): Promise<Mute> {
    const { channel, reason, speaker } = short(order);
    const origin = this.#context.originOf(speaker);
    const act = { bot: this.#context.name, reason, origin };
    const mute = await this.#server.mutes.add(target, { ...act, channel, duration });
    const where = channel ?? "all channels";
    this.#context.tell(
      target.nick,
      `You are muted in ${where} until ${timeOf(mute.until)}${by(speaker)}: ${reason}`,
    );
    return mute;
  }

  /**
   * Lifts mutes of a nick or account: the one in the channel, or all without one.
   *
   * @returns the lifted ones
   * @throws NotFound if there is none, Unavailable
   */
  async unmute(nick: string, order: Order): Promise<readonly Mute[]> {
    const { channel, reason, speaker } = short(order);
    const origin = this.#context.originOf(speaker);
    const act = { bot: this.#context.name, reason, origin };
    const lifted = await this.#server.mutes.lift(nick, channel, act);
    if (lifted.length === 0) {
      throw new NotFound(`${nick} is not muted${channel === null ? "" : ` in ${channel}`}`);
    }
    this.#context.tell(nick, "You are no longer muted");
    return lifted;
  }

  /**
   * Removes somebody from a channel.
   *
   * @throws Conflict if that is not possible
   */
  kick(target: Spoken, order: Order & { readonly channel: string }): void {
    const { channel, reason, speaker } = { ...short(order), channel: order.channel };
    const refusal = this.#context.kick(channel, target.nick, reason);
    if (refusal !== null) throw new Conflict(`${target.nick} stays in ${channel}: ${refusal}`);
    this.#context.record("irc.removed", this.#data(target, { channel, reason }), speaker);
  }

  /** The mutes in channels that a speaker may read, as lines. */
  mutesFor(speaker: Speaker): string[] {
    return this.#server.mutes.list()
      .filter(({ channel }) => channel === null || this.#context.mayRead(speaker, channel))
      .map((mute) => {
        const { nick, channel, until, reason } = mute;
        const where = channel ?? "all channels";
        return `${nick} is muted in ${where} until ${timeOf(until)} by ${
          authorOf(mute)
        }: ${reason}`;
      });
  }

  #data({ nick, account }: Spoken, { channel, reason }: Pick<Order, "channel" | "reason">) {
    return { bot: this.#context.name, nick, account, channel, reason };
  }
}

/** A time for people, to the second. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Whether two nicks or accounts are the same. */
export function isSame(one: string, other: string): boolean {
  return foldCase(one) === foldCase(other);
}

const UNSAFE = /\p{Cc}+/gu;

/** Who gave the command, for the one whom it concerns; "" if the bot acts by itself. */
function by(speaker: Speaker | undefined): string {
  return speaker === undefined ? "" : ` by ${speaker.nick}`;
}

function short(order: Order): Order {
  return { ...order, reason: order.reason.replace(UNSAFE, " ").slice(0, MAX_REASON) };
}

/** A bot that people command to warn, mute and kick. */
export interface Moderating {
  readonly moderator: Moderator;
  /** How long a mute lasts for which nobody says how long, in milliseconds. */
  usualMute(): number;
  /** Somebody was unmuted by command; absent if the bot holds nothing else against anybody. */
  forgive?(mute: Mute): void;
  /** @throws Forbidden if the speaker may not give this command */
  requireRight(call: BotCommandCall): void;
}

/** The commands WARN, MUTE, UNMUTE and KICK of a bot. */
export function moderationCommands<Instance extends Moderating>(
  may: Right,
): BotCommand<Instance>[] {
  return [
    {
      name: "WARN",
      usage: "nick [#channel] [reason]",
      purpose: "warns somebody in private",
      may,
      words: 1,
      run: (bot, call) => warn(bot, call),
    },
    {
      name: "MUTE",
      usage: "nick [#channel] [time] [reason]",
      purpose: "silences somebody for a time such as 10m or 1h30m",
      may,
      words: 1,
      run: (bot, call) => mute(bot, call),
    },
    {
      name: "UNMUTE",
      usage: "nick [#channel] [reason]",
      purpose: "lifts a mute",
      may,
      words: 1,
      run: (bot, call) => unmute(bot, call),
    },
    {
      name: "KICK",
      usage: "nick [#channel] [reason]",
      purpose: "removes somebody from a channel",
      may,
      words: 1,
      run: (bot, call) => kick(bot, call),
    },
  ];
}

function warn(bot: Moderating, call: BotCommandCall): string {
  const { nick, order } = orderOf(bot, call);
  bot.moderator.warn(bot.moderator.find(nick, order.channel), order);
  return `Warned ${nick}: ${order.reason}`;
}

async function mute(bot: Moderating, call: BotCommandCall): Promise<string> {
  const { nick, order, duration } = orderOf(bot, call);
  const target = bot.moderator.find(nick, order.channel, true);
  const { until, channel } = await bot.moderator.mute(target, order, duration ?? bot.usualMute());
  return `Muted ${nick} in ${channel ?? "all channels"} until ${timeOf(until)}`;
}

async function unmute(bot: Moderating, call: BotCommandCall): Promise<string> {
  const { nick, order } = orderOf(bot, call);
  const lifted = await bot.moderator.unmute(nick, order);
  for (const mute of lifted) bot.forgive?.(mute);
  const places = lifted.map(({ channel }) => channel ?? "all channels").join(", ");
  return `${nick} may speak again in ${places}`;
}

function kick(bot: Moderating, call: BotCommandCall): string {
  const { nick, order } = orderOf(bot, call);
  const { channel } = order;
  if (channel === null) throw new Invalid(NO_CHANNEL);
  bot.moderator.kick(bot.moderator.find(nick, channel), { ...order, channel });
  return `Removed ${nick} from ${channel}`;
}

function orderOf(bot: Moderating, call: BotCommandCall) {
  bot.requireRight(call);
  const { speaker, subject: channel, words: [nick = "", ...rest] } = call;
  // The right to the command was judged by the channel that is its subject.
  const words = rest[0]?.startsWith("#") ? rest.slice(1) : rest;
  const duration = parseDuration(words[0] ?? "");
  const reason = words.slice(duration === null ? 0 : 1).join(" ");
  const order: Order = { channel, speaker, reason: reason || `Asked for by ${speaker.nick}` };
  return { nick, order, duration };
}

/** What the bots that moderate share: acts on users, and the commands for them. */

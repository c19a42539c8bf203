import { Conflict, NotFound } from "../../errors.ts";
import { foldCase, type PresentUser } from "../../irc/mod.ts";
import { authorOf, type Mute, type Mutes, type Spoken } from "../../irc_server/mutes/mod.ts";
import type { BotContext, BotName, Speaker } from "../bot.ts";

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

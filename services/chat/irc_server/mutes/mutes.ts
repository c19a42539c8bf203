import { type Database, type Directory, statement } from "../../../engines/database/mod.ts";
import { Conflict } from "../../../kernel/errors.ts";
import { newEvent, type Origin, SYSTEM } from "../../../engines/events/mod.ts";
import type { AccountDirectory } from "../../../people/identity/mod.ts";
import {
  foldCase,
  isLoopback,
  type JudgedMessage,
  type SpeechGuard,
} from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";

/** Most mutes at one time. */
const MAX_MUTES = 1000;

/** Longest mute, in milliseconds. */
const MAX_DURATION = 365 * 86_400_000;

/** Longest time of a timer, in milliseconds; then it is set again. */
const MAX_TIMER = 86_400_000;

/** Where a mute holds that names no channel. */
const EVERYWHERE = "";

/** Somebody who speaks: the proven account counts, and without one the address. */
export interface Spoken {
  readonly nick: string;
  readonly account: string | null;
  readonly address: string;
}

/** What a bot does to somebody, and why. */
export interface Act {
  /** The nick of the bot. */
  readonly bot: string;
  /** For the muted user and the event log; one line. */
  readonly reason: string;
  /** Who caused it. */
  readonly origin: Origin;
}

/** Who muted somebody: a bot by itself, or for the one who ordered it. */
export function authorOf({ bot, setBy }: Pick<Mute, "bot" | "setBy">): string {
  if (setBy === `bot:${bot}`) return bot;
  return `${bot} for ${setBy.slice(setBy.indexOf(":") + 1)}`;
}

/** A mute to add. */
export interface MuteWish extends Act {
  /** Null: in all channels. */
  readonly channel: string | null;
  /** In milliseconds, at most a year. */
  readonly duration: number;
}

/** A mute in force. */
export interface Mute {
  /** As {@link subjectOf} returns it. */
  readonly subject: string;
  readonly nick: string;
  /** The internal id of the account; null for a guest. */
  readonly accountId: string | null;
  readonly channel: string | null;
  readonly bot: string;
  readonly reason: string;
  /** Who caused it, as the event log names it. */
  readonly setBy: string;
  /** Unix milliseconds. */
  readonly until: number;
}

export interface MutesOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The key by which somebody is known: the internal id of the account, so that another owner of the
 * name inherits nothing. A guest's is its address; on this machine, where all have the same, its
 * nick.
 */
export function subjectOf(
  accounts: Pick<AccountDirectory, "find">,
  { nick, account, address }: Spoken,
): string {
  if (account !== null) return accounts.find(account)?.id ?? `account:${foldCase(account)}`;
  return isLoopback(address) || address === "internal"
    ? `guest:${foldCase(nick)}`
    : `address:${address}`;
}

/**
 * The mutes. A mute holds from the call on, before it is on disk; a message is refused before
 * anybody receives it. Operators of a channel, and IRC operators, are never refused.
 */
export class Mutes implements SpeechGuard, Directory {
  readonly tables = ["irc_mutes"] as const;
  readonly #options: MutesOptions;
  /** By {@link keyOf}. */
  readonly #mutes = new Map<string, Mute>();
  #judge: SpeechGuard | null = null;
  #cancelTimer: () => void = () => {};
  #isClosed = false;

  private constructor(options: MutesOptions) {
    this.#options = options;
  }

  /** Reads the mutes from the database, and lifts those whose time is over. */
  static async open(options: MutesOptions): Promise<Mutes> {
    const mutes = new Mutes(options);
    await options.database.keepCurrent(mutes);
    options.accounts.onChanged((id, account) => {
      if (account === null) mutes.#forget(id);
    });
    await mutes.#liftDue();
    return mutes;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("irc_mutes").selectAll().execute();
    this.#mutes.clear();
    for (const row of rows) {
      const mute: Mute = {
        subject: row.subject,
        nick: row.nick,
        accountId: row.account_id,
        channel: row.channel_folded === EVERYWHERE ? null : row.channel,
        bot: row.bot,
        reason: row.reason,
        setBy: row.set_by,
        until: row.expires_at,
      };
      this.#mutes.set(keyOf(mute.subject, mute.channel), mute);
    }
  }

  /** Every mute in force, the one that ends first at the front. */
  list(): Mute[] {
    const now = this.#options.scheduler.now();
    return [...this.#mutes.values()].filter(({ until }) => until > now)
      .sort((one, other) => one.until - other.until);
  }

  /** Asks another guard about messages that no mute refuses; null for none. */
  setJudge(judge: SpeechGuard | null): void {
    this.#judge = judge;
  }

  /** Most servers have neither mutes nor a judge, and each message would cost its description. */
  get isIdle(): boolean {
    return this.#mutes.size === 0 && this.#judge === null;
  }

  judge(message: JudgedMessage): string | null {
    // The judge counts what a muted user says, too.
    const verdict = this.#judge?.judge(message) ?? null;
    if (message.isOperator) return verdict;
    return this.#refusal(message) ?? verdict;
  }

  /** The mute that holds for somebody in a channel; null if there is none. */
  find(spoken: Spoken, channel: string): Mute | null {
    const subject = subjectOf(this.#options.accounts, spoken);
    const now = this.#options.scheduler.now();
    const found = [EVERYWHERE, channel].map((place) => this.#mutes.get(keyOf(subject, place)));
    return found.find((mute) => mute !== undefined && mute.until > now) ?? null;
  }

  /**
   * Mutes somebody at once. An earlier mute of the same user in the same place is replaced. Resolves
   * when it is on disk.
   *
   * @throws Conflict if there are too many, Unavailable
   */
  async add(spoken: Spoken, wish: MuteWish): Promise<Mute> {
    const { accounts, database, scheduler } = this.#options;
    const { channel, bot, reason, origin, duration } = wish;
    const now = scheduler.now();
    const subject = subjectOf(accounts, spoken);
    const accountId = spoken.account === null ? null : accounts.find(spoken.account)?.id ?? null;
    const until = now + Math.min(Math.max(duration, 1000), MAX_DURATION);
    const about = { subject, nick: spoken.nick, accountId, channel, bot, reason };
    const mute: Mute = { ...about, setBy: origin.actor, until };
    const key = keyOf(subject, channel);
    if (this.#mutes.size >= MAX_MUTES && !this.#mutes.has(key)) {
      throw new Conflict(`There are already ${MAX_MUTES} mutes, which is the limit`);
    }
    this.#mutes.set(key, mute);
    this.#schedule();
    const row = rowOf(mute);
    const { tables } = database;
    await database.commit({
      statements: [
        statement(
          tables.insertInto("irc_mutes").values(row).onConflict((conflict) =>
            conflict.columns(["subject", "channel_folded"]).doUpdateSet(row)
          ),
          { committed: () => this.#mutes.set(key, mute) },
        ),
      ],
      events: [
        newEvent(
          "irc.muted",
          { ...acted(spoken, wish), expires_at: new Date(until).toISOString() },
          origin,
          now,
        ),
      ],
    });
    return mute;
  }

  /**
   * Lifts the mutes of a nick or account.
   *
   * @param channel only the mute there; null: all
   * @returns the lifted ones
   * @throws Unavailable
   */
  async lift(nick: string, channel: string | null, act: Act): Promise<Mute[]> {
    const account = this.#options.accounts.find(nick)?.id ?? null;
    const lifted = this.list().filter((mute) =>
      (foldCase(mute.nick) === foldCase(nick) ||
        (account !== null && mute.accountId === account)) &&
      (channel === null || foldCase(mute.channel ?? EVERYWHERE) === foldCase(channel))
    );
    await this.#lift(lifted, act);
    return lifted;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  #refusal({ sender, channel }: JudgedMessage): string | null {
    if (this.#mutes.size === 0) return null;
    const mute = this.find(sender, channel);
    if (mute === null) return null;
    const until = new Date(mute.until).toISOString();
    return `You are muted until ${until} by ${authorOf(mute)}: ${mute.reason}`;
  }

  async #lift(mutes: readonly Mute[], act: Act | null): Promise<void> {
    if (mutes.length === 0) return;
    const { database, scheduler } = this.#options;
    const statements = mutes.map((mute) => {
      const query = database.tables.deleteFrom("irc_mutes")
        .where("subject", "=", mute.subject)
        .where("channel_folded", "=", foldCase(mute.channel ?? EVERYWHERE))
        .where("expires_at", "=", mute.until);
      return statement(query, { committed: () => this.#drop(mute) });
    });
    const events = mutes.map((mute) => {
      const { nick, channel, bot } = mute;
      const account = this.#nameOf(mute);
      const { reason, origin } = act ?? { reason: "Its time is over", origin: SYSTEM };
      const data = { bot: act?.bot ?? bot, nick, account, channel, reason };
      return newEvent("irc.unmuted", data, origin, scheduler.now());
    });
    await database.commit({ statements, events });
  }

  #nameOf({ accountId }: Mute): string | null {
    return accountId === null ? null : this.#options.accounts.get(accountId)?.name ?? null;
  }

  #drop(mute: Mute): void {
    const key = keyOf(mute.subject, mute.channel);
    if (this.#mutes.get(key)?.until === mute.until) this.#mutes.delete(key);
  }

  #forget(accountId: string): void {
    for (const [key, mute] of this.#mutes) {
      if (mute.accountId === accountId) this.#mutes.delete(key);
    }
  }

  async #liftDue(): Promise<void> {
    const { scheduler, log } = this.#options;
    const now = scheduler.now();
    try {
      await this.#lift([...this.#mutes.values()].filter(({ until }) => until <= now), null);
    } catch (error) {
      // They hold no longer; only their rows stay until the next try.
      log.warn("Mutes that are over could not be removed", { error });
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelTimer();
    if (this.#isClosed) return;
    const { scheduler } = this.#options;
    const now = scheduler.now();
    const ends = [...this.#mutes.values()].map(({ until }) => until);
    if (ends.length === 0) return;
    const wait = Math.min(Math.max(Math.min(...ends) - now, 1000), MAX_TIMER);
    this.#cancelTimer = scheduler.after(wait, () => void this.#liftDue());
  }
}

/** What the event of an act says. */
function acted(
  { nick, account }: Spoken,
  { bot, channel, reason }: Omit<MuteWish, "duration">,
) {
  return { bot, nick, account, channel, reason };
}

function keyOf(subject: string, channel: string | null): string {
  return `${subject} ${foldCase(channel ?? EVERYWHERE)}`;
}

function rowOf({ subject, nick, accountId, channel, bot, reason, setBy, until }: Mute) {
  return {
    subject,
    nick,
    bot,
    reason,
    account_id: accountId,
    channel_folded: foldCase(channel ?? EVERYWHERE),
    channel: channel ?? EVERYWHERE,
    set_by: setBy,
    expires_at: until,
  };
}

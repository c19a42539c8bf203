import type { Roster, RosterEntry } from "../../people/agents/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { TimedSweep } from "../../kernel/sweep.ts";
import { waitInWords } from "../../kernel/words.ts";
import { type AddressedText, type Tracking, UNTRACKED } from "./entry.ts";
import type { Inbox } from "./inbox.ts";
import type { InboxStore, Sent } from "./inbox_store.ts";

/** Characters of a message that are quoted when it comes back. */
const MAX_QUOTED = 200;

export interface BouncesOptions {
  readonly roster: Pick<Roster, "get">;
  /** How long a message waits for an agent before it goes back, in milliseconds; null: never. */
  readonly queueTime: number | null;
  /** Tells people of their messages that came back. */
  readonly returns: Pick<ReturnNotices, "take">;
  /** Null if messages are kept in memory only. */
  readonly store: InboxStore | null;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly log: Log;
}

/** The inboxes of agents. */
interface OpenInboxes {
  inboxOf(agent: RosterEntry): Inbox;
  /** Those that were used since the start. */
  opened(): Iterable<Inbox>;
}

/** A message that goes back, its receiver, and the reason. */
interface Bounced {
  readonly agent: RosterEntry;
  readonly message: AddressedText;
  readonly why: string;
}

/** Sends messages back that agents did not get. */
export class Bounces {
  readonly #options: BouncesOptions;
  readonly #inboxes: OpenInboxes;

  constructor(options: BouncesOptions, inboxes: OpenInboxes) {
    this.#options = options;
    this.#inboxes = inboxes;
  }

  /** Messages that go back to their senders next, in that order. */
  async expiring(): Promise<readonly Sent[]> {
    const { store } = this.#options;
    if (store === null) {
      return Array.from(this.#inboxes.opened(), (inbox) => inbox.expiring()).flat()
        .toSorted((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0));
    }
    await store.flush();
    return await store.expiring();
  }

  /** Returns a message to its sender, unless the agent had it meanwhile. */
  async bounceExpired(sent: Sent): Promise<void> {
    const { accountId, id, time, senderId, clientId, expiresAt } = sent;
    const { roster, store, queueTime } = this.#options;
    const agent = roster.get(accountId);
    const inbox = agent === null ? null : this.#inboxes.inboxOf(agent);
    const messages = await inbox?.load();
    if (agent === null || inbox === null || messages === undefined || !inbox.has(id)) {
      // A row without an entry must not be found again and again.
      return store?.release(accountId, [time], "dropped");
    }
    const message = inbox.find(messages, id);
    if (message === null) return;
    const why = `it was away for ${waitInWords(Math.round((queueTime ?? 0) / 1000))}`;
    await this.returnTo({ agent, message, why }, { senderId, clientId, expiresAt });
    inbox.expire(messages, id);
    await store?.flush();
  }

  /** Tells the sender of a message that it came back: an agent in its inbox. */
  async returnTo(
    { agent, message: { id, text }, why }: Bounced,
    { senderId }: Tracking,
  ): Promise<void> {
    const { roster, scheduler, log, returns } = this.#options;
    const sender = senderId === null ? null : roster.get(senderId);
    log.info("A message came back", { to: agent.nick, from: sender?.nick ?? senderId, why });
    if (senderId === null) return;
    const quoted = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
    const sentence = `"${agent.nick}" did not get your message, because ${why}: ${quoted}`;
    if (sender === null) return returns.take({ agent, senderId, text: sentence });
    const message: AddressedText = {
      id: `bounce-${id}`,
      kind: "bounce",
      from: agent.nick,
      account: null,
      channel: null,
      message: id,
      text: sentence,
    };
    const arrival = {
      message,
      time: scheduler.now(),
      state: "queued",
      tracking: UNTRACKED,
    } as const;
    await this.#inboxes.inboxOf(sender).addOnce(arrival);
  }
}

/** Pause before another attempt after a failure. */
const RETRY_MS = 5000;

interface ExpiriesOptions {
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Messages that wait for their agents, in the order in which they expire; the first ones. */
  expiring(): Promise<readonly Sent[]>;
  /** Returns a message to its sender. */
  bounce(sent: Sent): Promise<void>;
}

/** Returns messages to their senders that waited too long for an agent. */
export class Expiries {
  readonly #options: ExpiriesOptions;
  readonly #sweep: TimedSweep;

  constructor(options: ExpiriesOptions) {
    this.#options = options;
    const { scheduler, log } = options;
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "return expired messages",
      task: () => this.#bounceDue(),
    });
  }

  /** Returns the messages that expired while muster was down, and waits for the next one. */
  start(): void {
    this.#sweep.start();
  }

  /** Schedules a check for the time at which a message expires. */
  expect(expiresAt: number): void {
    this.#sweep.expect(expiresAt);
  }

  close(): void {
    void this.#sweep.close();
  }

  /** Resolves when no message is on its way back. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  /** @returns when the next message expires */
  async #bounceDue(): Promise<number> {
    const { scheduler, log, expiring, bounce } = this.#options;
    try {
      while (!this.#sweep.isClosed) {
        const now = scheduler.now();
        const waiting = await expiring();
        const due = waiting.filter(({ expiresAt }) => (expiresAt ?? Infinity) <= now);
        if (due.length === 0) return waiting[0]?.expiresAt ?? Infinity;
        for (const sent of due) await bounce(sent);
      }
      return Infinity;
    } catch (error) {
      log.warn("Messages could not be returned to their senders yet", { error });
      return scheduler.now() + RETRY_MS;
    }
  }
}

/** Accounts that are to be told, notices of each, and notices that wait for the start. */
const MAX_ACCOUNTS = 1000;
const MAX_NOTICES = 20;
const MAX_EARLY = 1000;

/** A message of a person or an admin that came back. */
export interface Returned {
  /** To whom it was. */
  readonly agent: RosterEntry;
  /** The account that wrote it. */
  readonly senderId: string;
  /** What became of it. */
  readonly text: string;
}

/** How people are told. */
export interface ReturnWays {
  /** Notes it in the conversation of an account with an agent, if conversations are kept. */
  note(agent: RosterEntry, accountId: string, text: string): void;
  /** The nicks of an account's connections to IRC. */
  nicksOf(account: string): readonly string[];
  /** Sends a notice to a nick. */
  say(nick: string, text: string): void;
}

/**
 * Tells people and admins of their messages that came back: in the conversation with the agent, and
 * on IRC at once or at their next login. What waits for a login is in memory.
 */
export class ReturnNotices {
  readonly #accounts: Pick<AccountDirectory, "get">;
  /** Texts for accounts that are not on IRC, by name. */
  readonly #waiting = new BoundedMap<string, string[]>(MAX_ACCOUNTS);
  /** What came back before it was known how to tell it. */
  #early: Returned[] = [];
  #ways: ReturnWays | null = null;

  constructor(accounts: Pick<AccountDirectory, "get">) {
    this.#accounts = accounts;
  }

  /** From now on, people are told in these ways. */
  attach(ways: ReturnWays): void {
    this.#ways = ways;
    for (const returned of this.#early) this.take(returned);
    this.#early = [];
  }

  take(returned: Returned): void {
    const ways = this.#ways;
    if (ways === null) {
      if (this.#early.length < MAX_EARLY) this.#early.push(returned);
      return;
    }
    const { agent, senderId, text } = returned;
    const account = this.#accounts.get(senderId);
    if (account === null || account.kind === "agent") return;
    ways.note(agent, senderId, text);
    const nicks = ways.nicksOf(account.name);
    for (const nick of nicks) ways.say(nick, text);
    if (nicks.length === 0) this.#keep(account.name, text);
  }

  /** Tells an account that logged in to IRC what came back while it was away. */
  greet(account: string, nick: string): void {
    const texts = this.#waiting.get(account) ?? [];
    this.#waiting.delete(account);
    for (const text of texts) this.#ways?.say(nick, text);
  }

  #keep(account: string, text: string): void {
    const texts = this.#waiting.get(account) ?? [];
    this.#waiting.set(account, [...texts, text].slice(-MAX_NOTICES));
  }
}

import type { Roster, RosterEntry } from "../agents/mod.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import { Forbidden, Invalid, NotFound, Unavailable } from "../errors.ts";
import type { AccountDirectory, Ended, Identity, Principal } from "../identity/mod.ts";
import { foldCase, type ObservedMessage } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { newUlid } from "../ulid.ts";
import { type Addressed, type AddressedText, type Tracking } from "./entry.ts";
import { Expiries } from "./expiries.ts";
import { Inbox, INBOX_CAPACITY, type InboxCounts } from "./inbox.ts";
import type { InboxStore, Sent } from "./inbox_store.ts";
import { isAddressed, readAddressees } from "./mentions.ts";
import type { ReturnNotices } from "./return_notices.ts";

/** Most readers that wait at once. */
const MAX_WAITING = 5000;

/** Characters of a message that are quoted when it comes back. */
const MAX_QUOTED = 200;

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

/** A message to deliver to its addressees. */
interface Incoming {
  readonly id: string;
  readonly from: string;
  readonly account: string | null;
  readonly via?: "bridge" | undefined;
  /** The speaker's name, if it is an agent. */
  readonly speaker: string;
  readonly text: string;
  /** When IRC accepted it, in Unix milliseconds. */
  readonly time: number;
}

/** A message to one agent, and its speaker. */
export type Delivery = Pick<AddressedText, "from" | "account" | "via" | "text">;

/** Who sends a message to an agent. */
export interface Sending {
  /** The sender's account, or `OPERATOR_SENDER`. */
  readonly senderId: string;
  /** The sender's own id of the message; null without one. */
  readonly clientId: string | null;
}

/** What the agent is done with: entries of these ids, or all up to an id or a timestamp. */
export type Acknowledgement =
  | { readonly ids: readonly string[] }
  | { readonly upTo: string };

/**
 * An acknowledgement of ids, or of everything up to an entry.
 *
 * @throws Invalid unless exactly one is given
 */
export function acknowledgementOf(
  ids: readonly string[] | undefined,
  upTo: string | undefined,
): Acknowledgement {
  if (ids !== undefined && upTo === undefined) return { ids };
  if (ids === undefined && upTo !== undefined) return { upTo };
  throw new Invalid('Give either "ids" or "up_to"');
}

/** The result of an acknowledgement. */
export interface AcknowledgedEntries {
  readonly acknowledged: number;
  /** Ids that are not and were not lately in the inbox. */
  readonly unknown: readonly string[];
  /** How many entries are left. */
  readonly left: number;
}

/** An entry about a project, for one agent. */
export interface Notification {
  readonly agent: RosterEntry;
  /** Unix milliseconds. */
  readonly time: number;
  readonly entry: Omit<AddressedText, "channel" | "via">;
}

export interface InboxesOptions {
  readonly identity: Pick<Identity, "onEnded">;
  readonly roster: Pick<Roster, "get" | "find" | "all" | "isEmpty">;
  /** Whether an agent receives the messages of a channel. */
  readonly hears: (agent: RosterEntry, channel: string) => boolean;
  /** Whether an account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /** How long a message waits for an agent before it goes back, in milliseconds; null: never. */
  readonly queueTime: number | null;
  /** The accounts of people and admins. */
  readonly accounts: Pick<AccountDirectory, "find">;
  /** Tells people of their messages that came back. */
  readonly returns: Pick<ReturnNotices, "take">;
  /** The account of the bridge. The bridge reports its own messages and their speakers itself. */
  readonly bridgeNick: string;
  /** Null if messages are kept in memory only. */
  readonly store: InboxStore | null;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Messages to agents: private ones, and those in channels that mention them, even while they are
 * absent. The newest are kept, and survive a restart. Reading does not remove them.
 */
export class Inboxes {
  readonly #options: InboxesOptions;
  readonly #inboxes = new Map<string, Inbox>();
  readonly #readers: MessageReaders;
  readonly #expiries: Expiries;
  readonly #stopListening: () => void;
  /** Who sends the messages that the IRC server accepts now; null if it is their speaker. */
  #sending: Sending | null = null;
  #closed = false;

  constructor(options: InboxesOptions) {
    this.#options = options;
    this.#readers = new MessageReaders({ scheduler: options.scheduler, max: MAX_WAITING });
    this.#stopListening = options.identity.onEnded((ended) => this.#forget(ended));
    const { scheduler, log } = options;
    this.#expiries = new Expiries({
      scheduler,
      log,
      expiring: () => this.#expiring(),
      bounce: (sent) => this.#bounceExpired(sent),
    });
  }

  /** Returns the messages whose time ended while the program was down. */
  start(): void {
    this.#expiries.start();
  }

  /** Handles a message that the IRC server accepted. */
  take(message: ObservedMessage): void {
    const { id, time, sender, channel, receiver, statusPrefix, text } = message;
    if (sender.account === this.#options.bridgeNick || statusPrefix !== "") return;
    const speaker = sender.account ?? sender.nick;
    const { nick: from, account } = sender;
    const incoming = { id, from, account, speaker, text, time };
    if (channel !== null) return this.#takeFromChannel(channel, incoming);
    const agent = this.#options.roster.find(receiver?.account ?? "");
    if (agent !== null) this.#keep(agent, { channel, isOnIrc: true }, incoming);
  }

  /** Handles a message that the bridge received on an external network. */
  takeHeard({ id, channel, nick, account, text, time }: HeardMessage): void {
    const speaker = account ?? nick;
    this.#takeFromChannel(channel, { id, from: nick, account, speaker, text, time });
  }

  /** Handles a message that the bridge sent for a caller. */
  takePosted(channel: string, posted: ChannelMessage): void {
    for (const agent of this.#addresseesOf(channel, posted.text)) {
      const { nick: from, timestamp, ...message } = posted;
      this.#keep(agent, { channel, isOnIrc: true }, {
        ...message,
        from,
        speaker: from,
        time: Date.parse(timestamp),
      });
    }
  }

  /**
   * Handles a private message to an agent that was not sent over IRC.
   *
   * @returns the entry's id
   */
  deliver(agent: RosterEntry, delivery: Delivery, sending: Sending | null = null): string {
    const time = this.#options.scheduler.now();
    const id = newUlid(time);
    this.sendAs(sending, () => {
      const incoming = { ...delivery, id, speaker: delivery.from, time };
      this.#keep(agent, { channel: null, isOnIrc: false }, incoming);
    });
    return id;
  }

  /**
   * Runs a function that sends messages over the IRC server, or delivers them here. They count as
   * messages of the given sender, and the first one has the sender's id of the message.
   */
  sendAs<Result>(sending: Sending | null, send: () => Result): Result {
    this.#sending = sending;
    try {
      return send();
    } finally {
      this.#sending = null;
    }
  }

  /**
   * Makes sure that an agent can take a message.
   *
   * @param units the message's length in UTF-16 units
   * @throws TooMany if the inbox is full, and the database's error
   */
  requireRoom(agent: RosterEntry, units: number): Promise<void> {
    return this.#inboxOf(agent).requireRoom(units);
  }

  /** Notes that an IRC connection of the agent has had a message. */
  delivered(agent: RosterEntry, id: string): void {
    this.#inboxOf(agent).reached([id], "delivered");
  }

  /**
   * Adds entries to inboxes. One whose id an inbox has already is not added again. Resolves when
   * they are on disk.
   *
   * @throws the database's error: then some of them may be missing
   */
  async notify(entries: readonly Notification[]): Promise<void> {
    for (const { agent, time, entry } of entries) {
      if (this.#options.roster.get(agent.id) === null) continue;
      const { kind, from, account, text, id, ...about } = entry;
      const message = { id, kind, from, account, channel: null, text, ...about };
      await this.#inboxOf(agent).addOnce({ message, time, state: "queued", tracking: UNTRACKED });
    }
    await this.#options.store?.flush();
  }

  /**
   * Writes what was received, and waits for the disk.
   *
   * @throws Unavailable if the disk refuses
   */
  async flush(): Promise<void> {
    await this.#options.store?.flush();
  }

  /** Removes a redacted message from every inbox. */
  forgetMessage(id: string): void {
    const { store } = this.#options;
    for (const inbox of this.#inboxes.values()) inbox.redact(id);
    store?.redact(id);
  }

  /**
   * Changes how long messages are kept.
   *
   * @param age in milliseconds; null means forever
   */
  retain(age: number | null): void {
    this.#options.store?.retain(age);
  }

  /** Whether an agent receives messages to it in a channel; null if there is no such agent. */
  reaches(nick: string, channel: string): boolean | null {
    const agent = this.#options.roster.find(nick);
    return agent === null ? null : this.#options.hears(agent, channel);
  }

  /**
   * Reads an agent's messages, oldest first: by default the newest, with `since` the first ones
   * after it. An agent reads its own inbox, the operator every inbox.
   *
   * @throws NotFound if there is no such agent or it is revoked, Forbidden, Invalid, TooMany,
   * Unavailable once it is closed
   */
  async read(nick: string, query: MessageQuery, principal: Principal): Promise<Addressed[]> {
    const agent = this.#agentOf(nick, principal);
    checkQuery(query, INBOX_CAPACITY);
    const inbox = this.#open(agent);
    const messages = inbox.messages ?? await inbox.load();
    const limit = query.limit ?? INBOX_CAPACITY;
    // Not awaited: it may take a minute, and a suspended function stays in memory.
    return this.#readers.read(messages, { ...query, limit }).then((found) => {
      if (found.length === 0) return [];
      const entries = inbox.withStates(found);
      if (principal.id === agent.id) inbox.reached(found.map(({ id }) => id), "read");
      return entries;
    });
  }

  /**
   * Removes entries that an agent is done with. Resolves when that is on disk: no later read returns
   * them. An entry that is acknowledged already counts as known.
   *
   * @throws what {@link read} throws; Invalid if `upTo` is neither a time nor the id of an entry
   */
  async acknowledge(
    nick: string,
    what: Acknowledgement,
    principal: Principal,
  ): Promise<AcknowledgedEntries> {
    const inbox = this.#open(this.#agentOf(nick, principal));
    const messages = await inbox.load();
    const ids = "ids" in what ? what.ids : messages.readUpTo(what.upTo).map(({ id }) => id);
    const { count, unknown } = inbox.acknowledge(messages, ids);
    await this.flush();
    return { acknowledged: count, unknown, left: messages.size };
  }

  /**
   * Counts the entries of an inbox, from memory.
   *
   * @throws what {@link read} throws
   */
  async counts(
    nick: string,
    principal: Principal,
  ): Promise<InboxCounts & { readonly nick: string }> {
    const agent = this.#agentOf(nick, principal);
    const inbox = this.#open(agent);
    const messages = await inbox.load();
    return { nick: agent.nick, ...inbox.counts(messages) };
  }

  /** The message to which its sender gave an id, once it is on disk; null if there is none. */
  async sent({ senderId, clientId }: Sending): Promise<Pick<Sent, "id" | "accountId"> | null> {
    if (clientId === null) return null;
    return await this.#options.store?.sent(senderId, clientId) ?? null;
  }

  /** The copies of a message in inboxes, also after they left them, one for each agent. */
  async copies(id: string): Promise<readonly Sent[]> {
    const { store } = this.#options;
    if (store !== null) return await store.copies(id);
    return Array.from(this.#inboxes.values(), (inbox) => inbox.copy(id) ?? [])
      .flat();
  }

  /** Ends every reader. Later messages are still kept. */
  close(): void {
    this.#closed = true;
    this.#expiries.close();
    for (const inbox of this.#inboxes.values()) inbox.end("The server is shutting down");
  }

  /** Stores everything unstored. Call it when no more messages come. */
  async stop(): Promise<void> {
    this.close();
    this.#stopListening();
    await this.#expiries.idle();
    await Promise.allSettled(Array.from(this.#inboxes.values(), ({ loading }) => loading));
    this.#inboxes.clear();
    await this.#options.store?.close();
  }

  #takeFromChannel(channel: string, incoming: Incoming): void {
    for (const agent of this.#addresseesOf(channel, incoming.text)) {
      this.#keep(agent, { channel, isOnIrc: true }, incoming);
    }
  }

  /** The agents that a message in a channel addresses and reaches. */
  #addresseesOf(channel: string, text: string): readonly RosterEntry[] {
    const { roster, hears } = this.#options;
    if (roster.isEmpty) return [];
    const addressees = readAddressees(text);
    const { everybody, types, prefixes, nicks } = addressees;
    const many = everybody || types.size > 0 || prefixes.length > 0;
    const candidates = many ? roster.all() : findAll(roster, nicks);
    const found: RosterEntry[] = [];
    for (const agent of candidates) {
      if (isAddressed(addressees, agent) && hears(agent, channel)) found.push(agent);
    }
    return found;
  }

  #keep(
    agent: RosterEntry,
    { channel, isOnIrc }: { readonly channel: string | null; readonly isOnIrc: boolean },
    incoming: Incoming,
  ): void {
    const { id, from, account, via, speaker, time } = incoming;
    if (foldCase(speaker) === foldCase(agent.nick)) return;
    const text = readable(incoming);
    if (text === null) return;
    const kind = channel === null ? "message" : "mention";
    const origin = via === undefined ? { from, account } : { from, account, via };
    const message = { id, kind, ...origin, channel, text } as const;
    const state = isOnIrc && this.#options.isOnline(agent.nick) ? "delivered" : "queued";
    const tracking = this.#trackingOf(kind, incoming, state);
    this.#inboxOf(agent).append({ message, time, state, tracking });
  }

  #trackingOf(
    kind: "message" | "mention",
    { account, via, time }: Incoming,
    state: "queued" | "delivered",
  ): Tracking {
    const { accounts, queueTime } = this.#options;
    const sending = this.#sending;
    const speaker = account === null || via !== undefined ? null : accounts.find(account);
    const senderId = sending?.senderId ?? speaker?.id ?? null;
    if (kind === "mention") return { senderId, clientId: null, expiresAt: null };
    const clientId = sending?.clientId ?? null;
    if (sending !== null) this.#sending = { ...sending, clientId: null };
    const expiresAt = queueTime === null ? null : time + queueTime;
    if (expiresAt !== null && state === "queued") this.#expiries.expect(expiresAt);
    return { senderId, clientId, expiresAt };
  }

  /**
   * The agent whose inbox a caller may use: its own, or every one for the operator.
   *
   * @throws NotFound, Forbidden, Unavailable once it is closed
   */
  #agentOf(nick: string, principal: Principal): RosterEntry {
    const agent = this.#options.roster.find(nick);
    if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    if (principal.kind === "agent" && principal.id !== agent.id) {
      throw new Forbidden(`You are "${principal.name}" and cannot read the inbox of "${nick}"`);
    }
    return agent;
  }

  /**
   * The inbox of an agent, without what retention no longer keeps.
   *
   * @throws Unavailable once it is closed
   */
  #open(agent: RosterEntry): Inbox {
    if (this.#closed) throw new Unavailable("The server is shutting down");
    const inbox = this.#inboxOf(agent);
    inbox.removeBefore(this.#options.store?.keptSince ?? 0);
    return inbox;
  }

  /** Messages that go back to their senders next, in that order. */
  async #expiring(): Promise<readonly Sent[]> {
    const { store } = this.#options;
    if (store === null) {
      return Array.from(this.#inboxes.values(), (inbox) => inbox.expiring()).flat()
        .toSorted((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0));
    }
    await store.flush();
    return await store.expiring();
  }

  /** Returns a message to its sender, unless the agent had it meanwhile. */
  async #bounceExpired(sent: Sent): Promise<void> {
    const { accountId, id, time, senderId, clientId, expiresAt } = sent;
    const { roster, store, queueTime } = this.#options;
    const agent = roster.get(accountId);
    const inbox = agent === null ? null : this.#inboxOf(agent);
    const messages = await inbox?.load();
    if (agent === null || inbox === null || messages === undefined || !inbox.has(id)) {
      // A row without an entry must not be found again and again.
      return store?.release(accountId, [time], "dropped");
    }
    const message = inbox.find(messages, id);
    if (message === null) return;
    const hours = Math.round((queueTime ?? 0) / 360_000) / 10;
    const why = `it was away for ${hours} hours`;
    await this.#returnTo({ agent, message, why }, { senderId, clientId, expiresAt });
    inbox.expire(messages, id);
    await this.flush();
  }

  /** Tells the sender of a message that it came back: an agent in its inbox. */
  async #returnTo(
    { agent, message: { id, text }, why }: {
      readonly agent: RosterEntry;
      readonly message: AddressedText;
      readonly why: string;
    },
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
    await this.#inboxOf(sender).addOnce(arrival);
  }

  #inboxOf(agent: RosterEntry): Inbox {
    const { id: accountId, nick } = agent;
    let inbox = this.#inboxes.get(accountId);
    if (inbox === undefined) {
      const { log, store, scheduler } = this.#options;
      const why = "its inbox is full";
      const onBounced = (message: AddressedText, tracking: Tracking) => {
        this.#returnTo({ agent, message, why }, tracking).catch((error: unknown) =>
          log.error("A message could not be returned to its sender", { error })
        );
      };
      inbox = new Inbox({ accountId, nick, store, log, clock: scheduler.now, onBounced });
      this.#inboxes.set(accountId, inbox);
    }
    return inbox;
  }

  /** Drops the inbox of a deleted agent. */
  #forget({ accountId }: Ended): void {
    if (accountId === null || this.#options.roster.get(accountId) !== null) return;
    this.#inboxes.get(accountId)?.end("The agent is gone");
    this.#inboxes.delete(accountId);
  }
}

/** The tracking of what nobody waits for. */
const UNTRACKED: Tracking = Object.freeze({ senderId: null, clientId: null, expiresAt: null });

function findAll(roster: Pick<Roster, "find">, nicks: ReadonlySet<string>): RosterEntry[] {
  const found: RosterEntry[] = [];
  for (const nick of nicks) {
    const agent = roster.find(nick);
    if (agent !== null) found.push(agent);
  }
  return found;
}

/** The text as shown in a channel's log: an ACTION as `* nick text`; no other CTCP. */
function readable({ from, text }: Incoming): string | null {
  if (!text.startsWith(CTCP)) return text;
  if (!text.startsWith(ACTION)) return null;
  return `* ${from} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`;
}

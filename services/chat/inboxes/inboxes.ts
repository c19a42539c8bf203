import type { Roster, RosterEntry } from "../../people/agents/mod.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import { Forbidden, Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import {
  type AgentSession,
  type AgentSessions,
  type Ended,
  type Identity,
  isNameOf,
  type Principal,
  speakerId,
} from "../../people/identity/mod.ts";
import { type ObservedMessage, wholeId } from "../../engines/irc/mod.ts";
import { checkQuery, type MessageLog, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Arrivals, type ArrivalsOptions, type Delivery, type Sending } from "./arrivals.ts";
import { Bounces, type BouncesOptions, Expiries } from "./bounces.ts";
import { type Addressed, type AddressedText, type Tracking, UNTRACKED } from "./entry.ts";
import { Inbox, INBOX_CAPACITY, type InboxCounts, type NewEntry } from "./inbox.ts";
import type { Sent } from "./inbox_store.ts";

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

/** What sessions left for longer is not looked for at a start, in milliseconds. */
const DAY = 24 * 60 * 60_000;

/** Selects the entries for a reader. */
export interface InboxQuery extends MessageQuery {
  /** The agent does not see the entries, so they keep their states. */
  readonly peeks?: boolean;
  /** Only entries that the agent has not read, the oldest first. */
  readonly unread?: boolean;
}

/** The result of an acknowledgement. */
export interface AcknowledgedEntries {
  readonly acknowledged: number;
  /** Ids that are not and were not lately in the inbox. */
  readonly unknown: readonly string[];
  /** How many entries are left. */
  readonly left: number;
}

/** What a node heard that does not keep the inboxes. */
export type Missed =
  | { readonly kind: "heard"; readonly message: HeardMessage }
  | { readonly kind: "posted"; readonly channel: string; readonly message: ChannelMessage }
  | { readonly kind: "redacted"; readonly id: string };

/** An entry about a project, for one agent. */
export interface Notification {
  readonly agent: RosterEntry;
  /** Unix milliseconds. */
  readonly time: number;
  readonly entry: Omit<AddressedText, "channel" | "via">;
}

export interface InboxesOptions extends ArrivalsOptions, BouncesOptions {
  readonly identity: Pick<Identity, "onEnded">;
  readonly roster: ArrivalsOptions["roster"] & Pick<Roster, "get">;
  /** Absent: agents have no sessions. */
  readonly agentSessions?: Pick<AgentSessions, "onChanged" | "endedSince">;
  readonly scheduler: Scheduler;
}

/** What others do with the inboxes, wherever they are kept. */
export type InboxDoor = Omit<Inboxes, "start" | "takeMissed">;

/**
 * Messages to agents: private ones, and those in channels that mention them, even while they are
 * absent. The newest are kept, and survive a restart. Reading does not remove them.
 */
export class Inboxes {
  readonly #options: InboxesOptions;
  readonly #inboxes = new Map<string, Inbox>();
  readonly #readers: MessageReaders;
  readonly #arrivals: Arrivals;
  readonly #bounces: Bounces;
  readonly #expiries: Expiries;
  readonly #stopListening: () => void;
  readonly #stopFollowing: () => void;
  /** Messages on their way back to their senders. */
  readonly #returning = new Set<Promise<void>>();
  #closed = false;

  constructor(options: InboxesOptions) {
    this.#options = options;
    this.#readers = new MessageReaders({ scheduler: options.scheduler });
    this.#stopListening = options.identity.onEnded((ended) => this.#forget(ended));
    this.#stopFollowing = options.agentSessions?.onChanged((session, isLive) => {
      if (!isLive) this.#leave(session);
    }) ?? (() => {});
    const { scheduler, log } = options;
    const inboxOf = (agent: RosterEntry) => this.#inboxOf(agent);
    this.#arrivals = new Arrivals(options, {
      inboxOf,
      expect: (expiresAt) => this.#expiries.expect(expiresAt),
    });
    this.#bounces = new Bounces(options, { inboxOf, opened: () => this.#inboxes.values() });
    this.#expiries = new Expiries({
      scheduler,
      log,
      expiring: () => this.#bounces.expiring(),
      bounce: (sent) => this.#bounces.bounceExpired(sent),
    });
  }

  /** Returns the messages whose time ended while the program was down. */
  start(): void {
    this.#expiries.start();
    const { agentSessions, scheduler } = this.#options;
    for (const session of agentSessions?.endedSince(scheduler.now() - DAY) ?? []) {
      this.#leave(session);
    }
  }

  /** Handles a message that the IRC server accepted. */
  take(message: ObservedMessage): void {
    this.#arrivals.take(message);
  }

  /** Handles a message that the bridge received on an external network. */
  takeHeard(message: HeardMessage): void {
    this.#arrivals.takeHeard(message);
  }

  /** Handles a message that the bridge sent for a caller. */
  takePosted(channel: string, posted: ChannelMessage): void {
    this.#arrivals.takePosted(channel, posted);
  }

  /**
   * Handles what was heard while nobody kept the inboxes, or while another node did. What is in them
   * already is not added again.
   *
   * @throws the database's error
   */
  async takeMissed(all: readonly Missed[]): Promise<void> {
    let added = Promise.resolve();
    const arrivals = new Arrivals(this.#options, {
      inboxOf: (agent) => ({
        append: (newEntry) => {
          added = added.then(() => this.#addMissed(agent, newEntry));
          return true;
        },
      }),
      expect: (expiresAt) => this.#expiries.expect(expiresAt),
    });
    for (const missed of all) {
      if (missed.kind === "heard") arrivals.takeHeard(missed.message);
      else if (missed.kind === "posted") arrivals.takePosted(missed.channel, missed.message);
    }
    await added;
    for (const missed of all) if (missed.kind === "redacted") this.forgetMessage(missed.id);
    await this.flush();
  }

  /**
   * Handles a private message to an agent that was not sent over IRC.
   *
   * @returns the entry's id
   * @throws Unavailable if too much waits for the disk already
   */
  deliver(agent: RosterEntry, delivery: Delivery, sending: Sending | null = null): string {
    return this.#arrivals.deliver(agent, delivery, sending);
  }

  /** As `Arrivals.showing`. */
  showing<Result>(send: () => Result): Result {
    return this.#arrivals.showing(send);
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

  /** How many messages have arrived in inboxes. */
  get arrived(): number {
    return this.#arrivals.arrived;
  }

  /** Waits for entries on their way to the disk, unless it refuses them for now. */
  async settled(): Promise<void> {
    const { store } = this.#options;
    // An inbox that is not loaded yet stores what waits for it once it is.
    await Promise.allSettled(this.#inboxes.values().map(({ loading }) => loading));
    if (store?.isFailing !== true) await store?.flush().catch(() => {});
  }

  /** Removes a message from every inbox of which a part was redacted. */
  forgetMessage(part: string): void {
    const { store } = this.#options;
    const id = wholeId(part);
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
   * after it, with `unread` the first ones that it has not read. An agent reads its own inbox, the
   * operator every inbox.
   *
   * @throws NotFound if there is no such agent or it is revoked, Forbidden, Invalid, TooMany,
   * Unavailable once it is closed
   */
  async read(nick: string, query: InboxQuery, principal: Principal): Promise<Addressed[]> {
    const agent = this.#agentOf(nick, principal);
    checkQuery(query, INBOX_CAPACITY);
    const inbox = this.#open(agent);
    const messages = inbox.messages ?? await inbox.load();
    if (inbox.isStoring) await this.settled();
    const limit = query.limit ?? INBOX_CAPACITY;
    // Not awaited: it may take a minute, and a suspended function stays in memory.
    const caller = { principal, address: null };
    const unread = query.unread === true ? inbox.unread(messages, query.since) : [];
    const found = unread.length > 0
      ? Promise.resolve(unread.slice(0, limit))
      : this.#readers.read(messages, { ...query, limit, ...newest(query, messages) }, caller);
    return found.then((found) => {
      if (found.length === 0) return [];
      const entries = inbox.withStates(found);
      if (speakerId(principal) === agent.id && query.peeks !== true) {
        const ids = found.map(({ id }) => id);
        inbox.reached(ids, "read");
        this.#readFor(agent, ids);
      }
      return entries;
    });
  }

  /**
   * Notes that a reader has seen entries at which it peeked: they are read if it is their agent.
   * Resolves when that is on disk, unless it refuses inboxes for now.
   *
   * @returns the ids of those that nobody had read before; of two readers, one gets each
   * @throws NotFound if there is no such agent or it is revoked, Forbidden
   */
  async seen(nick: string, ids: readonly string[], principal: Principal): Promise<string[]> {
    const agent = this.#agentOf(nick, principal);
    if (speakerId(principal) !== agent.id) return [...ids];
    const inbox = this.#open(agent);
    await inbox.load();
    const news = inbox.reached(ids, "read");
    this.#readFor(agent, ids);
    await this.settled();
    return news;
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
    // An agent may have had an entry over IRC that is not stored yet.
    if (inbox.isStoring) await this.settled();
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
    if (inbox.isStoring) await this.settled();
    return { nick: agent.nick, ...inbox.counts(messages) };
  }

  /** The message to which its sender gave an id, once it is on disk; null if there is none. */
  async sent(
    { senderId, clientId }: Sending,
  ): Promise<Pick<Sent, "id" | "accountId" | "state"> | null> {
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

  /**
   * Ends every reader. Later messages are still kept.
   *
   * @param reason for those who read
   */
  close(reason = "The server is shutting down"): void {
    this.#closed = true;
    this.#stopFollowing();
    this.#expiries.close();
    for (const inbox of this.#inboxes.values()) inbox.end(reason);
  }

  /** Stores everything unstored. Call it when no more messages come. */
  async stop(): Promise<void> {
    if (!this.#closed) this.close();
    this.#stopListening();
    await this.#expiries.idle();
    // What is stored now, or was loaded, may make room, and so send others back.
    do {
      await this.settled();
      await Promise.all(this.#returning);
    } while (this.#returning.size > 0);
    this.#inboxes.clear();
    await this.#options.store?.close();
  }

  /**
   * The agent or session whose inbox a caller may use: its own, or every one for the operator. In a
   * session, the name of the agent means the session too.
   *
   * @throws NotFound, Forbidden, Unavailable once it is closed
   */
  #agentOf(nick: string, principal: Principal): RosterEntry {
    const { roster } = this.#options;
    const isOwn = principal.kind === "agent" && isNameOf(principal, nick);
    const agent = isOwn ? roster.get(speakerId(principal) ?? "") : roster.find(nick);
    if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    if (principal.kind === "agent" && !isOwn) {
      throw new Forbidden(`You are "${principal.name}" and cannot read the inbox of "${nick}"`);
    }
    return agent;
  }

  /** What a further session has read of its agent's messages, the agent has read. */
  #readFor({ id, agentId }: RosterEntry, ids: readonly string[]): void {
    const agent = id === agentId ? null : this.#options.roster.get(agentId);
    if (agent === null) return;
    const inbox = this.#inboxOf(agent);
    inbox.load().then(() => void inbox.reached(ids, "read"), () => {});
  }

  /** Passes on what a session has not read before its end, in the background. */
  #leave({ id, agentId, name: nick }: AgentSession): void {
    const agent = this.#options.roster.get(agentId);
    if (agent === null || this.#closed) return;
    const leaving = this.#leaveTo(agent, { ...agent, id, nick })
      .catch((error: unknown) =>
        this.#options.log.warn("Messages to an ended session stay with it", { nick, error })
      ).finally(() => this.#returning.delete(leaving));
    this.#returning.add(leaving);
  }

  /** To the agent, and while its own session has ended, to its sessions that last. */
  async #leaveTo(agent: RosterEntry, session: RosterEntry): Promise<void> {
    const inbox = this.#inboxOf(session);
    const messages = await inbox.load();
    const unread = inbox.unread(messages);
    const receivers = this.#options.roster.receivers(agent.nick).filter(({ id }) =>
      id !== session.id
    );
    for (const { timestamp, ...message } of unread) {
      for (const receiver of receivers) {
        const time = Date.parse(timestamp);
        const left = { message, time, state: "queued", tracking: UNTRACKED } as const;
        await this.#inboxOf(receiver).addOnce(left);
      }
    }
    await this.#options.store?.flush();
    if (session.id !== agent.id) inbox.acknowledge(messages, unread.map(({ id }) => id));
  }

  async #addMissed(agent: RosterEntry, newEntry: NewEntry): Promise<void> {
    const isKnown = await this.#options.store?.knows(agent.id, newEntry.message.id);
    if (isKnown !== true) await this.#inboxOf(agent).addOnce(newEntry);
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

  #inboxOf(agent: RosterEntry): Inbox {
    const { id: accountId, nick } = agent;
    let inbox = this.#inboxes.get(accountId);
    if (inbox === undefined) {
      const { log, store, scheduler } = this.#options;
      const why = "its inbox is full";
      const onBounced = (message: AddressedText, tracking: Tracking) => {
        const returning = this.#bounces.returnTo({ agent, message, why }, tracking)
          .catch((error: unknown) =>
            log.error("A message could not be returned to its sender", { error })
          ).finally(() => this.#returning.delete(returning));
        this.#returning.add(returning);
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

/** For a reader who waits for what it has not read: only what comes from now on. */
function newest(
  { unread }: InboxQuery,
  messages: MessageLog<AddressedText>,
): Pick<InboxQuery, "since"> {
  const { last } = messages;
  return unread === true && last !== null ? { since: last.timestamp } : {};
}

import type { Roster, RosterEntry } from "../agents/mod.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import { Forbidden, NotFound, Unavailable } from "../errors.ts";
import type { Ended, Identity, Principal } from "../identity/mod.ts";
import { foldCase, type ObservedMessage } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { newUlid } from "../ulid.ts";
import { type Addressed, type AddressedText, Inbox, INBOX_CAPACITY } from "./inbox.ts";
import type { InboxStore } from "./inbox_store.ts";
import { isAddressed, readAddressees } from "./mentions.ts";

/** Most readers that wait at once. */
const MAX_WAITING = 5000;

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

/** An entry about a project, for one agent. */
export interface Notification {
  readonly agent: RosterEntry;
  /** Unix milliseconds. */
  readonly time: number;
  readonly entry: Omit<AddressedText, "channel" | "via">;
}

export interface InboxesOptions {
  readonly identity: Pick<Identity, "onEnded">;
  readonly roster: Pick<Roster, "get" | "find" | "all">;
  /** Whether an agent receives the messages of a channel. */
  readonly hears: (agent: RosterEntry, channel: string) => boolean;
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
  readonly #stopListening: () => void;
  #closed = false;

  constructor(options: InboxesOptions) {
    this.#options = options;
    this.#readers = new MessageReaders({ scheduler: options.scheduler, max: MAX_WAITING });
    this.#stopListening = options.identity.onEnded((ended) => this.#forget(ended));
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
    if (agent !== null) this.#keep(agent, null, incoming);
  }

  /** Handles a message that the bridge received on an external network. */
  takeHeard({ id, channel, nick, account, text, time }: HeardMessage): void {
    const speaker = account ?? nick;
    this.#takeFromChannel(channel, { id, from: nick, account, speaker, text, time });
  }

  /** Handles a message that the bridge sent for a caller. */
  takePosted(channel: string, { nick: from, timestamp, ...message }: ChannelMessage): void {
    const time = Date.parse(timestamp);
    this.#takeFromChannel(channel, { ...message, from, speaker: from, time });
  }

  /** Handles a private message to an agent that was not sent over IRC. */
  deliver(agent: RosterEntry, delivery: Delivery): void {
    const time = this.#options.scheduler.now();
    this.#keep(agent, null, { ...delivery, id: newUlid(time), speaker: delivery.from, time });
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
      await this.#inboxOf(agent).addOnce(message, time);
    }
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
    const agent = this.#options.roster.find(nick);
    if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    if (principal.kind === "agent" && principal.id !== agent.id) {
      throw new Forbidden(`You are "${principal.name}" and cannot read the inbox of "${nick}"`);
    }
    checkQuery(query, INBOX_CAPACITY);
    if (this.#closed) throw new Unavailable("The server is shutting down");
    const inbox = this.#inboxOf(agent);
    const messages = inbox.messages ?? await inbox.load();
    messages.removeBefore(this.#options.store?.keptSince ?? 0);
    return await this.#readers.read(messages, {
      ...query,
      limit: query.limit ?? INBOX_CAPACITY,
    });
  }

  /** Ends every reader. Later messages are still kept. */
  close(): void {
    this.#closed = true;
    for (const inbox of this.#inboxes.values()) inbox.end("The server is shutting down");
  }

  /** Stores everything unstored. Call it when no more messages come. */
  async stop(): Promise<void> {
    this.close();
    this.#stopListening();
    await Promise.allSettled(Array.from(this.#inboxes.values(), ({ loading }) => loading));
    this.#inboxes.clear();
    await this.#options.store?.close();
  }

  #takeFromChannel(channel: string, incoming: Incoming): void {
    const { roster, hears } = this.#options;
    const addressees = readAddressees(incoming.text);
    const many = addressees.everybody || addressees.types.size > 0 ||
      addressees.prefixes.length > 0;
    const candidates = many ? roster.all() : findAll(roster, addressees.nicks);
    for (const agent of candidates) {
      if (isAddressed(addressees, agent) && hears(agent, channel)) {
        this.#keep(agent, channel, incoming);
      }
    }
  }

  #keep(agent: RosterEntry, channel: string | null, incoming: Incoming): void {
    const { id, from, account, via, speaker, time } = incoming;
    if (foldCase(speaker) === foldCase(agent.nick)) return;
    const text = readable(incoming);
    if (text === null) return;
    const kind = channel === null ? "message" : "mention";
    const origin = via === undefined ? { from, account } : { from, account, via };
    this.#inboxOf(agent).append({ id, kind, ...origin, channel, text }, time);
  }

  #inboxOf({ id: accountId, nick }: RosterEntry): Inbox {
    let inbox = this.#inboxes.get(accountId);
    if (inbox === undefined) {
      const { log, store } = this.#options;
      inbox = new Inbox({ accountId, nick, store, log });
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

function findAll(roster: Pick<Roster, "find">, nicks: ReadonlySet<string>): RosterEntry[] {
  return Array.from(nicks, (nick) => roster.find(nick)).filter((agent) => agent !== null);
}

/** The text as shown in a channel's log: an ACTION as `* nick text`; no other CTCP. */
function readable({ from, text }: Incoming): string | null {
  if (!text.startsWith(CTCP)) return text;
  if (!text.startsWith(ACTION)) return null;
  return `* ${from} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`;
}

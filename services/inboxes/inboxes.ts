import { ulid } from "ulid";
import type { Roster, RosterEntry } from "../agents/mod.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import { Forbidden, NotFound, Unavailable } from "../errors.ts";
import type { Ended, Identity, Principal } from "../identity/mod.ts";
import { foldCase, type ObservedMessage } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { type Addressed, type AddressedText, Inbox, INBOX_CAPACITY } from "./inbox.ts";
import type { InboxStore } from "./inbox_store.ts";
import { isAddressed, readAddressees } from "./mentions.ts";

/** Most readers that wait at once. */
const MAX_WAITING = 5000;

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

/** A message on its way to those whom it is addressed to. */
interface Incoming {
  readonly id: string;
  readonly from: string;
  readonly account: string | null;
  readonly via?: "bridge" | undefined;
  /** The name of an agent, if it is one who said it. */
  readonly speaker: string;
  readonly text: string;
  /** When IRC took it, in Unix milliseconds. */
  readonly time: number;
}

/** Something for one agent, and who says it. */
export type Delivery = Pick<AddressedText, "from" | "account" | "via" | "text">;

export interface InboxesOptions {
  readonly identity: Pick<Identity, "onEnded">;
  readonly roster: Pick<Roster, "get" | "find" | "all">;
  /** Whether an agent hears what is said in a channel. */
  readonly hears: (agent: RosterEntry, channel: string) => boolean;
  /** The account of the bridge. The bridge reports its own messages and their speakers itself. */
  readonly bridgeNick: string;
  /** Null if messages are kept in memory only. */
  readonly store: InboxStore | null;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * What others said to agents: messages to an agent alone, and those in channels that mention it,
 * whether it was there or not. The newest are kept, and are there after a restart. Reading consumes
 * nothing.
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

  /** Takes in a message that the IRC server accepted. */
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

  /** Takes in what the bridge heard on a network that is not ours. */
  takeHeard({ id, channel, nick, account, text, time }: HeardMessage): void {
    const speaker = account ?? nick;
    this.#takeFromChannel(channel, { id, from: nick, account, speaker, text, time });
  }

  /** Takes in a message that the bridge said for somebody. */
  takePosted(channel: string, { nick: from, timestamp, ...message }: ChannelMessage): void {
    const time = Date.parse(timestamp);
    this.#takeFromChannel(channel, { ...message, from, speaker: from, time });
  }

  /** Takes in what was said to an agent alone, and not over IRC. */
  deliver(agent: RosterEntry, delivery: Delivery): void {
    const time = this.#options.scheduler.now();
    this.#keep(agent, null, { ...delivery, id: ulid(time), speaker: delivery.from, time });
  }

  /** Removes a message that was redacted from wherever it was kept. */
  forgetMessage(id: string): void {
    const { store } = this.#options;
    for (const inbox of this.#inboxes.values()) inbox.redact(id);
    store?.redact(id);
  }

  /**
   * Keeps messages for so long from now on.
   *
   * @param age in milliseconds; null for ever
   */
  retain(age: number | null): void {
    this.#options.store?.retain(age);
  }

  /**
   * Whether an agent gets what is addressed to it in a channel; null where there is no such agent.
   */
  reaches(nick: string, channel: string): boolean | null {
    const agent = this.#options.roster.find(nick);
    return agent === null ? null : this.#options.hears(agent, channel);
  }

  /**
   * Reads what was said to an agent, oldest first: without `since` the newest, with it the first
   * ones that came after. An agent reads its own, the operator everybody's.
   *
   * @throws NotFound where there is no such agent or it is revoked, Forbidden, Invalid, TooMany,
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

  /** Ends every reader. What is said from now on is still kept. */
  close(): void {
    this.#closed = true;
    for (const inbox of this.#inboxes.values()) inbox.end("The server is shutting down");
  }

  /** Stores what is not stored yet, once nothing more comes. */
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

  /** Drops what was said to an agent that is gone. */
  #forget({ accountId }: Ended): void {
    if (accountId === null || this.#options.roster.get(accountId) !== null) return;
    this.#inboxes.get(accountId)?.end("The agent is gone");
    this.#inboxes.delete(accountId);
  }
}

function findAll(roster: Pick<Roster, "find">, nicks: ReadonlySet<string>): RosterEntry[] {
  return Array.from(nicks, (nick) => roster.find(nick)).filter((agent) => agent !== null);
}

/** The text as a channel's log shows it: an ACTION as `* nick text`, other CTCP not at all. */
function readable({ from, text }: Incoming): string | null {
  if (!text.startsWith(CTCP)) return text;
  if (!text.startsWith(ACTION)) return null;
  return `* ${from} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`;
}

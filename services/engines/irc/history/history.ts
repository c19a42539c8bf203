/** Keeps messages for users who come later or come back (CHATHISTORY). */

import { type HistoryEntry, Log, RecentLogs } from "./log.ts";
import { entryOf, recordOf } from "./record.ts";
import { select } from "./selection.ts";
import {
  HistoryKind,
  type HistoryQuery,
  type HistoryRecord,
  type HistoryStore,
  type HistoryTarget,
  type LastMessage,
  type NewHistoryRecord,
} from "./store.ts";
import { ChannelFlag } from "../channels/modes.ts";
import type { IrcLimits, IrcLogger } from "../options.ts";
import { type Outbound, timeOf } from "../outbound.ts";
import { foldCase } from "../protocol/names.ts";
import type { Channel, Client } from "../members.ts";

/** Estimated memory of an entry beside its text. */
const ENTRY_BYTES = 256;

/** Messages of only tags that matter just for the moment, and are not kept. */
const PASSING_TAGS: ReadonlySet<string> = new Set(["+typing", "+draft/typing"]);

/** Entries read from the store in one request. */
const STORE_PAGE = 64;

/** A channel, or a client's conversation with the present or former user of a nick. */
export type Conversation = Channel | { readonly client: Client; readonly nick: string };

/** The reader of a user's messages: an account, or a client without one. */
type Owner = string | Client;

/** A user's log of its conversation with the user of a nick. */
interface UserLog {
  readonly owner: Client;
  readonly nick: string;
}

export interface HistoryOptions {
  /** Returns the limits that hold at the moment. */
  readonly limits: () => Readonly<IrcLimits>;
  /** The store for history beyond memory; null if there is none. */
  readonly store: HistoryStore | null;
  readonly log: IrcLogger;
}

/**
 * An ordered log for each channel, and for each conversation of each user.
 *
 * In memory, a channel's log ends with the channel, and a guest's log with its connection. Each log
 * has a bound, and all logs together have one: the oldest entries of the log that was not written
 * to for the longest time are dropped first. A store, if there is one, also receives the logs of
 * channels and accounts, and answers for what memory no longer holds.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #channels = new Map<Channel, Log>();
  readonly #users = new Map<Owner, Map<string, Log>>();
  readonly #logs = new RecentLogs();
  #bytes = 0;
  #recorded = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** How many messages and events have been recorded. */
  get recorded(): number {
    return this.#recorded;
  }

  /** Whether it takes messages at the moment. */
  get takesMessages(): boolean {
    return this.#options.store?.accept([]) ?? true;
  }

  /** What those wait for who have added to the history, while too much waits to be stored; or null. */
  room(): Promise<void> | null {
    return this.#options.store?.room() ?? null;
  }

  /**
   * Adds an event to the log of a channel; `extended` is its form for clients with `extended-join`.
   */
  recordInChannel(channel: Channel, message: Outbound, extended: Outbound | null = null): void {
    this.#recorded++;
    this.#options.store?.append(recordInChannel(channel, message, extended));
    this.#keepInChannel(channel, message, extended);
  }

  /**
   * Adds a message to the log of a channel.
   *
   * @param deliver gives it to the members, once it is stored
   * @returns false if it cannot be stored: then nobody got it
   */
  sayInChannel(channel: Channel, message: Outbound, deliver: () => void): boolean {
    const kept = isKept(message);
    this.#recorded++;
    if (kept && !this.#accepts([recordInChannel(channel, message, null)])) return false;
    deliver();
    if (kept) this.#keepInChannel(channel, message, null);
    return true;
  }

  /**
   * Adds a private message to the logs of both users.
   *
   * @param deliver gives it to them, once it is stored
   * @returns false if it cannot be stored: then nobody got it
   */
  sayBetween(
    sender: Client,
    receiver: Client,
    message: Outbound,
    deliver: () => void = () => {},
  ): boolean {
    const kept = isKept(message);
    const logs = logsBetween(sender, receiver);
    this.#recorded++;
    if (kept && !this.#accepts(recordsIn(logs, message))) return false;
    deliver();
    if (kept) this.#keepBetween(logs, message);
    return true;
  }

  /** Adds an event to the logs of both users. */
  recordBetween(sender: Client, receiver: Client, message: Outbound): void {
    const logs = logsBetween(sender, receiver);
    this.#recorded++;
    for (const record of recordsIn(logs, message)) this.#options.store?.append(record);
    this.#keepBetween(logs, message);
  }

  /**
   * Reads a part of a conversation, the oldest entry first. Entries in memory are returned at once.
   * Entries from the store come in pages, so that a slow reader holds only one of them.
   */
  read(
    conversation: Conversation,
    query: HistoryQuery,
  ): Iterable<HistoryEntry> | AsyncIterable<HistoryEntry> {
    const { store } = this.#options;
    const target = targetOf(conversation);
    if (query.upTo === HistoryKind.MESSAGE && target !== null && store?.isSilent(target)) return [];
    const { entries, whole } = select(this.#entriesOf(conversation), query);
    if (whole || store === null || target === null) return entries;
    return this.#readStore(store, target, { conversation, query });
  }

  /** The entry of a conversation with this id, unless it was redacted or is no longer kept. */
  async find(conversation: Conversation, id: string): Promise<HistoryEntry | null> {
    const part = { kind: "around", reference: { id } } as const;
    const query = { part, limit: 1, upTo: HistoryKind.REDACTION };
    for await (const entry of this.read(conversation, query)) {
      if (entry.id === id) return entry;
    }
    return null;
  }

  /**
   * Removes a message from every log; a private message has a copy in two logs. Its id and time
   * remain, so that clients can refer to the messages before and after it.
   *
   * @param redaction the message for those who saw it
   * @returns false if the store does not take it: then nothing was removed
   */
  redact(entry: HistoryEntry, redaction: Outbound): boolean {
    if (this.#options.store?.redact(entry.id) === false) return false;
    for (const log of this.#logs) this.#redactIn(log, entry, redaction);
    return true;
  }

  /** The last message of each channel and of each correspondent of a client between two times. */
  async lastMessages(
    client: Client,
    between: readonly [number, number],
  ): Promise<readonly LastMessage[]> {
    const logs = [
      ...client.channels.flatMap((channel) => this.#channels.get(channel) ?? []),
      ...this.#users.get(ownerOf(client))?.values() ?? [],
    ];
    const found = new Map<string, LastMessage>();
    for (const { title, time } of await this.#lastStored(client, between)) {
      found.set(foldCase(title), { title, time });
    }
    for (const { title, entries } of logs) {
      const last = entries.findLast(({ kind }) => kind === HistoryKind.MESSAGE);
      if (last === undefined) continue;
      if (last.time > between[0] && last.time < between[1]) {
        found.set(foldCase(title), { title, time: last.time });
      } else if (last.time >= between[1]) {
        found.delete(foldCase(title));
      }
    }
    return [...found.values()];
  }

  /**
   * Records the creation of a channel: forgets what was said under its name while access was
   * limited.
   */
  channelMade(name: string): void {
    this.#options.store?.forgetConfined(targetOfChannel(name));
  }

  /** Records the end of a sealed channel: the next one of its name gets nothing of what was said. */
  confine(channel: string): void {
    this.#options.store?.confine(targetOfChannel(channel));
  }

  /** Moves the log of a channel to its current name. */
  channelRenamed(from: string, channel: Channel): void {
    const log = this.#channels.get(channel);
    if (log !== undefined) log.title = channel.name;
    const [before, after] = [targetOfChannel(from), targetOfChannel(channel.name)];
    this.#options.store?.rename(before, after, channel.name);
  }

  /** Drops a closed channel's log from memory. */
  forgetChannel(channel: Channel): void {
    const log = this.#channels.get(channel);
    if (log) this.#drop(log);
  }

  /** Forgets the logs of a guest or of an account. */
  forgetUser(owner: Owner): void {
    const key = typeof owner === "string" ? foldCase(owner) : owner;
    for (const log of [...this.#users.get(key)?.values() ?? []]) this.#drop(log);
    if (typeof key === "string") this.#options.store?.forgetAccount(key);
  }

  async *#readStore(
    store: HistoryStore,
    target: HistoryTarget,
    { conversation, query }: { readonly conversation: Conversation; readonly query: HistoryQuery },
  ): AsyncIterable<HistoryEntry> {
    let hasBegun = false;
    try {
      const places = await store.select(target, query);
      for (let from = 0; from < places.length; from += STORE_PAGE) {
        const records = await store.fetch(places.slice(from, from + STORE_PAGE));
        hasBegun = true;
        yield* records.map(entryOf);
      }
    } catch (error) {
      this.#options.log.warn("Stored history could not be read", { error });
      // Not what memory had at the start: some of it may be redacted by now.
      if (!hasBegun) yield* select(this.#entriesOf(conversation), query).entries;
    }
  }

  async #lastStored(
    { channels, account }: Client,
    between: readonly [number, number],
  ): Promise<readonly LastMessage[]> {
    const { store, log } = this.#options;
    const names = channels.map(({ foldedName }) => foldedName);
    try {
      return await store?.lastMessages(names, account && foldCase(account), between) ?? [];
    } catch (error) {
      log.warn("Stored history could not be read", { error });
      return [];
    }
  }

  #accepts(records: readonly NewHistoryRecord[]): boolean {
    const { store } = this.#options;
    return store === null || records.length === 0 || store.accept(records);
  }

  #keepInChannel(channel: Channel, message: Outbound, extended: Outbound | null): void {
    if (!this.#keepsInMemory) return;
    this.#append(this.#logOfChannel(channel), new MessageEntry(message, extended));
  }

  #keepBetween(logs: readonly UserLog[], message: Outbound): void {
    if (!this.#keepsInMemory) return;
    const entry = new MessageEntry(message, null);
    for (const { owner, nick } of logs) this.#append(this.#logOfUser(owner, nick), entry);
  }

  #findLog(conversation: Conversation): Log | undefined {
    if (!("client" in conversation)) return this.#channels.get(conversation);
    const { client, nick } = conversation;
    return this.#users.get(ownerOf(client))?.get(foldCase(nick));
  }

  #entriesOf(conversation: Conversation): readonly HistoryEntry[] {
    return this.#findLog(conversation)?.entries ?? [];
  }

  #logOfChannel(channel: Channel): Log {
    let log = this.#channels.get(channel);
    if (log === undefined) {
      log = new Log(channel.name, () => this.#channels.delete(channel));
      this.#channels.set(channel, log);
    }
    return log;
  }

  #logOfUser(client: Client, nick: string): Log {
    const owner = ownerOf(client);
    let logs = this.#users.get(owner);
    if (logs === undefined) this.#users.set(owner, logs = new Map());
    const key = foldCase(nick);
    const log = logs.get(key) ?? this.#newLogOfUser(owner, logs, key);
    log.title = nick;
    return log;
  }

  #newLogOfUser(owner: Owner, logs: Map<string, Log>, key: string): Log {
    const log = new Log(key, () => {
      logs.delete(key);
      if (logs.size === 0) this.#users.delete(owner);
    });
    logs.set(key, log);
    return log;
  }

  get #keepsInMemory(): boolean {
    return this.#options.limits().historyMessages > 0;
  }

  #append(log: Log, entry: HistoryEntry): void {
    const { historyMessages, historyBytes } = this.#options.limits();
    log.push(entry);
    this.#bytes += sizeOf(entry);
    this.#logs.touch(log);
    while (log.length > historyMessages) this.#dropOldest(log);
    while (this.#bytes > historyBytes && this.#logs.oldest !== null) {
      this.#dropOldest(this.#logs.oldest);
    }
  }

  #redactIn(log: Log, { id, time }: HistoryEntry, redaction: Outbound): void {
    let index = log.firstSince(time);
    while (log.at(index)?.time === time && log.at(index)?.id !== id) index++;
    const entry = log.at(index);
    if (entry?.id !== id) return;
    const place = { id, time, kind: HistoryKind.REMOVED, message: redaction, extended: null };
    log.replace(index, place);
    this.#bytes += sizeOf(place) - sizeOf(entry);
  }

  #dropOldest(log: Log): void {
    const entry = log.shift();
    if (entry) this.#bytes -= sizeOf(entry);
    if (log.length > 0) return;
    this.#logs.remove(log);
    log.discard();
  }

  #drop(log: Log): void {
    while (log.length > 0) this.#dropOldest(log);
  }
}

/** The record of a message to a channel, or of an event in it. */
function recordInChannel(
  channel: Channel,
  message: Outbound,
  extended: Outbound | null,
): NewHistoryRecord {
  return {
    ...contentOf(message, extended),
    target: targetOfChannel(channel.name),
    title: channel.name,
    confined: channel.isConfined || channel.has(ChannelFlag.SECRET),
  };
}

/** The logs of a private message: one of each user, or one if a user writes to itself. */
function logsBetween(sender: Client, receiver: Client): readonly UserLog[] {
  const sent = { owner: sender, nick: receiver.nick };
  if (ownerOf(sender) === ownerOf(receiver)) return [sent];
  return [sent, { owner: receiver, nick: sender.nick }];
}

/** The records of a message in the logs of users: a guest has none. */
function recordsIn(logs: readonly UserLog[], message: Outbound): NewHistoryRecord[] {
  return logs.flatMap(({ owner: { account }, nick }) => {
    if (account === null) return [];
    const target = { account: foldCase(account), name: foldCase(nick) };
    return { ...contentOf(message, null), target, title: nick, confined: false };
  });
}

/** What a record holds of a message. */
function contentOf(message: Outbound, extended: Outbound | null): HistoryRecord {
  const { tags, command } = message;
  const [id, time] = [tags.msgid ?? "", timeOf(tags)];
  return recordOf({ id, time, kind: kindOf(command), message, extended });
}

/** Typing notifications are not kept. */
function isKept({ command, tags }: Outbound): boolean {
  return command !== "TAGMSG" || (tags.client ?? []).some(([key]) => !PASSING_TAGS.has(key));
}

/** An entry that takes its id and time from the message. */
class MessageEntry implements HistoryEntry {
  readonly kind: HistoryKind;
  readonly message: Outbound;
  readonly extended: Outbound | null;

  constructor(message: Outbound, extended: Outbound | null) {
    message.releaseForms();
    extended?.releaseForms();
    this.kind = kindOf(message.command);
    this.message = message;
    this.extended = extended;
  }

  get id(): string {
    return this.message.tags.msgid ?? "";
  }

  get time(): number {
    return timeOf(this.message.tags);
  }
}

function kindOf(command: string): HistoryKind {
  if (command === "PRIVMSG" || command === "NOTICE") return HistoryKind.MESSAGE;
  return command === "REDACT" ? HistoryKind.REDACTION : HistoryKind.EVENT;
}

function ownerOf(client: Client): Owner {
  return client.account === null ? client : foldCase(client.account);
}

function targetOfChannel(name: string): HistoryTarget {
  return { account: null, name: foldCase(name) };
}

/** The log of a conversation in the store; null for a client without an account. */
function targetOf(conversation: Conversation): HistoryTarget | null {
  if (!("client" in conversation)) return targetOfChannel(conversation.name);
  const { client, nick } = conversation;
  if (client.account === null) return null;
  return { account: foldCase(client.account), name: foldCase(nick) };
}

function sizeOf({ message, extended }: HistoryEntry): number {
  return ENTRY_BYTES + message.length + (extended?.length ?? 0);
}

/** What was said, kept in memory for those who come later or come back (CHATHISTORY). */

import type { Channel } from "./channel.ts";
import type { Client } from "./client.ts";
import type { IrcLimits } from "./options.ts";
import type { Outbound } from "./outbound.ts";
import { foldCase } from "./names.ts";

/** What an entry takes beside its text; a guess that keeps the bound honest. */
const ENTRY_BYTES = 256;

/** Tags without a text that are of the moment: nobody wants to read them later. */
const PASSING_TAGS: ReadonlySet<string> = new Set(["+typing", "+draft/typing"]);

/** One message as it went out, with its id and time. */
export interface HistoryEntry {
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly time: number;
  /** Whether it is a PRIVMSG or NOTICE; else it is for clients with `draft/event-playback`. */
  readonly isMessage: boolean;
  readonly message: Outbound;
  /** The form for clients with `extended-join`. */
  readonly extended: Outbound | null;
  /** Whether it only holds the place of a message that was redacted, and is shown to nobody. */
  readonly isRedacted: boolean;
}

/** Somebody with whom a user exchanged messages. */
export interface Correspondent {
  /** As the nick was written in the last message. */
  readonly nick: string;
  readonly entries: readonly HistoryEntry[];
}

class Log implements Correspondent {
  readonly entries: HistoryEntry[] = [];
  nick: string;
  /** Takes the log out of where it is kept, once nothing is left in it. */
  readonly discard: () => void;

  constructor(nick: string, discard: () => void) {
    this.nick = nick;
    this.discard = discard;
  }
}

/** Who reads the messages of a user: an account, or a client that has none. */
type Owner = string | Client;

/**
 * An ordered log for each channel, and for each user one for everybody it exchanged messages with.
 *
 * A channel's log ends with the channel, and that of a user without an account with its
 * connection. Each log has a bound, and so have all of them together: what goes first is the oldest
 * of the log that was not written to for the longest time.
 */
export class History {
  readonly #limits: () => Readonly<IrcLimits>;
  readonly #channels = new Map<Channel, Log>();
  readonly #users = new Map<Owner, Map<string, Log>>();
  /** All logs, the one written to last at the end. */
  readonly #logs = new Set<Log>();
  #bytes = 0;

  /** `limits` gives those that hold at the moment. */
  constructor(limits: () => Readonly<IrcLimits>) {
    this.#limits = limits;
  }

  /** Keeps what a channel was told; `extended` is its form for clients with `extended-join`. */
  recordInChannel(channel: Channel, message: Outbound, extended: Outbound | null = null): void {
    if (!this.#isKept(message)) return;
    let log = this.#channels.get(channel);
    if (log === undefined) {
      log = new Log(channel.name, () => this.#channels.delete(channel));
      this.#channels.set(channel, log);
    }
    this.#append(log, message, extended);
  }

  /** Keeps what one user said to another, for each of them. */
  recordBetween(sender: Client, receiver: Client, message: Outbound): void {
    if (!this.#isKept(message)) return;
    this.#append(this.#logOf(sender, receiver.nick), message, null);
    if (ownerOf(sender) === ownerOf(receiver)) return;
    this.#append(this.#logOf(receiver, sender.nick), message, null);
  }

  /** The channel's log, the oldest first. */
  ofChannel(channel: Channel): readonly HistoryEntry[] {
    return this.#channels.get(channel)?.entries ?? [];
  }

  /** What a user exchanged with the one that has, or had, this nick; the oldest first. */
  between(client: Client, nick: string): readonly HistoryEntry[] {
    return this.#users.get(ownerOf(client))?.get(foldCase(nick))?.entries ?? [];
  }

  /** Everybody with whom a user exchanged messages that are still there. */
  correspondentsOf(client: Client): Correspondent[] {
    return [...this.#users.get(ownerOf(client))?.values() ?? []];
  }

  /** The channel's message with this id, if it is still there. */
  findInChannel(channel: Channel, id: string): HistoryEntry | null {
    return this.ofChannel(channel).findLast((entry) => entry.id === id) ?? null;
  }

  /** The message with this id that a user exchanged with the one of this nick, if still there. */
  findBetween(client: Client, nick: string, id: string): HistoryEntry | null {
    return this.between(client, nick).findLast((entry) => entry.id === id) ?? null;
  }

  /**
   * Takes a message of a channel out. What is left is its id and time, by which clients may refer to
   * what lies before and after it. `redaction` is what the channel is told.
   */
  redactInChannel(channel: Channel, entry: HistoryEntry, redaction: Outbound): void {
    const log = this.#channels.get(channel);
    if (log) this.#redact(log, entry, redaction);
  }

  /** Takes a message between two users out of the log of each, wherever they are. */
  redactBetween(entry: HistoryEntry, redaction: Outbound): void {
    for (const logs of this.#users.values()) {
      for (const log of logs.values()) this.#redact(log, entry, redaction);
    }
  }

  forgetChannel(channel: Channel): void {
    const log = this.#channels.get(channel);
    if (log) this.#drop(log);
  }

  /** Forgets what was kept for a client without an account, or for an account. */
  forgetUser(owner: Owner): void {
    const key = typeof owner === "string" ? foldCase(owner) : owner;
    for (const log of [...this.#users.get(key)?.values() ?? []]) this.#drop(log);
  }

  #isKept({ command, tags }: Outbound): boolean {
    if (this.#limits().historyMessages === 0) return false;
    return command !== "TAGMSG" || (tags.client ?? []).some(([key]) => !PASSING_TAGS.has(key));
  }

  #logOf(client: Client, nick: string): Log {
    const owner = ownerOf(client);
    const logs = this.#users.get(owner) ?? new Map<string, Log>();
    this.#users.set(owner, logs);
    const key = foldCase(nick);
    let log = logs.get(key);
    if (log === undefined) {
      log = new Log(nick, () => {
        logs.delete(key);
        if (logs.size === 0) this.#users.delete(owner);
      });
      logs.set(key, log);
    }
    log.nick = nick;
    return log;
  }

  #append(log: Log, message: Outbound, extended: Outbound | null): void {
    const { msgid, time } = message.tags;
    const { command } = message;
    message.releaseForms();
    extended?.releaseForms();
    const entry = {
      id: msgid ?? "",
      time: Date.parse(time),
      isMessage: command === "PRIVMSG" || command === "NOTICE",
      message,
      extended,
      isRedacted: false,
    };
    log.entries.push(entry);
    this.#bytes += sizeOf(entry);
    this.#logs.delete(log);
    this.#logs.add(log);
    const { historyMessages, historyBytes } = this.#limits();
    while (log.entries.length > historyMessages) this.#dropOldest(log);
    for (const idle of this.#logs) {
      while (this.#bytes > historyBytes && idle.entries.length > 0) this.#dropOldest(idle);
      if (this.#bytes <= historyBytes) break;
    }
  }

  /** Replaces the entry of the same id, if the log has it. */
  #redact({ entries }: Log, { id, time }: HistoryEntry, redaction: Outbound): void {
    let index = firstSince(entries, time);
    while (entries[index]?.time === time && entries[index]?.id !== id) index++;
    const entry = entries[index];
    if (entry?.id !== id) return;
    const place = { ...entry, isMessage: false, message: redaction, extended: null };
    entries[index] = { ...place, isRedacted: true };
    this.#bytes += sizeOf(place) - sizeOf(entry);
  }

  #dropOldest(log: Log): void {
    const entry = log.entries.shift();
    if (entry) this.#bytes -= sizeOf(entry);
    if (log.entries.length > 0) return;
    this.#logs.delete(log);
    log.discard();
  }

  #drop(log: Log): void {
    while (log.entries.length > 0) this.#dropOldest(log);
  }
}

/** Where the first entry lies that is not older than a time. */
function firstSince(entries: readonly HistoryEntry[], time: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.time ?? time) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function ownerOf(client: Client): Owner {
  return client.account === null ? client : foldCase(client.account);
}

function sizeOf({ message, extended }: HistoryEntry): number {
  return ENTRY_BYTES + message.length + (extended?.length ?? 0);
}

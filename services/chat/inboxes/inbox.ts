import { TooMany, Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Logged, MessageLog, parseMicroseconds, Stamps } from "../messages/mod.ts";
import {
  type Addressed,
  type AddressedText,
  type EntryState,
  type PastEntry,
  pastEntry,
  type Tracking,
} from "./entry.ts";
import type { InboxStore, Sent } from "./inbox_store.ts";

/** Entries kept for each agent. */
export const INBOX_CAPACITY = 200;

/** UTF-16 units of text kept for each agent. */
const MAX_UNITS = 256 * 1024;

export interface InboxOptions {
  /** The agent's account. */
  readonly accountId: string;
  readonly nick: string;
  /** Null if messages are kept only in memory. */
  readonly store: InboxStore | null;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Called for a message that no longer fits before the agent had it. */
  readonly onBounced: (message: AddressedText, tracking: Tracking) => void;
}

/** A new entry. */
export interface NewEntry {
  readonly message: AddressedText;
  /** Unix milliseconds. */
  readonly time: number;
  readonly state: "queued" | "delivered";
  readonly tracking: Tracking;
}

/** How far an entry got. */
interface Status extends Tracking {
  state: EntryState;
  /** Unix milliseconds; 0 if that is unknown. */
  since: number;
}

/** An entry that is on its way to the disk. Nobody sees it yet. */
interface Storing {
  readonly message: AddressedText;
  /** Unix microseconds. */
  readonly time: number;
  /** Its state as it is stored. */
  readonly state: EntryState;
}

/** The number of entries in an inbox, by state and kind. */
export interface InboxCounts {
  readonly total: number;
  readonly queued: number;
  readonly delivered: number;
  readonly read: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** When the oldest entry came, in ISO 8601; null without one. */
  readonly oldest: string | null;
}

/** Entries that their agent is done with. */
export interface Acknowledged {
  readonly count: number;
  /** Ids that are not and were not lately in the inbox. */
  readonly unknown: readonly string[];
}

/**
 * One agent's inbox. The first message or reader loads the stored messages. Messages that arrive
 * meanwhile wait, and follow the stored ones in the order in which they came. A reader sees an entry
 * once it is on disk: nobody acts on one that a crash would take back.
 *
 * In a full inbox, the oldest entry that may leave makes room: an entry that the agent has had, unless
 * the agent acknowledges entries, and one that is not a message to the agent alone. If none may
 * leave, the oldest message goes back to its sender.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** Null until the stored messages are loaded. */
  #messages: MessageLog<AddressedText> | null = null;
  #loading: Promise<MessageLog<AddressedText>> | null = null;
  /** How far each entry got, by its id. */
  readonly #statuses = new Map<string, Status>();
  /** Entries that are on their way to the disk, by id, in their order. */
  readonly #storing = new Map<string, Storing>();
  #stamps = new Stamps();
  #acknowledges = false;
  #waiting: NewEntry[] = [];
  #waitingUnits = 0;
  /** Ids of messages that were redacted while they waited, or during the load. */
  #redacted: string[] = [];
  #endReason: string | null = null;
  /** Whether the last load failed, which is logged once. */
  #failed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    if (options.store === null) this.#messages = this.#newLog([]);
  }

  /** The messages; null until {@link load} has loaded them. */
  get messages(): MessageLog<AddressedText> | null {
    return this.#messages;
  }

  /** The running load, or null. */
  get loading(): Promise<unknown> | null {
    return this.#loading;
  }

  /**
   * Loads the stored messages, and adds those that wait. After a failure, the next call tries again.
   *
   * @throws the database's error
   */
  load(): Promise<MessageLog<AddressedText>> {
    if (this.#messages !== null) return Promise.resolve(this.#messages);
    this.#loading ??= this.#load().finally(() => this.#loading = null);
    return this.#loading;
  }

  /** Whether entries are on their way to the disk. */
  get isStoring(): boolean {
    return this.#storing.size > 0;
  }

  /**
   * Adds an entry. Readers see it once it is stored.
   *
   * @returns false if too much waits for the disk already: then it is not added
   */
  append(newEntry: NewEntry): boolean {
    if (this.#messages !== null) return this.#append(this.#messages, newEntry);
    this.#wait(newEntry);
    // A load that fails logs it. The message then waits for the next load.
    this.load().catch(() => {});
    return true;
  }

  /**
   * Adds an entry, unless the inbox has or had one with its id.
   *
   * @throws Unavailable if too much waits for the disk already
   */
  async addOnce(newEntry: NewEntry): Promise<void> {
    const messages = await this.load();
    const { id } = newEntry.message;
    if (this.#storing.has(id) || messages.microsecondsOf(id) !== null) return;
    if (!this.#append(messages, newEntry)) throw takesNoMore();
  }

  /**
   * Makes sure that a message fits which can be refused.
   *
   * @param units its length in UTF-16 units
   * @throws TooMany if there is no room, and what {@link load} throws
   */
  async requireRoom(units: number): Promise<void> {
    const messages = await this.load();
    const storing = this.#storing.size;
    const allUnits = this.#storing.values().reduce(
      (sum, { message }) => sum + message.text.length,
      units,
    );
    if (messages.hasRoom(allUnits, storing + 1)) return;
    // One that can leave is enough for each: what does not fit then makes more room itself.
    const leaving = messages.read(undefined, INBOX_CAPACITY).filter((one) => this.#mayLeave(one));
    if (leaving.length > storing) return;
    const count = messages.size + storing;
    throw new TooMany(
      `The inbox of "${this.#options.nick}" is full: ${count} messages wait for it`,
    );
  }

  /** Adds to entries the state that they have now. */
  withStates(messages: readonly Logged<AddressedText>[]): Addressed[] {
    return messages.map((message) => ({ ...message, state: this.#stateOf(message.id) }));
  }

  /** The entries that their agent has not read, oldest first; with `since` those after it. */
  unread(messages: MessageLog<AddressedText>, since?: string): Logged<AddressedText>[] {
    return messages.read(since, INBOX_CAPACITY).filter(({ id }) => {
      const state = this.#statuses.get(id)?.state;
      return state === "queued" || state === "delivered";
    });
  }

  /**
   * Notes that entries reached their agent, unless it had them already.
   *
   * @returns the ids of those that it had not
   */
  reached(ids: readonly string[], state: "delivered" | "read"): string[] {
    const before = state === "read" ? ["queued", "delivered"] : ["queued"];
    const news = ids.filter((id) => {
      const status = this.#statuses.get(id);
      if (status === undefined || !before.includes(status.state)) return false;
      status.state = state;
      status.since = this.#options.clock();
      return true;
    });
    const times = news.flatMap((id) => this.#messages?.microsecondsOf(id) ?? []);
    if (times.length > 0) this.#options.store?.mark(this.#options.accountId, times, state);
    return news;
  }

  /** Removes entries that their agent is done with. */
  acknowledge(messages: MessageLog<AddressedText>, ids: readonly string[]): Acknowledged {
    const meant = new Set(ids.filter((id) => this.has(id)));
    const unknown = ids.filter((id) => !meant.has(id) && messages.microsecondsOf(id) === null);
    if (meant.size === 0) return { count: 0, unknown };
    this.#acknowledges = true;
    this.#leave(messages, meant, "acknowledged");
    return { count: meant.size, unknown };
  }

  /** Whether an entry is stored and has not left. */
  has(id: string): boolean {
    return this.#statuses.has(id) && !this.#storing.has(id);
  }

  /** The message of an id that still waits for the agent; null if there is none. */
  find(messages: MessageLog<AddressedText>, id: string): AddressedText | null {
    if (this.#statuses.get(id)?.state !== "queued") return null;
    return messages.read(undefined, INBOX_CAPACITY).find((message) => message.id === id) ?? null;
  }

  /** Removes a message that expired, unless the agent had it meanwhile. */
  expire(messages: MessageLog<AddressedText>, id: string): void {
    if (this.find(messages, id) !== null) this.#leave(messages, new Set([id]), "bounced");
  }

  /** Drops entries from before a time, in Unix microseconds. */
  removeBefore(microseconds: number): void {
    const messages = this.#messages;
    if (messages === null || (messages.oldest ?? Infinity) >= microseconds) return;
    messages.removeBefore(microseconds);
    const kept = new Set(messages.read(undefined, INBOX_CAPACITY).map(({ id }) => id));
    for (const id of [...this.#statuses.keys()]) {
      if (!kept.has(id) && !this.#storing.has(id)) this.#statuses.delete(id);
    }
  }

  counts(messages: MessageLog<AddressedText>): InboxCounts {
    const states: Record<string, number> = { queued: 0, delivered: 0, read: 0 };
    const kinds: Record<string, number> = {};
    const all = messages.read(undefined, INBOX_CAPACITY);
    for (const { id, kind } of all) {
      const state = this.#stateOf(id);
      states[state] = (states[state] ?? 0) + 1;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    const { queued = 0, delivered = 0, read = 0 } = states;
    return { total: all.length, queued, delivered, read, kinds, oldest: all[0]?.timestamp ?? null };
  }

  /** The messages that wait for the agent and expire; without a store. */
  expiring(): Sent[] {
    return this.#sent().filter(({ state, expiresAt }) => state === "queued" && expiresAt !== null);
  }

  /** The entry of an id for its sender; without a store. */
  copy(id: string): Sent | null {
    return this.#sent().find((sent) => sent.id === id) ?? null;
  }

  /**
   * Removes a message that was redacted. The caller redacts it in the store; this only does so for a
   * message that the store does not have yet.
   */
  redact(id: string): void {
    this.#statuses.delete(id);
    this.#storing.delete(id);
    if (this.#messages !== null) this.#messages.remove((message) => message.id === id);
    else if (this.#loading !== null || this.#isWaiting(id)) this.#redacted.push(id);
  }

  /** Ends every reader, also those that come later. */
  end(reason: string): void {
    this.#endReason = reason;
    this.#messages?.end(reason);
  }

  async #load(): Promise<MessageLog<AddressedText>> {
    const { accountId, nick, store, log } = this.#options;
    try {
      const messages = this.#restore((await store?.load(accountId) ?? []).map(pastEntry));
      for (const newEntry of this.#waiting) this.#append(messages, newEntry);
      for (const id of this.#redacted) {
        this.#statuses.delete(id);
        this.#storing.delete(id);
        messages.remove((message) => message.id === id);
        store?.redact(id);
      }
      if (this.#endReason !== null) messages.end(this.#endReason);
      this.#messages = messages;
      this.#waiting = [];
      this.#redacted = [];
      return messages;
    } catch (error) {
      if (!this.#failed) log.error("An inbox cannot be read", { agent: nick, error });
      this.#failed = true;
      this.#redacted = this.#redacted.filter((id) => this.#isWaiting(id));
      throw error;
    }
  }

  #restore(entries: readonly PastEntry[]): MessageLog<AddressedText> {
    const messages = this.#newLog(entries);
    this.#stamps = new Stamps(entries.at(-1)?.past.microseconds);
    const oldest = messages.oldest ?? Infinity;
    for (const { state, tracking, past } of entries) {
      if (state === "acknowledged") this.#acknowledges = true;
      if ("removed" in past) continue;
      const { message, microseconds } = past;
      const status = { ...tracking, state, since: 0 };
      // A crash came before it had made room for a newer one.
      if (microseconds < oldest) this.#madeRoom(message, microseconds, status);
      else this.#statuses.set(message.id, status);
    }
    return messages;
  }

  #newLog(entries: readonly PastEntry[]): MessageLog<AddressedText> {
    const { nick: agent, log } = this.#options;
    const onFailure = (error: unknown) =>
      log.error("A reader of an inbox failed", { agent, error });
    const options = { capacity: INBOX_CAPACITY, maxUnits: MAX_UNITS, onFailure };
    return new MessageLog(options, entries.map(({ past }) => past));
  }

  /** @returns false if the store does not take it */
  #append(messages: MessageLog<AddressedText>, newEntry: NewEntry): boolean {
    const { message, state, tracking } = newEntry;
    const { accountId, store, clock } = this.#options;
    const time = this.#stamps.next(newEntry.time);
    const { id, kind, from: sender, text: body, ...about } = message;
    const storing = { message, time, state };
    if (store !== null) {
      const stored = { time, id, kind, sender, body, about };
      const isTaken = store.append(accountId, Object.assign(stored, tracking, { state }), (is) => {
        if (this.#storing.delete(id)) this.#stored(messages, storing, is);
      });
      if (!isTaken) return false;
    }
    this.#statuses.set(id, { ...tracking, state, since: clock() });
    if (store === null) this.#show(messages, storing);
    else {
      this.#storing.set(id, storing);
      // Somebody waits for it.
      if (messages.followers > 0 && !store.isFailing) store.flush().catch(() => {});
    }
    return true;
  }

  /** Shows an entry that the disk has, unless it cannot have it. */
  #stored(messages: MessageLog<AddressedText>, storing: Storing, isStored: boolean): void {
    const { message: { id }, time, state } = storing;
    if (!isStored) return void this.#statuses.delete(id);
    this.#show(messages, storing);
    // It reached its agent over IRC meanwhile.
    const reached = this.#stateOf(id);
    if (reached !== state) this.#options.store?.mark(this.#options.accountId, [time], reached);
  }

  #show(messages: MessageLog<AddressedText>, { message, time }: Storing): void {
    while (!messages.hasRoom(message.text.length)) this.#makeRoom(messages);
    messages.appendAt(message, time);
  }

  #makeRoom(messages: MessageLog<AddressedText>): void {
    const left = messages.dropOldest((message) => this.#mayLeave(message)) ??
      messages.dropOldest(() => true);
    const status = left === null ? undefined : this.#statuses.get(left.id);
    if (left === null || status === undefined) return;
    this.#statuses.delete(left.id);
    this.#madeRoom(left, parseMicroseconds(left.timestamp) ?? 0, status);
  }

  /** Stores that an entry has made room, and returns a message that its agent has not had. */
  #madeRoom(left: AddressedText, time: number, status: Status): void {
    const bounces = left.kind === "message" && status.state === "queued";
    const { accountId, store, onBounced } = this.#options;
    store?.release(accountId, [time], bounces ? "bounced" : "dropped");
    if (bounces) onBounced(left, status);
  }

  /** Whether an entry makes room for another. */
  #mayLeave({ id, kind }: AddressedText): boolean {
    const hadIt = this.#stateOf(id) !== "queued";
    return hadIt && !this.#acknowledges || kind !== "message";
  }

  /** Takes entries out, from whose ids readers can still continue. */
  #leave(
    messages: MessageLog<AddressedText>,
    ids: ReadonlySet<string>,
    state: "acknowledged" | "bounced",
  ): void {
    const times = Array.from(ids, (id) => messages.microsecondsOf(id) ?? 0);
    messages.remove(({ id }) => ids.has(id));
    for (const id of ids) this.#statuses.delete(id);
    this.#options.store?.release(this.#options.accountId, times, state);
  }

  #stateOf(id: string): EntryState {
    return this.#statuses.get(id)?.state ?? "delivered";
  }

  #sent(): Sent[] {
    const { accountId } = this.#options;
    return Array.from(this.#statuses, ([id, { since: stateAt, ...status }]) => {
      const time = this.#messages?.microsecondsOf(id) ?? 0;
      return { ...status, accountId, id, time, stateAt };
    });
  }

  #isWaiting(id: string): boolean {
    return this.#waiting.some(({ message }) => message.id === id);
  }

  /** Keeps no more messages waiting than the inbox would hold. */
  #wait(newEntry: NewEntry): void {
    this.#waiting.push(newEntry);
    this.#waitingUnits += newEntry.message.text.length;
    while (
      this.#waiting.length > INBOX_CAPACITY ||
      (this.#waitingUnits > MAX_UNITS && this.#waiting.length > 1)
    ) this.#waitingUnits -= this.#waiting.shift()?.message.text.length ?? 0;
  }
}

/** The error for a message that would have to wait for the disk with too many others. */
export function takesNoMore(): Unavailable {
  return new Unavailable("Too many messages wait to be stored; try again later");
}

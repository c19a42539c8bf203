import { z } from "zod";
import type { Log } from "../log.ts";
import { type Logged, MessageLog, type PastMessage } from "../messages/mod.ts";
import type { InboxStore, Restored } from "./inbox_store.ts";

/** Messages kept for each agent. */
export const INBOX_CAPACITY = 200;

/** UTF-16 units of text kept for each agent. */
const MAX_UNITS = 64 * 1024;

/**
 * Why an entry is in an inbox: a message to the agent alone, a mention in a channel or in a text of
 * a project, or something that happened to the agent's work in a project.
 */
export const ADDRESSED_KINDS = [
  "message",
  "mention",
  "claim",
  "review",
  "check",
  "landing",
  "overlap",
  "answer",
] as const;
const kindSchema = z.enum(ADDRESSED_KINDS);
export type AddressedKind = z.infer<typeof kindSchema>;

/** What of a project an entry is about. */
const aboutSchema = z.object({
  /** The project's slug. */
  project: z.string().optional(),
  /** The whole id of a ticket. */
  ticket: z.string().optional(),
  /** The number of a review. */
  review: z.number().optional(),
  /** The whole id of a check-in. */
  checkin: z.string().optional(),
  /** The name of a workspace. */
  workspace: z.string().optional(),
});
export type About = z.infer<typeof aboutSchema>;

/** The stored fields of a message besides its text and speaker. */
const storedSchema = aboutSchema.extend({
  account: z.string().nullable().optional(),
  via: z.literal("bridge").optional(),
  channel: z.string().nullable().optional(),
});

/** An entry of an inbox. */
export interface AddressedText extends About {
  readonly id: string;
  readonly kind: AddressedKind;
  /** The speaker's nick. */
  readonly from: string;
  /** The speaker's proven account; null if there is none. */
  readonly account: string | null;
  /** `bridge` if the operator sent it under another name. */
  readonly via?: "bridge";
  /** Null if it was sent to the agent alone. */
  readonly channel: string | null;
  readonly text: string;
}

/** A stored message to an agent. */
export type Addressed = Logged<AddressedText>;

export interface InboxOptions {
  /** The agent's account. */
  readonly accountId: string;
  readonly nick: string;
  /** Null if messages are kept only in memory. */
  readonly store: InboxStore | null;
  readonly log: Log;
}

/** A message that waits until the stored ones are loaded. */
interface Waiting {
  readonly message: AddressedText;
  /** Unix milliseconds. */
  readonly time: number;
}

/**
 * One agent's inbox. The first message or reader loads the stored messages. Messages that arrive
 * meanwhile wait, and follow the stored ones in the order in which they came.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** Null until the stored messages are loaded. */
  #messages: MessageLog<AddressedText> | null = null;
  #loading: Promise<MessageLog<AddressedText>> | null = null;
  #waiting: Waiting[] = [];
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

  /** @param time when the message was said, in Unix milliseconds */
  append(message: AddressedText, time: number): void {
    if (this.#messages !== null) return this.#append(this.#messages, message, time);
    this.#wait({ message, time });
    // A load that fails logs it. The message then waits for the next load.
    this.load().catch(() => {});
  }

  /** Adds an entry, unless the inbox has one with its id. */
  async addOnce(message: AddressedText, time: number): Promise<void> {
    const messages = await this.load();
    if (messages.microsecondsOf(message.id) === null) this.#append(messages, message, time);
  }

  /**
   * Removes a message that was redacted. The caller redacts it in the store; this only does so for a
   * message that the store does not have yet.
   */
  redact(id: string): void {
    if (this.#messages !== null) this.#remove(this.#messages, id);
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
      const messages = this.#newLog(await store?.load(accountId) ?? []);
      for (const { message, time } of this.#waiting) this.#append(messages, message, time);
      for (const id of this.#redacted) {
        this.#remove(messages, id);
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

  #newLog(restored: readonly Restored[]): MessageLog<AddressedText> {
    const { nick: agent, log } = this.#options;
    const onFailure = (error: unknown) =>
      log.error("A reader of an inbox failed", { agent, error });
    const options = { capacity: INBOX_CAPACITY, maxUnits: MAX_UNITS, onFailure };
    return new MessageLog(options, restored.map(pastMessage));
  }

  #append(messages: MessageLog<AddressedText>, message: AddressedText, time: number): void {
    const { oldest } = messages;
    messages.append(message, time);
    const evicts = oldest !== null && messages.oldest !== oldest;
    const { id, kind, from: sender, text: body, ...about } = message;
    const stored = { time: messages.newest ?? 0, id, kind, sender, body, about };
    const { accountId, store } = this.#options;
    store?.append(accountId, stored, evicts ? messages.oldest : null);
  }

  #remove(messages: MessageLog<AddressedText>, id: string): void {
    const { accountId, store } = this.#options;
    store?.remove(accountId, messages.remove((message) => message.id === id));
  }

  #isWaiting(id: string): boolean {
    return this.#waiting.some(({ message }) => message.id === id);
  }

  /** Keeps no more messages waiting than the inbox would hold. */
  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#waitingUnits += waiting.message.text.length;
    while (
      this.#waiting.length > INBOX_CAPACITY ||
      (this.#waitingUnits > MAX_UNITS && this.#waiting.length > 1)
    ) this.#waitingUnits -= this.#waiting.shift()?.message.text.length ?? 0;
  }
}

/** A message as it was before a restart. */
function pastMessage(restored: Restored): PastMessage<AddressedText> {
  if (restored.kind === "redacted") return { microseconds: restored.time, removed: restored.id };
  const { time, id, kind, sender: from, body: text, about } = restored.message;
  const { account = null, via, channel = null, ...rest } = storedSchema.parse(about);
  const origin = via === undefined ? { from, account } : { from, account, via };
  const message = { id, kind: kindSchema.parse(kind), ...origin, channel, text, ...rest };
  return { microseconds: time, message };
}

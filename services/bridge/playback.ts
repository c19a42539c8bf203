import { Invalid, TimedOut, TooMany } from "../errors.ts";
import { formatMicroseconds, type MessageLog, Stamps } from "../messages/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { Confirmation } from "./confirmation.ts";
import type { LinkMessage, PlaybackPage } from "./link_events.ts";
import { isMessageId, MessageIds, messageOfLine } from "./message_ids.ts";
import type { ChannelMessage, ChannelText } from "./options.ts";
import { textOf } from "./shown.ts";

/** How long the server has to play back a page. */
const PAGE_MILLISECONDS = 10_000;

/** Messages that are asked for at once: what else the bridge has to say waits for no more. */
const PAGE = 256;

/** Beside those that are wanted: to find out where the first one's millisecond begins. */
const SPARE = 16;

/** Readers that may wait for the server. */
const MAX_WAITING = 1000;

/** What the past needs of the connection. */
export interface PlaybackLink {
  /** How many messages the server plays back at once; 0 where it does not. */
  readonly playback: number;
  playBack(part: string, limit: number, label: string): void;
}

/** A channel, and what is kept of it already. */
export interface PlaybackChannel {
  readonly name: string;
  readonly log: MessageLog<ChannelText>;
}

interface PastMessage extends ChannelText {
  /** When the server took it, in Unix milliseconds. */
  readonly time: number;
}

/**
 * What was said in a channel before the bridge's log of it begins, asked of the server (CHATHISTORY),
 * one page at a time.
 *
 * The timestamps are those that the log would have given: they count the messages of a millisecond,
 * so that what is read begins with a whole one.
 */
export class Playback {
  readonly #link: PlaybackLink;
  readonly #scheduler: Scheduler;
  readonly #requests = new Map<string, { done: Confirmation; page: PlaybackPage | null }>();
  /** The last of the pages that were asked for: the next one is asked for after it. */
  #last: Promise<unknown> = Promise.resolve();
  /** Of the connection: with what error it ended, once it has. */
  #session: { ended: Error | null } = { ended: null };
  #waiting = 0;
  #lastLabel = 0;

  constructor(link: PlaybackLink, scheduler: Scheduler) {
    this.#link = link;
    this.#scheduler = scheduler;
  }

  /** Whether the server plays messages back. */
  get available(): boolean {
    return this.#link.playback > 0;
  }

  /**
   * Takes the newest messages into a channel's log, as many as `limit` or some more, unless the log
   * has them or goes on after them.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async fill({ name, log }: PlaybackChannel, limit: number): Promise<void> {
    const heard = await this.#backwards(name, `LATEST ${name} *`, limit);
    for (const { time, ...message } of textsOf(heard)) {
      const isOld = time < Math.floor((log.newest ?? 0) / 1000);
      if (!isOld && log.microsecondsOf(message.id) === null) log.append(message, time);
    }
  }

  /**
   * The last `limit` messages before a timestamp or the id of a message, from the log or from before
   * it; oldest first.
   *
   * @throws Invalid where it is neither, TimedOut, TooMany, and the error of {@link clear}
   */
  async readBefore(
    { name, log }: PlaybackChannel,
    before: string,
    limit: number,
  ): Promise<ChannelMessage[]> {
    const microseconds = await this.microsecondsOf({ name, log }, before);
    if (microseconds === null) {
      throw new Invalid('"before" must be an ISO 8601 time or the id of a message that is kept');
    }
    const kept = log.readBefore(microseconds, limit);
    if (kept.length === limit || !this.available) return kept;
    const found = await this.#before(name, microseconds, limit);
    return found.length > kept.length ? found : kept;
  }

  /**
   * The first `limit` messages after a timestamp or the id of a message, where a channel's log does
   * not reach back to it; else none.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async readAfter(
    { name, log }: PlaybackChannel,
    since: string,
    limit: number,
  ): Promise<ChannelMessage[]> {
    if (!this.available) return [];
    const microseconds = log.microsecondsOf(since) ?? await this.#lookUp(name, since);
    if (microseconds === null || microseconds >= (log.oldest ?? Infinity)) return [];
    return await this.#after(name, microseconds, limit);
  }

  /**
   * What a timestamp or the id of a message stands for, in microseconds since 1970; null where it is
   * neither a time nor the id of a message that the log or the server keeps.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async microsecondsOf({ name, log }: PlaybackChannel, reference: string): Promise<number | null> {
    return log.microsecondsOf(reference) ?? await this.#lookUp(name, reference);
  }

  /** Takes in what the server plays back. */
  take(page: PlaybackPage): void {
    const request = this.#requests.get(page.label);
    if (request === undefined) return;
    request.page = page;
    request.done.confirm();
  }

  /** Notes that the server plays nothing back for this label. Whether the label is one of ours. */
  refuse(label: string): boolean {
    const request = this.#requests.get(label);
    request?.done.confirm();
    return request !== undefined;
  }

  /** Ends everything: answers will not come any more. */
  clear(error: Error): void {
    this.#session.ended = error;
    this.#session = { ended: null };
    for (const { done } of this.#requests.values()) done.refuse(error);
  }

  /** The newest `limit` messages before a time, in microseconds since 1970; oldest first. */
  async #before(channel: string, microseconds: number, limit: number): Promise<ChannelMessage[]> {
    const millisecond = Math.floor(microseconds / 1000);
    const part = `BEFORE ${channel} ${timestamp(millisecond + 1)}`;
    // Those of the last millisecond that are not before the time are read in vain.
    for (let wanted = limit;; wanted *= 2) {
      const heard = await this.#backwards(channel, part, wanted);
      const found = stamped(heard).filter((one) => one.microseconds < microseconds);
      if (found.length >= limit || heard.length < wanted) return messagesOf(found.slice(-limit));
    }
  }

  /** The first `limit` messages after a time, in microseconds since 1970. */
  async #after(channel: string, microseconds: number, limit: number): Promise<ChannelMessage[]> {
    const heard: LinkMessage[] = [];
    let reference = timestamp(Math.floor(microseconds / 1000) - 1);
    for (;;) {
      const size = this.#pageSize(limit);
      const page = await this.#page(`AFTER ${channel} ${reference}`, size);
      heard.push(...page.messages);
      const found = stamped(heard).filter((one) => one.microseconds > microseconds);
      if (found.length >= limit || page.count < size || page.last === null) {
        return messagesOf(found.slice(0, limit));
      }
      reference = `msgid=${page.last.id}`;
    }
  }

  /** The time of a message, in microseconds since 1970; null where the server does not know it. */
  async #lookUp(channel: string, id: string): Promise<number | null> {
    if (!this.available || !isMessageId(id)) return null;
    for (const message of new Set([id, messageOfLine(id)])) {
      const { first } = await this.#page(`AROUND ${channel} msgid=${message}`, 1);
      if (first === null) continue;
      const [from, to] = [timestamp(first.time - 1), timestamp(first.time + 1)];
      const { messages } = await this.#page(
        `BETWEEN ${channel} ${from} ${to}`,
        this.#link.playback,
      );
      const found = stamped(messages).find((one) => one.message.id === id);
      if (found !== undefined) return found.microseconds;
    }
    return null;
  }

  /**
   * Reads backwards until there are so many messages, the first of them at the beginning of its
   * millisecond, or no more.
   */
  async #backwards(channel: string, part: string, limit: number): Promise<LinkMessage[]> {
    let heard: LinkMessage[] = [];
    for (;;) {
      const size = this.#pageSize(limit + SPARE - heard.length);
      const { messages, count, first } = await this.#page(part, size);
      heard = [...messages, ...heard];
      if (count < size || first === null) return heard;
      const whole = heard.filter(({ time }) => time > first.time);
      if (whole.length >= limit) return whole;
      part = `BEFORE ${channel} msgid=${first.id}`;
    }
  }

  #pageSize(wanted: number): number {
    return Math.min(Math.max(wanted, SPARE), PAGE, this.#link.playback);
  }

  /** Asks for a page when those before it have come. */
  async #page(part: string, limit: number): Promise<PlaybackPage> {
    if (this.#waiting >= MAX_WAITING) throw new TooMany("Too many readers wait for the IRC server");
    this.#waiting++;
    const before = this.#last;
    const session = this.#session;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      if (session.ended !== null) throw session.ended;
      return await this.#request(part, limit);
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  async #request(part: string, limit: number): Promise<PlaybackPage> {
    const label = `past-${(++this.#lastLabel).toString(36)}`;
    const late = () => new TimedOut("IRC did not play back its history in time");
    const done = new Confirmation(this.#scheduler, PAGE_MILLISECONDS, late);
    const request: { done: Confirmation; page: PlaybackPage | null } = { done, page: null };
    this.#requests.set(label, request);
    this.#link.playBack(part, limit, label);
    try {
      await done.promise;
    } finally {
      this.#requests.delete(label);
    }
    return request.page ??
      { kind: "playback", label, messages: [], count: 0, first: null, last: null };
  }
}

function textsOf(heard: readonly LinkMessage[]): PastMessage[] {
  const ids = new MessageIds();
  return heard.map((message) => ({
    id: ids.of(message),
    ...textOf(message),
    time: message.time,
  }));
}

interface Stamped {
  readonly microseconds: number;
  readonly message: ChannelText;
}

/** Messages with their times; the first has to be the first of its millisecond. */
function stamped(heard: readonly LinkMessage[]): Stamped[] {
  const stamps = new Stamps();
  return textsOf(heard).map(({ time, ...message }) => {
    return { microseconds: stamps.next(time), message };
  });
}

function messagesOf(found: readonly Stamped[]): ChannelMessage[] {
  return found.map(({ microseconds, message }) => {
    return { ...message, timestamp: formatMicroseconds(microseconds) };
  });
}

/** A time as CHATHISTORY takes it, given in Unix milliseconds. */
function timestamp(milliseconds: number): string {
  return `timestamp=${new Date(milliseconds).toISOString()}`;
}

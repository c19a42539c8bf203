import { Invalid, TimedOut, TooMany } from "../../kernel/errors.ts";
import {
  foldCase,
  type HistoryRecord,
  type HistoryTarget,
  messageIn,
} from "../../engines/irc/mod.ts";
import {
  formatMicroseconds,
  type Gap,
  isSought,
  type MessageLog,
  type MessageSearch,
  Stamps,
} from "../messages/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Channel } from "./channel.ts";
import { Confirmation } from "./confirmation.ts";
import { linesIn } from "./direct_session.ts";
import { type LinkMessage, type PlaybackPage, textOf } from "./link_events.ts";
import { EVENT_TELLER, isMessageId, MessageIds, messageOfLine } from "./protocol.ts";
import type { ChannelMessage, ChannelSearch, ChannelText, FoundMessages } from "./types.ts";

/** How long the server may take to play back a page. */
const PAGE_MILLISECONDS = 10_000;

/** Messages in one request: other messages of the bridge wait for at most these. */
const PAGE = 256;

/** Messages requested in addition, to find the start of the first one's millisecond. */
const SPARE = 16;

/** More readers that may wait for the server while one reads. */
const MAX_WAITING = 999;

/** The connection, as the playback uses it. */
interface PlaybackLink {
  /** How many messages the server plays back in one answer; 0 if it has no playback. */
  readonly playback: number;
  playBack(part: string, limit: number, label: string): void;
}

/** A channel and its log. */
export interface PlaybackChannel {
  readonly name: string;
  readonly log: MessageLog<ChannelText>;
}

interface PastMessage extends ChannelText {
  /** When the server accepted it, in Unix milliseconds. */
  readonly time: number;
}

/**
 * Reads messages from before the start of a channel's log from the server (CHATHISTORY), one page
 * at a time.
 *
 * Their timestamps are those that the log would assign. These count the messages within a
 * millisecond, so each read starts with a whole millisecond.
 */
export class Playback {
  readonly #archive: Pick<MessageArchive, "trimmed"> | null;
  readonly #link: PlaybackLink;
  readonly #scheduler: Scheduler;
  readonly #requests = new Map<string, { done: Confirmation; page: PlaybackPage | null }>();
  /** One page is requested at a time. */
  readonly #requesting = new Semaphore({
    permits: 1,
    maxWaiting: MAX_WAITING,
    refusal: () => new TooMany("Too many readers wait for the IRC server"),
  });
  /** The error with which the connection ended, if it has. */
  #session: { ended: Error | null } = { ended: null };
  #lastLabel = 0;

  /** @param archive the history of the server, if it is on this program's disk */
  constructor(
    link: PlaybackLink,
    scheduler: Scheduler,
    archive: Pick<MessageArchive, "trimmed"> | null,
  ) {
    this.#archive = archive;
    this.#link = link;
    this.#scheduler = scheduler;
  }

  /** Whether the server plays messages back. */
  get available(): boolean {
    return this.#link.playback > 0;
  }

  /**
   * Adds the newest messages to a channel's log, `limit` or a few more, unless the log has them or
   * already continues after them.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async fill({ name, log }: PlaybackChannel, limit: number): Promise<void> {
    const heard = await this.newest(name, limit);
    const isFirst = log.size === 0;
    for (const { time, ...message } of textsOf(heard)) {
      const isOld = time < Math.floor((log.newest ?? 0) / 1000);
      if (!isOld && log.microsecondsOf(message.id) === null) log.append(message, time);
    }
    if (isFirst && heard.length >= limit) log.noteMissing();
  }

  /**
   * The newest messages of a channel, `limit` or a few more, oldest first.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async newest(channel: string, limit: number): Promise<readonly LinkMessage[]> {
    return await this.#backwards(channel, `LATEST ${channel} *`, limit);
  }

  /**
   * The last `limit` messages before a timestamp or message id, from the log or from before it;
   * oldest first.
   *
   * @throws Invalid if it is neither, TimedOut, TooMany, and the error of {@link clear}
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
   * The first `limit` messages after a timestamp or message id, if a channel's log does not reach
   * back to it; otherwise none.
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
   * The time of a timestamp or message id, in microseconds since 1970; null if it is neither a time
   * nor the id of a message in the log or on the server.
   *
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async microsecondsOf({ name, log }: PlaybackChannel, reference: string): Promise<number | null> {
    return log.microsecondsOf(reference) ?? await this.#lookUp(name, reference);
  }

  /**
   * What somebody may miss who continues after a time that is before the log: null if the server
   * still has everything after it. The archive knows what it has removed. Of another server it is
   * known only if it still has a message from then or from before.
   *
   * @param microseconds since 1970
   * @param reference how the reader named the time
   * @throws TimedOut, TooMany, and the error of {@link clear}
   */
  async gapAfter(
    { name, log }: PlaybackChannel,
    microseconds: number,
    reference: string,
  ): Promise<Gap | null> {
    const archive = this.#archive;
    const gap = archive === null
      ? log.gapAfter(microseconds, reference)
      : await this.#isWhole(archive, { name, log }, microseconds)
      ? null
      : log.gapSince(reference);
    if (gap === null || !this.available) return gap;
    const [earlier] = await this.#before(name, microseconds + 1, 1);
    if (earlier !== undefined) return null;
    const [first] = await this.#after(name, microseconds, 1);
    return { from: reference, to: first?.timestamp ?? gap.to };
  }

  /** Whether nothing was removed that was said after a time, in microseconds since 1970. */
  async #isWhole(
    archive: Pick<MessageArchive, "trimmed">,
    { name, log }: PlaybackChannel,
    microseconds: number,
  ): Promise<boolean> {
    if (microseconds >= (log.oldest ?? Infinity)) return true;
    const trimmed = await archive.trimmed({ account: null, name: foldCase(name) });
    return trimmed === 0 || microseconds >= (trimmed + 1) * 1000;
  }

  /** Handles a page from the server. */
  take(page: PlaybackPage): void {
    const request = this.#requests.get(page.label);
    if (request === undefined) return;
    request.page = page;
    request.done.confirm();
  }

  /**
   * Records that the server refuses the request with this label. Returns whether the label is
   * known.
   */
  refuse(label: string): boolean {
    const request = this.#requests.get(label);
    request?.done.confirm();
    return request !== undefined;
  }

  /** Rejects everything: no more answers will come. */
  clear(error: Error): void {
    this.#session.ended = error;
    this.#session = { ended: null };
    for (const { done } of this.#requests.values()) done.refuse(error);
  }

  /** The newest `limit` messages before a time, in microseconds since 1970; oldest first. */
  async #before(channel: string, microseconds: number, limit: number): Promise<ChannelMessage[]> {
    const millisecond = Math.floor(microseconds / 1000);
    const part = `BEFORE ${channel} ${timestamp(millisecond + 1)}`;
    // The messages of the last millisecond at or after the time are read but not used.
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

  /** The time of a message, in microseconds since 1970; null if the server does not know it. */
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
   * Reads backwards until there are enough messages, starting with a whole millisecond, or no more
   * messages.
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

  /** Requests a page once the earlier ones have arrived. */
  async #page(part: string, limit: number): Promise<PlaybackPage> {
    const session = this.#session;
    using _permit = await this.#requesting.acquire();
    if (session.ended !== null) throw session.ended;
    return await this.#request(part, limit);
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

/** Messages with their timestamps; the first one must be the first of its millisecond. */
function stamped(heard: readonly LinkMessage[]): Stamped[] {
  const stamps = new Stamps();
  return textsOf(heard).map(({ time, ...message }) => {
    return { microseconds: stamps.next(time), message };
  });
}

function messagesOf(found: readonly Stamped[]): ChannelMessage[] {
  return found.map(messageOf);
}

/** Formats Unix milliseconds for CHATHISTORY. */
function timestamp(milliseconds: number): string {
  return `timestamp=${new Date(milliseconds).toISOString()}`;
}

/** Answers of the archive that one search waits for; each takes some milliseconds. */
const MAX_ANSWERS = 20;

/** Messages that a search reads without an archive, in parts. */
const MAX_READ = 5000;
const READ_AT_ONCE = 500;

/** Where an answer of the archive stopped. */
interface Reached {
  /** Unix milliseconds. */
  readonly time: number;
  readonly sequence: number;
}

/** The history on disk, as a search of it needs it. */
export interface MessageArchive {
  /** Whether a log has a record with this id, or had it before it was redacted. */
  has(target: HistoryTarget, id: string): Promise<boolean>;
  /** What those wait for who have said something while too much waits to be stored; or null. */
  room(): Promise<void> | null;
  /**
   * When the newest message was said that is no longer kept in a log, in Unix milliseconds; 0 if all
   * are.
   *
   * @throws Unavailable if the history cannot be read at the moment
   */
  trimmed(target: HistoryTarget): Promise<number>;
  /**
   * Finds records of a log, from the newest back.
   *
   * @throws Unavailable if the history cannot be read at the moment
   */
  search(target: HistoryTarget, wanted: {
    readonly sought: MessageSearch;
    /** Unix milliseconds; null to search everything. */
    readonly upTo: number | null;
    readonly from: Reached | null;
    readonly limit: number;
  }): Promise<{
    /** What was said in each millisecond, and which of it may be meant. */
    readonly moments: readonly {
      readonly records: readonly HistoryRecord[];
      readonly hits: readonly number[];
    }[];
    /** Where to search on; null if everything was searched. */
    readonly reached: Reached | null;
  }>;
}

interface SearchingOptions {
  /** Null if messages are not on this server's disk. */
  readonly archive: MessageArchive | null;
  readonly playback: Playback;
  /** Messages in memory, which is also the limit of one read. */
  readonly bufferSize: number;
}

/** Searches channels, by the archive's index, or by reading back if there is none. */
export class Searching {
  readonly #options: SearchingOptions;

  constructor(options: SearchingOptions) {
    this.#options = options;
  }

  /**
   * As `Bridge.search`.
   *
   * @throws Invalid if `before` is neither a time nor the id of a message that is kept
   */
  async search(channel: Channel, wanted: ChannelSearch): Promise<FoundMessages> {
    const { archive, playback } = this.#options;
    const { before } = wanted;
    const until = before === undefined ? null : await playback.microsecondsOf(channel, before);
    if (before !== undefined && until === null) {
      throw new Invalid('"before" must be an ISO 8601 time or the id of a message that is kept');
    }
    return archive === null
      ? await this.#readBack(channel, wanted)
      : await searchArchive(archive, channel.name, wanted, until ?? Infinity);
  }

  async #readBack(channel: Channel, { sought, before, limit }: ChannelSearch) {
    const { playback, bufferSize } = this.#options;
    const atOnce = Math.min(READ_AT_ONCE, bufferSize);
    const messages: ChannelMessage[] = [];
    let cursor = before;
    for (let read = 0; read < MAX_READ; read += atOnce) {
      const part = cursor === undefined
        ? channel.log.read(undefined, atOnce)
        : await playback.readBefore(channel, cursor, atOnce);
      for (const message of part.toReversed()) {
        if (!isSought(sought, message)) continue;
        messages.push(message);
        if (messages.length === limit) return { messages, searchedTo: message.timestamp };
      }
      const [oldest] = part;
      // The newest part may be shorter, because it comes from memory.
      const isEnd = oldest === undefined || (part.length < atOnce && cursor !== undefined);
      if (isEnd) return { messages, searchedTo: null };
      cursor = oldest.timestamp;
    }
    return { messages, searchedTo: cursor ?? null };
  }
}

/** @param until microseconds; what is found came before */
async function searchArchive(
  archive: MessageArchive,
  name: string,
  { sought, limit }: ChannelSearch,
  until: number,
): Promise<FoundMessages> {
  const target = { account: null, name: foldCase(name) };
  const upTo = until === Infinity ? null : Math.floor(until / 1000);
  const found: Stamped[] = [];
  let from: Reached | null = null;
  for (let answers = 0; answers < MAX_ANSWERS; answers++) {
    const wanted = { sought, upTo, from, limit: limit - found.length };
    const { moments, reached } = await archive.search(target, wanted);
    for (const { records, hits } of moments) {
      const lines = linesOf(records, new Set(hits)).reverse();
      found.push(...lines.filter(({ microseconds, message }) => {
        return microseconds < until && isSought(sought, message);
      }));
    }
    from = reached;
    if (found.length >= limit || reached === null) break;
  }
  const shown = found.slice(0, limit);
  return { messages: shown.map(messageOf), searchedTo: searchedTo(found, limit, from) };
}

/**
 * The lines of some of the messages of one millisecond, with the timestamps that a channel's log
 * assigns.
 */
function linesOf(records: readonly HistoryRecord[], hits: ReadonlySet<number>): Stamped[] {
  const stamps = new Stamps();
  const ids = new MessageIds();
  return records.flatMap((record, position) => {
    // Nobody but the bridge may send the tags that name a speaker.
    const heard = linesIn(messageIn(record), true, null)
      .filter(({ nick }) => nick !== EVENT_TELLER);
    const lines = heard.map((line) => ({
      microseconds: stamps.next(line.time),
      message: { id: ids.of(line), ...textOf(line) },
    }));
    return hits.has(position) ? lines : [];
  });
}

function messageOf({ microseconds, message }: Stamped): ChannelMessage {
  return { ...message, timestamp: formatMicroseconds(microseconds) };
}

/** The time before which to search on; null if everything was searched. */
function searchedTo(
  found: readonly Stamped[],
  limit: number,
  reached: Reached | null,
): string | null {
  const last = found.length > limit ? found[limit - 1] : found.at(-1);
  if (found.length > limit || (reached !== null && found.length === limit)) {
    return formatMicroseconds(last?.microseconds ?? 0);
  }
  if (reached === null) return null;
  // What was said in the same millisecond before it was not searched.
  const end = (reached.time + 1) * 1000;
  return formatMicroseconds(Math.min(end, last?.microseconds ?? end));
}

import { Invalid } from "../errors.ts";
import { foldCase, type HistoryRecord, type HistoryTarget, messageIn } from "../irc/mod.ts";
import { formatMicroseconds, isSought, type MessageSearch, Stamps } from "../messages/mod.ts";
import type { Channel } from "./channel.ts";
import { linesIn } from "./direct_lines.ts";
import { EVENT_TELLER } from "./protocol.ts";
import { MessageIds } from "./message_ids.ts";
import type { ChannelMessage, ChannelSearch, FoundMessages } from "./options.ts";
import type { Playback } from "./playback.ts";
import { textOf } from "./shown.ts";

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

export interface SearchingOptions {
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

interface Stamped {
  readonly microseconds: number;
  readonly message: Omit<ChannelMessage, "timestamp">;
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

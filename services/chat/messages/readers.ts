import { BoundedMap } from "../../kernel/bounded_map.ts";
import { Invalid } from "../../kernel/errors.ts";
import { CallerQuota, type Holder } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { EarlyEnd } from "../../kernel/early_end.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Follower, Gap, Logged, LoggedMessage, MessageLog } from "./message_log.ts";

/** Most lists that are remembered, and the longest text of one, in UTF-16 units. */
const MOST_LISTS = 64;
const LONGEST_TEXT = 65_536;

interface Written<Item> {
  readonly items: readonly Item[];
  readonly text: string;
}

/**
 * Writes lists of unchanging items as JSON. It remembers the last one of each name, because most
 * readers of a list get what the one before them got.
 */
export class ListTexts<Item extends object> {
  /** By name. */
  readonly #written = new BoundedMap<string, Written<Item>>(MOST_LISTS);

  /** The JSON of a list. */
  of(name: string, items: readonly Item[]): string {
    const known = this.#written.get(name);
    if (known !== undefined && areSame(known.items, items)) return known.text;
    const text = JSON.stringify(items);
    this.#written.delete(name);
    if (text.length <= LONGEST_TEXT) this.#written.set(name, { items, text });
    return text;
  }
}

/** Whether two lists hold the same objects, not merely equal ones. */
function areSame<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, place) => item === other[place]);
}

/** Longest wait of a reader for a message. */
const MAX_WAIT_SECONDS = 60;

/** Most readers that may wait at once; an eighth of them is the operator's and the admins'. */
const MAX_READERS = 6000;

/** The ends of long waits are multiples of this, in milliseconds. */
const STEP = 2000;

/** Shorter waits end when they should, in milliseconds. */
const LONG = 20_000;

/** Selects the messages for a reader. */
export interface MessageQuery {
  /** 1 to the log's capacity, which is the default. */
  readonly limit?: number | undefined;
  /** Only messages after this timestamp, or after the message with this id. */
  readonly since?: string | undefined;
  /** Only messages before this timestamp, or before the message with this id. */
  readonly before?: string | undefined;
  /** How long to wait if there is nothing yet: 0 to 60. */
  readonly waitSeconds?: number | undefined;
  /** Called if what comes after `since` may not be everything. */
  readonly onGap?: ((gap: Gap) => void) | undefined;
  /** Ends the waiting before its time. */
  readonly end?: EarlyEnd | undefined;
}

/** @throws Invalid if a number is out of its range, or the options contradict each other */
export function checkQuery(
  { limit, since, before, waitSeconds }: MessageQuery,
  capacity: number,
): void {
  if (before !== undefined && (since !== undefined || waitSeconds)) {
    throw new Invalid('"before" cannot be given together with "since" or "wait_seconds"');
  }
  checkRange("limit", limit ?? capacity, 1, capacity);
  checkRange("wait_seconds", waitSeconds ?? 0, 0, MAX_WAIT_SECONDS);
}

interface MessageReadersOptions {
  readonly scheduler: Scheduler;
  /** How many readers may wait; {@linkcode MAX_READERS} by default. */
  readonly max?: number;
}

/** Reads logs for requests, and waits if there is nothing yet. */
export class MessageReaders {
  readonly #scheduler: Scheduler;
  readonly #quota: CallerQuota;

  constructor(options: MessageReadersOptions) {
    const { scheduler, max = MAX_READERS } = options;
    this.#scheduler = scheduler;
    this.#quota = new CallerQuota(max, { things: "requests", state: "waiting for messages" });
  }

  /** The number of waiting readers. */
  get waiting(): number {
    return this.#quota.held;
  }

  /**
   * Reads messages, oldest first: without `since` the newest, with it the first ones that came
   * after.
   *
   * @param caller whose quota a waiting reader counts against
   * @throws Invalid if `since` is neither a time nor an id, TooMany if too many wait
   */
  read<Message extends LoggedMessage>(
    log: MessageLog<Message>,
    query: MessageQuery & { readonly limit: number },
    caller: Holder,
  ): Promise<Logged<Message>[]> {
    const { since, limit, waitSeconds = 0, end } = query;
    const kept = log.read(since, limit);
    if (kept.length > 0 || waitSeconds === 0 || end?.isOver) return Promise.resolve(kept);
    const held = this.#quota.take(caller);
    const scheduler = this.#scheduler;
    const milliseconds = lengthOf(waitSeconds * 1000, scheduler.now());
    const reader = new WaitingReader<Message>();
    // Not awaited, because a suspended function stays in memory too.
    return reader.read(log, { scheduler, milliseconds, end }).then((messages) => {
      held[Symbol.dispose]();
      return messages.slice(0, limit);
    });
  }
}

/** How long a reader waits. */
interface Patience {
  readonly scheduler: Scheduler;
  readonly milliseconds: number;
  readonly end: EarlyEnd | undefined;
}

/** Waits for the next messages of a log, once. */
class WaitingReader<Message extends LoggedMessage> implements Follower<Message> {
  readonly #messages: Logged<Message>[] = [];
  /** What its end must undo; null once it has ended. */
  #undo: (() => void)[] | null = [];
  #resolve: (messages: Logged<Message>[]) => void = () => {};

  /** Resolves with the messages of the first moment that brings one, or at the end of its patience. */
  read(log: MessageLog<Message>, { scheduler, milliseconds, end }: Patience) {
    const messages = new Promise<Logged<Message>[]>((resolve) => this.#resolve = resolve);
    const stop = () => this.end();
    if (end !== undefined) end.onEnd = stop;
    this.#undo?.push(scheduler.after(milliseconds, stop));
    const unfollow = log.follow(undefined, this);
    if (this.#undo === null) unfollow();
    else this.#undo.push(unfollow);
    return messages;
  }

  message(message: Logged<Message>): void {
    if (this.#messages.push(message) === 1) queueMicrotask(() => this.end());
  }

  end(): void {
    for (const undo of this.#undo ?? []) undo();
    this.#undo = null;
    this.#resolve(this.#messages);
  }
}

/**
 * How long a reader really waits. Long waits end up to a step early, together with others: agents
 * that wait for nothing ask again at the same moment, and the program sleeps in between.
 */
function lengthOf(milliseconds: number, now: number): number {
  return milliseconds < LONG ? milliseconds : milliseconds - (now + milliseconds) % STEP;
}

function checkRange(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new Invalid(`"${name}" must be a whole number from ${least} to ${most}`);
}

/** What a search of messages looks for. A message must have all of it. */
export interface MessageSearch {
  /** Parts of its text, in lower case. */
  readonly words: readonly string[];
  /** The nick of its speaker, folded; more than one finds nothing. */
  readonly speakers: readonly string[];
}

/** Parses what a person searches for: words, and the nick of a speaker after `from:`. */
export function parseSearch(text: string): MessageSearch {
  const words = new Set(text.toLowerCase().split(/\s+/).filter((word) => word !== ""));
  const [speakers, others] = [
    [...words].filter(isSpeaker),
    [...words].filter((one) => !isSpeaker(one)),
  ];
  return { words: others, speakers: speakers.map((word) => foldCase(word.slice(FROM.length))) };
}

const FROM = "from:";

function isSpeaker(word: string): boolean {
  return word.startsWith(FROM);
}

/** Whether a message is what is searched for, whatever the case of its letters. */
export function isSought(
  { words, speakers }: MessageSearch,
  { nick, text }: { readonly nick: string; readonly text: string },
): boolean {
  if (speakers.some((speaker) => speaker !== foldCase(nick))) return false;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

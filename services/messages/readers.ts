import { Invalid, TooMany } from "../errors.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Logged, LoggedMessage, MessageLog } from "./message_log.ts";

/** Longest wait of a reader for a message. */
const MAX_WAIT_SECONDS = 60;

/** The ends of long waits are multiples of this, in milliseconds. */
const STEP = 1000;

/** Shorter waits end when they should, in milliseconds. */
const LONG = 10_000;

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
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
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

export interface MessageReadersOptions {
  readonly scheduler: Scheduler;
  /** Most readers that may wait at once. */
  readonly max: number;
}

/** Reads logs for requests, and waits if there is nothing yet. */
export class MessageReaders {
  readonly #options: MessageReadersOptions;
  #waiting = 0;

  constructor(options: MessageReadersOptions) {
    this.#options = options;
  }

  /** The number of waiting readers. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Reads messages, oldest first: without `since` the newest, with it the first ones that came
   * after.
   *
   * @throws Invalid if `since` is neither a time nor an id, TooMany if too many wait
   */
  async read<Message extends LoggedMessage>(
    log: MessageLog<Message>,
    query: MessageQuery & { readonly limit: number },
  ): Promise<Logged<Message>[]> {
    const { since, limit, waitSeconds = 0, signal } = query;
    const kept = log.read(since, limit);
    if (kept.length > 0 || waitSeconds === 0 || signal?.aborted) return kept;
    const { scheduler, max } = this.#options;
    if (this.#waiting >= max) throw new TooMany("Too many readers wait for messages");
    this.#waiting++;
    const messages: Logged<Message>[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const unfollow = log.follow(undefined, {
      message(message) {
        messages.push(message);
        resolve();
      },
      end: () => resolve(),
    });
    const length = lengthOf(waitSeconds * 1000, scheduler.now());
    const cancelTimer = scheduler.after(length, resolve);
    const onAbort = () => resolve();
    signal?.addEventListener("abort", onAbort);
    await promise;
    signal?.removeEventListener("abort", onAbort);
    cancelTimer();
    unfollow();
    this.#waiting--;
    return messages.slice(0, limit);
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

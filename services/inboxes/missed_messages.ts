import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";

/** How long a message is kept while another node leads, in milliseconds: far longer than a lease. */
const KEPT_MS = 120_000;

/** Most messages that are kept; the oldest make room. */
const MAX_KEPT = 20_000;

/** What a node heard that does not keep the inboxes. */
export type Missed =
  | { readonly kind: "heard"; readonly message: HeardMessage }
  | { readonly kind: "posted"; readonly channel: string; readonly message: ChannelMessage }
  | { readonly kind: "redacted"; readonly id: string };

export interface MissedMessagesOptions {
  /** Whether another node leads, which has these messages too. */
  readonly isLed: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * What a node heard while another one led, or none did. If it leads next, these messages are in an
 * inbox already, or they were lost with the earlier leader.
 */
export class MissedMessages {
  readonly #options: MissedMessagesOptions;
  #kept: { readonly at: number; readonly missed: Missed }[] = [];

  constructor(options: MissedMessagesOptions) {
    this.#options = options;
  }

  add(missed: Missed): void {
    this.#kept.push({ at: this.#options.clock(), missed });
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT);
    const { clock, isLed } = this.#options;
    const [oldest] = this.#kept;
    const isOld = oldest !== undefined && oldest.at < clock() - 2 * KEPT_MS;
    if (isOld && isLed()) this.#kept = this.#kept.filter(({ at }) => at >= clock() - KEPT_MS);
  }

  /** All of them, oldest first; they are no longer kept. */
  take(): readonly Missed[] {
    const missed = this.#kept.slice(-MAX_KEPT).map((one) => one.missed);
    this.#kept = [];
    return missed;
  }
}

import type { Log } from "../log.ts";
import type { Outbox } from "./outbox.ts";
import type { Delivery } from "./session.ts";

/** How often the bridge sends a message to itself before it considers the connection dead. */
const PROBES = 3;

/** The text of that message. */
const PROBE = "Do I hear myself?";

export interface HearingOptions {
  readonly outbox: Pick<Outbox, "add" | "silent">;
  readonly link: {
    readonly nick: string;
    readonly delay: number;
    say(
      target: string,
      texts: readonly string[],
      labels: readonly string[],
      delivery: Delivery,
    ): void;
    reconnect(reason: string): void;
  };
  readonly log: Log;
}

/**
 * Checks a missing echo: the bridge sends a message to itself. If that is not echoed either, it
 * reconnects.
 */
export class Hearing {
  readonly #options: HearingOptions;
  #isProbing = false;

  constructor(options: HearingOptions) {
    this.#options = options;
  }

  /** Call this when an echo is missing. */
  doubt(): void {
    if (!this.#isProbing) this.#probe();
  }

  async #probe(): Promise<void> {
    const { outbox, link, log } = this.#options;
    log.warn("IRC does not echo the bridge's messages");
    this.#isProbing = true;
    for (let probe = 0; probe < PROBES && outbox.silent; probe++) {
      await this.#sayToMyself().catch(() => {});
    }
    this.#isProbing = false;
    if (!outbox.silent) return log.info("The bridge gave up waiting for echoes of its messages");
    link.reconnect("IRC does not echo the bridge's messages");
  }

  async #sayToMyself(): Promise<void> {
    const { outbox, link } = this.#options;
    const { labels, confirmed } = outbox.add(
      [{ nick: link.nick, text: PROBE, speaker: null }],
      link.delay,
    );
    link.say(link.nick, [PROBE], labels, { speaker: null });
    await confirmed;
  }
}

/** Looks for a server that is away, ever more rarely, until it is back. */
import type { ServerAway } from "./delivery.ts";

/** The pause before the first look, in milliseconds; each pause is twice the one before. */
const FIRST_PAUSE = 500;

/** The longest pause, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** How long an absence may be no more than a restart, in milliseconds. */
const RESTART = 5000;

/** Whether a server is away. */
export class Absence {
  readonly #ask: () => Promise<void>;
  #reason: ServerAway | null = null;
  #began = 0;
  #looking: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param ask asks the server, and begins or ends the absence; never throws */
  constructor(ask: () => Promise<void>) {
    this.#ask = ask;
  }

  /** Null while the server is there. */
  get reason(): ServerAway | null {
    return this.#reason;
  }

  /** Whether the server may just start again. */
  get isNew(): boolean {
    return this.#reason !== null && performance.now() - this.#began < RESTART;
  }

  begin(reason: ServerAway): void {
    const isKnown = this.#reason !== null;
    this.#reason = reason;
    if (isKnown) return;
    this.#began = performance.now();
    this.#lookAfter(FIRST_PAUSE);
  }

  end(): void {
    this.#reason = null;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Looks now; several who want to know at the same time share one look. */
  look(): Promise<void> {
    return this.#looking ??= this.#ask().finally(() => this.#looking = null);
  }

  #lookAfter(pause: number): void {
    const timer = setTimeout(async () => {
      await this.look();
      if (this.#timer === timer) this.#lookAfter(Math.min(2 * pause, LONGEST_PAUSE));
    }, pause);
    this.#timer = timer;
  }
}

/** Accepts connections for a listener, and recovers from errors. */

/** How long accepting pauses after a failure, such as too many open files. */
const PAUSE_MILLISECONDS = 100;

/** How often a failure is reported at most, in milliseconds. */
const REPORT_MILLISECONDS = 60_000;

export interface AcceptOptions<Conn extends Deno.Conn> {
  readonly listener: { accept(): Promise<Conn> };
  /** Handles a connection. It must not throw. */
  readonly take: (conn: Conn) => void;
  /** Whether the listener is still in use. If not, a failure ends the loop. */
  readonly isOpen: () => boolean;
  /** Called for every failure to accept. It must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Accepts connections until the listener is closed. Reports an error of one connection
 * (ECONNABORTED) or of the whole process (EMFILE, ENFILE, ENOBUFS, ENOMEM), then continues after a
 * pause; queued connections wait meanwhile.
 */
export async function acceptConnections<Conn extends Deno.Conn>(
  { listener, take, isOpen, onFailure }: AcceptOptions<Conn>,
): Promise<void> {
  while (isOpen()) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (!isOpen()) return;
      onFailure(error);
      if (!(error instanceof Deno.errors.ConnectionAborted)) await pause();
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
}

/** EMFILE and ENFILE, on every system that the runtime knows. */
const EXHAUSTED = /\(os error (?:23|24|4|10024)\)/;

export interface AcceptFailuresOptions {
  readonly log: { warn(message: string, properties: Record<string, unknown>): void };
  /** Called when descriptors have run out. It must not throw. */
  readonly onExhausted: () => void;
}

/** Counts the failures of some listeners to accept, and logs one failure a minute. */
export class AcceptFailures {
  readonly #options: AcceptFailuresOptions;
  #count = 0;
  #reportedAt = -Infinity;

  constructor(options: AcceptFailuresOptions) {
    this.#options = options;
  }

  /** How many there were since the start. */
  get count(): number {
    return this.#count;
  }

  report(listener: string, error: unknown): void {
    this.#count++;
    const reason = error instanceof Error ? error.message : String(error);
    if (EXHAUSTED.test(reason)) this.#options.onExhausted();
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_MILLISECONDS) return;
    this.#reportedAt = now;
    const properties = { listener, reason, failures: this.#count };
    this.#options.log.warn("A connection could not be accepted", properties);
  }
}

export interface AttemptLimitOptions {
  /** Failures that are allowed within the window. */
  readonly failures: number;
  /** Milliseconds. */
  readonly window: number;
  /** Most keys remembered; the one that failed longest ago is dropped first. */
  readonly keys: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Whether an attempt may be made now. */
export type Permit =
  | { readonly kind: "granted" }
  | { readonly kind: "exhausted"; readonly retryAfterSeconds: number }
  /** Too many attempts are being checked at this moment. */
  | { readonly kind: "busy" };

interface FailedAttempts {
  /** When attempts failed, oldest first. */
  readonly failedAt: number[];
  /** Running attempts. */
  pending: number;
}

/**
 * Limits failures per key within a sliding window. Running attempts count as failures, so that many
 * concurrent attempts gain nothing.
 */
export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #entries = new Map<string, FailedAttempts>();

  constructor(options: AttemptLimitOptions) {
    this.#options = options;
  }

  /** Checks whether an attempt is allowed, without counting it. */
  permit(key: string): Permit {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { kind: "granted" };
    const { failures, window, clock } = this.#options;
    const now = clock();
    forgetBefore(entry, now - window);
    const [oldest = now] = entry.failedAt;
    if (entry.failedAt.length >= failures) {
      const wait = Math.max(1, Math.ceil((oldest + window - now) / 1000));
      return { kind: "exhausted", retryAfterSeconds: wait };
    }
    return { kind: entry.failedAt.length + entry.pending >= failures ? "busy" : "granted" };
  }

  /** Records the start of an attempt; {@link end} must follow. */
  begin(key: string): void {
    const entry = this.#entries.get(key) ?? this.#add(key);
    entry.pending += 1;
  }

  /** Records the result of an attempt. */
  end(key: string, outcome: "failed" | "passed"): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.pending -= 1;
    this.#entries.delete(key);
    if (outcome === "failed") entry.failedAt.push(this.#options.clock());
    if (entry.pending > 0 || entry.failedAt.length > 0) this.#entries.set(key, entry);
  }

  #add(key: string): FailedAttempts {
    if (this.#entries.size >= this.#options.keys) this.#makeRoom();
    const entry: FailedAttempts = { failedAt: [], pending: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Running attempts stay; the queue of passwords bounds their number. */
  #makeRoom(): void {
    for (const [key, { pending }] of this.#entries) {
      if (pending > 0) continue;
      this.#entries.delete(key);
      return;
    }
  }
}

function forgetBefore({ failedAt }: FailedAttempts, time: number): void {
  const kept = failedAt.findIndex((failed) => failed > time);
  failedAt.splice(0, kept < 0 ? failedAt.length : kept);
}

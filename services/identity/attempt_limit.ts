export interface AttemptLimitOptions {
  /** Failures that are allowed within the window. */
  readonly failures: number;
  /** Milliseconds. */
  readonly window: number;
  /** Keys that are remembered at most; the one that failed longest ago makes room. */
  readonly keys: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Whether an attempt may be made now. */
export type Permit =
  | { readonly kind: "granted" }
  | { readonly kind: "exhausted"; readonly retryAfterSeconds: number }
  /** As many attempts as could still fail are being judged at this moment. */
  | { readonly kind: "busy" };

interface Entry {
  /** When attempts failed, oldest first. */
  readonly failedAt: number[];
  /** Attempts that are being judged. */
  pending: number;
}

/**
 * Bounds how often something may fail per key within a sliding window. Attempts that are still
 * being judged count as if they would fail, so that many at once win nothing.
 */
export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: AttemptLimitOptions) {
    this.#options = options;
  }

  /** Asks for an attempt. Nothing changes by asking. */
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

  /** Notes that an attempt begins; {@link end} must follow. */
  begin(key: string): void {
    const entry = this.#entries.get(key) ?? this.#add(key);
    entry.pending += 1;
  }

  /** Notes how an attempt ended. */
  end(key: string, outcome: "failed" | "passed"): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.pending -= 1;
    this.#entries.delete(key);
    if (outcome === "failed") entry.failedAt.push(this.#options.clock());
    if (entry.pending > 0 || entry.failedAt.length > 0) this.#entries.set(key, entry);
  }

  #add(key: string): Entry {
    if (this.#entries.size >= this.#options.keys) this.#makeRoom();
    const entry: Entry = { failedAt: [], pending: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  /** What is being judged stays; how much that can be, the queue of the passwords bounds. */
  #makeRoom(): void {
    for (const [key, { pending }] of this.#entries) {
      if (pending > 0) continue;
      this.#entries.delete(key);
      return;
    }
  }
}

function forgetBefore({ failedAt }: Entry, time: number): void {
  const kept = failedAt.findIndex((failed) => failed > time);
  failedAt.splice(0, kept < 0 ? failedAt.length : kept);
}

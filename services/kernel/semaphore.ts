import { BoundedQueue } from "./bounded_queue.ts";

export interface SemaphoreOptions {
  /** How many may hold a permit at a time; without a bound, if absent. */
  readonly permits?: number;
  /** How many of one key; without a bound, if absent. */
  readonly permitsPerKey?: number;
  /** How many more may wait for a permit; without a bound, if absent. */
  readonly maxWaiting?: number;
  /** How many of one key; without a bound of its own, if absent. */
  readonly maxWaitingPerKey?: number;
  /** How long one waits at most, in milliseconds. */
  readonly maxWaitMs?: number;
  /** The error for the one that may not even wait, or has waited too long. */
  readonly refusal: () => Error;
}

export interface AcquireOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Whether its key goes before those without it. */
  readonly isUrgent?: boolean;
}

/** One that waits for a permit. */
interface Waiting {
  readonly begin: () => void;
}

/**
 * A counting semaphore. Those of one key who wait get their permits in the order of their calls; keys
 * take turns.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #permits: number;
  readonly #permitsPerKey: number;
  readonly #waiting: BoundedQueue<Waiting>;
  readonly #urgent: BoundedQueue<Waiting>;
  /** Permits by key. */
  readonly #holders = new Map<string, number>();
  #held = 0;
  #idle: PromiseWithResolvers<void> | null = null;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#permits = options.permits ?? Infinity;
    this.#permitsPerKey = options.permitsPerKey ?? Infinity;
    const { maxWaiting: max = Infinity, maxWaitingPerKey: maxPerKey = max } = options;
    this.#waiting = new BoundedQueue({ max, maxPerKey });
    this.#urgent = new BoundedQueue({ max, maxPerKey });
  }

  /** How many hold a permit. */
  get held(): number {
    return this.#held;
  }

  /** How many wait for one. */
  get waiting(): number {
    return this.#waiting.size + this.#urgent.size;
  }

  /** How many of a key hold a permit or wait for one. */
  countOf(key: string): number {
    return this.#heldBy(key) + this.#waiting.sizeOf(key) + this.#urgent.sizeOf(key);
  }

  /**
   * Waits for a permit; disposing it passes it on.
   *
   * @param key whose permit it is, such as a caller's or a file's
   * @throws the refusal if too many wait, or it takes too long; the signal's reason if it is aborted
   * before
   */
  async acquire(key = "", options: AcquireOptions = {}): Promise<Disposable> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#isFree(key)) this.#hold(key);
    else await this.#wait(key, options);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release(key);
        isHeld = false;
      },
    };
  }

  /** Waits until nobody holds a permit. */
  async idle(): Promise<void> {
    while (this.#held > 0) {
      this.#idle ??= Promise.withResolvers();
      await this.#idle.promise;
    }
  }

  #heldBy(key: string): number {
    return this.#holders.get(key) ?? 0;
  }

  #isFree(key: string): boolean {
    return this.#held < this.#permits && this.#heldBy(key) < this.#permitsPerKey;
  }

  #hold(key: string): void {
    this.#held++;
    this.#holders.set(key, this.#heldBy(key) + 1);
  }

  /** Takes over the permit of somebody who releases it. */
  #wait(key: string, { signal, isUrgent = false }: AcquireOptions): Promise<void> {
    const { maxWaiting = Infinity, maxWaitMs, refusal } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = isUrgent ? this.#urgent : this.#waiting;
    const waiting: Waiting = {
      begin: () => {
        stopWaiting();
        this.#hold(key);
        resolve();
      },
    };
    if (this.waiting >= maxWaiting || !queue.tryAdd(waiting, key)) throw refusal();
    const leave = (reason: unknown) => {
      stopWaiting();
      if (queue.delete(waiting, key)) reject(reason);
    };
    const onAbort = () => leave(signal?.reason);
    const timer = maxWaitMs === undefined
      ? undefined
      : setTimeout(() => leave(refusal()), maxWaitMs);
    const stopWaiting = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise;
  }

  #release(key: string): void {
    const wasFull = this.#held >= this.#permits;
    this.#held--;
    const left = this.#heldBy(key) - 1;
    if (left > 0) this.#holders.set(key, left);
    else this.#holders.delete(key);
    // If there were permits, only this key's bound can have kept somebody waiting.
    const next = wasFull ? this.#next() : this.#urgent.takeOf(key) ?? this.#waiting.takeOf(key);
    next?.begin();
    if (this.#held > 0) return;
    this.#idle?.resolve();
    this.#idle = null;
  }

  #next(): Waiting | undefined {
    const costOf = (key: string) => this.#heldBy(key) < this.#permitsPerKey ? 0 : Infinity;
    return this.#urgent.take(costOf) ?? this.#waiting.take(costOf);
  }
}

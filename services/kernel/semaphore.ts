export interface SemaphoreOptions {
  /** How many may hold a permit at a time. */
  readonly permits: number;
  /** How many more may wait for one. */
  readonly maxWaiting: number;
  /** The error for the one that may not even wait. */
  readonly refusal: () => Error;
}

/** A counting semaphore: those who wait get their permits in the order of their calls. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** Whether nobody holds a permit. */
  get isIdle(): boolean {
    return this.#held === 0;
  }

  /**
   * Waits for a permit; disposing it passes it on.
   *
   * @param signal ends the wait
   * @throws the refusal if too many wait, the signal's reason if it is aborted before
   */
  async acquire(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#held < this.#options.permits) this.#held++;
    else await this.#wait(signal);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release();
        isHeld = false;
      },
    };
  }

  /** Takes over the permit of somebody who releases it. */
  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, refusal } = this.#options;
    if (this.#waiting.size >= maxWaiting) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (this.#waiting.delete(begin)) reject(signal?.reason);
    };
    const begin = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiting.add(begin);
    return promise;
  }

  #release(): void {
    for (const begin of this.#waiting) {
      this.#waiting.delete(begin);
      return begin();
    }
    this.#held--;
  }
}

/** A semaphore for each key, as long as somebody holds a permit of it. */
export class KeyedSemaphore {
  readonly #options: SemaphoreOptions;
  readonly #semaphores = new Map<string, Semaphore>();
  #idle: PromiseWithResolvers<void> | null = null;

  /** @param options of each key */
  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** As {@linkcode Semaphore.acquire}. */
  async acquire(key: string, signal?: AbortSignal): Promise<Disposable> {
    const semaphore = this.#semaphores.get(key) ?? new Semaphore(this.#options);
    const permit = semaphore.acquire(signal);
    if (!semaphore.isIdle) this.#semaphores.set(key, semaphore);
    const { [Symbol.dispose]: release } = await permit;
    return {
      [Symbol.dispose]: () => {
        release();
        if (!semaphore.isIdle) return;
        this.#semaphores.delete(key);
        if (this.#semaphores.size === 0) this.#idle?.resolve();
      },
    };
  }

  /** Waits until nobody holds a permit. */
  async idle(): Promise<void> {
    while (this.#semaphores.size > 0) {
      this.#idle = Promise.withResolvers();
      await this.#idle.promise;
    }
  }
}

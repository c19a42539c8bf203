/** What computes for long, and can stand still meanwhile. */
export interface Pausable {
  pause(isPaused: boolean): void;
}

interface TurnsOptions {
  /** How many compute at a time. */
  readonly most: number;
  /** Milliseconds after which another one has its turn. */
  readonly sliceMs?: number;
  /** Milliseconds by any clock. */
  readonly now?: () => number;
  /** Runs a task after some milliseconds. */
  readonly after?: (ms: number, task: () => void) => unknown;
}

const SLICE_MS = 100;

/** One that computes, or waits for its turn. */
interface Turn {
  /** How long it has computed, in milliseconds: who comes later begins as if it had, too. */
  used: number;
  isRunning: boolean;
}

/**
 * Lets few of those that compute for long go on at a time; the others stand still. All get the same
 * time, whatever they do, so what is short soon ends beside what takes hours.
 */
export class Turns {
  readonly #most: number;
  readonly #sliceMs: number;
  readonly #now: () => number;
  readonly #after: (ms: number, task: () => void) => unknown;
  readonly #turns = new Map<Pausable, Turn>();
  /** What those that are not here had used. */
  readonly #before = new WeakMap<Pausable, number>();
  #countedAt = 0;
  #isTicking = false;

  constructor(options: TurnsOptions) {
    const { most, sliceMs = SLICE_MS } = options;
    this.#most = most;
    this.#sliceMs = sliceMs;
    this.#now = options.now ?? (() => performance.now());
    this.#after = options.after ?? ((ms, task) => setTimeout(task, ms));
  }

  /** One begins to compute; disposing the turn ends it. It begins at once, unless others had less. */
  begin(one: Pausable): Disposable {
    this.#count();
    const least = Math.min(...this.#turns.values().map(({ used }) => used), Infinity);
    const known = this.#before.get(one) ?? 0;
    const used = least === Infinity ? known : Math.max(known, least - this.#sliceMs);
    this.#turns.set(one, { used, isRunning: true });
    this.#choose();
    return { [Symbol.dispose]: () => this.#end(one) };
  }

  #end(one: Pausable): void {
    const turn = this.#turns.get(one);
    if (turn === undefined) return;
    this.#count();
    this.#turns.delete(one);
    this.#before.set(one, turn.used);
    if (!turn.isRunning) one.pause(false);
    this.#choose();
  }

  /** Adds the time since the last count to those that have computed. */
  #count(): void {
    const now = this.#now();
    for (const turn of this.#turns.values()) {
      if (turn.isRunning) turn.used += now - this.#countedAt;
    }
    this.#countedAt = now;
  }

  #choose(): void {
    const byUse = [...this.#turns].sort(([, one], [, other]) => one.used - other.used);
    for (const [place, [one, turn]] of byUse.entries()) {
      const isRunning = place < this.#most;
      if (turn.isRunning !== isRunning) one.pause(!isRunning);
      turn.isRunning = isRunning;
    }
    if (this.#isTicking || this.#turns.size <= this.#most) return;
    this.#isTicking = true;
    this.#after(this.#sliceMs, () => {
      this.#isTicking = false;
      this.#count();
      this.#choose();
    });
  }
}

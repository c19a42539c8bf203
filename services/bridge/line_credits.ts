import type { NewLine } from "./stored_lines.ts";

/** How long a line can be on its way to a bridge after another one has heard it, in milliseconds. */
const LATEST_MILLISECONDS = 60_000;

/** Most lines that can be on their way. */
const MAX_CREDITS = 10_000;

/**
 * Lines that another node has stored before this one's bridge has heard them. A network can repeat a
 * mark, so each stored line stands for one heard line.
 */
export class LineCredits {
  readonly #now: () => number;
  /** When each was stored, oldest first, by channel and mark. */
  readonly #storedAt = new Map<string, number[]>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records a stored line that is still to be heard. */
  add(line: Pick<NewLine, "channel" | "mark">): void {
    const key = keyOf(line);
    const times = this.#timesOf(key);
    this.#storedAt.delete(key);
    this.#storedAt.set(key, [...times, this.#now()].slice(-MAX_CREDITS));
    this.#forgetLate();
  }

  /** Takes one for a heard line; false if there is none. */
  spend(line: Pick<NewLine, "channel" | "mark">): boolean {
    this.#forgetLate();
    const key = keyOf(line);
    const times = this.#timesOf(key);
    if (times.length <= 1) this.#storedAt.delete(key);
    else this.#storedAt.set(key, times.slice(1));
    return times.length > 0;
  }

  clear(): void {
    this.#storedAt.clear();
  }

  /** When those of a mark were stored that can still be on their way. */
  #timesOf(key: string): number[] {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    return (this.#storedAt.get(key) ?? []).filter((time) => time > earliest);
  }

  #forgetLate(): void {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    for (const [key, times] of this.#storedAt) {
      const isFull = this.#storedAt.size > MAX_CREDITS;
      if (!isFull && (times.at(-1) ?? 0) > earliest) return;
      this.#storedAt.delete(key);
    }
  }
}

function keyOf({ channel, mark }: Pick<NewLine, "channel" | "mark">): string {
  return `${channel} ${mark}`;
}

import type { NewLine } from "./stored_lines.ts";

/** How long a line can be on its way to a bridge after another one has heard it, in milliseconds. */
const LATEST_MILLISECONDS = 60_000;

/** Most lines that can be on their way. */
const MAX_CREDITS = 10_000;

/** A line that was stored before this node's bridge has heard it. */
interface Credit {
  readonly storedAt: number;
  /** Resolves when all nodes have it. */
  readonly confirmed: () => Promise<void>;
}

/**
 * Lines that another node has stored before this one's bridge has heard them. A network can repeat a
 * mark, so each stored line stands for one heard line.
 */
export class LineCredits {
  readonly #now: () => number;
  /** Oldest first, by channel and mark. */
  readonly #credits = new Map<string, Credit[]>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Records a stored line that is still to be heard.
   *
   * @param confirmed resolves when all nodes have it
   */
  add(line: Pick<NewLine, "channel" | "mark">, confirmed: () => Promise<void>): void {
    const key = keyOf(line);
    const credits = this.#creditsOf(key);
    this.#credits.delete(key);
    this.#credits.set(key, [...credits, { storedAt: this.#now(), confirmed }].slice(-MAX_CREDITS));
    this.#forgetLate();
  }

  /** Takes one for a heard line; null if there is none. */
  spend(line: Pick<NewLine, "channel" | "mark">): Pick<Credit, "confirmed"> | null {
    this.#forgetLate();
    const key = keyOf(line);
    const [first = null, ...rest] = this.#creditsOf(key);
    if (rest.length > 0) this.#credits.set(key, rest);
    else this.#credits.delete(key);
    return first;
  }

  clear(): void {
    this.#credits.clear();
  }

  /** Those of a mark whose lines can still be on their way. */
  #creditsOf(key: string): Credit[] {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    return (this.#credits.get(key) ?? []).filter(({ storedAt }) => storedAt > earliest);
  }

  #forgetLate(): void {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    for (const [key, credits] of this.#credits) {
      const isFull = this.#credits.size > MAX_CREDITS;
      if (!isFull && (credits.at(-1)?.storedAt ?? 0) > earliest) return;
      this.#credits.delete(key);
    }
  }
}

function keyOf({ channel, mark }: Pick<NewLine, "channel" | "mark">): string {
  return `${channel} ${mark}`;
}

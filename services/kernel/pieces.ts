/** Work on long lists, in pieces between which the thread does other tasks. */

/** How long a piece takes, in milliseconds. */
const PIECE = 1;

/** Items from one look at the clock to the next; code that has never run takes 20 µs for some. */
const STRIDE = 16;

/** Milliseconds from any starting point. */
type Clock = () => number;

/** Lets other tasks run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * The pauses of a long task, after each piece. Without them, the runtime may not look for what has
 * arrived before the task waits for something: it first goes on with what is ready.
 */
export class Pauses {
  readonly #clock: Clock;
  #end: number;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
    this.#end = clock() + PIECE;
  }

  /** Whether a piece is over. */
  get isDue(): boolean {
    return this.#clock() >= this.#end;
  }

  /** Lets other tasks run, and begins the next piece. */
  async pause(): Promise<void> {
    await nextTurn();
    this.#end = this.#clock() + PIECE;
  }
}

/**
 * Calls a function with each item, in pieces.
 *
 * A piece ends by the clock, not after so many items: the first items of a server take ten times as
 * long as the later ones.
 */
export async function inPieces<Item>(
  items: readonly Item[],
  work: (item: Item) => unknown,
  clock?: Clock,
): Promise<void> {
  const pauses = new Pauses(clock);
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % STRIDE === 0 && pauses.isDue) await pauses.pause();
    work(item);
  }
}

/**
 * Formats a JSON array of many items, in pieces.
 *
 * @param write returns an item's JSON; by default, what `JSON.stringify` returns
 */
export async function writeArray<Item>(
  items: readonly Item[],
  write: (item: Item) => string = (item) => JSON.stringify(item),
): Promise<string> {
  const texts: string[] = [];
  await inPieces(items, (item) => texts.push(write(item)));
  return joinArray(texts);
}

/** The JSON array of items that are JSON. */
export function joinArray(texts: readonly string[]): string {
  if (texts.length === 0) return "[]";
  // The texts are joined with their brackets: to add these afterwards would copy the whole once more.
  const parts = [...texts];
  parts[0] = `[${parts[0]}`;
  parts.push(`${parts.pop()}]`);
  return parts.join(",");
}

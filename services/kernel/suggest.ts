/** How far a name may be from what was typed: a third of its letters, at most this many. */
const MAX_DISTANCE = 3;

/** The name that was probably meant, or null if none is similar. */
export function suggest(typed: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const name of names) {
    // The lengths alone are farther apart than two similar names.
    if (Math.abs(name.length - typed.length) > MAX_DISTANCE) continue;
    const distance = distanceBetween(typed, name);
    const limit = Math.min(MAX_DISTANCE, Math.ceil(Math.max(name.length, typed.length) / 3));
    if (distance <= limit && distance < least) [best, least] = [name, distance];
  }
  return best;
}

/**
 * How many letters must be inserted, removed, replaced or swapped with their neighbour to make one
 * word of the other (Damerau and Levenshtein, restricted).
 */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + cost,
        isSwap ? (beforeLast[j - 2] ?? 0) + 1 : Infinity,
      ));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** The median of some numbers; the mean of the two middle ones if their count is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** The value below which this share of the values lies; `share` is from 0 to 1. */
export function percentile(values: Float32Array, share: number): number {
  const sorted = values.toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** The median of each key's values over several rounds. */
export function mediansByKey<Key extends string>(
  rounds: readonly Readonly<Record<Key, number>>[],
): Record<Key, number> {
  const [first] = rounds;
  if (first === undefined) throw new TypeError("Cannot take the median of no rounds");
  const keys = Object.keys(first) as Key[];
  const medians = keys.map((key) => [key, median(rounds.map((round) => round[key]))]);
  return Object.fromEntries(medians) as Record<Key, number>;
}

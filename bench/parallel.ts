/**
 * Does the work for every item, at most `limit` at a time; returns the results in the same order.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const workers = Array.from({ length: Math.min(limit, items.length) }, async () => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  });
  await Promise.all(workers);
  return results;
}

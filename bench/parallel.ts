/** Resolves after some milliseconds; at once if none are left. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
}

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

/**
 * Keeps some threads busy, to measure delays that come from the machine's scheduler alone. The
 * threads end by themselves, because a computing thread cannot be stopped at once.
 */
export async function spin(threads: number, milliseconds: number): Promise<void> {
  await Promise.all(Array.from({ length: threads }, () => burnOne(milliseconds)));
}

async function burnOne(milliseconds: number): Promise<void> {
  const url = new URL("./busy_worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  worker.onmessage = resolve;
  worker.postMessage(milliseconds);
  await promise;
  worker.terminate();
}

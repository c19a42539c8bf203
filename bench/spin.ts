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

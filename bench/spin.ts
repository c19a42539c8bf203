/**
 * Keeps some threads busy with nothing: what the machine's scheduler alone makes late. They end by
 * themselves, as a thread that computes does not end at once if it is told to.
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

import { delay } from "./delay.ts";

/** Keeps some threads busy with nothing: what the machine's scheduler alone makes late. */
export async function spin(threads: number, milliseconds: number): Promise<void> {
  const workers = Array.from({ length: threads }, () => {
    const url = new URL("./busy_worker.ts", import.meta.url);
    const worker = new Worker(url, { type: "module" });
    worker.postMessage(null);
    return worker;
  });
  await delay(milliseconds);
  for (const worker of workers) worker.terminate();
}

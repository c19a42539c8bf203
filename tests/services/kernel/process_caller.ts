/** Prints what a process answers to one call, for a test in a changed environment. */
import { startProcess } from "../../../services/kernel/process_port.ts";
import { WorkerPool } from "../../../services/kernel/worker_pool.ts";
import type { TestRequest } from "./calls_worker.ts";

const refusal = (reason: unknown) => new Error(String(reason));
const pool = new WorkerPool<TestRequest, unknown>({
  start: () =>
    startProcess({
      worker: new URL("./calls_worker.ts", import.meta.url),
      read: [],
      write: [],
      memoryBytes: 2 ** 30,
    }),
  setup: 10,
  full: refusal,
  lost: refusal,
  unusable: refusal,
  closed: () => refusal("closed"),
});
await Deno.stdout.write(new TextEncoder().encode(`${await pool.call(["add", 1])}\n`));
pool.close();

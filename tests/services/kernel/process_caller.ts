/**
 * Prints what a process answers to one call, for a test in a changed environment. With an argument,
 * strangers connect to the process's port before it does: most are silent, some talk.
 */
import { startProcess } from "../../../services/kernel/process_port.ts";
import { WorkerPool } from "../../../services/kernel/worker_pool.ts";
import type { TestRequest } from "./calls_worker.ts";

const STRANGERS = 40;

const listen = Deno.listen;
const strangers: Promise<Deno.Conn>[] = [];
if (Deno.args.length > 0) {
  Deno.listen = ((options: Deno.TcpListenOptions & { transport?: "tcp" }) => {
    const listener = listen(options);
    for (let number = 0; number < STRANGERS; number++) strangers.push(visit(listener.addr, number));
    return listener;
  }) as typeof Deno.listen;
}

async function visit({ hostname, port }: Deno.NetAddr, number: number): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname, port });
  if (number % 4 === 0) await connection.write(new Uint8Array(36).fill(number));
  if (number % 4 === 1) connection.close();
  return connection;
}

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

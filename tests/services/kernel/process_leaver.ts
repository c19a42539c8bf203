/** Starts a process, stops it, and tells its id: for a test that then kills this program. */
import { startProcess } from "../../../services/kernel/process_port.ts";

/** Signs of life come four times as often. */
const SILENCE_MS = 400;

const port = startProcess({
  worker: new URL("./calls_worker.ts", import.meta.url),
  read: [],
  write: [],
  memoryBytes: 2 ** 30,
  silenceMs: SILENCE_MS,
});
await new Promise((resolve) => port.onmessage = resolve);
Deno.kill(port.pid, "SIGSTOP");
// While this thread stands still too, a sign becomes due, and the silence is not noticed.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SILENCE_MS / 2);
Deno.stdout.writeSync(new TextEncoder().encode(String(port.pid)));
setInterval(() => {}, 1000);

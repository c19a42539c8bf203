import { type HashMemory, newHashMemory } from "./hash_protocol.ts";

/** Starts a thread with a function that makes its worker; throws if none can start. */
export type StartThread = (start: () => Worker) => Worker;

/** A thread that hashes for another one; they share `memory`. */
export class HashHelper implements Disposable {
  readonly memory: HashMemory = newHashMemory();
  readonly #worker: Worker;

  constructor(startThread: StartThread = (start) => start()) {
    const url = new URL("./hash_worker.ts", import.meta.url);
    this.#worker = startThread(() => new Worker(url, { type: "module", name: "hashing" }));
    // Its user works without it if it is missing.
    this.#worker.onerror = (event) => event.preventDefault();
    this.#worker.postMessage(this.memory);
  }

  /** Ends the thread. */
  [Symbol.dispose](): void {
    Atomics.store(this.memory.signal, 0, -1);
    Atomics.notify(this.memory.signal, 0);
    this.#worker.terminate();
  }
}

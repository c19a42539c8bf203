/**
 * Workers that share threads. Most of a worker's work in a test is to load its modules, so a thread
 * whose worker has ended runs the next worker of the same module. The module is evaluated anew; what
 * it imports has no state. `deno task test` preloads `share_threads.ts`, which puts this class in
 * the place of `Worker`.
 */

/** What `worker_thread.ts` runs. */
export interface ThreadRequest {
  /** The address of the module, which no thread has evaluated. */
  readonly module: string;
  /** Where the thread counts the messages that the worker has handled. */
  readonly handled: Int32Array;
}

/** What `worker_thread.ts` tells, beside the messages of its worker. */
export const LOADED = "muster: loaded";
export const IDLE = "muster: idle";

/** Ends the worker of a thread; the answer is this if the thread ends, too. */
export const END = "muster: end";

/** Most threads of a module that wait for a worker. */
const MAX_IDLE = 4;

/** How long a worker may take to finish its last message, in milliseconds. */
const LAST_MESSAGE_MS = 50;

type Listener<Kind extends Event> = ((event: Kind) => void) | null;

/** The threads of this isolate. */
export class Threads {
  readonly #Worker = Worker;
  readonly #idle = new Map<string, Worker[]>();
  readonly #returning = new Set<Promise<void>>();
  #modules = 0;

  /** A thread for a worker of a module, and an address of the module that is evaluated anew. */
  take(module: string, options: WorkerOptions): { thread: Worker; address: string } {
    const thread = this.#idle.get(module)?.pop() ??
      new this.#Worker(new URL("./worker_thread.ts", import.meta.url), options);
    return { thread, address: `${module}?evaluation=${++this.#modules}` };
  }

  /** Takes a thread back, once it says that it is idle. */
  giveBack(module: string, thread: Worker): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#returning.add(promise);
    thread.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data !== IDLE && data !== END) return;
      this.#returning.delete(promise);
      resolve();
      const idle = this.#idle.get(module) ?? [];
      this.#idle.set(module, idle);
      if (data === IDLE && idle.length < MAX_IDLE) idle.push(thread);
      else thread.terminate();
    };
    thread.postMessage(END);
  }

  /** Resolves once every thread has come back whose worker has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#returning);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.settled();
    for (const thread of [...this.#idle.values()].flat()) thread.terminate();
    this.#idle.clear();
  }
}

/** A worker in a thread that may have run others before. */
export class BorrowedWorker extends EventTarget {
  onmessage: Listener<MessageEvent> = null;
  onerror: Listener<ErrorEvent> = null;
  readonly #threads: Threads;
  readonly #module: string;
  readonly #thread: Worker;
  readonly #handled = new Int32Array(new SharedArrayBuffer(4));
  #posted = 0;
  #isLoaded = false;
  #isBroken = false;
  #isOver = false;

  constructor(threads: Threads, module: string, options: WorkerOptions) {
    super();
    this.addEventListener("message", (event) => this.onmessage?.(event as MessageEvent));
    this.addEventListener("error", (event) => {
      this.#isBroken = true;
      this.onerror?.(event as ErrorEvent);
    });
    this.#threads = threads;
    this.#module = module;
    const { thread, address } = threads.take(module, options);
    this.#thread = thread;
    thread.onmessage = ({ data }: MessageEvent<unknown>) => this.#receive(data);
    thread.onerror = (event) => {
      if (!this.dispatchEvent(copyOf(event))) event.preventDefault();
    };
    const request: ThreadRequest = { module: address, handled: this.#handled };
    thread.postMessage(request);
  }

  postMessage(data: unknown, transfer: Transferable[] = []): void {
    this.#thread.postMessage(data, transfer);
    this.#posted += 1;
  }

  terminate(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onmessage = null;
    if (this.#isIdle()) this.#threads.giveBack(this.#module, this.#thread);
    else this.#thread.terminate();
  }

  #receive(data: unknown): void {
    if (data === LOADED) this.#isLoaded = true;
    else this.dispatchEvent(new MessageEvent("message", { data }));
  }

  /** Whether it has handled every message. It may have answered the last one a moment before. */
  #isIdle(): boolean {
    if (!this.#isLoaded || this.#isBroken) return false;
    for (;;) {
      const handled = Atomics.load(this.#handled, 0);
      if (handled === this.#posted) return true;
      if (Atomics.wait(this.#handled, 0, handled, LAST_MESSAGE_MS) === "timed-out") return false;
    }
  }
}

/** The same error, for another target. */
function copyOf({ message, filename, lineno, colno, error }: ErrorEvent): ErrorEvent {
  return new ErrorEvent("error", { message, filename, lineno, colno, error, cancelable: true });
}

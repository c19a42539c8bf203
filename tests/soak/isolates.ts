/** The memory of each thread of a running program, by the inspector's protocol. */

/** What an isolate's JavaScript holds after a full collection, in bytes. */
interface HeapUsage {
  /** The heap. */
  readonly usedSize: number;
  /** Array buffers outside of the heap. */
  readonly backingStorageSize: number;
}

/** A message of the protocol, as far as it is read here. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly sessionId: string;
    readonly message: string;
    readonly workerInfo: { readonly url: string };
  };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The session of the main thread; each worker has one of its own. */
const MAIN = "";

/** A connection to the inspector of a program that was started with `--inspect`. */
export class Isolates implements Disposable {
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  /** The workers' sessions, and the addresses of their modules. */
  readonly #workers = new Map<string, string>();
  #count = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(MAIN, JSON.parse(data));
    socket.onclose = () => this.#fail("The inspector closed the connection");
  }

  /** @param port of the program's inspector on this machine */
  static async connect(port: number): Promise<Isolates> {
    const targets = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
    const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("The inspector refused the connection"));
    });
    const isolates = new Isolates(socket);
    await isolates.#ask(MAIN, "NodeWorker.enable", { waitForDebuggerOnStart: false });
    // The sessions of the workers arrive before this answer.
    await isolates.#ask(MAIN, "Runtime.getHeapUsage");
    return isolates;
  }

  /** Collects all garbage. Returns the bytes that each isolate then holds, by its module. */
  async collect(): Promise<Map<string, number>> {
    const held = new Map<string, number>();
    for (const [session, url] of [[MAIN, "main.ts"] as const, ...this.#workers]) {
      await this.#ask(session, "HeapProfiler.enable");
      // The second collection takes what finalizers of the first one let go.
      await this.#ask(session, "HeapProfiler.collectGarbage");
      await this.#ask(session, "HeapProfiler.collectGarbage");
      const usage = await this.#ask(session, "Runtime.getHeapUsage") as HeapUsage;
      const name = url.slice(url.lastIndexOf("/") + 1);
      held.set(name, (held.get(name) ?? 0) + usage.usedSize + usage.backingStorageSize);
    }
    return held;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #ask(session: string, method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#count;
    const answer = Promise.withResolvers<unknown>();
    this.#asked.set(id, answer);
    const message = JSON.stringify({ id, method, params });
    if (session === MAIN) this.#socket.send(message);
    else this.#forward(session, message);
    return answer.promise;
  }

  #forward(sessionId: string, message: string): void {
    const params = { sessionId, message };
    const method = "NodeWorker.sendMessageToWorker";
    this.#socket.send(JSON.stringify({ id: ++this.#count, method, params }));
  }

  #take(session: string, { id, method, params, result, error }: Message): void {
    if (id !== undefined) {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(`The inspector's session "${session}": ${error.message}`));
    } else if (params !== undefined) this.#notice(method, params);
  }

  #notice(method: string | undefined, params: NonNullable<Message["params"]>): void {
    const { sessionId } = params;
    if (method === "NodeWorker.attachedToWorker") {
      this.#workers.set(sessionId, params.workerInfo.url);
    } else if (method === "NodeWorker.detachedFromWorker") {
      this.#workers.delete(sessionId);
    } else if (method === "NodeWorker.receivedMessageFromWorker") {
      this.#take(sessionId, JSON.parse(params.message));
    }
  }

  #fail(reason: string): void {
    for (const asked of this.#asked.values()) asked.reject(new Error(reason));
    this.#asked.clear();
  }
}

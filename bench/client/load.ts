/** Requests that several connections send without a pause, each the next one of the list. */
export interface LoadRequest {
  readonly urls: readonly string[];
  readonly init: {
    readonly method: "GET" | "POST";
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** The status of every answer. */
  readonly status: number;
  readonly connections: number;
  /** Whether each request comes from a loopback address of its own, over a new connection. */
  readonly fromNewAddresses?: boolean;
}

/** The message that ends a load; the worker then answers with the number of answered requests. */
export const END = "end";

/**
 * Load on a server, which goes on until it is ended. The clients run in a separate thread, so that
 * their cost does not affect the latencies that this one measures.
 */
export class Load implements Disposable {
  readonly #worker: Worker;

  private constructor() {
    this.#worker = new Worker(new URL("./load_worker.ts", import.meta.url), {
      type: "module",
      name: "load",
    });
  }

  /**
   * Starts the load; resolves when each connection has had an answer.
   *
   * @throws Error if an answer is wrong
   */
  static async start(request: LoadRequest): Promise<Load> {
    const load = new Load();
    try {
      await load.#ask(request);
      return load;
    } catch (error) {
      load[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Ends it once what is under way is answered; returns the number of answers.
   *
   * @throws Error if an answer was wrong
   */
  async end(): Promise<number> {
    return await this.#ask(END) as number;
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }

  async #ask(question: LoadRequest | typeof END): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#worker.onmessage = ({ data }) => resolve(data);
    this.#worker.postMessage(question);
    const answer = await promise;
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

import type { EventStream } from "./event_stream.ts";

/** The task of a crowd of readers: the stream, and the number of readers. */
export interface ReaderCrowdRequest {
  readonly stream: EventStream;
  readonly count: number;
}

/** The crowd's messages: first, every request is written; then, every response has begun. */
export type CrowdNews = "asked" | "ready";

/**
 * Readers of an event stream whose events are not counted. They run in a separate thread, so that
 * their cost does not affect the latencies that this one measures.
 */
export class ReaderCrowd implements Disposable {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<void>();

  private constructor() {
    this.#worker = new Worker(new URL("./reader_crowd_worker.ts", import.meta.url), {
      type: "module",
      name: "reader crowd",
    });
    // It may fail before anybody waits for it.
    this.#ready.promise.catch(() => {});
  }

  /** Requests a number of streams. {@linkcode ready} waits for the heads of their responses. */
  static async ask(stream: EventStream, count: number): Promise<ReaderCrowd> {
    const crowd = new ReaderCrowd();
    const asked = Promise.withResolvers<void>();
    crowd.#worker.onmessage = ({ data }: MessageEvent<CrowdNews>) =>
      data === "asked" ? asked.resolve() : crowd.#ready.resolve();
    crowd.#worker.onerror = (event) => {
      event.preventDefault();
      const error = new Error(`The readers failed: ${event.message}`);
      asked.reject(error);
      crowd.#ready.reject(error);
    };
    crowd.#worker.postMessage({ stream, count } satisfies ReaderCrowdRequest);
    try {
      await asked.promise;
      return crowd;
    } catch (error) {
      crowd[Symbol.dispose]();
      throw error;
    }
  }

  /** @throws Error if a stream was refused */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

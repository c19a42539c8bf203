import { Unavailable } from "../../errors.ts";
import { Progress } from "./progress.ts";
import type { Request, Response } from "./protocol.ts";

/** Requests that may wait for the worker; one more is refused. */
const MAX_PENDING = 1000;

type Unnumbered<Type> = Type extends { id: number } ? Omit<Type, "id"> : never;

interface Pending {
  resolve(response: Response): void;
  reject(error: Error): void;
}

/** Changes that the worker was given to write. */
export interface Write {
  /** Whether they are written. */
  readonly done: boolean;
  /**
   * Waits until they are written.
   *
   * @returns the used bytes of the file
   * @throws Unavailable if the worker is broken, Error with the reason if the disk refused
   */
  finished(): Promise<number>;
}

/** The worker that has the file: each request is answered in its turn. A broken one is replaced. */
export class WorkerPort {
  readonly #path: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  /** That of the present worker. */
  #progress = new Progress();
  #lastId = 0;
  #closed: (() => void) | null = null;

  /** The file is opened with the first request. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Opens the file.
   *
   * @throws Error with the reason if that cannot be
   */
  async open(): Promise<Response & { kind: "opened" }> {
    this.#progress = new Progress();
    const request = { kind: "open", path: this.#path, progress: this.#progress.memory } as const;
    return await this.#post(request) as Response & { kind: "opened" };
  }

  /**
   * Gives the worker changes to write. It writes one set of changes at a time: wait for the last
   * one first.
   *
   * @param onRefused called if it could not write them, so that `finished` will throw
   * @throws Unavailable if it has too much to do
   */
  write(
    changes: Omit<Request & { kind: "write" }, "id" | "kind">,
    onRefused: () => void,
  ): Write {
    this.#prepare();
    const answer = this.#post({ kind: "write", ...changes });
    answer.catch(onRefused);
    const [id, progress, pending] = [this.#lastId, this.#progress, this.#pending];
    return {
      get done() {
        return progress.isWritten(id);
      },
      async finished() {
        if (!progress.isWritten(id) && progress.await(id)) await answer;
        pending.delete(id);
        return progress.bytes;
      },
    };
  }

  /**
   * Asks the worker for something and gives its answer.
   *
   * @throws Unavailable if it is broken or has too much to do, Error with the reason if it could
   * not do it
   */
  async request(request: Unnumbered<Exclude<Request, { kind: "open" }>>): Promise<Response> {
    this.#prepare();
    return await this.#post(request);
  }

  /** Closes the file after what was asked for. */
  async close(): Promise<void> {
    const worker = this.#worker;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = resolve;
    if (worker === null) return;
    worker.postMessage(null);
    await promise;
    worker.terminate();
  }

  /** Opens the file again after the worker broke. Throws Unavailable if too many requests wait. */
  #prepare(): void {
    if (this.#pending.size >= MAX_PENDING || this.#closed !== null) {
      throw new Unavailable("The history cannot be read at the moment");
    }
    if (this.#worker === null) this.open().catch(() => {});
  }

  #post(request: Unnumbered<Request>): Promise<Response> {
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#pending.set(id, { resolve, reject });
    this.#worker.postMessage({ ...request, id });
    return promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./archive_worker.ts", import.meta.url), {
      type: "module",
      name: "history",
    });
    worker.onmessage = ({ data }: MessageEvent<Response | null>) => {
      if (data === null) this.#closed?.();
      else this.#settle(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
    return worker;
  }

  #settle(response: Response): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.kind === "failed") pending?.reject(new Error(response.message));
    else pending?.resolve(response);
  }

  #fail(message: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#pending.values()) reject(new Unavailable(message));
    this.#pending.clear();
    this.#closed?.();
  }
}

import { Unavailable } from "../../../kernel/errors.ts";
import type { PartPort, PartThread } from "../../../kernel/threads/mod.ts";
import type { Request, Response } from "./protocol.ts";

/** Requests that may wait for the worker; one more is refused. */
const MAX_PENDING = 1000;

type Unnumbered<Type> = Type extends { id: number } ? Omit<Type, "id"> : never;

interface Pending {
  resolve(response: Response): void;
  reject(error: Error): void;
}

export interface WorkerPortOptions {
  readonly path: string;
  /** As in `spokenIn`. */
  readonly speakerTag: string;
  readonly thread: PartThread<"history">;
}

/** The worker that has the file: each request is answered in its turn. A broken one is replaced. */
export class WorkerPort {
  readonly #options: WorkerPortOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: PartPort<Request | null> | null = null;
  #lastId = 0;
  #isSynced = true;
  #closed: ((isSynced: boolean) => void) | null = null;

  /** The file is opened with the first request. */
  constructor(options: WorkerPortOptions) {
    this.#options = options;
  }

  /**
   * Opens the file.
   *
   * @throws Error with the reason if that cannot be
   */
  async open(): Promise<Response & { kind: "opened" }> {
    const { path, speakerTag } = this.#options;
    const request = { kind: "open", path, speakerTag } as const;
    return await this.#post(request) as Response & { kind: "opened" };
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

  /**
   * Closes the file after what was asked for.
   *
   * @returns whether the disk has confirmed all that was written
   */
  async close(): Promise<boolean> {
    const worker = this.#worker;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#closed = resolve;
    if (worker === null) return false;
    worker.post(null);
    const isSynced = await promise;
    worker.end();
    return isSynced;
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
    this.#worker.post({ ...request, id } as Request);
    return promise;
  }

  #start(): PartPort<Request | null> {
    return this.#options.thread.open<Request | null, Response | null>("history", {
      onMessage: (response) => {
        if (response === null) this.#closed?.(this.#isSynced);
        else if (response.kind === "unsynced") this.#isSynced = false;
        else this.#settle(response);
      },
      onError: (reason) => this.#fail(reason),
    });
  }

  #settle(response: Response): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.kind !== "failed") return pending?.resolve(response);
    const { message, isTrouble } = response;
    pending?.reject(
      isTrouble
        ? new Unavailable("The history cannot be read at the moment", {
          cause: new Error(message),
        })
        : new Error(message),
    );
  }

  #fail(message: string): void {
    this.#worker = null;
    for (const { reject } of this.#pending.values()) reject(new Unavailable(message));
    this.#pending.clear();
    this.#closed?.(false);
  }
}

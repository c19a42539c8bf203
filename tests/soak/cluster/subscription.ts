import type { World } from "./world.ts";

/** The pause before a reader whose stream ended opens another one, in milliseconds. */
const RESUME_AFTER = 200;

/** An event of a stream. */
export interface Frame {
  readonly id: string;
  readonly data: string;
}

export interface SubscriptionOptions {
  readonly world: World;
  /** Names the reader in faults. */
  readonly name: string;
  readonly path: string;
  /** The value of the header `Authorization`. */
  readonly who: string;
  readonly take: (frame: Frame) => void;
}

/** Reads an event stream, and resumes it by id on another node whenever it ends. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #abort = new AbortController();
  #node = "";
  /** The id of the last event, after which the next stream begins. */
  #lastId: string | null = null;
  #body: ReadableStreamDefaultReader<string> | null = null;
  #running: Promise<void> | null = null;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** The reader, and the node that it reads from. */
  get name(): string {
    return `${this.#options.name}, last at ${this.#node},`;
  }

  /** Begins after an event. */
  startAfter(id: string): void {
    this.#lastId = id;
  }

  /** Opens the stream, whatever it takes. */
  async open(): Promise<void> {
    while (!await this.#open()) await pause();
  }

  /** Reads until it is closed. */
  run(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#body?.cancel().catch(() => {});
    await this.#running;
  }

  async #run(): Promise<void> {
    const { world } = this.#options;
    while (!this.#abort.signal.aborted) {
      if (this.#body !== null) {
        await this.#read(this.#body);
        this.#body = null;
        if (this.#abort.signal.aborted) return;
        world.count("streams that ended and were resumed");
      }
      await pause();
      await this.#open();
    }
  }

  /** Opens the stream on another node than before, if there is one; false if that refuses. */
  async #open(): Promise<boolean> {
    const { world, path, who } = this.#options;
    this.#node = world.choose(this.#node);
    try {
      const response = await fetch(world.cluster.addressOf(this.#node) + path, {
        headers: {
          authorization: who,
          accept: "text/event-stream",
          ...this.#lastId === null ? {} : { "last-event-id": this.#lastId },
        },
        signal: this.#abort.signal,
      });
      if (response.status !== 200) {
        const text = await response.text();
        if (response.status !== 503) {
          world.fault(`${this.name} was refused: ${response.status} ${text}`);
        }
        return false;
      }
      this.#body = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? null;
      return this.#body !== null;
    } catch {
      return false;
    }
  }

  async #read(body: ReadableStreamDefaultReader<string>): Promise<void> {
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await body.read();
        if (done) return;
        const frames = (rest + value).split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) this.#take(frame);
      }
    } catch {
      // The node ended.
    }
  }

  #take(frame: string): void {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    const id = /^id: (.*)$/m.exec(frame)?.[1];
    if (data === undefined || id === undefined) return;
    this.#lastId = id;
    this.#options.take({ id, data });
  }
}

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, RESUME_AFTER));
}

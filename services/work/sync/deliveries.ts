import { TooMany } from "../../kernel/errors.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** Shorter answers fit into the buffers of a connection, and are not counted. */
const SMALL_BYTES = 64 * 1024;

/** Bytes that go to a connection at once. */
const CHUNK_BYTES = 2 * 1024 * 1024;

/**
 * Bytes of one caller's undelivered answers, and of all, from which on no more is answered. An
 * answer counts whole until its end is taken: that is what it holds in memory.
 */
const MAX_OF_CALLER = 24 * 1024 * 1024;
const MAX_OF_ALL = 256 * 1024 * 1024;

/**
 * How long a client may take nothing of its answer, in milliseconds. A modem takes a chunk in that
 * time.
 */
const STALL_MILLISECONDS = 5 * 60_000;

/** The body of an answer. */
export type Delivery = Uint8Array | ReadableStream<Uint8Array>;

/**
 * Answers that are computed and that their clients have not taken yet: whole, because older programs
 * need their length. Clients that ask for much and take nothing must not fill the memory.
 */
export class Deliveries {
  readonly #scheduler: Scheduler;
  readonly #ofCallers = new Map<string, number>();
  #all = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Checks that a caller may get another answer.
   *
   * @throws TooMany if it, or everybody together, has not taken enough of the earlier ones
   */
  require(caller: string): void {
    if (this.#ofCaller(caller) >= MAX_OF_CALLER) {
      throw new TooMany("You have not read the earlier answers; read them, or try again later");
    }
    if (this.#all >= MAX_OF_ALL) {
      throw new TooMany("Too many answers wait to be read at the moment; try again later");
    }
  }

  /** Delivers an answer: it ends once the client takes nothing for five minutes. */
  deliver(caller: string, body: Uint8Array): Delivery {
    if (body.length <= SMALL_BYTES) return body;
    let at = 0;
    let cancelStall = () => {};
    let isHeld = true;
    const finish = () => {
      cancelStall();
      if (isHeld) this.#add(caller, -body.length);
      isHeld = false;
    };
    const watch = (controller: ReadableStreamDefaultController) => {
      cancelStall();
      cancelStall = this.#scheduler.after(STALL_MILLISECONDS, () => {
        finish();
        controller.error(new Error("The client did not read its answer in time"));
      });
    };
    this.#add(caller, body.length);
    return new ReadableStream<Uint8Array>({
      start: watch,
      pull: (controller) => {
        const chunk = body.subarray(at, at + CHUNK_BYTES);
        at += chunk.length;
        controller.enqueue(chunk);
        if (at < body.length) return watch(controller);
        finish();
        controller.close();
      },
      cancel: finish,
    }, { highWaterMark: 0 });
  }

  #ofCaller(caller: string): number {
    return this.#ofCallers.get(caller) ?? 0;
  }

  #add(caller: string, bytes: number): void {
    this.#all += bytes;
    const left = this.#ofCaller(caller) + bytes;
    if (left > 0) this.#ofCallers.set(caller, left);
    else this.#ofCallers.delete(caller);
  }
}

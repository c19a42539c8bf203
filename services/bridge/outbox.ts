import { Conflict, TimedOut, TooMany } from "../errors.ts";
import { Confirmation } from "./confirmation.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Sent } from "./shown.ts";

/** How long the server has to send a message back to us. */
const ECHO_MILLISECONDS = 5000;

/** Most bytes of messages whose echo is awaited. */
const MAX_UNCONFIRMED_BYTES = 8 * 1024 * 1024;

/** What is kept beside a message's length, in bytes. */
const ENTRY_BYTES = 256;

interface Unconfirmed {
  readonly sent: Sent;
  readonly post: Post;
}

interface Post {
  readonly confirmation: Confirmation;
  missing: number;
}

/**
 * Messages of ours whose echo has not come yet, by the label that the echo will carry. The label
 * comes back to us alone and nobody else can set it, so what a message is shown as never depends on
 * its text. A message stays here when its time is over: its echo may still come.
 */
export class Outbox {
  readonly #scheduler: Scheduler;
  readonly #unconfirmed = new Map<string, Unconfirmed>();
  /** What others were made to say and is not here yet, by the server's id. */
  readonly #expected = new Map<string, Confirmation>();
  #bytes = 0;
  #lastLabel = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Notes the messages of one post.
   *
   * @param delay milliseconds until the last of them goes out
   * @returns a label for each, and a promise of the last echo, which rejects with TimedOut, or with
   * the error of {@link refuse} or {@link clear}
   * @throws TooMany where the server is far behind with echoes
   */
  add(messages: readonly Sent[], delay = 0): { labels: string[]; confirmed: Promise<void> } {
    const bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    if (this.#bytes + bytes > MAX_UNCONFIRMED_BYTES) {
      throw new TooMany("Too many messages wait for the IRC server", 1);
    }
    this.#bytes += bytes;
    const confirmation = this.#confirmation(delay);
    const post = { confirmation, missing: messages.length };
    const labels = messages.map((sent) => {
      const label = (++this.#lastLabel).toString(36);
      this.#unconfirmed.set(label, { sent, post });
      return label;
    });
    return { labels, confirmed: confirmation.promise };
  }

  /** Takes the echo of a message; null where the label is none of ours. */
  confirm(label: string): Sent | null {
    const message = this.#take(label);
    if (message === null) return null;
    if (--message.post.missing === 0) message.post.confirmation.confirm();
    return message.sent;
  }

  /**
   * Waits for a message that the server has taken and that is on its way to us.
   *
   * @param id the server's id of it
   * @throws TimedOut, or the error of {@link clear}
   */
  async arrival(id: string): Promise<void> {
    const confirmation = this.#confirmation();
    this.#expected.set(id, confirmation);
    try {
      await confirmation.promise;
    } finally {
      this.#expected.delete(id);
    }
  }

  /** Notes that a message is here. */
  arrived(id: string): void {
    this.#expected.get(id)?.confirm();
  }

  /** Ends the post whose message the server would not take. */
  refuse(label: string, reason: string): void {
    const error = new Conflict(`IRC refused the message: ${reason}`);
    this.#take(label)?.post.confirmation.refuse(error);
  }

  /** Ends everything: echoes will not come any more. */
  clear(error: Error): void {
    for (const { post } of this.#unconfirmed.values()) post.confirmation.refuse(error);
    for (const confirmation of this.#expected.values()) confirmation.refuse(error);
    this.#unconfirmed.clear();
    this.#bytes = 0;
  }

  #confirmation(delay = 0): Confirmation {
    const late = () => new TimedOut("IRC did not confirm the message in time");
    return new Confirmation(this.#scheduler, ECHO_MILLISECONDS + delay, late);
  }

  #take(label: string): Unconfirmed | null {
    const message = this.#unconfirmed.get(label);
    if (message === undefined) return null;
    this.#unconfirmed.delete(label);
    this.#bytes -= bytesOf(message.sent);
    return message;
  }
}

function bytesOf({ text }: Sent): number {
  return text.length * 2 + ENTRY_BYTES;
}

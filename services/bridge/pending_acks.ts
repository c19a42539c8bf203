import { foldCase } from "../irc/mod.ts";

/** A message of ours that is not confirmed yet. */
export interface Unanswered {
  readonly label: string;
  readonly channel: string;
}

/** A message, or a PING sent between messages. */
type PendingAck = Unanswered | { readonly token: string };

/**
 * Replies that refuse a JOIN, an INVITE, a change of mode or of nick, and never a message, though
 * they may name a channel.
 */
const NOT_ABOUT_MESSAGES = new Set(
  "405 431 432 433 437 441 442 443 461 467 471 472 473 474 475 476 479 482 485 489 520".split(" "),
);

/**
 * Finds the message that an unlabelled answer is about. The server handles lines in order, so the
 * answer concerns the first unanswered message to its channel, and an answered PING means that all
 * messages before it are handled.
 */
export class PendingAcks {
  #entries: PendingAck[] = [];
  #lastToken = 0;

  /** Records an outgoing message. */
  sent(message: Unanswered): void {
    this.#entries.push(message);
  }

  /** Records a PING after all messages so far; returns its token. */
  barrier(): string {
    const token = `b${++this.#lastToken}`;
    this.#entries.push({ token });
    return token;
  }

  /** The label of the message that a channel echoed, or null. */
  echoed(channel: string): string | null {
    return this.#takeFirst(channel);
  }

  /**
   * The label of the message that a reply refuses, or null if it is about something else.
   *
   * @param code the number of the reply
   */
  refused(channel: string, code: string): string | null {
    return NOT_ABOUT_MESSAGES.has(code) ? null : this.#takeFirst(channel);
  }

  /** Messages sent before an answered PING and still unconfirmed, in order. */
  passed(token: string): Unanswered[] {
    const end = this.#entries.findIndex((entry) => "token" in entry && entry.token === token);
    if (end === -1) return [];
    return this.#entries.splice(0, end + 1).filter((entry) => "label" in entry);
  }

  /** Forgets everything: the connection is gone. */
  clear(): void {
    this.#entries = [];
  }

  #takeFirst(channel: string): string | null {
    const key = foldCase(channel);
    const index = this.#entries.findIndex((entry) =>
      "label" in entry && foldCase(entry.channel) === key
    );
    const [found] = index === -1 ? [] : this.#entries.splice(index, 1);
    return found !== undefined && "label" in found ? found.label : null;
  }
}

import type { Consumer } from "./connection.ts";

/** Begins a stamp; appears nowhere else in what a measured server sends. */
const MARK = 0x7c;
const SENDER_DIGITS = 2;
const NUMBER_DIGITS = 6;
const STAMP_BYTES = 1 + SENDER_DIGITS + NUMBER_DIGITS;
const ZERO = 0x30;

/** After a pause this long, missing deliveries count as lost. In milliseconds. */
const STALL_MILLISECONDS = 15_000;

export interface LedgerOptions {
  readonly receivers: number;
  /** At most 100. */
  readonly senders: number;
  /** At most a million. */
  readonly messagesPerSender: number;
}

/**
 * Counts messages and their deliveries.
 *
 * Every message carries a stamp, `|` with the sender's and the message's number. A receiver only
 * looks for stamps, so a delivery costs one search for a byte and eight digits. If a receiver gets
 * any message but the next one of its sender, the whole measurement fails. So when the total is
 * reached, every message has reached everybody, in order.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  /** Messages sent, by sender. */
  readonly #sent: Uint32Array;
  /** The number of the expected message, by receiver and sender. */
  readonly #due: Uint32Array;
  /** The time of each stamp, by sender and number, in milliseconds. */
  readonly #sentAt: Float64Array;
  readonly #latencies: Float32Array;
  #delivered = 0;
  #waiting: { goal: number; resolve: () => void; reject: (error: Error) => void } | null = null;
  #failure: Error | null = null;

  /** @throws RangeError if the numbers do not fit into a stamp */
  constructor(options: LedgerOptions) {
    if (options.senders > 10 ** SENDER_DIGITS || options.messagesPerSender > 10 ** NUMBER_DIGITS) {
      throw new RangeError("Cannot count so many senders or messages");
    }
    const messages = options.senders * options.messagesPerSender;
    this.#options = options;
    this.#sent = new Uint32Array(options.senders);
    this.#due = new Uint32Array(options.receivers * options.senders);
    this.#sentAt = new Float64Array(messages);
    this.#latencies = new Float32Array(messages * options.receivers);
  }

  /** Deliveries so far. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Latencies of the deliveries so far, in milliseconds and in no order. */
  get latencies(): Float32Array {
    return this.#latencies.subarray(0, this.#delivered);
  }

  /** The stamp of a sender's next message; its latency counts from now. */
  stamp(sender: number): string {
    const number = this.#sent[sender] ?? 0;
    this.#sent[sender] = number + 1;
    this.#sentAt[sender * this.#options.messagesPerSender + number] = performance.now();
    return "|" + String(sender).padStart(SENDER_DIGITS, "0") +
      String(number).padStart(NUMBER_DIGITS, "0");
  }

  /** Lets the latency of a sender's last stamp count from now: its message is about to be written. */
  restart(sender: number): void {
    const number = (this.#sent[sender] ?? 0) - 1;
    this.#sentAt[sender * this.#options.messagesPerSender + number] = performance.now();
  }

  /** The consumer of a receiver's bytes. */
  consumer(receiver: number): Consumer {
    return (bytes, length) => {
      const now = performance.now();
      let start = 0;
      for (;;) {
        const mark = bytes.indexOf(MARK, start);
        if (mark === -1 || mark >= length) return length;
        if (mark + STAMP_BYTES > length) return mark;
        const numberAt = mark + 1 + SENDER_DIGITS;
        this.#deliver(
          receiver,
          parseDigits(bytes, mark + 1, numberAt),
          parseDigits(bytes, numberAt, mark + STAMP_BYTES),
          now,
        );
        start = mark + STAMP_BYTES;
      }
    };
  }

  /**
   * Waits for a number of deliveries.
   *
   * @throws Error if one was out of order, or none arrived for a long time
   */
  async reached(goal: number): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#delivered >= goal) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting = { goal, resolve, reject };
    let before = this.#delivered;
    const timer = setInterval(() => {
      if (this.#delivered === before) this.fail(`${goal - before} deliveries are missing`);
      before = this.#delivered;
    }, STALL_MILLISECONDS);
    await promise.finally(() => clearInterval(timer));
  }

  /** Ends the measurement without a result. */
  fail(message: string): void {
    this.#failure ??= new Error(message);
    this.#waiting?.reject(this.#failure);
    this.#waiting = null;
  }

  #deliver(receiver: number, sender: number, number: number, now: number): void {
    const { senders, messagesPerSender } = this.#options;
    const slot = receiver * senders + sender;
    const due = this.#due[slot];
    if (number !== due || sender >= senders) {
      return this.fail(
        `Receiver ${receiver} got message ${number} of sender ${sender} where ${due} was due`,
      );
    }
    this.#due[slot] = number + 1;
    const sentAt = this.#sentAt[sender * messagesPerSender + number] ?? NaN;
    this.#latencies[this.#delivered++] = now - sentAt;
    if (this.#waiting !== null && this.#delivered >= this.#waiting.goal) {
      this.#waiting.resolve();
      this.#waiting = null;
    }
  }
}

/** The decimal number in bytes `start` to `end`; no number if there are other bytes. */
function parseDigits(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let index = start; index < end; index++) {
    value = value * 10 + (bytes[index] ?? NaN) - ZERO;
  }
  return value;
}

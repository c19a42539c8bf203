/**
 * Runs the callback in the next turn of the event loop, after all promises of the current one. A
 * timer of 0 milliseconds would take one or two milliseconds, as `setImmediate` does in Deno 2.4.
 */
export class Turns {
  readonly #callback: () => void;
  #channel: MessageChannel | null = null;
  #asked = false;

  constructor(callback: () => void) {
    this.#callback = callback;
  }

  /** Schedules the callback, once per turn. */
  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#channel ??= this.#open();
    this.#channel.port2.postMessage(null);
  }

  /** Cancels the scheduled callback. */
  close(): void {
    this.#channel?.port1.close();
    this.#channel?.port2.close();
    this.#channel = null;
    this.#asked = false;
  }

  #open(): MessageChannel {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (channel !== this.#channel) return;
      this.#asked = false;
      this.#callback();
    };
    return channel;
  }
}

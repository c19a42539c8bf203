import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import { MessageLog } from "../messages/mod.ts";
import type { ChannelText } from "./options.ts";

interface AwaitedLog {
  readonly log: MessageLog<ChannelText>;
  waiting: number;
}

/**
 * Creates the message logs of channels. A reader may wait for a channel that the bridge is not in;
 * when the bridge enters it, the channel gets the log that the reader waits on.
 */
export class AwaitedLogs {
  readonly #capacity: number;
  readonly #report: Log;
  /** By the channel's folded name. */
  readonly #awaited = new Map<string, AwaitedLog>();

  /** @param capacity messages kept for each channel */
  constructor(capacity: number, report: Log) {
    this.#capacity = capacity;
    this.#report = report;
  }

  /**
   * The log of a channel that the bridge is not in, for a reader who waits for it.
   *
   * @returns the log, and a function that ends the wait
   */
  await(name: string): { readonly log: MessageLog<ChannelText>; readonly end: () => void } {
    const key = foldCase(name);
    const awaited = this.#awaited.get(key) ?? { log: this.#newLog(name), waiting: 0 };
    this.#awaited.set(key, awaited);
    awaited.waiting++;
    const end = () => {
      awaited.waiting--;
      if (awaited.waiting === 0 && this.#awaited.get(key) === awaited) this.#awaited.delete(key);
    };
    return { log: awaited.log, end };
  }

  /** The log for a channel that the bridge enters: the one that readers wait on, or a new one. */
  take(name: string): MessageLog<ChannelText> {
    const key = foldCase(name);
    const log = this.#awaited.get(key)?.log ?? this.#newLog(name);
    this.#awaited.delete(key);
    return log;
  }

  /** Ends the wait of every reader. */
  close(reason: string): void {
    for (const { log } of this.#awaited.values()) log.end(reason);
  }

  #newLog(name: string): MessageLog<ChannelText> {
    return new MessageLog<ChannelText>({
      capacity: this.#capacity,
      onFailure: (error) => {
        this.#report.error("A reader of a channel failed", { channel: name, error });
      },
    });
  }
}

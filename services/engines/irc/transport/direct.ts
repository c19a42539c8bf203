/** Clients in this process whose commands and messages are values, never lines. */

import type { Message } from "../protocol/message.ts";
import type { Outbound, ReplyTags } from "../outbound.ts";
import type { Transport, TransportClosed } from "./transport.ts";

/** What a direct client sends. */
export interface DirectCommand extends Pick<Message, "command" | "params" | "tags"> {
  /** The id of the message that it says, which no other message has; a new one, if absent. */
  readonly id?: string | undefined;
}

/** Receives messages for a direct client, never while {@linkcode DirectConnection.send} runs. */
export interface DirectReceiver {
  /**
   * Called with each message of the server, in order.
   *
   * @param tags mark an answer to a command of this client: with its label, or as part of a batch
   */
  message(message: Outbound, tags: ReplyTags): void;
  /** The connection is over, with the reason. Called once, after the last message. */
  closed(reason: string): void;
}

/** A direct client's end of its connection. */
export interface DirectConnection {
  /** Executes a command once the earlier ones are done. A closed connection ignores it. */
  send(command: DirectCommand): void;
  close(): void;
  readonly closed: boolean;
}

export interface DirectTransportOptions {
  /** What stands for an IP address. */
  readonly address: string;
  readonly receiver: DirectReceiver;
  readonly onClosed: TransportClosed;
  /** Called with what the receiver threw. */
  onError(error: unknown): void;
}

/** The server's side of a direct client. */
export interface DirectServerEnd {
  /** Executes a command. The next one waits for a returned promise. */
  run(command: DirectCommand): void | Promise<void>;
  disconnected(reason: string): void;
}

/**
 * Transports a direct client's commands and messages as values. A command runs at once. A message
 * reaches the client in a later microtask, so that no command runs inside another; by then, the
 * writes to clients with a socket have been requested.
 */
export class DirectTransport implements Transport {
  readonly address: string;
  readonly secure = true;
  readonly internal = true;
  readonly kind = "internal";
  /** Queued messages reach the client before anything else happens. */
  readonly queuedBytes = 0;
  readonly connection: DirectConnection;

  readonly #options: DirectTransportOptions;
  #server: DirectServerEnd | null = null;
  #messages: Outbound[] = [];
  /** Those of the messages, at the same places. */
  #tags: ReplyTags[] = [];
  #scheduled = false;
  readonly #flushNow = () => this.#flush();
  #commands: DirectCommand[] = [];
  #busy = false;
  #closeReason: string | null = null;

  constructor(options: DirectTransportOptions) {
    this.#options = options;
    this.address = options.address;
    const isClosed = () => this.#closeReason !== null;
    this.connection = {
      send: (command) => this.#take(command),
      close: () => this.end(),
      get closed() {
        return isClosed();
      },
    };
  }

  /** Sets the handler of the client's commands. */
  start(server: DirectServerEnd): void {
    this.#server = server;
  }

  /** Queues a message for the client. */
  deliver(message: Outbound, tags: ReplyTags): void {
    if (this.#closeReason !== null) return;
    this.#messages.push(message);
    this.#tags.push(tags);
    this.#schedule();
  }

  /** A direct client receives no lines, only messages through {@linkcode deliver}. */
  send(): void {}

  drained(): null {
    return null;
  }

  end(): void {
    if (this.#closeReason !== null) return;
    this.#closeReason = "Connection closed";
    this.#commands = [];
    this.#schedule();
    this.#server?.disconnected(this.#closeReason);
  }

  #take(command: DirectCommand): void {
    if (this.#closeReason !== null) return;
    if (this.#busy) this.#commands.push(command);
    else this.#run(command);
  }

  #run(command: DirectCommand): void {
    const pending = this.#server?.run(command);
    if (!pending) return;
    this.#busy = true;
    pending.finally(() => {
      this.#busy = false;
      while (!this.#busy) {
        const next = this.#commands.shift();
        if (next === undefined) break;
        this.#run(next);
      }
    });
  }

  /** After the writes to clients over TCP, because one message may go on to thousands of readers. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(this.#flushNow)));
  }

  #flush(): void {
    const { receiver } = this.#options;
    const [messages, tags] = [this.#messages, this.#tags];
    this.#messages = [];
    this.#tags = [];
    this.#scheduled = false;
    for (let index = 0; index < messages.length; index++) {
      try {
        receiver.message(messages[index] as Outbound, tags[index] as ReplyTags);
      } catch (error) {
        this.#options.onError(error);
      }
    }
    // The next call delivers messages that came meanwhile, and then the end.
    if (this.#closeReason !== null && !this.#scheduled) this.#finish(this.#closeReason);
  }

  #finish(reason: string): void {
    try {
      this.#options.receiver.closed(reason);
    } catch (error) {
      this.#options.onError(error);
    }
    this.#options.onClosed(this);
  }
}

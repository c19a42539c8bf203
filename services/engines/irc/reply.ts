import { Cap } from "./protocol/capabilities.ts";
import type { Message } from "./protocol/message.ts";
import type { Numeric } from "./protocol/numerics.ts";
import type { Outbound } from "./outbound.ts";
import type { ServerState } from "./state.ts";
import type { Client } from "./members.ts";

/** Longest label, in characters (IRCv3 labeled-response). */
const LABEL_LENGTH = 64;

/** Most lines held of a labelled answer; a longer one is sent as a batch while it is produced. */
const HELD_LINES = 64;

/** A held message of an answer, and its batch within the answer. */
interface HeldMessage {
  readonly message: Outbound;
  readonly batch: string | null;
}

/**
 * The answer to one command.
 *
 * Without a label, every line is sent at once. With a label, lines are held until {@linkcode
 * finish}, because their number decides the form: no line becomes ACK, a single line carries the
 * label, several lines become a batch (IRCv3 labeled-response).
 */
export class Reply {
  readonly #state: ServerState;
  readonly #client: Client;
  /** Null if the command has no label, or the answer already carries it. */
  #label: string | null;
  #held: HeldMessage[] | null = null;
  /** The reference of the batch of a long labelled answer. */
  #batch: string | null = null;

  constructor(state: ServerState, client: Client, label: string | null) {
    this.#state = state;
    this.#client = client;
    this.#label = client.hasCapability(Cap.LABELED_RESPONSE) ? label : null;
  }

  /** Moves the label to an answer that another {@linkcode Reply} sends later. */
  takeLabel(): string | null {
    const label = this.#label;
    this.#label = null;
    return label;
  }

  /**
   * Called before each line of a long answer, and for each item that is looked at for one.
   *
   * @returns a promise to wait for if the client reads slowly, or it is the turn of others
   */
  pause(): Promise<void> | null {
    return this.#client.transport.drained() ?? this.#state.pace.step();
  }

  /** Adds a message that is not from the server, such as the client's own JOIN or its echo. */
  message(message: Outbound): void {
    this.#add({ message, batch: null });
  }

  /**
   * Adds a batch of messages to an answer that also has others; without the capability `batch`,
   * only the messages.
   */
  nested(type: string, params: readonly string[], messages: Iterable<Outbound>): void {
    const batched = this.#client.hasCapability(Cap.BATCH);
    const batch = batched ? this.#state.nextMessageId() : null;
    if (batch !== null) this.message(this.#batchMessage([`+${batch}`, type, ...params]));
    for (const message of messages) this.#add({ message, batch });
    if (batch !== null) this.message(this.#batchMessage([`-${batch}`]));
  }

  #add(held: HeldMessage): void {
    if (this.#label !== null) {
      this.#held ??= [];
      this.#held.push(held);
      if (this.#held.length > HELD_LINES) this.#sendHeld(this.#label);
      return;
    }
    const { message, batch } = held;
    const reference = batch ?? this.#batch;
    if (reference === null) return this.#client.send(message);
    this.#client.answer(message, { batch: reference });
  }

  /** Adds a numeric; its fixed text, if it has one, comes after the parameters. */
  numeric(numeric: Numeric, ...params: string[]): void {
    const all = [this.#client.nick, ...params];
    this.message(
      numeric.text === null
        ? this.#state.messageFromServer(numeric.code, { params: all })
        : this.#state.messageFromServer(numeric.code, { params: all, text: numeric.text }),
    );
  }

  /** Adds a numeric that ends in this text. */
  numericText(numeric: Numeric, params: readonly string[], text: string): void {
    const all = [this.#client.nick, ...params];
    this.message(this.#state.messageFromServer(numeric.code, { params: all, text }));
  }

  /** Adds a message from the server. */
  command(command: string, params: readonly string[], text?: string): void {
    const content = text === undefined ? { params } : { params, text };
    this.message(this.#state.messageFromServer(command, content));
  }

  /**
   * Answers with one batch and nothing else, and sends its messages as they come; without the
   * capability `batch`, only the messages. Pauses as {@linkcode pause} says.
   */
  async batch(
    type: string,
    params: readonly string[],
    messages: Iterable<Outbound> | AsyncIterable<Outbound>,
  ): Promise<void> {
    const client = this.#client;
    const reference = client.hasCapability(Cap.BATCH) ? this.#state.nextMessageId() : null;
    if (reference !== null) {
      const start = this.#batchMessage([`+${reference}`, type, ...params]);
      const tags = this.#label === null ? {} : { label: this.#label };
      client.answer(start, tags);
      this.#label = null;
    }
    const tags = reference === null ? {} : { batch: reference };
    for await (const message of messages) {
      const pause = this.pause();
      if (pause) await pause;
      if (client.quitReason !== null) return;
      client.answer(message, tags);
    }
    if (reference !== null) client.send(this.#batchMessage([`-${reference}`]));
  }

  #batchMessage(params: readonly string[]): Outbound {
    return this.#state.messageFromServer("BATCH", { params });
  }

  /** Adds a FAIL of IRCv3 standard-replies. */
  fail(command: string, code: string, context: readonly string[], description: string): void {
    this.command("FAIL", [command, code, ...context], description);
  }

  /** Sends what was held. Called once, after the command is done. */
  finish(): void {
    const label = this.#label;
    if (label === null && this.#batch === null) return;
    if (this.#client.quitReason !== null) return;
    const [first, ...others] = this.#held ?? [];
    if (label !== null && first === undefined) {
      const ack = this.#state.messageFromServer("ACK", { params: [] });
      this.#client.answer(ack, { label });
    } else if (label !== null && first !== undefined && others.length === 0) {
      this.#client.answer(first.message, { label });
    } else if (label !== null) {
      this.#sendHeld(label);
    }
    if (this.#batch !== null) this.#client.send(this.#batchMessage([`-${this.#batch}`]));
  }

  /** Sends the held lines; later lines follow at once, in a batch if the client supports it. */
  #sendHeld(label: string): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#label = null;
    if (this.#client.hasCapability(Cap.BATCH)) {
      this.#batch = this.#state.nextMessageId();
      const start = this.#batchMessage([`+${this.#batch}`, "labeled-response"]);
      this.#client.answer(start, { label });
    }
    for (const message of held) this.#add(message);
  }
}

/** The label of a command; null if it has none, or one that is too long. */
export function labelOf({ tags }: Message): string | null {
  const label = tags.size === 0 ? undefined : tags.get("label");
  return label && label.length <= LABEL_LENGTH ? label : null;
}

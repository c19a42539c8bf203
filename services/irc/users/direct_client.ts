import { Client } from "../client.ts";
import type { Outbound, ReplyTags } from "../outbound.ts";
import type { DirectTransport } from "../transport/direct.ts";
import type { ServerState } from "../state.ts";

const NO_TAGS: ReplyTags = Object.freeze({});

/** A client in this process that receives messages as values, not lines. */
export class DirectClient extends Client {
  readonly #transport: DirectTransport;

  constructor(state: ServerState, transport: DirectTransport, privileged: boolean) {
    super(transport, { privileged, now: state.now(), counters: state.counters });
    this.#transport = transport;
  }

  override send(message: Outbound): void {
    this.counters.linesOut++;
    this.#transport.deliver(message, NO_TAGS);
  }

  override answer(message: Outbound, tags: ReplyTags): void {
    this.counters.linesOut++;
    this.#transport.deliver(message, tags);
  }
}

import { EventStreamClient, Ledger } from "../client/mod.ts";
import { inParallel } from "../parallel.ts";
import type { MusterProcess } from "../servers/mod.ts";

const CHANNEL_PATH = "/v1/channels/bench";

/** What a message says before its stamp; with it 80 bytes. */
const BODY = "x".repeat(71);

/** How many streams are being opened at the same time. */
const PARALLEL_OPENINGS = 50;

/** Readers of one channel's event stream. */
export class Readers implements Disposable {
  readonly #clients: readonly EventStreamClient[];

  private constructor(clients: readonly EventStreamClient[]) {
    this.#clients = clients;
  }

  static async open({ api, token }: MusterProcess, count: number): Promise<Readers> {
    const stream = { address: api, path: `${CHANNEL_PATH}/stream`, token };
    const places = Array.from({ length: count });
    const clients = await inParallel(
      places,
      PARALLEL_OPENINGS,
      () => EventStreamClient.open(stream),
    );
    return new Readers(clients);
  }

  /** A ledger for posts, of which every reader is a receiver. */
  expect(senders: number, messagesPerSender: number): Ledger {
    const receivers = this.#clients.length;
    const ledger = new Ledger({ receivers, senders, messagesPerSender });
    this.#clients.forEach((client, index) => client.count(ledger, index));
    return ledger;
  }

  get count(): number {
    return this.#clients.length;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client.close();
  }
}

/** Posts a message with this stamp to the readers' channel. */
export async function postMessage(server: MusterProcess, stamp: string): Promise<void> {
  const body = { nick: "bench", text: BODY + stamp };
  const response = await server.post(`${CHANNEL_PATH}/messages`, body);
  await response.body?.cancel();
}

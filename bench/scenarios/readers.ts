import { type EventStream, EventStreamClient, Ledger } from "../client/mod.ts";
import { delay, inParallel } from "../parallel.ts";
import { type CoordinationServer, post } from "../servers/mod.ts";

/** The readers' channel. */
export const CHANNEL = "bench";

/** The text before a message's stamp; both together have 80 bytes. */
const BODY = "x".repeat(71);

/** Streams opened at the same time. */
const PARALLEL_OPENINGS = 50;

/** Pause between two messages until every stream has begun, in milliseconds. */
const ROUSE_MILLISECONDS = 200;

/** Readers of one channel's event stream. */
export class Readers implements Disposable {
  readonly #clients: readonly EventStreamClient[];

  private constructor(clients: readonly EventStreamClient[]) {
    this.#clients = clients;
  }

  /** @param streams one for each reader; by default all follow the channel with the API token */
  static async open(
    server: CoordinationServer,
    count: number,
    streams: readonly EventStream[] = Array(count).fill(server.streamOf(CHANNEL)),
  ): Promise<Readers> {
    const { beginsStreamsAtOnce } = server;
    const clients = await inParallel(
      streams,
      PARALLEL_OPENINGS,
      (stream) =>
        beginsStreamsAtOnce ? EventStreamClient.open(stream) : EventStreamClient.ask(stream),
    );
    await untilBegun(server, Promise.all(clients.map((client) => client.ready())));
    return new Readers(clients);
  }

  /** A ledger for posts, with every reader as a receiver. */
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

/**
 * Waits until streams have begun. If a server begins them with their first event, causes one.
 *
 * @throws the error of `begun`
 */
export async function untilBegun(
  server: CoordinationServer,
  begun: Promise<unknown>,
): Promise<void> {
  let isOver = server.beginsStreamsAtOnce;
  const over = begun.finally(() => isOver = true);
  over.catch(() => {});
  while (!isOver) {
    await postMessage(server, "");
    await delay(ROUSE_MILLISECONDS);
  }
  await over;
}

/** Posts a message with this stamp to the readers' channel. */
export async function postMessage(server: CoordinationServer, stamp: string): Promise<void> {
  const body = { nick: "bench", text: BODY + stamp };
  const response = await post(server, `/v1/channels/${CHANNEL}/messages`, body);
  await response.body?.cancel();
}

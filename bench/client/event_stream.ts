import {
  type Address,
  Connection,
  type ConnectionOwner,
  type Consumer,
  linesConsumer,
} from "./connection.ts";
import type { Ledger } from "./ledger.ts";

const decoder = new TextDecoder();

/** A stream of events, and who asks for it. */
export interface EventStream {
  readonly address: Address;
  readonly path: string;
  /** Bearer token; empty with a cookie. */
  readonly token: string;
  /** Cookie of a session; absent with a token. */
  readonly cookie?: string;
}

/**
 * A reader of an event stream (text/event-stream over HTTP/1.1).
 *
 * It looks for stamps in the body as it comes, without undoing the chunked encoding. A server that
 * cut an event inside its stamp would fail the measurement; ours writes every event as one chunk.
 */
export class EventStreamClient implements ConnectionOwner {
  consumer: Consumer;

  readonly #head = Promise.withResolvers<string>();
  #connection: Connection | null = null;
  #ledger: Ledger | null = null;

  private constructor() {
    let head: string[] = [];
    this.consumer = linesConsumer((bytes, start, end) => {
      if (end > start) return void head.push(decoder.decode(bytes.subarray(start, end)));
      this.#head.resolve(head[0] ?? "");
      head = [];
      this.consumer = ignore;
    });
    // A stream may end before anybody asks whether it is ready.
    this.#head.promise.catch(() => {});
  }

  /**
   * Opens a stream. Resolves when the head of the response is there.
   *
   * @throws Error if the status is not 200, or the connection ends
   */
  static async open(stream: EventStream): Promise<EventStreamClient> {
    const client = await EventStreamClient.ask(stream);
    await client.ready();
    return client;
  }

  /** Asks for a stream. Resolves when the request is written; {@linkcode ready} waits for the head. */
  static async ask({ address, path, token, cookie }: EventStream): Promise<EventStreamClient> {
    const credential = cookie === undefined
      ? `Authorization: Bearer ${token}`
      : `Cookie: ${cookie}`;
    const client = new EventStreamClient();
    client.#connection = await Connection.open(address, client);
    await client.#connection.write(
      `GET ${path} HTTP/1.1\r\nHost: ${address.hostname}:${address.port}\r\n` +
        `Accept: text/event-stream\r\n${credential}\r\n\r\n`,
    );
    return client;
  }

  /**
   * Waits for the head of the response.
   *
   * @throws Error if the status is not 200, or the connection ends
   */
  async ready(): Promise<void> {
    const status = await this.#head.promise;
    if (!/^HTTP\/1\.1 200\b/.test(status)) {
      throw new Error(`The event stream was refused: ${status}`);
    }
  }

  /** From now on this client is a receiver of the ledger. */
  count(ledger: Ledger, receiver: number): void {
    this.#ledger = ledger;
    this.consumer = ledger.consumer(receiver);
  }

  close(): void {
    this.#ledger = null;
    this.#connection?.close();
  }

  closed(reason: string): void {
    const message = `An event stream ended: ${reason}`;
    this.#head.reject(new Error(message));
    this.#ledger?.fail(message);
  }
}

/** Reads a stream that nobody counts. */
const ignore: Consumer = (_bytes, length) => length;

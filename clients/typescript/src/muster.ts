import { refusal } from "./errors.js";
import { createClient, createConfig } from "./generated/client/index.js";
import { Operations } from "./generated/sdk.gen.js";
import type {
  CheckinStatus,
  Landing,
  ListEventsResponses,
  Question,
  ReadChannelResponses,
  ReadInboxResponses,
} from "./generated/types.gen.js";
import { pause, retrying } from "./retries.js";
import { follow, type StreamedEvent } from "./streams.js";

/** How long one request waits for news, in seconds. */
const WAIT = 50;

/** How often what has no wait of its own is asked for, in milliseconds. */
const INTERVAL = 2000;

export interface MusterOptions {
  /** Of the API, such as `https://muster.example`. */
  readonly url: string | URL;
  /** Of an agent, a person, an admin or the operator. */
  readonly token: string;
  /** How often a request is repeated at most that failed for a while; 4 by default. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

export interface Until {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

type Message = ReadChannelResponses[200][number];
type InboxMessage = ReadInboxResponses[200][number];
type ServerEvent = ListEventsResponses[200] extends readonly (infer Item)[] ? Item : unknown;

/**
 * A server. Each operation of its API is a method, such as {@link Operations.createTicket}: it takes
 * `path`, `query` and `body`, returns what the server answers, and throws a `MusterError` with its
 * sentence if the server refuses.
 */
export class Muster extends Operations {
  readonly #url: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;

  constructor({ url, token, retries = 4, fetch: send = fetch }: MusterOptions) {
    const baseUrl = String(url).replace(/\/+$/, "");
    const client = createClient(createConfig({
      baseUrl,
      headers: { authorization: `Bearer ${token}` },
      fetch: retrying(send, retries),
      throwOnError: true,
    }));
    client.interceptors.error.use((error, response) =>
      response === undefined ? error : refusal(response, error)
    );
    super({ client });
    this.#url = baseUrl;
    this.#token = token;
    this.#fetch = send;
  }

  /**
   * Follows the messages of a channel, from now on.
   *
   * @param channel with or without `#`
   * @param options `since`: begin behind this message's id, or this time
   * @throws MusterError; the signal's reason
   */
  followChannel(
    channel: string,
    { since, signal }: Until & { readonly since?: string } = {},
  ): AsyncGenerator<StreamedEvent<Message>, never> {
    const path = `/v1/channels/${encodeURIComponent(channel)}/stream`;
    return this.#follow(path, { full: "true", since }, signal);
  }

  /**
   * Follows what happens in a project, from now on.
   *
   * @param options `after`: begin behind this event; `types`: only events of these names
   * @throws MusterError; the signal's reason
   */
  followProject(
    slug: string,
    { after, types, signal }: Until & {
      readonly after?: string;
      readonly types?: readonly string[];
    } = {},
  ): AsyncGenerator<StreamedEvent<unknown>, never> {
    const path = `/projects/${encodeURIComponent(slug)}/fossil/api/events`;
    return this.#follow(path, { after, types: types?.join() }, signal);
  }

  /**
   * Follows the server's log of events, from now on. For admins and the operator.
   *
   * @param options as of {@link followProject}
   * @throws MusterError; the signal's reason
   */
  followEvents(
    { after, types, signal }: Until & {
      readonly after?: string;
      readonly types?: readonly string[];
    } = {},
  ): AsyncGenerator<StreamedEvent<ServerEvent>, never> {
    return this.#follow("/v1/events", { after, types: types?.join() }, signal);
  }

  /**
   * Follows what an agent has not read in its inbox. A message is acknowledged when the next one is
   * asked for, so one that is being worked on comes again after a crash.
   *
   * @throws MusterError; the signal's reason
   */
  async *followInbox(nick: string, { signal }: Until = {}): AsyncGenerator<InboxMessage, never> {
    for (;;) {
      signal?.throwIfAborted();
      const query = { unread: "true", wait_seconds: WAIT } as const;
      const messages = await this.readInbox({ path: { nick }, query, signal: ending(signal) });
      for (const message of messages) {
        yield message;
        await this.acknowledgeMessages({ path: { nick }, body: { ids: [message.id] } });
      }
    }
  }

  /**
   * Waits until a question is no longer open.
   *
   * @throws MusterError; the signal's reason
   */
  async answerTo(id: number, { signal }: Until = {}): Promise<Question> {
    for (;;) {
      signal?.throwIfAborted();
      const query = { wait_seconds: WAIT };
      const question = await this.getQuestion({ path: { id }, query, signal: ending(signal) });
      if (question.state !== "open") return question;
    }
  }

  /**
   * Waits until no check of a check-in is under way.
   *
   * @param checkin a hash, a branch or a tag
   * @throws MusterError; the signal's reason
   */
  async checksOf(slug: string, checkin: string, { signal }: Until = {}): Promise<CheckinStatus> {
    return await this.#until(
      () => this.getCheckinStatus({ path: { slug }, query: { checkin }, signal: ending(signal) }),
      ({ state }) => state !== "pending" && state !== "unknown",
      signal,
    );
  }

  /**
   * Waits until a review that shall land has landed, or came back from the queue.
   *
   * @returns null if nobody asked for it to land
   * @throws MusterError; the signal's reason
   */
  async landingOf(slug: string, review: number, { signal }: Until = {}): Promise<Landing | null> {
    return await this.#until(
      async () => {
        const query = { per_page: 100 };
        const { landing } = await this.listLandings({ path: { slug }, query, signal: ending(signal) });
        return landing.find((one) => one.review === review) ?? null;
      },
      (landing) => landing?.status !== "queued" && landing?.status !== "testing",
      signal,
    );
  }

  async #until<Value>(
    read: () => Promise<Value>,
    isOver: (value: Value) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Value> {
    for (;;) {
      const value = await read();
      if (isOver(value)) return value;
      await pause(INTERVAL, signal);
    }
  }

  #follow<Data>(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamedEvent<Data>, never> {
    const url = new URL(this.#url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return follow((headers) => {
      headers.set("authorization", `Bearer ${this.#token}`);
      return this.#fetch(url, { headers, signal: ending(signal) });
    }, signal);
  }
}

/** A signal as `fetch` takes it. */
function ending(signal: AbortSignal | undefined): AbortSignal | null {
  return signal ?? null;
}

/** Waits for what bots do, as others see it. */
import { call, type Server } from "../../support/api.ts";
import type { IrcClient } from "../../support/irc_client.ts";

/** How long anything may take to be seen, and how often it is looked for, in milliseconds. */
const LIMIT_MS = 20_000;
const LOOK_MS = 10;

export interface SeenMessage {
  readonly nick: string;
  readonly account: string | null;
  readonly text: string;
  readonly timestamp: string;
}

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Looks for something until it is there. */
export async function sooner<Found>(
  what: string,
  find: () => Found | null | undefined | Promise<Found | null | undefined>,
): Promise<Found> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const found = await find();
    if (found !== null && found !== undefined) return found;
    if (performance.now() > end) throw new Error(`Not seen within ${LIMIT_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** What happens from one moment on. */
export class Sight {
  readonly #server: Server;
  readonly #lines: ReadonlyMap<IrcClient, number>;
  /** As timestamps of messages are: with microseconds. */
  readonly #time: string;
  /** The number of the newest event at that moment. */
  readonly event: number;

  private constructor(server: Server, lines: ReadonlyMap<IrcClient, number>, event: number) {
    this.#server = server;
    this.#lines = lines;
    this.event = event;
    this.#time = new Date().toISOString().replace("Z", "000Z");
  }

  /** @param clients those whose lines are looked at */
  static async from(server: Server, clients: readonly IrcClient[]): Promise<Sight> {
    const response = await call(server, "GET", "/v1/events?limit=1");
    const { cursor } = await response.json();
    return new Sight(server, new Map(clients.map((one) => [one, one.lines.length])), cursor);
  }

  /** The lines that a client has had since then. */
  lines(client: IrcClient): readonly string[] {
    return client.lines.slice(this.#lines.get(client) ?? 0);
  }

  /** A line that a client gets. */
  line(client: IrcClient, pattern: RegExp): Promise<string> {
    return sooner(`${pattern} on IRC`, () => this.lines(client).find((line) => pattern.test(line)))
      .catch((error: Error) => {
        throw new Error(`${error.message}; the last: ${this.lines(client).slice(-8).join("\n")}`);
      });
  }

  /** A message of a bot in a channel, over REST. */
  message(channel: string, bot: string, pattern: RegExp): Promise<SeenMessage> {
    return sooner(`${bot} in ${channel}: ${pattern} over REST`, async () => {
      return (await this.messages(channel)).find(({ nick, text }) =>
        nick === bot && pattern.test(text)
      );
    });
  }

  /** What was said in a channel since then, over REST. */
  async messages(channel: string): Promise<readonly SeenMessage[]> {
    const path = `/v1/channels/${channel.slice(1)}/messages?limit=200`;
    const response = await call(this.#server, "GET", path);
    if (response.status === 404) {
      await response.body?.cancel();
      return [];
    }
    const messages: readonly SeenMessage[] = await response.json();
    return messages.filter(({ timestamp }) => timestamp >= this.#time);
  }

  /** An event of a type. */
  logged(type: string, test: (event: SeenEvent) => boolean = () => true): Promise<SeenEvent> {
    return sooner(`the event ${type}`, async () => (await this.events(type)).find(test));
  }

  /** The events since then. */
  async events(types?: string): Promise<readonly SeenEvent[]> {
    const query = types === undefined ? "" : `&types=${types}`;
    const path = `/v1/events?after=${this.event}&limit=1000${query}`;
    return (await (await call(this.#server, "GET", path)).json()).events;
  }
}

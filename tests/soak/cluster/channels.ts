import type { Credentials } from "../../support/api.ts";
import type { IrcClient } from "../../support/irc_client.ts";
import { Subscription } from "./subscription.ts";
import { basic, inTurns, type World } from "./world.ts";

/** The pause between two messages of all agents on IRC, or over HTTP, in milliseconds. */
const TALK_EVERY = 100;

/** How often an agent tries to log in to IRC at the start. */
const LOGINS = 5;

/** Where a message stands for everybody who reads it. */
interface Seen {
  readonly id: string;
  readonly timestamp: string;
}

/** What a stream tells of a message. */
interface Shown {
  readonly id: string;
  readonly nick: string;
  readonly account: string | null;
  readonly via?: string;
  readonly text: string;
  readonly timestamp: string;
}

/** What was said in the channels, and where readers saw it. */
export class Talk {
  readonly world: World;
  /** The texts that were acknowledged, by channel, with their speakers. */
  readonly #said = new Map<string, Map<string, string>>();
  /** By channel and text. */
  readonly #seen = new Map<string, Seen>();
  readonly #readers: Reader[] = [];
  readonly #clients: IrcClient[] = [];

  constructor(world: World) {
    this.world = world;
  }

  /** Opens the streams, and connects the agents on IRC. */
  async gather(): Promise<void> {
    const world = this.world;
    await inTurns(world.onHttp, async (agent, index) => {
      const reader = new Reader(this, agent, world.channelOf(index));
      this.#readers.push(reader);
      await reader.open();
    });
    await inTurns(world.onIrc, async ({ nick, passphrase }, index) => {
      const client = await this.#logIn(nick, passphrase);
      await client.send("CAP REQ echo-message");
      await client.join(`#${world.channelOf(index)}`);
      this.#clients[index] = client;
    });
  }

  /** Logs in to IRC, again if the services of the network are too slow for its server. */
  async #logIn(nick: string, passphrase: string): Promise<IrcClient> {
    for (let attempt = 1;; attempt++) {
      const { network } = this.world.cluster;
      const client = await network.logIn(nick, passphrase).catch((error: unknown) => {
        if (attempt === LOGINS) throw error;
        return "late" as const;
      });
      if (client === null) throw new Error(`IRC refuses ${nick}`);
      if (client !== "late") return client;
      this.world.count("logins to IRC that were repeated");
    }
  }

  /** Lets everybody talk, until the world ends. */
  async run(): Promise<void> {
    const world = this.world;
    await Promise.all([
      ...this.#clients.map((client, index) =>
        this.#talkOnIrc(client, world.onIrc[index]?.nick ?? "", world.channelOf(index))
      ),
      ...world.onHttp.map((agent, index) => this.#talkOverHttp(agent, world.channelOf(index))),
    ]);
  }

  /** Notes that a reader was shown a message; every reader must see it at the same place. */
  saw(channel: string, { id, nick, account, via, text, timestamp }: Shown): void {
    const key = `${channel} ${text}`;
    const before = this.#seen.get(key);
    if (before === undefined) this.#seen.set(key, { id, timestamp });
    else if (before.id !== id || before.timestamp !== timestamp) {
      this.world.fault(`"${text}" is ${before.id} and ${id}, ${before.timestamp} ${timestamp}`);
    }
    const [speaker = ""] = text.split(".");
    if (nick !== speaker || account !== speaker || via !== undefined) {
      this.world.fault(`"${text}" is by ${nick}, account ${account}, via ${via}`);
    }
  }

  /** Whether every reader has seen everything that was acknowledged. */
  get isRead(): boolean {
    return this.world.channels.every((channel) => {
      const texts = new Set(this.#shownIn(channel));
      return this.#readers.every((reader) =>
        reader.channel !== channel || reader.missing(texts) === 0
      );
    });
  }

  /** Ends the streams and the connections, and notes what readers did not see. */
  async end(): Promise<void> {
    const world = this.world;
    for (const reader of this.#readers) {
      // Also what was not acknowledged: another reader was shown it.
      const missing = reader.missing(new Set(this.#shownIn(reader.channel)));
      if (missing > 0) world.fault(`${reader.name} missed ${missing}: ${reader.example}`);
      world.count("messages on streams", reader.texts.size);
    }
    for (const reader of this.#readers) await reader.close();
    for (const [index, channel] of world.channels.entries()) this.#compareIrc(index, channel);
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
  }

  /** Everything that was acknowledged in a channel, and that a reader was shown. */
  *#shownIn(channel: string): Iterable<string> {
    yield* this.#textsOf(channel);
    for (const reader of this.#readers) if (reader.channel === channel) yield* reader.texts.keys();
  }

  /** What agents post over HTTP is on IRC once. The first clients are in one channel each. */
  #compareIrc(index: number, channel: string): void {
    const { world } = this;
    const times = new Map<string, number>();
    for (const line of this.#clients[index]?.lines ?? []) {
      const text = / PRIVMSG #\S+ :\[http\d+\] (http\d+\.\d+)$/.exec(line)?.[1];
      if (text !== undefined) times.set(text, (times.get(text) ?? 0) + 1);
    }
    for (const [text, count] of times) {
      if (count > 1) world.fault(`"${text}" is ${count} times on IRC in ${channel}`);
    }
    for (const text of this.#textsOf(channel)) {
      if (text.startsWith("http") && !times.has(text)) {
        world.fault(`"${text}" is not on IRC in ${channel}`);
      }
    }
    world.count("messages of agents over HTTP, on IRC", times.size);
  }

  /** The texts that were acknowledged in a channel, with their ids. */
  said(channel: string): ReadonlyMap<string, string> {
    const texts = [...this.#textsOf(channel)];
    return new Map(texts.map((text) => [text, this.#seen.get(`${channel} ${text}`)?.id ?? ""]));
  }

  /** The pause between two messages of an agent, in milliseconds. */
  get #pause(): number {
    return TALK_EVERY * this.world.sizes.agents;
  }

  #textsOf(channel: string): ReadonlySet<string> {
    return new Set(this.#said.get(channel)?.keys() ?? []);
  }

  #acknowledged(channel: string, text: string, by: string): void {
    const texts = this.#said.get(channel) ?? new Map<string, string>();
    this.#said.set(channel, texts.set(text, by));
    this.world.count("messages acknowledged");
  }

  async #talkOverHttp(agent: Credentials, channel: string): Promise<void> {
    const world = this.world;
    await world.pause(world.random.below(this.#pause));
    for (let count = 0; !world.isEnding; count++) {
      const text = `${agent.nick}.${count}`;
      const request = `POST /v1/channels/${channel}/messages`;
      const { status, text: answer } = await world.send(world.choose(), basic(agent), request, {
        text,
      });
      if (status === 204) this.#acknowledged(channel, text, agent.nick);
      else if (![0, 429, 503, 504].includes(status)) world.fault(`${request}: ${status} ${answer}`);
      await world.pause(this.#pause / 2 + world.random.below(this.#pause));
    }
  }

  async #talkOnIrc(client: IrcClient, nick: string, channel: string): Promise<void> {
    const world = this.world;
    await world.pause(world.random.below(this.#pause));
    for (let count = 0; !world.isEnding; count++) {
      const text = `${nick}.${count}`;
      const echo = new RegExp(`^(?:@\\S+ )?:${nick}!\\S+ PRIVMSG #${channel} :?${text}$`);
      try {
        await client.send(`PRIVMSG #${channel} :${text}`);
        await client.expect(echo);
      } catch (error) {
        const last = client.lines.slice(-3).join(" | ");
        return world.fault(`${nick} on IRC: ${error} after ${last}`);
      }
      this.#acknowledged(channel, text, nick);
      await world.pause(this.#pause / 2 + world.random.below(this.#pause));
    }
  }
}

/** Reads a channel's stream, and resumes it on another node when it ends. */
class Reader {
  readonly channel: string;
  readonly #talk: Talk;
  readonly #stream: Subscription;
  readonly #texts = new Map<string, string>();
  #lastTime = "";
  #example = "";

  constructor(talk: Talk, agent: Credentials, channel: string) {
    this.#talk = talk;
    this.channel = channel;
    this.#stream = new Subscription({
      world: talk.world,
      name: `The reader ${agent.nick} of ${channel}`,
      path: `/v1/channels/${channel}/stream?full=true`,
      who: basic(agent),
      take: ({ data }) => this.#take(JSON.parse(data)),
    });
  }

  get name(): string {
    return this.#stream.name;
  }

  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** One that is missing. */
  get example(): string {
    return this.#example;
  }

  /** How many texts it has not seen. */
  missing(texts: Iterable<string>): number {
    const missing = [...texts].filter((text) => !this.#texts.has(text));
    this.#example = missing.slice(0, 3).join(" ");
    return missing.length;
  }

  async open(): Promise<void> {
    await this.#stream.open();
    this.#stream.run();
  }

  async close(): Promise<void> {
    await this.#stream.close();
  }

  #take(shown: Shown): void {
    const { world } = this.#talk;
    if (shown.timestamp <= this.#lastTime) {
      world.fault(`${this.name} got "${shown.text}" of ${shown.timestamp} after ${this.#lastTime}`);
    }
    this.#lastTime = shown.timestamp;
    if (!/^(?:irc|http)\d+\.\d+$/.test(shown.text)) return;
    const before = this.#texts.get(shown.text);
    if (before !== undefined) {
      world.fault(`${this.name} got "${shown.text}" twice: ${before} and ${shown.id}`);
    }
    this.#texts.set(shown.text, shown.id);
    this.#talk.saw(this.channel, shown);
  }
}

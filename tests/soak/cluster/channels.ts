import type { Credentials } from "../../support/api.ts";
import type { IrcClient } from "../../support/irc_client.ts";
import { basic, type World } from "./world.ts";

/** The pause between two messages of an agent, in milliseconds. */
const TALK_EVERY = 20_000;

/** The pause before a reader whose stream ended opens another one, in milliseconds. */
const RESUME_AFTER = 200;

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
    for (const [index, agent] of world.onHttp.entries()) {
      const reader = new Reader(this, agent, world.channelOf(index));
      this.#readers.push(reader);
      await reader.open();
    }
    for (const [index, { nick, passphrase }] of world.onIrc.entries()) {
      const client = await world.cluster.network.logIn(nick, passphrase);
      if (client === null) throw new Error(`IRC refuses ${nick}`);
      await client.send("CAP REQ echo-message");
      await client.join(`#${world.channelOf(index)}`);
      this.#clients.push(client);
    }
  }

  /** Lets everybody read, until {@linkcode end}. */
  async read(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.run()));
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
    return this.#readers.every((reader) => reader.missing(this.#textsOf(reader.channel)) === 0);
  }

  /** Ends the streams and the connections, and notes what readers did not see. */
  async end(): Promise<void> {
    const world = this.world;
    for (const reader of this.#readers) {
      const missing = reader.missing(this.#textsOf(reader.channel));
      if (missing > 0) {
        world.fault(`${reader.name} in ${reader.channel} missed ${missing}: ${reader.example}`);
      }
      world.count("messages on streams", reader.received);
      await reader.close();
    }
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
  }

  /** The texts that were acknowledged in a channel, with their ids. */
  said(channel: string): ReadonlyMap<string, string> {
    const texts = [...this.#textsOf(channel)];
    return new Map(texts.map((text) => [text, this.#seen.get(`${channel} ${text}`)?.id ?? ""]));
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
    await world.pause(world.random.below(TALK_EVERY));
    for (let count = 0; !world.isEnding; count++) {
      const text = `${agent.nick}.${count}`;
      const request = `POST /v1/channels/${channel}/messages`;
      const { status, text: answer } = await world.send(world.choose(), basic(agent), request, {
        text,
      });
      if (status === 204) this.#acknowledged(channel, text, agent.nick);
      else if (![0, 429, 503, 504].includes(status)) world.fault(`${request}: ${status} ${answer}`);
      await world.pause(TALK_EVERY / 2 + world.random.below(TALK_EVERY));
    }
  }

  async #talkOnIrc(client: IrcClient, nick: string, channel: string): Promise<void> {
    const world = this.world;
    await world.pause(world.random.below(TALK_EVERY));
    for (let count = 0; !world.isEnding; count++) {
      const text = `${nick}.${count}`;
      await client.send(`PRIVMSG #${channel} :${text}`);
      await client.expect(new RegExp(`^(?:@\\S+ )?:${nick}!\\S+ PRIVMSG #${channel} :?${text}$`));
      this.#acknowledged(channel, text, nick);
      await world.pause(TALK_EVERY / 2 + world.random.below(TALK_EVERY));
    }
  }
}

/** Reads a channel's stream, and resumes it on another node when it ends. */
class Reader {
  readonly channel: string;
  readonly #world: World;
  readonly #talk: Talk;
  readonly #agent: Credentials;
  readonly #texts = new Map<string, string>();
  readonly #abort = new AbortController();
  #node = "";
  #lastId: string | null = null;
  #body: ReadableStreamDefaultReader<string> | null = null;
  #example = "";

  constructor(talk: Talk, agent: Credentials, channel: string) {
    this.#talk = talk;
    this.#world = talk.world;
    this.#agent = agent;
    this.channel = channel;
  }

  get name(): string {
    return `The reader ${this.#agent.nick}, last at ${this.#node},`;
  }

  get received(): number {
    return this.#texts.size;
  }

  /** One that is missing. */
  get example(): string {
    return this.#example;
  }

  /** How many texts it has not seen. */
  missing(texts: ReadonlySet<string>): number {
    const missing = [...texts].filter((text) => !this.#texts.has(text));
    this.#example = missing.slice(0, 3).join(" ");
    return missing.length;
  }

  /** Opens the stream on a node, from the last message on; false if the node refuses. */
  async open(): Promise<boolean> {
    const world = this.#world;
    this.#node = world.choose(this.#node);
    const api = world.cluster.addressOf(this.#node);
    try {
      const response = await fetch(`${api}/v1/channels/${this.channel}/stream?full=true`, {
        headers: {
          authorization: basic(this.#agent),
          accept: "text/event-stream",
          ...this.#lastId === null ? {} : { "last-event-id": this.#lastId },
        },
        signal: this.#abort.signal,
      });
      if (response.status !== 200) {
        const text = await response.text();
        if (response.status !== 503) world.fault(`A stream: ${response.status} ${text}`);
        return false;
      }
      this.#body = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? null;
      return this.#body !== null;
    } catch {
      return false;
    }
  }

  /** Reads until it is closed. */
  async run(): Promise<void> {
    const world = this.#world;
    while (!this.#abort.signal.aborted) {
      if (this.#body !== null) {
        await this.#read(this.#body);
        this.#body = null;
        if (this.#abort.signal.aborted) return;
        world.count("streams that ended and were resumed");
      }
      await new Promise((resolve) => setTimeout(resolve, RESUME_AFTER));
      await this.open();
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#body?.cancel().catch(() => {});
  }

  async #read(body: ReadableStreamDefaultReader<string>): Promise<void> {
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await body.read();
        if (done) return;
        const frames = (rest + value).split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) this.#take(frame);
      }
    } catch {
      // The node ended.
    }
  }

  #take(frame: string): void {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) return;
    const shown = JSON.parse(data) as Shown;
    this.#lastId = shown.id;
    if (!/^(?:irc|http)\d+\.\d+$/.test(shown.text)) return;
    const before = this.#texts.get(shown.text);
    if (before !== undefined) {
      this.#world.fault(`${this.name} got "${shown.text}" twice: ${before} and ${shown.id}`);
    }
    this.#texts.set(shown.text, shown.id);
    this.#talk.saw(this.channel, shown);
  }
}

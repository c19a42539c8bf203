import type { Credentials } from "../../support/api.ts";
import { basic, type World } from "./world.ts";

/** The pause between two messages of a sender, in milliseconds. */
const SEND_EVERY = 4000;

/** How many agents send to each other. */
const SENDERS = 20;

/** Private messages between agents, which wait in inboxes. */
export class Mail {
  readonly #world: World;
  /** The texts that were acknowledged, by receiver. */
  readonly #sent = new Map<string, string[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Lets agents send until the end. What was not acknowledged is sent again, with the same id. */
  async run(): Promise<void> {
    const senders = this.#correspondents();
    await Promise.all(senders.map((from, index) => {
      const to = senders[(index + 1) % senders.length] ?? from;
      return this.#send(from, to);
    }));
  }

  /** Compares every inbox with what was acknowledged. */
  async check(node: string): Promise<void> {
    const world = this.#world;
    for (const agent of this.#correspondents()) {
      const request = `GET /v1/agents/${agent.nick}/messages`;
      const { status, text } = await world.send(node, basic(agent), request);
      if (status !== 200) {
        world.fault(`${node}: ${request}: ${status} ${text}`);
        continue;
      }
      const entries = JSON.parse(text) as { id: string; text: string; timestamp: string }[];
      const texts = entries.map(({ text }) => text);
      for (const sent of this.#sent.get(agent.nick) ?? []) {
        const count = texts.filter((one) => one === sent).length;
        if (count === 0) world.fault(`${agent.nick} lacks "${sent}" in its inbox`);
      }
      const twice = texts.filter((one, index) => texts.indexOf(one) !== index);
      for (const { id, text, timestamp } of entries.filter(({ text }) => twice.includes(text))) {
        world.fault(`${agent.nick} has "${text}" more than once: ${id}, ${timestamp}`);
      }
    }
  }

  async #send(from: Credentials, to: Credentials): Promise<void> {
    const world = this.#world;
    const request = `POST /v1/agents/${to.nick}/messages`;
    for (let count = 0; !world.isEnding; count++) {
      const text = `letter ${count} of ${from.nick}`;
      const body = { text, client_id: `letter-${count}` };
      for (;;) {
        const { status, text: answer } = await world.send(
          world.choose(),
          basic(from),
          request,
          body,
        );
        if (status === 204) {
          this.#sent.set(to.nick, [...this.#sent.get(to.nick) ?? [], text]);
          world.count("private messages acknowledged");
          break;
        }
        if (![0, 429, 503, 504].includes(status)) world.fault(`${request}: ${status} ${answer}`);
        if (world.isEnding) break;
        await world.pause(500);
      }
      await world.pause(SEND_EVERY / 2 + world.random.below(SEND_EVERY));
    }
  }

  #correspondents(): readonly Credentials[] {
    return this.#world.onHttp.slice(0, SENDERS);
  }
}

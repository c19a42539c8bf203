import assert from "node:assert/strict";
import { call } from "../../support/api.ts";
import type { IrcClient } from "../../support/irc_client.ts";
import { type SeenMessage, sooner } from "./sight.ts";
import type { Team } from "./team.ts";

const CHANNEL = "#work";
const PATH = `/v1/channels/${CHANNEL.slice(1)}/messages`;

/** Before all messages. */
const BEGINNING = "1970-01-01T00:00:00Z";

/** What the team says at work. Everything that was accepted is heard, once and in one order. */
export class Talk {
  readonly #team: Team;
  /** Everything that was said and accepted, in its order. */
  readonly #said: string[] = [];
  #number = 0;
  /** What a reader over REST has heard, and the timestamp of its last message. */
  readonly #heard: string[] = [];
  #cursor = BEGINNING;

  constructor(team: Team) {
    this.#team = team;
  }

  /** Some agent of each kind, and a person, say something, and all of it is heard. */
  async turn(): Promise<void> {
    const { onIrc, onHttp, onMcp, ann } = this.#team;
    const number = ++this.#number;
    const { nick, irc } = this.#team.turn(onIrc, number);
    await this.#sayOnIrc(irc, `${nick} did step ${number}`);
    await this.#sayOnIrc(ann, `ann did step ${number}`);
    const poster = this.#team.turn(onHttp, number);
    const text = `${poster.nick} did step ${number}`;
    const posted = await this.#team.as(poster, `POST ${PATH}`, { text });
    assert.equal(posted.status, 204, JSON.stringify(posted.body));
    this.#said.push(text);
    const tool = this.#team.turn(onMcp, number);
    const called = `${tool.nick} did step ${number}`;
    await tool.tools.call("post", { channel: CHANNEL, text: called });
    this.#said.push(called);
    await sooner(`step ${number} of the work over REST`, async () => {
      await this.#hear();
      return this.#heard.length < this.#said.length ? null : this.#heard;
    });
    assert.deepEqual(this.#heard.slice(-4), this.#said.slice(-4), "Something is lost or twice");
  }

  /** How much was said; fails if some of it is lost. */
  async check(): Promise<number> {
    await this.#hear();
    assert.deepEqual(this.#heard, this.#said, "Something is lost, twice there or out of order");
    // Another network keeps no history, and the bridge only the newest messages.
    if (this.#team.network === null) {
      assert.deepEqual(await this.#history(), this.#said, "The channel has lost what was said");
    }
    return this.#said.length;
  }

  /** A client on IRC says something; somebody who is muted is refused. */
  async #sayOnIrc(client: IrcClient, text: string): Promise<void> {
    const from = client.lines.length;
    await client.send(`PRIVMSG ${CHANNEL} :${text}`);
    await this.#team.settled(client);
    const isRefused = client.lines.slice(from).some((line) => line.includes(" 404 "));
    if (!isRefused) this.#said.push(text);
  }

  /** Reads what is new, as an agent does that continues from its last message. */
  async #hear(): Promise<void> {
    for (;;) {
      const messages = await this.#read(`since=${this.#cursor}`);
      const last = messages.at(-1);
      if (last === undefined) return;
      this.#cursor = last.timestamp;
      this.#heard.push(...messages.map(({ text }) => text));
    }
  }

  /** Everything that is kept of the channel, page by page from the end. */
  async #history(): Promise<readonly string[]> {
    let texts: readonly string[] = [];
    for (let before = "";;) {
      const messages = await this.#read(`limit=200${before}`);
      const [first] = messages;
      if (first === undefined) return texts;
      texts = [...messages.map(({ text }) => text), ...texts];
      before = `&before=${first.timestamp}`;
    }
  }

  async #read(query: string): Promise<readonly SeenMessage[]> {
    const response = await call(this.#team.program, "GET", `${PATH}?${query}`);
    assert.equal(response.status, 200);
    return await response.json();
  }
}

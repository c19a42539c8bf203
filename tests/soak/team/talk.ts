import assert from "node:assert/strict";
import { call } from "../../support/api.ts";
import type { SeenMessage } from "./sight.ts";
import type { Team } from "./team.ts";

const CHANNEL = "#work";

/** What the team says at work. Everything that was accepted must be in the channel at the end. */
export class Talk {
  readonly #team: Team;
  readonly #said = new Set<string>();
  #number = 0;

  constructor(team: Team) {
    this.#team = team;
  }

  /** Some agent of each kind, and a person, say something. */
  async turn(): Promise<void> {
    const { onIrc, onHttp, onMcp, ann } = this.#team;
    const number = ++this.#number;
    const say = (who: string) => `${who} did step ${number}`;
    const { nick, irc } = this.#team.turn(onIrc, number);
    for (const [client, text] of [[irc, say(nick)], [ann, say("ann")]] as const) {
      const from = client.lines.length;
      await client.send(`PRIVMSG ${CHANNEL} :${text}`);
      await this.#team.settled(client);
      const isRefused = client.lines.slice(from).some((line) => line.includes(" 404 "));
      if (!isRefused) this.#said.add(text);
    }
    const poster = this.#team.turn(onHttp, number);
    const path = `POST /v1/channels/${CHANNEL.slice(1)}/messages`;
    const posted = await this.#team.as(poster, path, { text: say(poster.nick) });
    assert.equal(posted.status, 204, JSON.stringify(posted.body));
    this.#said.add(say(poster.nick));
    const tool = this.#team.turn(onMcp, number);
    await tool.tools.call("post", { channel: CHANNEL, text: say(tool.nick) });
    this.#said.add(say(tool.nick));
  }

  /** How much was said; fails if some of it is not in the channel. */
  async check(): Promise<number> {
    const kept = new Set<string>();
    let before = "";
    for (;;) {
      const path = `/v1/channels/${CHANNEL.slice(1)}/messages?limit=200${before}`;
      const response = await call(this.#team.program, "GET", path);
      const messages: readonly SeenMessage[] = await response.json();
      const [first] = messages;
      if (first === undefined) break;
      for (const { text } of messages) kept.add(text);
      before = `&before=${first.timestamp}`;
    }
    const lost = [...this.#said].filter((text) => !kept.has(text));
    assert.deepEqual(lost, [], "The channel has lost what was said");
    return this.#said.size;
  }
}

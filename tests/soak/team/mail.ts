import assert from "node:assert/strict";
import type { Credentials } from "../../support/api.ts";
import { sooner } from "./sight.ts";
import type { Answered, Entry, Team } from "./team.ts";

/** What became of a message. */
interface Fate {
  readonly receivers: readonly { readonly state: string }[];
}

/**
 * The messages in inboxes. Each is sent by an agent to another one, who reads it until it has
 * acknowledged it. One agent, who is away, never reads: its messages come back.
 */
export class Mail {
  readonly #team: Team;
  readonly #acknowledged = new Map<string, Set<string>>();
  #sent = 0;

  constructor(team: Team) {
    this.#team = team;
  }

  /** How many messages were acknowledged. */
  get acknowledged(): number {
    return Array.from(this.#acknowledged.values(), ({ size }) => size).reduce((a, b) => a + b, 0);
  }

  /** Sends a message to each agent over HTTP, and lets it read and acknowledge. */
  async round(): Promise<void> {
    const { agents, onHttp, onMcp } = this.#team;
    for (const [number, agent] of agents.entries()) {
      const sender = this.#team.turn(onHttp, number + (onHttp.length / 2));
      if (sender.nick === agent.nick) continue;
      const text = `Letter ${++this.#sent} to ${agent.nick}`;
      const sent = await this.#send(sender, agent.nick, text);
      assert.equal(sent.status, 204, JSON.stringify(sent.body));
      const tools = onMcp.find(({ nick }) => nick === agent.nick)?.tools ?? null;
      const entries = await this.read(agent);
      const letter = entries.find((entry) => entry.text === text);
      assert.ok(letter !== undefined, `"${text}" is lost`);
      const again = await this.read(agent);
      assert.ok(again.some(({ id }) => id === letter.id), `"${text}" is gone after a read`);
      const ids = entries.map(({ id }) => id);
      if (tools === null) {
        const path = `POST /v1/agents/${agent.nick}/messages/acknowledge`;
        const done = await this.#team.as(agent, path, { ids });
        assert.equal(done.status, 200, JSON.stringify(done.body));
      } else {
        await tools.call("acknowledge_messages", { ids });
      }
      const known = this.#acknowledged.get(agent.nick) ?? new Set();
      for (const id of ids) known.add(id);
      this.#acknowledged.set(agent.nick, known);
      await this.#expectFate(sender, sent, "acknowledged");
    }
  }

  /** Sends a message to an agent that is away; it comes back. */
  async bounce(away: string, number: number): Promise<void> {
    const sender = this.#team.turn(this.#team.onHttp, number);
    const sent = await this.#send(sender, away, `Nobody reads letter ${++this.#sent}`);
    assert.equal(sent.status, 204, JSON.stringify(sent.body));
    const id = decodeURIComponent(sent.headers.get("location")?.split("/").at(-1) ?? "");
    await sooner(`the bounce of ${id}`, async () => {
      const entries = await this.#team.inbox(sender);
      return entries.find(({ kind, message }) => kind === "bounce" && message === id);
    });
    await this.#expectFate(sender, sent, "bounced");
  }

  /** What waits in an inbox; nothing that was acknowledged may be there. */
  async read(agent: Credentials): Promise<readonly Entry[]> {
    const entries = await this.#team.inbox(agent);
    const known = this.#acknowledged.get(agent.nick);
    const back = entries.filter(({ id }) => known?.has(id));
    assert.deepEqual(back, [], `${agent.nick} has again what it acknowledged`);
    return entries;
  }

  async #expectFate(
    sender: Credentials,
    { headers }: Answered<unknown>,
    state: string,
  ): Promise<void> {
    const { body } = await this.#team.as<Fate>(sender, `GET ${headers.get("location")}`);
    assert.equal(body.receivers[0]?.state, state, JSON.stringify(body));
  }

  #send(sender: Credentials, to: string, text: string) {
    return this.#team.as(sender, `POST /v1/agents/${to}/messages`, { text, client_id: text });
  }
}

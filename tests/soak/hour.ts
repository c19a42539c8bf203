import assert from "node:assert/strict";
import { call, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import type { Program } from "../support/program.ts";
import { FossilClient } from "../support/sync.ts";
import { Client } from "./client.ts";
import { expect } from "./project.ts";
import { API } from "./worker.ts";

const PASSWORD = "correct horse";

/** Wiki pages that are written in turn. */
const PAGES = 10;

/** Hours between two pushes. */
export const PUSH_EVERY = 6;

/** What an admin looks at. */
const LOOKED_AT = [
  "/",
  "/agents",
  "/channels/general",
  "/events",
  "/metrics",
  "/projects/soak",
  "/projects/soak/timeline",
  "/projects/soak/tickets",
  "/projects/soak/reviews",
  "/projects/soak/wiki",
];

/** What happens in an hour of a small team, as fast as it can be done. */
export class Hours implements Disposable {
  readonly #program: Program;
  readonly #author: Client;
  readonly #reviewer: Client;
  readonly #fossil: FossilClient;
  readonly #checkout: string;
  /** The cookie of an admin's session. */
  readonly cookie: string;
  #hour = 0;

  private constructor(
    program: Program,
    tokens: readonly string[],
    prepared: { readonly checkout: string; readonly cookie: string; readonly fossil: FossilClient },
  ) {
    this.#program = program;
    const [author, reviewer] = tokens.map((token) => new Client(program.api, token));
    assert.ok(author !== undefined && reviewer !== undefined);
    [this.#author, this.#reviewer] = [author, reviewer];
    this.#fossil = prepared.fossil;
    this.#checkout = prepared.checkout;
    this.cookie = prepared.cookie;
  }

  /** @param tokens of two writers of the project */
  static async begin(program: Program, tokens: readonly string[]): Promise<Hours> {
    const admin = { username: "boss", password: PASSWORD };
    await expectDone(call(program, "POST", "/v1/admins", admin));
    await expectDone(call(program, "PATCH", "/v1/projects/soak", { visibility: "public" }));
    const login = await fetch(`${program.api}/login`, {
      method: "POST",
      body: JSON.stringify(admin),
      headers: { "content-type": "application/json" },
    });
    assert.equal(login.status, 200, await login.text());
    const cookie = login.headers.getSetCookie().map((held) => held.split(";")[0]).join("; ");
    const fossil = new FossilClient("fossil");
    const { host } = new URL(program.api);
    const url = `http://worker0:${tokens[0]}@${host}/projects/soak/fossil`;
    const checkout = await fossil.checkout(url);
    // Two hours may pass in one second, and leave a file with the same size.
    await fossil.fossil(["settings", "mtime-changes", "off"], checkout);
    return new Hours(program, tokens, { checkout, cookie, fossil });
  }

  /** Lets an hour pass. */
  async next(): Promise<void> {
    const hour = ++this.#hour;
    await Promise.all([this.#chat(hour), this.#review(hour), this.#look(), this.#write(hour)]);
    if (hour % PUSH_EVERY === 0) await this.#push(hour);
  }

  [Symbol.dispose](): void {
    this.#fossil[Symbol.dispose]();
  }

  /** An agent comes, talks over IRC and MCP, is heard on a stream, and goes. */
  async #chat(hour: number): Promise<void> {
    const program = this.#program;
    const agent = await registerAgent(program, `visitor${hour}`, { channels: ["general"] });
    const path = `/v1/channels/general/stream?token=${program.token}`;
    const stream = await fetch(program.api + path, { headers: { accept: "text/event-stream" } });
    const reader = (stream.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())
      .getReader();
    await this.#speak(agent, hour);
    for (let heard = ""; !heard.includes(`hour ${hour}!`);) {
      const { value, done } = await reader.read();
      assert.ok(!done, "the stream ended");
      heard += value;
    }
    await reader.cancel();
    const authorization = `Basic ${btoa(`${agent.nick}:${agent.passphrase}`)}`;
    const answer = await fetch(program.mcp, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    assert.equal(answer.status, 200, await answer.text());
    const gone = await call(program, "DELETE", `/v1/agents/${agent.nick}`);
    assert.equal(gone.status, 204);
  }

  async #speak({ nick, passphrase }: Credentials, hour: number): Promise<void> {
    await using irc = await IrcClient.connect(this.#program.irc);
    await irc.register({ nick, password: passphrase });
    await irc.send("JOIN #general", `PRIVMSG #general :hour ${hour}!`, "PING done");
    await irc.expect(/PONG .*done/);
    await irc.send("QUIT");
  }

  /** A ticket, a workspace, a commit, a review and its merge. */
  async #review(hour: number): Promise<void> {
    const name = `hour-${hour}`;
    const { uuid } = await this.#send<{ uuid: string }>(`POST ${API}/tickets`, { title: name });
    await this.#send(`POST ${API}/tickets/${uuid}/claim`, {});
    await this.#send(`POST ${API}/workspaces/create`, { name });
    await this.#send(`POST ${API}/workspaces/${name}/commit`, {
      message: name,
      changes: [{ path: "clock.txt", content: `${hour}\n` }],
    });
    const body = { title: name, workspace: name };
    const { id } = await this.#send<{ id: number }>(`POST ${API}/reviews/create`, body);
    const approved = await this.#reviewer.send(`POST ${API}/reviews/${id}/approve`, {});
    assert.equal(approved?.status, 200, JSON.stringify(approved));
    await this.#send(`POST ${API}/reviews/${id}/merge`, {});
    await this.#send(`POST ${API}/tickets/${uuid}/release`, {});
    await this.#send(`PATCH ${API}/tickets/${uuid}`, { status: "Closed" });
  }

  async #send<Body>(request: string, body: unknown): Promise<Body> {
    const answer = await this.#author.send<Body>(request, body);
    assert.ok(answer !== null && answer.status < 300, `${request}: ${JSON.stringify(answer)}`);
    return answer.body;
  }

  async #look(): Promise<void> {
    const headers = { cookie: this.cookie, accept: "text/html" };
    for (const path of LOOKED_AT) {
      const page = await fetch(this.#program.api + path, { headers });
      const text = await page.text();
      assert.equal(page.status, 200, `${path}: ${text.slice(0, 300)}`);
    }
  }

  async #write(hour: number): Promise<void> {
    const page = `PUT ${API}/wiki/Page${hour % PAGES}`;
    await this.#send(page, { content: `Hour ${hour}` });
    const server = this.#program;
    await expect(call(server, "GET", `${API}/timeline?per_page=20`));
  }

  async #push(hour: number): Promise<void> {
    this.#fossil.write("work/pushed.txt", `${hour}\n`);
    if (hour === PUSH_EVERY) await this.#fossil.fossil(["add", "pushed.txt"], this.#checkout);
    const branch = ["--branch", `pushed-${hour}`];
    const message = ["-m", `Hour ${hour}`, "--no-warnings"];
    await this.#fossil.fossil(["commit", ...message, ...branch], this.#checkout);
  }
}

async function expectDone(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  assert.ok(response.ok, await response.text());
}

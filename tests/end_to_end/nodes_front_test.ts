/** What clients get of a project through a node that does not have its repository. */
import assert from "node:assert/strict";
import { call, callAs, type Credentials, order, registerAgent } from "../support/api.ts";
import { reaches, type TestCluster, testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";
import { asked, within } from "../support/until.ts";

const PAGES = "/projects/demo";
const BASE = `${PAGES}/fossil/api`;

/** Two nodes, and the project `demo` on the first one, in which the agent `scout` may write. */
async function startTwo(cluster: TestCluster) {
  const one = await cluster.start("one");
  const scout = await registerAgent(one, "scout");
  await order(one, "POST /v1/projects", { slug: "demo", visibility: "public" });
  await order(one, "PUT /v1/projects/demo/members/scout", { role: "write" });
  const two = await cluster.start("two");
  await reaches(two, "demo");
  return { one, two, scout };
}

async function post(node: Program, agent: Credentials, path: string, body: unknown) {
  const response = await callAs(node, agent, "POST", BASE + path, body);
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, string>>;
}

/** Logs in to the web pages of a node; returns the cookies. */
async function logIn({ api }: Program, username: string, password: string): Promise<string> {
  const response = await fetch(`${api}/login`, {
    method: "POST",
    body: JSON.stringify({ username, password }),
  });
  assert.equal(response.status, 200, await response.text());
  return response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
}

testCluster("pages, feeds, badges and archives are the same from every node", async (cluster) => {
  const { one, two, scout } = await startTwo(cluster);
  await post(two, scout, "/workspaces/create", { name: "w" });
  const { uuid = "" } = await post(two, scout, "/workspaces/w/commit", {
    message: "Begin",
    changes: [{ path: "a/file.txt", content: "x\n" }],
  });
  const status = { checkin: uuid, context: "tests", state: "success" };
  await post(two, scout, "/status", status);
  const { uuid: ticket = "" } = await post(two, scout, "/tickets", { title: "A ticket" });
  const get = async ({ api }: Program, path: string, headers: Record<string, string> = {}) => {
    const host = "muster.test";
    const response = await fetch(api + path, { headers: { ...headers, "x-forwarded-host": host } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.equal(response.status, 200, `${path}: ${new TextDecoder().decode(bytes)}`);
    return { type: response.headers.get("content-type"), bytes };
  };
  for (
    const path of [
      `${BASE}/archive/${uuid}.zip`,
      `${BASE}/archive/${uuid}.tar.gz`,
      `${BASE}/status/${uuid}/badge.svg`,
      `${BASE}/file?path=a/file.txt&checkin=${uuid}`,
    ]
  ) assert.deepEqual(await get(two, path), await get(one, path), path);
  for (
    const path of [
      ...["", "/timeline", "/timeline.atom", "/branches", `/checkin/${uuid}`, "/workspaces"],
      ...["/tickets", `/tickets/${ticket}`, "/reviews", "/wiki", `/tree/${uuid}/a`, "/search?q=x"],
    ].map((rest) => PAGES + rest)
  ) {
    const [here, there] = await Promise.all([one, two].map(async (node) => {
      const { type, bytes } = await get(node, path);
      const text = new TextDecoder().decode(bytes).replaceAll(new URL(node.api).host, "HOST");
      return { type, text: text.replaceAll(/nonce="[^"]*"/g, "") };
    }));
    assert.deepEqual(there, here, path);
  }

  await order(one, "POST /v1/admins", { username: "root", password: "correct-horse" });
  const cookie = await logIn(one, "root", "correct-horse");
  for (const node of [one, two]) {
    for (const path of [`${PAGES}/settings`, "/settings/nodes", "/", "/projects"]) {
      const { bytes } = await get(node, path, { cookie });
      const html = new TextDecoder().decode(bytes);
      assert.match(html, path === "/settings/nodes" ? /\bone\b[^]*\btwo\b/ : /demo/, path);
    }
  }
});

/** An event stream of the project, as its client reads it. */
class Stream {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";
  /** The id of the newest event. */
  last = "";

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Opens a stream; a node that has lost touch with the database for a moment is asked again. */
  static async open({ api }: Program, agent: Credentials, after: string): Promise<Stream> {
    const ask = () =>
      fetch(`${api}${BASE}/events?types=ticket`, {
        headers: {
          authorization: `Basic ${btoa(`${agent.nick}:${agent.passphrase}`)}`,
          accept: "text/event-stream",
          ...after === "" ? {} : { "last-event-id": after },
        },
      });
    const response = await asked(async () => {
      const answer = await ask();
      if (answer.status === 503) await answer.body?.cancel();
      return answer;
    }, ({ status }) => status !== 503);
    assert.ok(response.status === 200 && response.body !== null, `${response.status}`);
    return new Stream(response.body);
  }

  /** The title of the ticket of the next event; null at the end of the stream. */
  async next(): Promise<string | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const event = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        this.last = /^id: (.*)$/m.exec(event)?.[1] ?? "";
        return JSON.parse(data).title;
      }
      const part = await within(
        this.#reader.read().catch(() => null),
        () => "The next event, or the end of the stream,",
      );
      if (part === null || part.done) return null;
      this.#text += part.value;
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

testCluster("a stream of a project outlives its front, and then its home", async (cluster) => {
  const { one, two, scout } = await startTwo(cluster);
  const file = (node: Program, title: string) => post(node, scout, "/tickets", { title });
  const first = await Stream.open(two, scout, "");
  await file(one, "First");
  assert.equal(await first.next(), "First");
  await two.stop("SIGKILL");
  assert.equal(await first.next(), null, "the front has died");
  await file(one, "Second");
  const second = await Stream.open(one, scout, first.last);
  assert.equal(await second.next(), "Second");
  await second.close();

  const front = await cluster.start("two");
  await reaches(front, "demo");
  const third = await Stream.open(front, scout, second.last);
  await file(front, "Third");
  assert.equal(await third.next(), "Third");
  await one.stop("SIGKILL");
  assert.equal(await third.next(), null, "the home has died");
  const away = await callAs(front, scout, "GET", `${BASE}/events`);
  assert.equal(away.status, 503, await away.text());
  assert.ok(away.headers.has("retry-after"));
  const home = await cluster.start("one");
  await reaches(home, "demo");
  await file(home, "Fourth");
  await reaches(front, "demo");
  const fourth = await Stream.open(front, scout, third.last);
  assert.equal(await fourth.next(), "Fourth");
  await fourth.close();
});

testCluster("of claims over HTTP and MCP at two nodes at once, one wins", async (cluster) => {
  const { one, two } = await startTwo(cluster);
  const agents = await Promise.all(["a1", "a2", "a3", "a4"].map(async (nick) => {
    const agent = await registerAgent(two, nick);
    await order(one, `PUT /v1/projects/demo/members/${nick}`, { role: "write" });
    return agent;
  }));
  const [reader = assert.fail()] = agents;
  for (let turn = 0; turn < 5; turn++) {
    const { uuid = "" } = await post(two, reader, "/tickets", { title: `Turn ${turn}` });
    const won = await Promise.all(agents.map(async (agent, index) => {
      const node = index % 2 === 0 ? one : two;
      if (index < 2) {
        return (await callAs(node, agent, "POST", `${BASE}/tickets/${uuid}/claim`, {})).ok;
      }
      const answer = await fetch(node.mcp, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${agent.nick}:${agent.passphrase}`)}` },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "claim_ticket", arguments: { slug: "demo", uuid } },
        }),
      });
      return !(await answer.json()).result.isError;
    }));
    const winners = agents.filter((_, index) => won[index]);
    assert.equal(winners.length, 1, JSON.stringify(won));
    for (const node of [one, two]) {
      const { claim } = await order(node, `GET ${BASE}/tickets/${uuid}`) as {
        claim: { agent_id: string };
      };
      assert.equal(claim.agent_id, winners[0]?.nick);
    }
    const events = await call(one, "GET", "/v1/events?types=project.claim&limit=100");
    const claims = (await events.json()).events as { data: { ticket: string } }[];
    assert.equal(claims.filter(({ data }) => data.ticket === uuid).length, 1);
  }
});

testCluster("a ticket has one number on every node", async (cluster) => {
  const { one, two, scout } = await startTwo(cluster);
  const first = await post(two, scout, "/tickets", { title: "One" });
  const second = await post(one, scout, "/tickets", { title: "Two" });
  assert.deepEqual([first["number"], second["number"]].map(Number), [1, 2]);
  for (const node of [one, two]) {
    const response = await callAs(node, scout, "GET", `${BASE}/tickets/2`);
    const { uuid } = await response.json() as { readonly uuid: string };
    assert.equal(uuid, second["uuid"]);
  }
  // The other node resolves the number, and reads the repository of this one.
  const asked = { text: "Which one?", ticket: "demo/1", deadline: 3600 };
  const answered = await callAs(two, scout, "POST", "/v1/questions", asked);
  const text = await answered.text();
  assert.ok(answered.ok, text);
  assert.equal(JSON.parse(text).ticket, `demo/${first["uuid"]}`);
});

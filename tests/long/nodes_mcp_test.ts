/** MCP clients whose requests a load balancer spreads over several nodes. */
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { callAs, order, registerAgent } from "../support/api.ts";
import { reaches, type TestCluster, testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";
import { asked } from "../support/until.ts";

/** A client of the official SDK whose requests go to each node in turn. */
async function connect(nodes: readonly Program[], authorization: string, isStateless: boolean) {
  const client = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode: isStateless ? { pin: "2026-07-28" } : "legacy" },
  });
  let turn = 0;
  const transport = new StreamableHTTPClientTransport(new URL("http://balancer.test/mcp"), {
    requestInit: { headers: { authorization } },
    fetch: (_url, init) => fetch(nodes[turn++ % nodes.length]?.mcp ?? "", init),
  });
  await client.connect(transport);
  return {
    async call(name: string, input: Record<string, unknown>) {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [first] = content;
      assert.ok(first?.type === "text");
      assert.equal(isError, false, `${name}: ${first.text}`);
      return first.text;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

async function startThree(cluster: TestCluster) {
  const nodes = [
    await cluster.start("one"),
    await cluster.start("two"),
    await cluster.start("three"),
  ];
  const [one = assert.fail()] = nodes;
  const agents = [await registerAgent(one, "scout"), await registerAgent(one, "coder")];
  for (const slug of ["first", "second", "third"]) {
    await order(one, "POST /v1/projects", { slug });
    for (const { nick } of agents) {
      await order(one, `PUT /v1/projects/${slug}/members/${nick}`, { role: "write" });
    }
    for (const node of nodes) await reaches(node, slug);
  }
  return { nodes, agents };
}

testCluster("one client's calls go to three nodes, with and without a session", async (cluster) => {
  const { nodes, agents } = await startThree(cluster);
  const [scout = assert.fail(), coder = assert.fail()] = agents;
  const basic = `Basic ${btoa(`${scout.nick}:${scout.passphrase}`)}`;
  for (const isStateless of [false, true]) {
    const client = await connect(nodes, basic, isStateless);
    const tools = await client.tools();
    assert.deepEqual(await client.tools(), tools);
    for (const slug of ["first", "second", "third"]) {
      const title = `Stateless ${isStateless}`;
      await client.call("create_ticket", { slug, title, body: "Text" });
      for (const _node of nodes) {
        assert.match(await client.call("list_tickets", { slug }), new RegExp(title));
      }
    }
    for (let turn = 0; turn < nodes.length; turn++) {
      const text = `letter ${turn}, stateless ${isStateless}`;
      await client.call("send_direct", { to: "coder", text });
      const inboxes = await Promise.all(nodes.map(async (node) => {
        const answer = await callAs(node, coder, "GET", "/v1/agents/coder/messages");
        return (await answer.json()).at(-1).text;
      }));
      assert.deepEqual(inboxes, [text, text, text]);
    }
    await client.close();
  }
});

/** How long a leader that died still counts as one, in milliseconds. */
const LEASE_MILLISECONDS = 6000;

testCluster(
  "a call that needs the leader says so while none leads, then works",
  async (cluster) => {
    const { nodes, agents } = await startThree(cluster);
    const [one, ...others] = nodes;
    const [scout = assert.fail()] = agents;
    await one?.stop("SIGKILL");
    const read = async () => {
      const answer = await fetch(others[0]?.mcp ?? "", {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${scout.nick}:${scout.passphrase}`)}` },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "read_inbox", arguments: {} },
        }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const killedAt = performance.now();
    const refusals: string[] = [];
    const last = await asked(read, ({ text }) => {
      const isRefusal = /"error"|"isError":true/.test(text);
      if (isRefusal) refusals.push(text);
      return !isRefusal;
    });
    assert.equal(last.status, 200, last.text);
    for (const text of refusals) {
      assert.match(text, /does not run|is silent|No node leads|lost touch with the database/);
    }
    // On a busy machine another node may lead before the first answer.
    assert.ok(refusals.length > 0 || performance.now() - killedAt > LEASE_MILLISECONDS);
  },
);

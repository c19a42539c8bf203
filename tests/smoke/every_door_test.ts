import assert from "node:assert/strict";
import { call, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { StdioMcp } from "../support/stdio.ts";
import { FossilClient } from "../support/sync.ts";

/** Calls a tool over HTTP and returns its text. */
async function callTool(program: Program, name: string, input: object): Promise<string> {
  const response = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${program.token}` },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: input },
    }),
  });
  const { result } = await response.json();
  assert.equal(result?.isError, false, JSON.stringify(result));
  return result.content[0].text;
}

/** Commits a file with the `fossil` program and pushes it. */
async function push(program: Program, agent: string, token: string): Promise<void> {
  const url = new URL("/projects/demo/fossil", program.api);
  url.username = agent;
  url.password = token;
  using client = new FossilClient("fossil");
  const folder = await client.checkout(url.href);
  client.write("work/hello.md", "# Hello\n");
  await client.fossil(["add", "hello.md"], folder);
  await client.fossil(["commit", "-m", "Say hello", "--user-override", agent], folder);
  await client.fossil(["push"], folder);
}

Deno.test({
  name:
    "a channel, a project, a push by fossil, MCP on both ways and the pages work in one program",
  ...peer("fossil"),
  fn: async () => {
    await using program = await startProgram();
    const { passphrase } = await registerAgent(program, "scout", { channels: ["general"] });
    const request = { owner: "scout", name: "test", scopes: ["read", "write"] };
    const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();

    await using irc = await IrcClient.connect(program.irc);
    await irc.register({ nick: "scout", password: passphrase });
    await irc.join("#general");
    await using stream = await ChannelStream.open(program, "general");
    await irc.send("PRIVMSG #general :hello from IRC");
    assert.equal((await stream.next())?.text, "hello from IRC");

    await using stdio = new StdioMcp({ folder: program.folder });
    await stdio.initialize();
    assert.match(
      await stdio.call("get_history", { channel: "#general" }),
      /<scout> hello from IRC/,
    );
    assert.match(await callTool(program, "get_history", { channel: "#general" }), /hello from IRC/);

    const project = { slug: "demo", name: "Demo", description: "", visibility: "public" };
    assert.equal((await call(program, "POST", "/v1/projects", project)).status, 201);
    const member = await call(program, "PUT", "/v1/projects/demo/members/scout", { role: "write" });
    assert.ok(member.ok);
    await push(program, "scout", token);
    const query = { slug: "demo", sql: "SELECT name FROM filename" };
    assert.match(await callTool(program, "sql_query", query), /hello\.md/);

    const page = await fetch(`${program.api}/projects/demo`, { headers: { accept: "text/html" } });
    assert.equal(page.status, 200);
    const html = await page.text();
    assert.match(html, /hello\.md/);
    const [, style = ""] = /href="(\/assets\/[^"]+\.css)"/.exec(html) ?? [];
    const css = await fetch(new URL(style, program.api));
    assert.equal(css.headers.get("content-type"), "text/css; charset=utf-8");
    assert.ok((await css.text()).length > 1000);

    const status = await runMuster(["status"], { folder: program.folder });
    assert.deepEqual([status.code, status.stderr], [0, ""]);
    assert.equal(await program.stop(), 0);
  },
});

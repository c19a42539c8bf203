import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { call, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";

Deno.test("agents and people meet: IRC, HTTP and MCP share one channel, in one order", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout", { channels: ["general"] });
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "scout", password: scout.passphrase, capabilities: ["server-time"] });
  await irc.join("#general");
  await using stream = await ChannelStream.open(program, "general");

  await irc.send("PRIVMSG #general :hello from IRC");
  const first = await stream.next();
  assert.deepEqual([first?.nick, first?.text], ["scout", "hello from IRC"]);

  const posted = await call(program, "POST", "/v1/channels/general/messages", {
    nick: "ann",
    text: "hello from HTTP",
  });
  assert.equal(posted.status, 204);
  await irc.expect(/^@\S+ :bridge!\S+ PRIVMSG #general :\[ann\] hello from HTTP$/);
  const second = await stream.next();
  assert.deepEqual([second?.nick, second?.text], ["ann", "hello from HTTP"]);

  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(program.mcp), {
      requestInit: { headers: { authorization: `Bearer ${program.token}` } },
    }),
  );
  const sent = await client.callTool({
    name: "send_message",
    arguments: { channel: "#general", type: "task.create", payload: { title: "Map it" } },
  });
  assert.deepEqual(sent.content, [{ type: "text", text: "message sent to #general" }]);
  const line = await irc.expect(/^@\S+ :bridge!\S+ PRIVMSG #general :\{/);
  const envelope = JSON.parse(line.slice(line.indexOf(" :{") + 2));
  assert.equal(envelope.type, "task.create");
  assert.deepEqual(envelope.payload, { title: "Map it" });

  const history = await client.callTool({
    name: "get_history",
    arguments: { channel: "#general" },
  });
  const [told, json, ...rest] = history.content as { type: "text"; text: string }[];
  assert.deepEqual(told, {
    type: "text",
    text: [
      "# history: #general (last 3)",
      "[#general] <scout> hello from IRC",
      "[#general] <ann> hello from HTTP",
      `[#general] <bridge> type=task.create id=${envelope.id}`,
    ].join("\n"),
  });
  const kept: { nick: string; text?: string; payload?: unknown }[] = JSON.parse(json?.text ?? "")
    .messages;
  assert.deepEqual(
    kept.map(({ nick, text, payload }) => [nick, text ?? payload]),
    [["scout", "hello from IRC"], ["ann", "hello from HTTP"], ["bridge", { title: "Map it" }]],
  );
  assert.deepEqual(rest, []);
  await client.close();

  const messages = await (await call(program, "GET", "/v1/channels/general/messages")).json();
  assert.deepEqual(messages.map(({ nick }: { nick: string }) => nick), ["scout", "ann", "bridge"]);
  const users = await (await call(program, "GET", "/v1/channels/general/users")).json();
  assert.deepEqual(users, ["ann", "bridge", "scout"]);
});

Deno.test("rotating, revoking and deleting an agent end its session at once", async () => {
  await using program = await startProgram();
  for (
    const [action, method, path] of [
      ["rotate", "POST", "/v1/agents/scout/rotate"],
      ["revoke", "POST", "/v1/agents/scout/revoke"],
      ["delete", "DELETE", "/v1/agents/scout"],
    ] as const
  ) {
    const { passphrase } = await registerAgent(program, "scout");
    await using irc = await IrcClient.connect(program.irc);
    await irc.register({ nick: "scout", password: passphrase });
    const response = await call(program, method, path);
    await response.body?.cancel();
    assert.ok(response.ok, action);
    await irc.expect(/^ERROR /);
    await irc.ended();

    await using again = await IrcClient.connect(program.irc);
    await again.send("CAP REQ sasl", "NICK scout", "USER scout 0 * :scout", "AUTHENTICATE PLAIN");
    await again.send(`AUTHENTICATE ${btoa(`scout\0scout\0${passphrase}`)}`);
    await again.expect(/ 904 /);
    if (action !== "delete") {
      const removed = await call(program, "DELETE", "/v1/agents/scout");
      assert.equal(removed.status, 204);
    }
  }
});

Deno.test("an agent's type decides its status in its channels", async () => {
  await using program = await startProgram();
  const shown: [string, string][] = [
    ["orchestrator", "@"],
    ["worker", "+"],
    ["observer", ""],
    ["operator", "@"],
  ];
  for (const [type, prefix] of shown) {
    const nick = `the-${type}`;
    const { passphrase } = await registerAgent(program, nick, { type, channels: ["ops"] });
    await using irc = await IrcClient.connect(program.irc);
    await irc.register({ nick, password: passphrase });
    await irc.send("JOIN #ops");
    const names = await irc.expect(/ 353 /);
    assert.deepEqual(names.slice(names.lastIndexOf(":") + 1).split(" "), [`${prefix}${nick}`]);
  }
});

Deno.test("an agent that logs in takes its nick back from a ghost", async () => {
  await using program = await startProgram();
  const { passphrase } = await registerAgent(program, "scout");
  await using ghost = await IrcClient.connect(program.irc);
  await ghost.register({ nick: "scout", password: passphrase });
  await using owner = await IrcClient.connect(program.irc);
  await owner.register({ nick: "scout", password: passphrase });
  await ghost.ended();
  await owner.send("JOIN #general");
  await owner.expect(/^:scout!\S+ JOIN #general$/);
});

Deno.test("the streams end when the program stops, and it exits 0", async () => {
  await using program = await startProgram();
  await using stream = await ChannelStream.open(program, "general");
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "guest" });
  const stopped = program.stop();
  assert.equal(await stream.next(), null);
  await irc.expect(/^ERROR /);
  assert.equal(await stopped, 0);
});

import assert from "node:assert/strict";
import { call, callAs, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { runMuster, startProgram } from "../support/program.ts";

Deno.test("an agent over HTTP is a member of channels like an IRC client", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout", { channels: ["general"] });
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await ann.join("#general");
  await using stream = await ChannelStream.open(program, "general");

  const status = await callAs(program, scout, "GET", "/v1/status");
  assert.equal(status.status, 200);
  await status.body?.cancel();
  await ann.expect(/^:scout!agent@\S+ JOIN #general$/);
  await ann.send("NAMES #general", "WHOIS scout");
  assert.match(await ann.expect(/ 353 /), /[ :]\+scout( |$)/);
  await ann.expect(/ 330 ann scout scout :is logged in as$/);

  const path = "/v1/agents/scout/messages";
  const waiting = callAs(
    program,
    scout,
    "GET",
    `${path}?since=2000-01-01T00:00:00Z&wait_seconds=60`,
  );
  await ann.send("PRIVMSG scout :are you there?");
  const answer = await waiting;
  const requestId = answer.headers.get("X-Request-Id") ?? assert.fail("no id");
  assert.equal(answer.headers.get("Cache-Control"), "no-store");
  const [direct] = await answer.json();
  const line = await program.inLog(new RegExp(requestId));
  assert.match(line, /\/v1\/agents\/\{nick\}\/messages.*\b200\b/);
  assert.deepEqual([direct.from, direct.channel, direct.text], ["ann", null, "are you there?"]);

  const posted = await callAs(program, scout, "POST", "/v1/channels/general/messages", {
    text: "I am",
  });
  assert.equal(posted.status, 204);
  await ann.expect(/^:scout!agent@\S+ PRIVMSG #general :I am$/);
  const streamed = await stream.next();
  assert.deepEqual([streamed?.nick, streamed?.text], ["scout", "I am"]);
  const history = await (await call(program, "GET", "/v1/channels/general/messages")).json();
  assert.deepEqual(history.map(({ nick, text }: { nick: string; text: string }) => [nick, text]), [
    ["scout", "I am"],
  ]);

  const params = {
    name: "send_message",
    arguments: { channel: "#general", type: "task.update" },
  };
  const tool = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`scout:${scout.passphrase}`)}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  assert.equal((await tool.json()).result.isError, false);
  await ann.expect(/^:scout!agent@\S+ PRIVMSG #general :\{.*"from":"scout"/);

  await ann.send("PRIVMSG #general :good, scout");
  const news = await callAs(program, scout, "GET", `${path}?since=${direct.id}&wait_seconds=60`);
  const [mention] = await news.json();
  assert.deepEqual([mention.channel, mention.text], ["#general", "good, scout"]);

  await using session = await IrcClient.connect(program.irc);
  await session.register({ nick: "scout", password: scout.passphrase });
  await session.join("#general");
  await session.send("PRIVMSG #general :from IRC");
  await ann.expect(/^:scout!(?!agent@)\S+ PRIVMSG #general :from IRC$/);
  await session.send("QUIT");
  await session.expect(/^ERROR /);
  const again = await callAs(program, scout, "POST", "/v1/channels/general/messages", {
    text: "over HTTP again",
  });
  assert.equal(again.status, 204);
  await ann.expect(/^:scout!agent@\S+ PRIVMSG #general :over HTTP again$/);
  const seen = ann.lines.filter((line) => /^:scout!\S+ (?:JOIN|QUIT|PART) /.test(line));
  assert.equal(seen.length, 1, seen.join("\n"));
});

Deno.test("a paused agent creates no channel over HTTP and MCP, and stays present in silence", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout", { channels: ["general"] });
  const paused = await call(program, "POST", "/v1/agents/scout/pause", { reason: "too loud" });
  assert.equal(paused.status, 204);
  const refused = async (method: string, path: string, body?: unknown) => {
    const response = await callAs(program, scout, method, path, body);
    const { error } = await response.json();
    assert.deepEqual([response.status, error], [403, "This agent is paused: too loud"], path);
  };
  await refused("POST", "/v1/channels/smuggled/join");
  await refused("POST", "/v1/channels/smuggled/messages", { text: "hi" });
  await refused("POST", "/v1/channels/general/messages", { text: "hi" });
  const params = { name: "send_message", arguments: { channel: "#smuggled", type: "x" } };
  const tool = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`scout:${scout.passphrase}`)}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  assert.equal((await tool.json()).result.isError, true);
  const channels = await (await call(program, "GET", "/v1/channels")).text();
  assert.doesNotMatch(channels, /smuggled/);

  await using session = await IrcClient.connect(program.irc);
  await session.register({ nick: "scout", password: scout.passphrase });
  await session.send("JOIN #general,#smuggled", "TOPIC #general :hi");
  await session.expect(/ 403 scout #smuggled :This agent is paused: too loud$/);
  await session.expect(/ FAIL TOPIC MUTED :This agent is paused: too loud$/);
});

Deno.test("muster agent pause stops an agent's messages, even after a restart, until resume", async () => {
  await using program = await startProgram();
  const { folder } = program;
  const scout = await registerAgent(program, "scout", { channels: ["general"] });
  await using irc = await IrcClient.connect(program.irc);
  await irc.register({ nick: "scout", password: scout.passphrase });
  await irc.join("#general");
  const muster = async (...args: string[]) => {
    const { code, stdout, stderr } = await runMuster(args, {
      folder,
      environment: { MUSTER_URL: program.api },
    });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const post = { text: "hello" };

  await muster("agent", "pause", "scout", "--reason", "too loud");
  await irc.send("PRIVMSG #general :hello");
  await irc.expect(/ 404 scout #general :This agent is paused: too loud$/);
  const refused = await callAs(program, scout, "POST", "/v1/channels/general/messages", post);
  assert.equal(refused.status, 403);
  assert.deepEqual(await refused.json(), { error: "This agent is paused: too loud" });
  assert.match(await muster("agent", "list"), /^scout +worker +idle, paused +0 /m);

  await program.stop();
  await using again = await startProgram({ folder });
  const still = await callAs(again, scout, "POST", "/v1/channels/general/messages", post);
  assert.equal(still.status, 403);
  await still.body?.cancel();
  const { code } = await runMuster(["agent", "resume", "scout"], {
    folder,
    environment: { MUSTER_URL: again.api },
  });
  assert.equal(code, 0);
  const spoken = await callAs(again, scout, "POST", "/v1/channels/general/messages", post);
  assert.equal(spoken.status, 204);
  const agent = await (await call(again, "GET", "/v1/agents/scout")).json();
  assert.deepEqual([agent.paused, agent.messages_per_minute], [false, 1]);
  const metrics = await (await call(again, "GET", "/v1/metrics")).text();
  assert.match(metrics, /^muster_agent_messages_per_minute\{nick="scout"\} 1$/m);
});

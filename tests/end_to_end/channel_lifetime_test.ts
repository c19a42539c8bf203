import assert from "node:assert/strict";
import { call, callAs, ChannelStream, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const PER_AGENT = { MUSTER_LIMITS_CHANNELS_PER_AGENT: "3" };

async function channelsOf(program: Program): Promise<string[]> {
  return await (await call(program, "GET", "/v1/channels")).json();
}

/** The status of a request of an agent or, without one, of the operator. */
async function statusOf(
  program: Program,
  agent: Credentials | null,
  request: string,
  body?: unknown,
): Promise<number> {
  const [method = "", path = ""] = request.split(" ");
  const target = `/v1/channels/${path}`;
  const response = agent === null
    ? await call(program, method, target, body)
    : await callAs(program, agent, method, target, body);
  await response.body?.cancel();
  return response.status;
}

/** Calls a tool as an agent; gives its text, and whether that is an error. */
async function useTool(program: Program, agent: Credentials, name: string, input: unknown) {
  const params = { name, arguments: input };
  const response = await callAs({ api: program.mcp }, agent, "POST", "", {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params,
  });
  const { result } = await response.json();
  return { text: String(result.content[0].text), isError: result.isError as boolean };
}

Deno.test("reading creates no channel, except for the operator's stream", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  const before = await channelsOf(program);
  for (const reader of [scout, null]) {
    for (let number = 0; number < 10; number++) {
      const messages = `/v1/channels/none${number}/messages`;
      const response = reader === null
        ? await call(program, "GET", messages)
        : await callAs(program, reader, "GET", messages);
      assert.deepEqual(await response.json(), []);
    }
    assert.equal(await statusOf(program, reader, "GET none/users"), 404);
  }
  assert.equal(await statusOf(program, scout, "GET none/stream"), 404);
  assert.equal(await statusOf(program, scout, "HEAD none/stream"), 404);
  const { text } = await useTool(program, scout, "get_history", { channel: "#none" });
  assert.equal(text, "# history: #none (last 0)");
  assert.deepEqual(await channelsOf(program), before);
  await using _stream = await ChannelStream.open(program, "streamed");
  assert.deepEqual(await channelsOf(program), [...before, "#streamed"]);
});

Deno.test("a channel that exists on IRC is readable, and a request can wait for one that does not", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await ann.join("#den");
  await ann.send("PRIVMSG #den :hello", "PING done");
  await ann.expect(/ PONG .*done$/);
  const read = await callAs(program, scout, "GET", "/v1/channels/den/messages");
  assert.deepEqual((await read.json()).map(({ text }: { text: string }) => text), ["hello"]);

  const path = "/v1/channels/later/messages";
  const waiting = callAs(program, scout, "GET", `${path}?wait_seconds=60`);
  // A call of the same agent that is answered after the wait has begun, or before: both are right.
  await statusOf(program, scout, "GET den/users");
  assert.equal(await statusOf(program, null, "POST later/messages", { text: "first" }), 204);
  assert.equal((await (await waiting).json())[0].text, "first");
});

Deno.test("an agent keeps a bounded number of channels alive alone", async () => {
  await using program = await startProgram({ environment: PER_AGENT });
  const scout = await registerAgent(program, "scout", { channels: ["own1", "own2"] });
  const other = await registerAgent(program, "other");
  const speak = { text: "hello" };
  const statuses = await Promise.all(
    Array.from({ length: 10 }, (_, number) => statusOf(program, scout, `POST c${number}/join`)),
  );
  assert.deepEqual(statuses.sort(), [204, 204, 204, ...Array(7).fill(429)]);
  assert.equal(await statusOf(program, scout, "POST d/messages", speak), 429);
  const sent = await useTool(program, scout, "send_message", { channel: "#e", type: "x" });
  assert.deepEqual([sent.isError, /which is the limit/.test(sent.text)], [true, true]);
  assert.equal((await channelsOf(program)).length, 4);

  for (const request of ["POST own1/messages", "POST own2/messages", "POST general/messages"]) {
    assert.equal(await statusOf(program, scout, request, speak), 204, request);
  }
  assert.equal(await statusOf(program, other, "POST d/join"), 204);
  assert.equal(await statusOf(program, null, "POST e/join"), 204);
  assert.equal(await statusOf(program, scout, "POST d/messages", speak), 204);
  assert.equal(await statusOf(program, scout, "POST f/messages", speak), 429);

  const [first = "", second = ""] = (await channelsOf(program))
    .filter((name) => /^#c/.test(name)).map((name) => name.slice(1));
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await ann.join(`#${first}`);
  assert.equal(await statusOf(program, scout, "POST f/join"), 204);
  assert.equal(await statusOf(program, scout, "POST g/join"), 429);
  assert.equal(await statusOf(program, scout, `DELETE ${second}`), 204);
  assert.equal(await statusOf(program, scout, "POST g/join"), 204);
});

Deno.test("an agent's DELETE removes the agent, and the bridge if nobody else uses the channel", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  const other = await registerAgent(program, "other");
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  const isThere = async (channel: string) => (await channelsOf(program)).includes(`#${channel}`);
  const usersOf = async (channel: string): Promise<string[]> =>
    await (await call(program, "GET", `/v1/channels/${channel}/users`)).json();

  for (const channel of ["general", "shared", "peopled", "operated", "alone"]) {
    assert.equal(await statusOf(program, scout, `POST ${channel}/join`), 204);
  }
  assert.equal(await statusOf(program, other, "POST shared/messages", { text: "mine too" }), 204);
  await ann.join("#peopled");
  assert.equal(await statusOf(program, null, "POST operated/messages", { text: "and mine" }), 204);
  for (const channel of ["general", "shared", "peopled", "operated"]) {
    assert.equal(await statusOf(program, scout, `DELETE ${channel}`), 204);
    assert.ok(await isThere(channel), channel);
    assert.ok(!(await usersOf(channel)).includes("scout"), channel);
  }
  assert.equal(await statusOf(program, scout, "DELETE alone"), 204);
  assert.ok(!await isThere("alone"));
  assert.equal(await statusOf(program, scout, "DELETE never-there"), 204);
  for (const channel of ["general", "peopled"]) {
    assert.equal(await statusOf(program, null, `DELETE ${channel}`), 204);
    assert.ok(!await isThere(channel), channel);
  }
});

Deno.test("a post to a channel named like an agent is refused and names the right path", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  await registerAgent(program, "Builder");
  const said = { text: "are you there?" };
  for (const poster of [scout, null]) {
    for (const channel of ["builder", "%23BUILDER"]) {
      const path = `/v1/channels/${channel}/messages`;
      const response = poster === null
        ? await call(program, "POST", path, said)
        : await callAs(program, poster, "POST", path, said);
      assert.equal(response.status, 409);
      assert.match((await response.json()).error, /POST \/v1\/agents\/builder\/messages/i);
    }
  }
  const sent = await useTool(program, scout, "send_message", { channel: "Builder", type: "x" });
  assert.deepEqual([sent.isError, /is an agent/.test(sent.text)], [true, true]);
  assert.deepEqual(await channelsOf(program), ["#general"]);
  assert.equal(await statusOf(program, null, "POST builder/join"), 204);
  assert.equal(await statusOf(program, scout, "POST builder/messages", said), 204);
});

Deno.test("the bridge, its agents and their limits return to the channels after kill -9", async () => {
  await withFolder(async (folder) => {
    const start = () => startProgram({ folder, environment: PER_AGENT });
    let scout: Credentials;
    {
      await using program = await start();
      scout = await registerAgent(program, "scout");
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann" });
      await ann.join("#only-read");
      assert.equal(await statusOf(program, null, "GET only-read/messages"), 200);
      for (const channel of ["a", "b", "left"]) {
        assert.equal(await statusOf(program, scout, `POST ${channel}/join`), 204);
      }
      assert.equal(await statusOf(program, scout, "DELETE left"), 204);
      assert.equal(await statusOf(program, scout, "POST c/messages", { text: "kept" }), 204);
      assert.equal(await statusOf(program, null, "POST Operators/join"), 204);
      assert.equal(await statusOf(program, null, "POST gone/join"), 204);
      assert.equal(await statusOf(program, null, "DELETE gone"), 204);
      await using _stream = await ChannelStream.open(program, "streamed");
      assert.deepEqual(await channelsOf(program), [
        ...["#Operators", "#a", "#b", "#c", "#general", "#only-read", "#streamed"],
      ]);
      await program.stop("SIGKILL");
    }
    await using again = await start();
    assert.deepEqual(await channelsOf(again), [
      ...["#Operators", "#a", "#b", "#c", "#general", "#streamed"],
    ]);
    assert.equal(await statusOf(again, scout, "POST d/join"), 429);
    const users = await callAs(again, scout, "GET", "/v1/channels/a/users");
    assert.deepEqual(await users.json(), ["bridge", "scout"]);
    assert.equal(await statusOf(again, scout, "DELETE Operators"), 204);
    assert.equal(await statusOf(again, scout, "DELETE a"), 204);
    assert.equal(await statusOf(again, scout, "POST d/join"), 204);
    await again.stop();
    await using third = await start();
    assert.deepEqual(await channelsOf(third), [
      ...["#Operators", "#b", "#c", "#d", "#general", "#streamed"],
    ]);
  });
});

import assert from "node:assert/strict";
import { call, callAs, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { within } from "../support/until.ts";

/** What a way of reading gives an agent: a status and the whole answer as text. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, text: await response.text() };
}

/** Reads a channel in every way that there is; MCP as status 200, with its text. */
async function readEverywhere(
  program: Program,
  agent: Credentials,
  channel: string,
): Promise<{ messages: Answer; users: Answer; stream: Answer; mcp: Answer }> {
  const path = `/v1/channels/${channel}`;
  const stream = await callAs(program, agent, "GET", `${path}/stream`);
  if (stream.status === 200) await stream.body?.cancel();
  return {
    messages: await answerOf(await callAs(program, agent, "GET", `${path}/messages`)),
    users: await answerOf(await callAs(program, agent, "GET", `${path}/users`)),
    stream: stream.status === 200 ? { status: 200, text: "" } : await answerOf(stream),
    mcp: await answerOf(await callTool(program, agent, "get_history", { channel })),
  };
}

function callTool(program: Program, agent: Credentials, name: string, input: unknown) {
  const params = { name, arguments: input };
  return callAs({ api: program.mcp }, agent, "POST", "", {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params,
  });
}

/** Somebody on IRC who made a channel with a secret in it, where the bridge is too. */
async function aKeeper(program: Program, channel: string): Promise<IrcClient> {
  const keeper = await IrcClient.connect(program.irc);
  await keeper.register({ nick: "keeper" });
  await keeper.join(`#${channel}`);
  await call(program, "POST", `/v1/channels/${channel}/join`);
  await sendAll(keeper, `PRIVMSG #${channel} :the secret`);
  return keeper;
}

/** Has a client's commands carried out. */
async function sendAll(client: IrcClient, ...lines: string[]): Promise<void> {
  await client.send(...lines, "PING done");
  await client.expect(/ PONG .*done$/);
}

Deno.test("an agent reads only channels that IRC would let it join, over HTTP and MCP", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  await using keeper = await aKeeper(program, "vault");
  const open = await readEverywhere(program, scout, "vault");
  for (const answer of [open.messages, open.mcp]) assert.match(answer.text, /the secret/);
  assert.deepEqual([open.users.status, open.stream.status], [200, 200]);

  const table: readonly [set: string, unset: string, reason: RegExp][] = [
    ["+k word", "-k word", /Cannot join channel \(\+k\)/],
    ["+i", "-i", /Cannot join channel \(\+i\)/],
    ["+b scout!*@*", "-b scout!*@*", /Cannot join channel \(\+b\)/],
    ["+b a:scout", "-b a:scout", /Cannot join channel \(\+b\)/],
    ["+l 1", "-l", /Cannot join channel \(\+l\)/],
  ];
  for (const [set, unset, reason] of table) {
    await sendAll(keeper, `MODE #vault ${set}`);
    const refused = await readEverywhere(program, scout, "vault");
    for (const [way, { status, text }] of Object.entries(refused)) {
      assert.equal(status, way === "mcp" ? 200 : 403, `${set} ${way}`);
      assert.match(text, reason, `${set} ${way}`);
      assert.doesNotMatch(text, /the secret|keeper/, `${set} ${way}`);
    }
    assert.match(refused.mcp.text, /"isError":true/);
    const joined = await answerOf(await callAs(program, scout, "POST", "/v1/channels/vault/join"));
    assert.deepEqual([joined.status, reason.test(joined.text)], [409, true]);
    const said = { text: "let me in" };
    const posted = await answerOf(
      await callAs(program, scout, "POST", "/v1/channels/vault/messages", said),
    );
    assert.deepEqual([posted.status, reason.test(posted.text)], [409, true]);
    const operator = await call(program, "GET", "/v1/channels/vault/messages");
    assert.match(await operator.text(), /the secret/);
    await sendAll(keeper, `MODE #vault ${unset}`);
  }
  assert.equal((await readEverywhere(program, scout, "vault")).messages.status, 200);
});

Deno.test("an agent learns nothing of a secret channel until it is a member", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  await using keeper = await aKeeper(program, "vault");
  const list = async () => await answerOf(await callAs(program, scout, "GET", "/v1/channels"));
  const tool = async () => await answerOf(await callTool(program, scout, "list_channels", {}));
  assert.match((await list()).text, /#vault/);
  await sendAll(keeper, "MODE #vault +s");
  for (const { text } of [await list(), await tool()]) assert.doesNotMatch(text, /vault/);
  const hidden = await readEverywhere(program, scout, "vault");
  for (const way of ["messages", "users", "stream"] as const) {
    assert.equal(hidden[way].status, 404, way);
    assert.match(hidden[way].text, /There is no channel #vault/);
  }
  assert.match(hidden.mcp.text, /There is no channel #vault.*"isError":true/);
  const joined = await callAs(program, scout, "POST", "/v1/channels/vault/join");
  assert.equal(joined.status, 204);
  await sendAll(keeper, "MODE #vault +ik word");
  assert.match((await readEverywhere(program, scout, "vault")).messages.text, /the secret/);
  for (const { text } of [await list(), await tool()]) assert.match(text, /vault/);
});

Deno.test("a stream ends when the channel shuts its agent out, and stays if the agent may rejoin", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout");
  const other = await registerAgent(program, "other");
  await using keeper = await aKeeper(program, "vault");
  const stream = async (agent: Credentials) => {
    const response = await callAs(program, agent, "GET", "/v1/channels/vault/stream");
    assert.equal(response.status, 200);
    return response;
  };
  for (const agent of [scout, other]) {
    await callAs(program, agent, "POST", "/v1/channels/vault/join");
  }
  const [shut, kept] = [await stream(scout), await stream(other)];
  await sendAll(keeper, "KICK #vault other", "MODE #vault +b scout!*@*", "KICK #vault scout");
  await sendAll(keeper, "PRIVMSG #vault :among us");
  assert.doesNotMatch(await shut.text(), /among us/);
  const reader = kept.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("among us");) {
    const part = await within(Promise.resolve(reader?.read()), () => "More of the stream");
    assert.equal(part?.done, false, text);
    text += part?.value;
  }

  const waiting = callAs(
    program,
    other,
    "GET",
    "/v1/channels/vault/messages?wait_seconds=60&since=2099-01-01T00:00:00Z",
  );
  await sendAll(keeper, "MODE #vault +i");
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    assert.doesNotMatch(read.value, /closed now/);
  }
  await sendAll(keeper, "PRIVMSG #vault :closed now");
  const refusal = await waiting;
  const answer = await answerOf(refusal);
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.text, /^\{"error":"/);
  await program.inLog(new RegExp(`403.*${refusal.headers.get("X-Request-Id")}`));
});

Deno.test("an agent's inbox keeps only messages that the agent may read", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout", { channels: ["vault"] });
  await using keeper = await IrcClient.connect(program.irc);
  await using judge = await IrcClient.connect(program.irc);
  const boss = await registerAgent(program, "boss", { type: "orchestrator", channels: ["vault"] });
  await judge.register({ nick: "boss", password: boss.passphrase });
  await judge.join("#vault");
  await keeper.register({ nick: "keeper" });
  await keeper.join("#vault");
  await sendAll(keeper, "PRIVMSG #vault :scout, come");
  await sendAll(judge, "MODE #vault +b scout!*@*");
  await sendAll(keeper, "PRIVMSG #vault :scout, never mind");
  const inbox = await callAs(program, scout, "GET", "/v1/agents/scout/messages");
  const texts = (await inbox.json()).map(({ text }: { text: string }) => text);
  assert.deepEqual(texts, ["scout, come"]);
});

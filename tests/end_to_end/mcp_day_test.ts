import assert from "node:assert/strict";
import { callAs, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { McpAgent } from "../support/mcp_agent.ts";
import { type Program, startProgram } from "../support/program.ts";

/** An agent that has nothing but a client of MCP. */
class Model implements AsyncDisposable {
  readonly #agent: McpAgent;
  #since: unknown;

  private constructor(agent: McpAgent) {
    this.#agent = agent;
  }

  static async connect(program: Program, nick: string): Promise<Model> {
    const credentials = await registerAgent(program, nick, { channels: ["general"] });
    const agent = await McpAgent.connect(program, credentials);
    assert.match(agent.instructions, new RegExp(`You are the agent "${nick}"`));
    return new Model(agent);
  }

  /** Calls a tool and gives the texts of its result. */
  call(name: string, input: Record<string, unknown> = {}): Promise<string[]> {
    return this.#agent.texts(name, input);
  }

  /** Waits for what comes into its inbox; gives the text and the messages. */
  async wait() {
    const range = this.#since === undefined ? {} : { since: this.#since };
    const [text, json] = await this.call("read_inbox", { ...range, wait_seconds: 60 });
    const { messages, next_since } = JSON.parse(json ?? "");
    this.#since = next_since;
    return { text, messages };
  }

  async [Symbol.asyncDispose]() {
    await this.#agent[Symbol.asyncDispose]();
  }
}

Deno.test("a model does a day's work with nothing but MCP", async () => {
  await using program = await startProgram();
  await using scout = await Model.connect(program, "scout");
  await using builder = await Model.connect(program, "builder");
  await using ann = await IrcClient.connect(program.irc);
  await ann.register({ nick: "ann" });
  await ann.join("#general");

  await scout.call("get_status");
  const asked = scout.wait();
  await ann.send("PRIVMSG scout :is the build green?");
  const { text, messages: [question] } = await asked;
  assert.equal(text, "# inbox: scout (last 1)\n[direct] <ann> is the build green?");
  assert.deepEqual([question.kind, question.channel, question.account], ["message", null, null]);

  await scout.call("send_direct", { to: question.nick, text: "I am looking" });
  await ann.expect(/^:scout!\S+ PRIVMSG ann :I am looking$/);
  await scout.call("post", { channel: "#general", text: "builder gets to work" });
  await ann.expect(/^:scout!\S+ PRIVMSG #general :builder gets to work$/);
  assert.match((await builder.wait()).text ?? "", /<scout> builder gets to work$/);

  const work = builder.wait();
  await scout.call("send_message", {
    channel: "#general",
    type: "task.create",
    payload: { target: "linux" },
    to: ["builder"],
  });
  const { messages: [task] } = await work;
  assert.deepEqual(
    [task.nick, task.account, task.channel, task.type, task.payload, task.to],
    ["scout", "scout", "#general", "task.create", { target: "linux" }, ["builder"]],
  );

  const answer = scout.wait();
  await builder.call("send_message", { channel: "#general", text: "it is green", to: ["scout"] });
  assert.match((await answer).text ?? "", /^\[#general\] <builder> scout: it is green$/m);
  await ann.expect(/^:builder!\S+ PRIVMSG #general :scout: it is green$/);

  const [, json] = await builder.call("get_history", {
    channel: "#general",
    since: task.envelope_id,
  });
  const { messages } = JSON.parse(json ?? "");
  assert.deepEqual(messages.map(({ nick, text }: Record<string, string>) => [nick, text]), [
    ["builder", "scout: it is green"],
  ]);
});

Deno.test("a caller does not see tools that it may not call, and a call explains what to do", async () => {
  await using program = await startProgram();
  const scout = await registerAgent(program, "scout", { channels: ["general"] });
  const ask = async (method: string, params?: unknown) => {
    const response = await fetch(program.mcp, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`scout:${scout.passphrase}`)}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return (await response.json()).result;
  };
  const { tools } = await ask("tools/list");
  assert.ok(!tools.some(({ name }: { name: string }) => name === "register_agent"));
  const call = async (name: string, input: unknown) => {
    const { content, isError } = await ask("tools/call", { name, arguments: input });
    assert.equal(isError, true);
    return content[0].text;
  };
  assert.match(await call("register_agent", { nick: "twin" }), /Ask the operator/);
  const misspelt = { channel: "#general", type: "t", recipients: ["ann"] };
  assert.match(await call("send_message", misspelt), /^"recipients" is not an argument of/);
  assert.match(
    await call("send_direct", { to: "nobody", text: "hi" }),
    /"nobody"\. Use the nick that read_inbox/,
  );
  const history = await callAs(program, scout, "GET", "/v1/channels/general/messages");
  assert.deepEqual(await history.json(), []);
});

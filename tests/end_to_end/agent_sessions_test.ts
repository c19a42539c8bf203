/** Terminals of one installation, as real clients open them: `muster mcp` and MCP over HTTP. */
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { StdioMcp } from "../support/stdio.ts";
import { asked } from "../support/until.ts";

interface Project {
  readonly program: Program;
  /** A token of the agent `scout`, who may write in the project `demo`. */
  readonly token: string;
  /** The id of a ticket. */
  readonly ticket: string;
}

async function withScout(run: (project: Project) => Promise<void>): Promise<void> {
  await using program = await startProgram();
  await registerAgent(program, "scout", { channels: ["general"] });
  await call(program, "POST", "/v1/projects", { slug: "demo", name: "Demo" });
  await call(program, "PUT", "/v1/projects/demo/members/scout", { role: "write" });
  const asked = { owner: "scout", name: "laptop", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", asked)).json();
  const made = await call(program, "POST", "/projects/demo/fossil/api/tickets", { title: "One" });
  const { uuid: ticket } = await made.json();
  await run({ program, token, ticket });
}

function terminal({ program, token }: Project): StdioMcp {
  return new StdioMcp({ folder: program.folder, environment: { MUSTER_TOKEN: token } });
}

async function overHttp({ program, token }: Project) {
  const client = new Client({ name: "model", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(program.mcp), { requestInit });
  await client.connect(transport);
  return { client, transport };
}

/** The outcome of a call: its text, and whether it failed. */
async function attempt(mcp: StdioMcp, name: string, input: object) {
  const { result } = await mcp.request("tools/call", { name, arguments: input });
  return { isError: result?.isError === true, text: result?.content?.[0]?.text ?? "" };
}

async function sessionsIn(program: Program): Promise<string[]> {
  const answer = await call(program, "GET", "/v1/events?types=agent.session_began");
  const { events } = await answer.json();
  return events.map(({ data }: { data: { session: string } }) => data.session);
}

Deno.test("two muster mcp with one token are two agents, and one of them gets the ticket", async () => {
  await withScout(async (project) => {
    const { ticket } = project;
    const first = terminal(project);
    await using second = terminal(project);
    await Promise.all([first.initialize(), second.initialize()]);
    const claim = { uuid: ticket };
    const [one, other] = await Promise.all([
      attempt(first, "claim_ticket", claim),
      attempt(second, "claim_ticket", claim),
    ]);
    assert.notEqual(one.isError, other.isError, `${one.text}\n${other.text}`);
    const refusal = one.isError ? one.text : other.text;
    assert.match(refusal, /^Ticket already claimed\. scout(-2)? holds the ticket/);
    assert.deepEqual((await sessionsIn(project.program)).toSorted(), ["scout", "scout-2"]);

    // The session of the winner ends with its input, and another terminal takes over.
    const [winner, loser] = one.isError ? [second, first] : [first, second];
    assert.equal((await winner.end()).code, 0);
    const passed = await attempt(loser, "claim_ticket", claim);
    assert.equal(passed.isError, false, passed.text);
    await first[Symbol.asyncDispose]();
  });
});

Deno.test("a client of HTTP gets a session with initialize, and ends it with DELETE", async () => {
  await withScout(async (project) => {
    const { ticket, program } = project;
    await using first = terminal(project);
    await first.initialize();
    assert.equal((await attempt(first, "claim_ticket", { uuid: ticket })).isError, false);
    const { client, transport } = await overHttp(project);
    assert.match(transport.sessionId ?? "", /^[0-9a-f-]{36}$/);
    const claim = { name: "claim_ticket", arguments: { uuid: ticket } };
    const refused = await client.callTool(claim);
    assert.match(JSON.stringify(refused.content), /scout holds the ticket/);
    const made = { name: "create_workspace", arguments: { name: "mine" } };
    const { structuredContent } = await client.callTool(made);
    assert.equal((structuredContent as { agent_id: string }).agent_id, "scout-2");
    const id = transport.sessionId ?? "";
    await transport.terminateSession();
    await client.close();
    const late = await fetch(program.mcp, {
      method: "POST",
      headers: { authorization: `Bearer ${project.token}`, "mcp-session-id": id },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    assert.equal(late.status, 404);
    await late.body?.cancel();
    const { text, isError } = await attempt(first, "abandon_workspace", { name: "mine" });
    assert.equal(isError, false, text);
  });
});

Deno.test("a session survives a kill of the server, and its name goes to nobody else", async () => {
  await withScout(async (project) => {
    const { program, ticket } = project;
    const [first, second] = [terminal(project), terminal(project)];
    await first.initialize();
    await first.call("list_tickets");
    await second.initialize();
    await second.call("claim_ticket", { uuid: ticket });
    await program.stop("SIGKILL");
    await using again = await startProgram({ folder: program.folder });
    const lasting = { ...project, program: again };
    await using third = terminal(lasting);
    await third.initialize();
    const refused = await attempt(third, "claim_ticket", { uuid: ticket });
    assert.match(refused.text, /scout-2 holds the ticket/);
    await asked(
      () => attempt(second, "claim_ticket", { uuid: ticket }),
      ({ isError }) => !isError,
    );
    assert.deepEqual((await sessionsIn(again)).toSorted(), ["scout", "scout-2", "scout-3"]);
    await Promise.all([first.end(), second.end()]);
  });
});

Deno.test("on IRC, each session is a user of its own while it lasts", async () => {
  await withScout(async (project) => {
    await using ann = await IrcClient.connect(project.program.irc);
    await ann.register({ nick: "ann" });
    await ann.join("#general");
    await using first = terminal(project);
    await first.initialize();
    await first.call("post", { channel: "#general", text: "from the first" });
    await ann.expect(/^:scout!agent@\S+ PRIVMSG #general :from the first$/);
    const second = terminal(project);
    await second.initialize();
    await second.call("post", { channel: "#general", text: "from the second" });
    await ann.expect(/^:scout-2!agent@\S+ JOIN #general$/);
    await ann.expect(/^:scout-2!agent@\S+ PRIVMSG #general :from the second$/);
    await ann.send("NAMES #general");
    assert.match(await ann.expect(/ 353 /), /[ :]\+scout-2( |$)/);
    await ann.send("PRIVMSG scout-2 :how far are you?", "PRIVMSG #general :@workers stop");
    const inbox = await asked(() => second.call("read_inbox"), (text) => text.includes("stop"));
    assert.match(inbox, /\[direct\] <ann> how far are you\?/);
    assert.equal((await second.end()).code, 0);
    await ann.expect(/^:scout-2!agent@\S+ QUIT :Its session has ended$/);
    await ann.send("PRIVMSG scout-2 :are you still there?");
    const left = await asked(() => first.call("read_inbox"), (text) => text.includes("still"));
    assert.doesNotMatch(left, /how far/);

    await using guest = await IrcClient.connect(project.program.irc);
    await guest.register({ nick: "scout-3" });
    await using third = terminal(project);
    await third.initialize();
    await third.call("post", { channel: "#general", text: "from the third" });
    await guest.expect(/^:scout-3!\S+ NICK :?Guest/);
    await ann.expect(/^:scout-3!agent@\S+ PRIVMSG #general :from the third$/);
  });
});

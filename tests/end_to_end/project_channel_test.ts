import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, callAs, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const CAPABILITIES = ["draft/chathistory", "batch", "server-time", "message-tags"];

/** Calls the API as the operator; the answer must succeed. */
async function answer(program: Program, request: string, body?: unknown) {
  const [method = "", path = ""] = request.split(" ");
  const response = await call(program, method, path, body);
  const text = await response.text();
  assert.ok(response.ok, `${request}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** Makes a project, with members that may write. */
async function aProject(
  program: Program,
  slug: string,
  { visibility = "private", members = [] as readonly string[] } = {},
): Promise<void> {
  await answer(program, "POST /v1/projects", { slug, visibility });
  for (const name of members) await setMember(program, slug, name);
}

function setMember(program: Program, slug: string, name: string) {
  return answer(program, `PUT /v1/projects/${slug}/members/${name}`, { role: "write" });
}

/** Writes a wiki page, which is a line in the channel. */
function write(program: Program, slug: string, page: string) {
  return answer(program, `PUT /projects/${slug}/fossil/api/wiki/${page}`, { content: page });
}

/** A person with an account, connected to IRC. */
async function aPerson(program: Program, nick: string): Promise<IrcClient> {
  const password = `secret of ${nick}`;
  await answer(program, "POST /v1/irc/accounts", { account: nick, password });
  const client = await IrcClient.connect(program.irc);
  await client.register({ nick, password, capabilities: CAPABILITIES });
  return client;
}

/** What the server answers to a client's commands. */
async function linesAfter(client: IrcClient, ...commands: string[]): Promise<string[]> {
  const before = client.lines.length;
  await client.send(...commands, "PING sync");
  await client.expect(/ PONG .*sync$/);
  return client.lines.slice(before);
}

function callTool(program: Program, agent: Credentials, name: string, input: unknown) {
  const params = { name, arguments: input };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  return callAs({ api: program.mcp }, agent, "POST", "", body);
}

/** The whole text of what an agent gets of a channel, in every way that there is. */
async function readEverywhere(program: Program, agent: Credentials, channel: string) {
  const path = `/v1/channels/${channel}`;
  const responses = await Promise.all([
    callAs(program, agent, "GET", `${path}/messages`),
    callAs(program, agent, "GET", `${path}/users`),
    callAs(program, agent, "POST", `${path}/join`),
    callAs(program, agent, "GET", "/v1/channels"),
    callTool(program, agent, "get_history", { channel }),
    callTool(program, agent, "list_channels", {}),
  ]);
  return (await Promise.all(responses.map((response) => response.text()))).join("\n");
}

/** Waits until the bridge has said a line in a channel. */
async function said(program: Program, channel: string, pattern: RegExp): Promise<void> {
  let since = "";
  for (;;) {
    const query = since === "" ? "" : `&since=${encodeURIComponent(since)}`;
    const messages = await answer(
      program,
      `GET /v1/channels/${channel}/messages?wait_seconds=60${query}`,
    );
    assert.ok(messages.length > 0, `nobody said ${pattern}`);
    if (messages.some(({ text }: { text: string }) => pattern.test(text))) return;
    since = messages.at(-1).id;
  }
}

Deno.test("nobody but the members of a private project reads its channel, in any way", async () => {
  await using program = await startProgram();
  const inside = await registerAgent(program, "inside");
  const outside = await registerAgent(program, "outside", { channels: ["#project-secret"] });
  await using bob = await aPerson(program, "bob");
  await using eve = await aPerson(program, "eve");
  await aProject(program, "secret", { members: ["inside", "bob"] });
  await write(program, "secret", "Treasure");
  await said(program, "project-secret", /operator wrote the wiki page Treasure/);

  await bob.send("JOIN #project-secret", "CHATHISTORY LATEST #project-secret * 10");
  await bob.expect(/ PRIVMSG #project-secret :operator wrote the wiki page Treasure$/);
  assert.match(await readEverywhere(program, inside, "project-secret"), /Treasure/);

  const refused = await linesAfter(
    eve,
    "JOIN #project-secret",
    "LIST",
    "NAMES #project-secret",
    "WHO #project-secret",
    "MODE #project-secret",
    "TOPIC #project-secret",
    "WHOIS bob",
    "CHATHISTORY LATEST #project-secret * 10",
    "CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00.000Z timestamp=2099-01-01T00:00:00.000Z 9",
    "PRIVMSG #project-secret :hello",
  );
  assert.ok(refused.some((line) => / 473 eve #project-secret /.test(line)), refused.join("\n"));
  assert.doesNotMatch(refused.join("\n"), /Treasure| (353 .*|319 .*|322 .*|352 .*)#project-secret/);
  assert.doesNotMatch(await readEverywhere(program, outside, "project-secret"), /Treasure/);
  const read = await callAs(program, outside, "GET", "/v1/channels/project-secret/messages");
  assert.equal(read.status, 404);

  // No mode and no invitation opens it.
  const modes = await linesAfter(bob, "MODE #project-secret -is", "INVITE eve #project-secret");
  assert.equal(modes.filter((line) => / 482 /.test(line)).length, 2, modes.join("\n"));
});

/** What a client without access is answered about a channel, in every way that there is. */
async function probe(program: Program, client: IrcClient, agent: Credentials, channel: string) {
  const commands = [
    `JOIN ${channel}`,
    `JOIN ${channel} key`,
    `PART ${channel}`,
    `NAMES ${channel}`,
    `WHO ${channel}`,
    `LIST ${channel}`,
    `MODE ${channel}`,
    `MODE ${channel} +b`,
    `MODE ${channel} +m`,
    `TOPIC ${channel}`,
    `TOPIC ${channel} :mine`,
    `KICK ${channel} bob`,
    `INVITE bob ${channel}`,
    `KNOCK ${channel}`,
    `RENAME ${channel} #project-mine`,
    `METADATA ${channel} LIST`,
    `METADATA ${channel} SUB`,
    `MARKREAD ${channel}`,
    `CHATHISTORY LATEST ${channel} * 10`,
    `PRIVMSG ${channel} :hello`,
    `NOTICE ${channel} :hello`,
    `TAGMSG ${channel}`,
    `REDACT ${channel} 1234`,
    `PRIVMSG ChanServ :INFO ${channel}`,
    `PRIVMSG ChanServ :REGISTER ${channel}`,
    `PRIVMSG ChanServ :ACCESS ${channel} LIST`,
    `MONITOR + ${channel}`,
    `WHOWAS ${channel}`,
  ];
  const lines: string[] = [];
  for (const command of commands) {
    lines.push(...(await linesAfter(client, command)).map((line) => `${command}: ${line}`));
  }
  const name = channel.slice(1);
  const path = `/v1/channels/${name}`;
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ["GET", `${path}/messages`],
    ["GET", `${path}/users`],
    ["GET", `${path}/stream`],
    ["POST", `${path}/join`],
    ["POST", `${path}/messages`, { text: "hello" }],
    ["GET", "/v1/channels"],
  ];
  for (const [method, target, body] of requests) {
    const response = await callAs(program, agent, method, target, body);
    lines.push(`${method} ${target}: ${response.status} ${await response.text()}`);
  }
  for (const tool of ["get_history", "post", "send_message"]) {
    const response = await callTool(program, agent, tool, { channel: name, text: "hello" });
    lines.push(`${tool}: ${response.status} ${await response.text()}`);
  }
  return lines.map((line) =>
    line.replaceAll(name, "CHANNEL").replace(/(time|msgid|batch|label)=[^; ]+/g, "$1=")
      .replace(/BATCH [+-]\S+/g, "BATCH")
  );
}

Deno.test("nobody can tell the channel of a private project from one that there is not", async () => {
  await using program = await startProgram();
  const outside = await registerAgent(program, "outside");
  await using bob = await aPerson(program, "bob");
  await using eve = await aPerson(program, "eve");
  await aProject(program, "secret", { members: ["bob"] });
  await write(program, "secret", "Treasure");
  await said(program, "project-secret", /Treasure/);
  assert.match((await linesAfter(bob, "JOIN #project-secret")).join("\n"), / 366 bob /);
  const missing = await probe(program, eve, outside, "#project-absent");
  assert.deepEqual(await probe(program, eve, outside, "#project-secret"), missing);
  assert.ok(missing.some((line) => /^JOIN .* 473 eve #CHANNEL /.test(line)), missing.join("\n"));
  assert.ok(missing.some((line) => /messages: 404 /.test(line)), missing.join("\n"));

  // The name stays free for the project that comes to have it.
  await aProject(program, "absent", { visibility: "internal" });
  assert.match((await linesAfter(eve, "JOIN #project-absent")).join("\n"), / 366 eve /);
});

Deno.test("membership opens and closes the channel of a private project at once", async () => {
  await using program = await startProgram();
  const agent = await registerAgent(program, "agent");
  await using bob = await aPerson(program, "bob");
  await aProject(program, "secret");
  await write(program, "secret", "Before");
  await said(program, "project-secret", /Before/);
  assert.match((await linesAfter(bob, "JOIN #project-secret")).join("\n"), / 473 bob /);

  await setMember(program, "secret", "bob");
  await setMember(program, "secret", "agent");
  assert.match((await linesAfter(bob, "JOIN #project-secret")).join("\n"), / 366 bob /);
  const stream = await callAs(program, agent, "GET", "/v1/channels/project-secret/stream");
  assert.equal(stream.status, 200);

  for (const name of ["bob", "agent"]) {
    await answer(program, `DELETE /v1/projects/secret/members/${name}`);
  }
  await bob.expect(/ KICK #project-secret bob :/);
  await stream.text();
  await write(program, "secret", "After");
  await said(program, "project-secret", /After/);
  assert.doesNotMatch(bob.lines.join("\n"), /After/);
  assert.doesNotMatch(await readEverywhere(program, agent, "project-secret"), /Before|After/);
});

Deno.test("a project that becomes private closes its channel, and one that is removed empties it", async () => {
  await using program = await startProgram();
  await using eve = await aPerson(program, "eve");
  await using bob = await aPerson(program, "bob");
  await aProject(program, "open", { visibility: "internal", members: ["bob"] });
  for (const client of [eve, bob]) {
    assert.match((await linesAfter(client, "JOIN #project-open")).join("\n"), / 366 /);
  }
  await write(program, "open", "Known");
  await eve.expect(/ PRIVMSG #project-open :operator wrote the wiki page Known$/);
  assert.doesNotMatch(eve.lines.join("\n"), /MODE #project-open \+o (eve|bob)/);

  await answer(program, "PATCH /v1/projects/open", { visibility: "private" });
  await eve.expect(/ KICK #project-open eve :/);
  await bob.expect(/ MODE #project-open \+is$/);
  await write(program, "open", "Treasure");
  await said(program, "project-open", /Treasure/);

  await answer(program, "DELETE /v1/projects/open");
  await bob.expect(/ KICK #project-open bob :/);
  await aProject(program, "open", { members: ["eve"] });
  await write(program, "open", "New");
  await said(program, "project-open", /New/);
  await linesAfter(eve, "JOIN #project-open");
  const history = await linesAfter(eve, "CHATHISTORY LATEST #project-open * 50");
  assert.match(history.join("\n"), /New/);
  assert.doesNotMatch(eve.lines.join("\n"), /Treasure/);
});

Deno.test("after kill -9, members read the channel of a private project, and inboxes have each entry once", () =>
  withFolder(async (folder) => {
    let agent: Credentials;
    {
      await using program = await startProgram({ folder });
      agent = await registerAgent(program, "agent");
      await aProject(program, "secret", { members: ["agent"] });
      await write(program, "secret", "Treasure");
      await said(program, "project-secret", /Treasure/);
      const api = "/projects/secret/fossil/api";
      const body = { title: "Fix", diff: "--- a\n+++ b\n", agent_id: "agent" };
      await answer(program, `POST ${api}/reviews/create`, body);
      for (let number = 1; number <= 20; number++) {
        await answer(program, `POST ${api}/reviews/1/comment`, { body: `Comment ${number}` });
      }
      await program.stop("SIGKILL");
    }
    await using program = await startProgram({ folder });
    const entries: { kind: string; text: string }[] = [];
    while (entries.length < 20) {
      const response = await callAs(program, agent, "GET", "/v1/agents/agent/messages");
      entries.splice(0, entries.length, ...await response.json());
    }
    assert.deepEqual(
      entries.map(({ kind, text }) => `${kind} ${text}`),
      Array.from(
        { length: 20 },
        (_, index) => `review operator commented on review 1 “Fix”: Comment ${index + 1}`,
      ),
    );
    assert.match(await readEverywhere(program, agent, "project-secret"), /Treasure/);
  }));

Deno.test("each kind of event is one readable line on IRC, without control characters", async () => {
  await using program = await startProgram();
  const agents = [
    await registerAgent(program, "ada"),
    await registerAgent(program, "ben"),
  ] as const;
  const [ada, ben] = agents;
  await using eve = await aPerson(program, "eve");
  await aProject(program, "demo", { visibility: "public", members: ["ada", "ben"] });
  await eve.send("JOIN #project-demo");
  await eve.expect(/ 366 eve #project-demo /);
  const api = async (agent: Credentials, request: string, body: unknown = {}) => {
    const [method = "", path = ""] = request.split(" ");
    const response = await callAs(program, agent, method, `/projects/demo/fossil/api${path}`, body);
    const text = await response.text();
    assert.ok(response.ok, `${request}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const line = (text: string) => eve.expect(new RegExp(` PRIVMSG #project-demo :${text}$`));

  const title = "Crash at night";
  const { uuid: ticket } = await api(ben, "POST /tickets", { title });
  const name = "ticket #1";
  await line(`ben filed ${name} “Crash at night”`);
  await api(ada, `POST /tickets/${ticket}/claim`);
  await line(`ada claimed ${name}`);
  await api(ada, "POST /workspaces/create", { name: "fix", ticket });
  await line("ada began workspace fix");
  const commit = async (agent: Credentials, workspace: string, content: string) =>
    (await api(agent, `POST /workspaces/${workspace}/commit`, {
      message: "Write\n\u0002a.txt\u202e now",
      changes: [{ path: "a.txt", content }],
    })).uuid;
  const tip = await commit(ada, "fix", "a\n");
  await api(ada, "POST /reviews/create", { title: "Fix", workspace: "fix" });
  await line("ada opened review 1 “Fix”");
  const description = "3\u202e\n tests";
  await api(ben, "POST /status", { checkin: tip, context: "ci", state: "success", description });
  await line(`The check ci passed on ${tip.slice(0, 10)}: 3 tests`);
  await api(ben, "POST /workspaces/create", { name: "other" });
  await commit(ben, "other", "b\n");
  await line("Workspaces fix of ada and other of ben conflict in a.txt");
  await api(ben, "PUT /wiki/Home", { content: "Home" });
  await line("ben wrote the wiki page Home");
  await api(ben, "POST /reviews/1/approve");
  await api(ada, "POST /reviews/1/land");
  await line("Review 1 “Fix” of ada waits in the landing queue of trunk");
  const lines = eve.lines.join("");
  for (const character of ["\u0002", "\u202e"]) assert.ok(!lines.includes(character));
  // Lines are in nobody's inbox, whomever they name.
  const inbox = await callAs(program, ada, "GET", "/v1/agents/ada/messages");
  const kinds = (await inbox.json()).map(({ kind }: { kind: string }) => kind);
  assert.ok(!kinds.includes("mention"), kinds.join());
});

Deno.test("a person whom an event concerns is told on IRC, and reads no more than that", async () => {
  await using program = await startProgram();
  const ada = await registerAgent(program, "ada");
  await using bob = await aPerson(program, "bob");
  await using eve = await aPerson(program, "eve");
  await aProject(program, "demo", { members: ["ada", "bob"] });
  const body = { title: "Fix", diff: "--- a\n+++ b\n", reviewers: ["bob"] };
  await callAs(program, ada, "POST", "/projects/demo/fossil/api/reviews/create", body);
  await bob.expect(/ PRIVMSG bob :\[demo\] ada asks for your verdict on review 1 “Fix”$/);
  await linesAfter(eve);
  assert.doesNotMatch(eve.lines.join("\n"), /review/);
});

Deno.test("a kill between a line and the place in the log that follows it repeats no line", () =>
  withFolder(async (folder) => {
    const options = { folder, environment: { MUSTER_DATA_DIR: join(folder, "data") } };
    const lines = async (program: Program) => {
      const messages = await answer(program, "GET /v1/channels/project-demo/messages?limit=100");
      return messages.map(({ text }: { text: string }) => text)
        .filter((text: string) => !/project was created/.test(text));
    };
    let before: readonly string[];
    {
      await using program = await startProgram(options);
      await aProject(program, "demo");
      for (const page of ["One", "Two", "Three"]) await write(program, "demo", page);
      // If they come within a second, the last two are one line, which stands for both.
      const isAll = (line = "") => /page Three$|^… and 2 more/.test(line);
      before = await asked(() => lines(program), (all) => all.length > 1 && isAll(all.at(-1)));
      await program.stop("SIGKILL");
    }
    // What the kill leaves that comes between each line and the commit after it.
    {
      using database = new DatabaseSync(join(folder, "data", "muster.db"));
      database.exec(`
        UPDATE event_cursors SET seq = (
          SELECT min(seq) - 1 FROM events WHERE type LIKE 'project.wiki%'
        ) WHERE name = 'announcements'`);
    }
    await using program = await startProgram(options);
    await write(program, "demo", "Four");
    const all = await asked(() => lines(program), (all) => all.length > before.length);
    assert.deepEqual(all.slice(0, -1), before);
    assert.match(all.at(-1) ?? "", /Four/);
  }));

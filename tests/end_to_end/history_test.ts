import assert from "node:assert/strict";
import { join } from "node:path";
import { call, ChannelStream, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { McpAgent } from "../support/mcp_agent.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { headersOf, logIn } from "../support/visiting.ts";

const MESSAGES = "/v1/channels/general/messages";
const CAPABILITIES = ["batch", "draft/chathistory", "message-tags", "server-time"];

interface Message {
  readonly id: string;
  readonly nick: string;
  readonly text: string;
  readonly timestamp: string;
}

Deno.test("messages survive kill -9, on IRC and over HTTP, with their ids and times", () =>
  withFolder(async (folder) => {
    const environment = { MUSTER_BRIDGE_BUFFER_SIZE: "4" };
    let shown: Message[];
    let password: string;
    {
      await using program = await startProgram({ folder, environment });
      const { passphrase } = await registerAgent(program, "dora");
      password = passphrase;
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann", capabilities: CAPABILITIES });
      await ann.send("JOIN #general");
      await ann.expect(/ 366 /);
      for (let index = 0; index < 7; index++) await ann.send(`PRIVMSG #general :line ${index}`);
      await ann.send("PING :done");
      await ann.expect(/PONG .*done/);
      await post(program, { nick: "carol", text: "over HTTP" });
      shown = await read(program, "?before=2099-01-01T00:00:00Z");
      assert.deepEqual(shown.map(({ text }) => text), ["line 4", "line 5", "line 6", "over HTTP"]);
      const older = await read(program, `?before=${shown[0]?.id}`);
      shown = [...older, ...shown];
      // Reading it over CHATHISTORY waits for the disk, which a kill then cannot take it from.
      await ann.send("CHATHISTORY BEFORE #general timestamp=2099-01-01T00:00:00.000Z 1000");
      await ann.expect(/BATCH -/);
      await program.stop("SIGKILL");
    }
    const { mode } = await Deno.stat(join(folder, "data", "history.db"));
    assert.equal((mode ?? 0) & 0o777, 0o600);

    await using program = await startProgram({ folder, environment });
    assert.deepEqual(await read(program, ""), shown.slice(-4));
    assert.deepEqual(
      await read(program, `?before=${shown[4]?.timestamp}&limit=3`),
      shown.slice(1, 4),
    );
    assert.deepEqual(
      await read(program, `?since=${shown[1]?.timestamp}&limit=3`),
      shown.slice(2, 5),
    );
    assert.deepEqual(await read(program, `?since=${shown.at(-1)?.timestamp}`), []);
    await using dora = await IrcClient.connect(program.irc);
    await dora.register({ nick: "dora", password, capabilities: CAPABILITIES });
    await dora.send("JOIN #general", "CHATHISTORY LATEST #general * 3");
    await dora.expect(/BATCH \+\S+ chathistory/);
    const lines = [
      await dora.expect(/PRIVMSG/),
      await dora.expect(/PRIVMSG/),
      await dora.expect(/PRIVMSG/),
    ];
    assert.deepEqual(
      lines.map((line) => /msgid=([^ ;]+).* PRIVMSG #general :(.*)/.exec(line)?.slice(1)),
      shown.slice(-3).map((
        { id, nick, text },
      ) => [id, nick === "carol" ? `[carol] ${text}` : text]),
    );
    await dora.send("PRIVMSG #general :new");
    const [next] = await read(program, `?since=${shown.at(-1)?.timestamp}&wait_seconds=60`);
    assert.equal(next?.text, "new");
    assert.ok((next?.timestamp ?? "") > (shown.at(-1)?.timestamp ?? "z"));
  }));

Deno.test("a kill -9 loses no message of a journal, and the next start has each once", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    for (let round = 0; round < 3; round++) {
      await using program = await startProgram({ folder });
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann", capabilities: CAPABILITIES });
      await ann.send("JOIN #general");
      await ann.expect(/ 366 /);
      assert.deepEqual((await read(program, "?limit=200")).map(({ text }) => text), said);
      for (let index = 0; index < 20; index++) {
        await ann.send(`PRIVMSG #general :${round} ${index} over IRC`, `PING ${index}`);
        await ann.expect(new RegExp(`PONG .*${index}`));
        said.push(`${round} ${index} over IRC`);
        await post(program, { nick: "carol", text: `${round} ${index} over HTTP` });
        said.push(`${round} ${index} over HTTP`);
      }
      await program.stop("SIGKILL");
    }
    // A backup without a server has what only the journal has.
    const archive = join(folder, "killed.tar");
    const backup = await runMuster(["backup", archive], { folder });
    assert.equal(backup.code, 0, backup.stderr);
    const copy = join(folder, "copy");
    await Deno.mkdir(copy);
    const restored = await runMuster(["restore", archive], { folder: copy });
    assert.equal(restored.code, 0, restored.stderr);
    for (const place of [folder, copy]) {
      await using program = await startProgram({ folder: place });
      assert.deepEqual((await read(program, "?limit=200")).map(({ text }) => text), said);
      const journals = [1, 2].map((number) => join(place, "data", `history.journal${number}`));
      assert.deepEqual(journals.map((path) => Deno.statSync(path).mode! & 0o777), [0o600, 0o600]);
      assert.equal(await program.stop(), 0);
      for (const path of journals) assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    }
  }));

Deno.test("a kill -9 amid many writers loses no message that was acknowledged", () =>
  withFolder(async (folder) => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round++) {
      await using program = await startProgram({ folder });
      const enough = Promise.withResolvers<void>();
      const write = async (writer: number) => {
        for (let count = 0;; count++) {
          const text = `${round} ${writer} ${count}`;
          await post(program, { nick: "carol", text });
          acknowledged.push(text);
          if (acknowledged.length === 200 * (round + 1)) enough.resolve();
        }
      };
      // Each ends with the connection.
      const writers = Array.from({ length: 16 }, (_, writer) => write(writer).catch(() => {}));
      await enough.promise;
      await program.stop("SIGKILL");
      await Promise.all(writers);
    }
    await using program = await startProgram({ folder });
    const kept = new Set<string>();
    for (let query = "?limit=200"; query !== "";) {
      const part = await read(program, query);
      for (const { text } of part) kept.add(text);
      query = part.length < 200 ? "" : `?limit=200&before=${part[0]?.id}`;
    }
    assert.deepEqual(acknowledged.filter((text) => !kept.has(text)), []);
  }));

Deno.test("a history that is no database stops the start with a sentence", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "data"));
    await Deno.writeTextFile(join(folder, "data", "history.db"), "something else ".repeat(40));
    const addresses = { MUSTER_API_ADDR: "127.0.0.1:0", MUSTER_MCP_ADDR: "127.0.0.1:0" };
    const environment = {
      ...addresses,
      MUSTER_IRC_LISTEN: "127.0.0.1:0",
      MUSTER_IRC_HISTORY_PERSIST: "true",
    };
    const { code, stderr } = await runMuster(["serve"], { folder, environment });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /history\.db" is no database/);
    assert.doesNotMatch(stderr, /Uncaught/);
  }));

Deno.test("a resume says that messages are missing if retention removed some, and only then", () =>
  withFolder(async (folder) => {
    const environment = {
      MUSTER_BRIDGE_BUFFER_SIZE: "3",
      MUSTER_IRC_HISTORY_MAX_MESSAGES: "5",
    };
    const gapSince = async (program: Program, since: string) => {
      const response = await call(program, "GET", `${MESSAGES}?since=${since}`);
      await response.body?.cancel();
      await using stream = await ChannelStream.open(program, "general", `&since=${since}`);
      const first = await stream.next();
      const gap = response.headers.get("muster-gap");
      assert.equal(gap !== null, first !== null && "from" in first, "the stream says the same");
      return gap;
    };
    const say = async (program: Program, from: number, to: number) => {
      for (let index = from; index < to; index++) {
        await post(program, { nick: "carol", text: `line ${index}` });
      }
    };
    const long = "1970-01-01T00:00:00Z";
    let scout: Credentials;
    {
      await using program = await startProgram({ folder, environment });
      scout = await registerAgent(program, "scout");
      await say(program, 0, 4);
      assert.equal(await gapSince(program, long), null, "everything is there");
    }
    {
      await using program = await startProgram({ folder, environment });
      assert.equal(await gapSince(program, long), null, "also after a restart");
      await say(program, 4, 8);
      assert.notEqual(await gapSince(program, long), null);
    }
    await using program = await startProgram({ folder, environment });
    const [oldest] = await read(program, `?since=${long}`);
    assert.equal(await gapSince(program, long), oldest?.timestamp);
    assert.equal(await gapSince(program, oldest?.timestamp ?? ""), null);
    await using agent = await McpAgent.connect(program, scout);
    const since = (time: string) => agent.call("get_history", { channel: "general", since: time });
    assert.deepEqual((await since(long))["gap"], { from: long, to: oldest?.timestamp });
    assert.equal((await since(oldest?.timestamp ?? ""))["gap"], undefined);
    const [text = ""] = await agent.texts("get_history", { channel: "general", since: long });
    assert.match(text, /messages after 1970\S+ may be missing here/);
  }));

async function post(program: Program, body: { nick: string; text: string }): Promise<void> {
  const answer = await call(program, "POST", MESSAGES, body);
  assert.equal(answer.status, 204);
  await answer.body?.cancel();
}

async function read(program: Program, query: string): Promise<Message[]> {
  return await (await call(program, "GET", MESSAGES + query)).json();
}

Deno.test("the page of a channel finds what was said before a restart, under the same ids", () =>
  withFolder(async (folder) => {
    const environment = { MUSTER_BRIDGE_BUFFER_SIZE: "4" };
    const admin = { username: "ada", password: "correct horse" };
    let shown: Message[];
    {
      await using program = await startProgram({ folder, environment });
      await (await call(program, "POST", "/v1/admins", admin)).body?.cancel();
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann", capabilities: CAPABILITIES });
      await ann.send("JOIN #general", "PRIVMSG #general :the Needle in the haystack");
      await ann.send("PRIVMSG #general :hay", "PING :done");
      await ann.expect(/PONG .*done/);
      await post(program, { nick: "carol", text: "another needle" });
      shown = await read(program, "");
      for (let index = 0; index < 9; index++) await ann.send(`PRIVMSG #general :hay ${index}`);
      await ann.send("PING :done");
      await ann.expect(/PONG .*done/);
      await program.stop();
    }
    await using program = await startProgram({ folder, environment });
    const headers = headersOf(await logIn(program, admin.username, admin.password));
    const find = async (words: string) => {
      const query = new URLSearchParams({ q: words });
      const response = await fetch(`${program.api}/channels/general?${query}`, { headers });
      const html = await response.text();
      assert.equal(response.status, 200, html);
      return Array.from(html.matchAll(/id="m-([^"]+)"/g), ([, id]) => id);
    };
    const idOf = (words: string) => shown.find(({ text }) => text.includes(words))?.id;
    assert.deepEqual(await find("NEEDLE"), [idOf("haystack"), idOf("another")]);
    assert.deepEqual(await find("from:carol needle"), [idOf("another")]);
    assert.deepEqual(await find("eedle hayst"), [idOf("haystack")]);
    assert.deepEqual(await find("nowhere"), []);
  }));

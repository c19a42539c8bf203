import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteSql } from "../../services/engines/database/migration.ts";
import { MIGRATIONS } from "../../services/engines/database/migrations.ts";
import { call, callAs, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const PASSWORD = "correct horse";
const CAPABILITIES = ["batch", "draft/chathistory", "message-tags", "server-time"];
const ALL = "CHATHISTORY BEFORE";
const LATER = "timestamp=2099-01-01T00:00:00.000Z 1000";

/** Each mode that keeps `bob` and `eve` out, and the numeric of the refusal on IRC. */
const SEALS = {
  secret: { modes: "+s", refusal: null },
  vault: { modes: "+i", refusal: "473" },
  locked: { modes: "+k word", refusal: "475" },
  banned: { modes: "+bb a:bob a:eve", refusal: "474" },
} as const;

/** With the bridge, which rejoins them after a restart; and without. */
const CHANNELS = Object.entries(SEALS).flatMap(([name, seal]) => [
  { ...seal, name, bridged: true },
  { ...seal, name: `${name}-irc`, bridged: false },
]);

async function addPerson(program: Program, account: string): Promise<void> {
  const response = await call(program, "POST", "/v1/irc/accounts", { account, password: PASSWORD });
  assert.equal(response.status, 201, await response.text());
}

async function connect(program: Program, nick: string, password?: string): Promise<IrcClient> {
  const client = await IrcClient.connect(program.irc);
  const account = password === undefined ? {} : { password };
  await client.register({ nick, ...account, capabilities: CAPABILITIES });
  return client;
}

/** Has a client's commands carried out; returns the lines that came meanwhile. */
async function run(client: IrcClient, ...commands: string[]): Promise<string> {
  const before = client.lines.length;
  const mark = crypto.randomUUID();
  await client.send(...commands, `PING ${mark}`);
  await client.expect(new RegExp(` PONG .*${mark}$`));
  return client.lines.slice(before).join("\n");
}

/** What a person reads of a channel on IRC, as a member. */
async function historyOf(client: IrcClient, channel: string): Promise<string> {
  await client.send(`${ALL} #${channel} ${LATER}`);
  const begin = client.lines.length;
  const opened = await client.expect(/ BATCH \+\S+ chathistory/);
  await client.expect(new RegExp(` BATCH -${/BATCH \+(\S+)/.exec(opened)?.[1]}`));
  return client.lines.slice(begin - 1).filter((line) => / PRIVMSG /.test(line)).join("\n");
}

/** Everything that an agent gets of a channel over HTTP and MCP, as text. */
async function readAsAgent(program: Program, agent: Credentials, channel: string): Promise<string> {
  const params = { name: "get_history", arguments: { channel } };
  const answers = await Promise.all([
    callAs(program, agent, "GET", `/v1/channels/${channel}/messages`),
    callAs(program, agent, "GET", `/v1/channels/${channel}/users`),
    callAs(program, agent, "GET", "/v1/channels"),
    callAs({ api: program.mcp }, agent, "POST", "", {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params,
    }),
  ]);
  return (await Promise.all(answers.map((answer) => answer.text()))).join("\n");
}

/** What the pages show a person of a channel. */
async function readOnPages(program: Program, name: string, channel: string): Promise<string> {
  const login = await fetch(`${program.api}/login`, {
    method: "POST",
    body: JSON.stringify({ username: name, password: PASSWORD }),
  });
  assert.equal(login.status, 200, await login.text());
  const cookie = login.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const pages = [`/channels/${channel}`, "/channels"];
  const answers = pages.map((page) => fetch(program.api + page, { headers: { cookie } }));
  return (await Promise.all(answers)).map((answer) => answer.text()).reduce(
    async (all, text) => await all + await text,
    Promise.resolve(""),
  );
}

/** `ann` makes the channels, says something in each, and takes `mia` in by invitation. */
async function makeChannels(program: Program, ann: IrcClient, mia: IrcClient): Promise<void> {
  for (const { name, modes, bridged } of CHANNELS) {
    await run(ann, `JOIN #${name}`, `TOPIC #${name} :agenda of ${name}`, `MODE #${name} ${modes}`);
    if (bridged) await call(program, "POST", `/v1/channels/${name}/join`);
    await run(ann, `INVITE mia #${name}`, `PRIVMSG #${name} :classified ${name}`);
    await run(mia, `JOIN #${name} word`);
  }
  for (const { name } of CHANNELS) assert.match(await historyOf(ann, name), /classified/);
}

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  Deno.test(`no door opens a sealed channel after ${signal}, and its members find it as it was`, () =>
    withFolder(async (folder) => {
      let eve: Credentials;
      let mia: Credentials;
      {
        await using program = await startProgram({ folder });
        for (const name of ["ann", "bob"]) await addPerson(program, name);
        eve = await registerAgent(program, "eve");
        mia = await registerAgent(program, "mia");
        await using founder = await connect(program, "ann", PASSWORD);
        await using member = await connect(program, "mia", mia.passphrase);
        await makeChannels(program, founder, member);
        await program.stop(signal);
      }

      await using program = await startProgram({ folder });
      await using bob = await connect(program, "bob", PASSWORD);
      for (const { name, refusal, bridged } of CHANNELS) {
        const read = await readAsAgent(program, eve, name) +
          await readOnPages(program, "bob", name);
        assert.doesNotMatch(read, /classified|agenda/, name);
        if (refusal === null) continue;
        assert.match(await run(bob, `JOIN #${name}`), new RegExp(` ${refusal} bob #${name} `));
        const operator = await (await call(program, "GET", `/v1/channels/${name}/messages`)).text();
        if (bridged) assert.match(operator, /classified/);
      }
      await using founder = await connect(program, "ann", PASSWORD);
      await using member = await connect(program, "mia", mia.passphrase);
      for (const { name, modes } of CHANNELS) {
        const joined = await run(founder, `JOIN #${name}`, `MODE #${name}`, `MODE #${name} b`);
        assert.match(joined, / 353 ann \S #\S+ :.*@ann/, name);
        assert.match(joined, new RegExp(` 332 ann #${name} :agenda of ${name}`));
        if (name.startsWith("banned")) assert.match(joined, / 367 ann #\S+ a:eve /);
        else assert.match(joined, new RegExp(` 324 ann #${name} \\+\\S*${modes[1]}`));
        assert.match(await historyOf(founder, name), /classified/);
        assert.match(await run(member, `JOIN #${name}`), / 366 mia /, name);
      }
    }));
}

Deno.test("the messages of a sealed channel end with it, unless it waits for its founder", () =>
  withFolder(async (folder) => {
    {
      await using program = await startProgram({ folder });
      for (const name of ["ann", "bob"]) await addPerson(program, name);
      await using guest = await connect(program, "gus");
      await using ann = await connect(program, "ann", PASSWORD);
      const made = [[guest, "guests"], [ann, "anns"]] as const;
      for (const [maker, prefix] of made) {
        for (const { name, modes, bridged } of CHANNELS) {
          if (bridged) continue;
          const channel = `#${prefix}-${name}`;
          await run(maker, `JOIN ${channel}`, `PRIVMSG ${channel} :classified before`);
          await run(maker, `MODE ${channel} ${modes}`, `PRIVMSG ${channel} :classified since`);
          assert.match(await historyOf(maker, channel.slice(1)), /before[^]*since/);
          await run(maker, `PART ${channel}`);
        }
      }
      await using bob = await connect(program, "bob", PASSWORD);
      await using eve = await connect(program, "eve");
      for (const { name, refusal, bridged } of CHANNELS) {
        if (bridged) continue;
        assert.match(await run(eve, `JOIN #guests-${name}`), / 353 eve \S #\S+ :@eve/, name);
        assert.doesNotMatch(await historyOf(eve, `guests-${name}`), /classified/, name);
        const joined = await run(bob, `JOIN #anns-${name}`);
        if (refusal !== null) {
          assert.match(joined, new RegExp(` ${refusal} bob `));
          continue;
        }
        assert.match(joined, / 353 bob \S #\S+ :@bob/, "a channel that was only secret is new");
        assert.doesNotMatch(await historyOf(bob, `anns-${name}`), /classified/);
      }
      await program.stop("SIGKILL");
    }
    await using program = await startProgram({ folder });
    await using bob = await connect(program, "bob", PASSWORD);
    assert.match(await run(bob, "JOIN #anns-vault-irc"), / 473 bob /);
    await using ann = await connect(program, "ann", PASSWORD);
    assert.match(await run(ann, "JOIN #anns-vault-irc"), / 353 ann \S #\S+ :@ann/);
    assert.match(await historyOf(ann, "anns-vault-irc"), /before[^]*since/);
  }));

Deno.test("a data folder of an earlier version opens, and its secret channels stay secret", () =>
  withFolder(async (folder) => {
    {
      await using program = await startProgram({ folder });
      await using ann = await connect(program, "ann");
      for (const name of ["secret", "open", "opened"]) {
        await run(ann, `JOIN #${name}`, `PRIVMSG #${name} :words before`);
      }
      await run(ann, "MODE #secret -n+st", "PRIVMSG #secret :classified since");
      await run(ann, "MODE #opened +s", "MODE #opened -s", "MODE #open +v ann");
      for (const name of ["secret", "open", "opened"]) await historyOf(ann, name);
      await program.stop("SIGKILL");
    }
    forgetSeals(folder);
    await using program = await startProgram({ folder });
    await using bob = await connect(program, "bob");
    for (const name of ["secret", "open", "opened"]) await bob.join(`#${name}`);
    assert.doesNotMatch(await historyOf(bob, "secret"), /classified/);
    for (const name of ["open", "opened"]) {
      assert.match(await historyOf(bob, name), /words before/, name);
    }
  }));

/** Brings the databases of a data folder to the form that they had before modes were stored. */
function forgetSeals(folder: string): void {
  const app = new DatabaseSync(join(folder, "data", "muster.db"));
  const before = MIGRATIONS.findIndex((step) =>
    sqliteSql(step).includes("TABLE irc_unregistered_channels")
  );
  const later = MIGRATIONS.slice(before).map(sqliteSql).join();
  const namesOf = (pattern: RegExp) => Array.from(later.matchAll(pattern), ([, ...names]) => names);
  const tables = namesOf(/CREATE TABLE (\w+)/g).flat();
  for (const [index] of namesOf(/CREATE (?:UNIQUE )?INDEX (\w+)/g)) {
    app.exec(`DROP INDEX IF EXISTS ${index}`);
  }
  for (const [table = "", column] of namesOf(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)) {
    if (!tables.includes(table)) app.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
  for (const table of tables) app.exec(`DROP TABLE ${table}`);
  app.exec(`PRAGMA user_version = ${before}`);
  app.close();
  const history = new DatabaseSync(join(folder, "data", "history.db"));
  history.exec("DROP TABLE search_segments; DROP TABLE search_postings; DROP TABLE last_change");
  history.exec("ALTER TABLE targets DROP COLUMN trimmed");
  history.exec("UPDATE entries SET confined = 0; PRAGMA user_version = 1");
  history.close();
}

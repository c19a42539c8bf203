/** The bots that read channels and the event log: auditbot, oracle, scribe, scroll and systembot. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { formatEnvelope } from "../../../../services/chat/bridge/mod.ts";
import { auditbot, oracle, scribe, scroll } from "../../../../services/chat/bots/catalog/mod.ts";
import { backendRequestSchema } from "../../../../services/models/llm/schemas.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { FakeProvider } from "../../models/llm/support/provider.ts";
import { ReadSettings } from "./settings.ts";
import { type BotWorld, withBots, withOwnBots } from "./support.ts";

const DAY_MS = 86_400_000;

/** The files of scribe with their lines, by name. */
async function filesIn(folder: string): Promise<Record<string, string[]>> {
  const files: Record<string, string[]> = {};
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(join(folder, name));
    files[name] = text.trimEnd().split("\n");
  }
  return files;
}

/** Says lines as a person and lets scribe write them. */
async function written(
  world: BotWorld,
  user: { send(line: string): void; sync(): Promise<void> },
  lines: readonly string[],
) {
  for (const line of lines) user.send(`PRIVMSG #general :${line}`);
  await user.sync();
  await world.bots.idle();
  world.services.clock.advance(1000);
  await world.bots.idle();
}

Deno.test("scroll replays a channel to those who may read it, in three formats", () =>
  withBots(async (world) => {
    await world.enable("scroll", { rate_limit: 0 });
    const ann = await world.person("ann");
    for (const text of ["one", "two", "three"]) ann.send(`PRIVMSG #general :${text}`);
    ann.send("PRIVMSG scroll :replay #general last=3");
    await ann.expect(/^:scroll!\S+ NOTICE ann :#general: 3 messages$/);
    for (const text of ["one", "two", "three"]) {
      await ann.expect(new RegExp(` NOTICE ann :\\S+Z <ann> ${text}$`));
    }
    ann.send("PRIVMSG #general :!scroll replay last=2 format=json");
    await ann.expect(/ NOTICE ann :#general: 2 messages$/);
    await ann.expect(
      / NOTICE ann :\{"timestamp":"[^"]*","nick":"ann","account":"ann","text":"three"\}/,
    );
    ann.send("PRIVMSG scroll :replay #general last=1 format=toon");
    await ann.expect(/ NOTICE ann :messages\[1\]\{timestamp,nick,text\}:$/);
    await ann.expect(/ NOTICE ann :\S+Z,ann,"!scroll replay last=2 format=json"$/);
    const [first] = await world.services.bridge?.messages("#general", { limit: 9 }) ?? [];
    ann.send(`PRIVMSG scroll :replay #general since=${first?.timestamp} last=1`);
    await ann.expect(/ NOTICE ann :\S+Z <ann> two$/);
    ann.send("PRIVMSG scroll :replay #general format=xml");
    await ann.expect(/"format" must be one of text, json, toon$/);
    ann.send("PRIVMSG scroll :replay");
    await ann.expect(/Name a channel, such as #general$/);
    await world.services.bridge?.join("#secret", BY_OPERATOR);
    world.services.server.connect();
    const guest = await world.guest("guest", "#other");
    guest.send("PRIVMSG scroll :replay #general");
    await guest.expect(/There is no channel #general, or you may not read it$/);
  }));

Deno.test("scroll replays at most max_lines, at rate_limit lines per second", async () => {
  const settings = new ReadSettings();
  await withOwnBots(({ bridge }) => [settings.watch(scroll(bridge))], async (world) => {
    await world.enable("scroll", { max_lines: 15, rate_limit: 2 });
    const ann = await world.person("ann");
    for (let line = 1; line <= 20; line++) ann.send(`PRIVMSG #general :line ${line}.`);
    ann.send("PRIVMSG scroll :replay #general last=500");
    await ann.expect(/#general: 15 messages$/);
    await ann.expect(/ NOTICE ann :\S+ <ann> line 14\.$/);
    await ann.sync();
    assert.ok(!ann.lines.some((line) => / NOTICE .*line 15\./.test(line)));
    world.services.clock.advance(1000);
    await ann.expect(/ NOTICE ann :\S+ <ann> line 16\.$/);
    assert.ok(!ann.lines.some((line) => / NOTICE .*line 17\./.test(line)));
    world.services.clock.advance(10_000);
    await ann.expect(/ NOTICE ann :\S+ <ann> line 20\.$/);
    await world.policies({ scroll: { max_lines: 0 } });
    ann.send("PRIVMSG scroll :replay #general");
    await ann.expect(/Replays are turned off$/);
    settings.assertAll("scroll");
  });
});

Deno.test("oracle sums up by counting and quoting, or by a model that gets the chat as data", async () => {
  const seen: unknown[] = [];
  await using fake = new FakeProvider((request) => {
    seen.push(request.body);
    return Response.json({
      id: "1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "Ann decided.\nBob did." } }],
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
  });
  const settings = new ReadSettings();
  await withOwnBots(({ bridge }) => [settings.watch(oracle(bridge))], async (world) => {
    await world.enable("oracle");
    const ann = await world.person("ann");
    const done = {
      v: 1,
      type: "task.complete",
      id: "x",
      from: "ann",
      payload: { title: "Map it" },
    };
    ann.send("PRIVMSG #general :hello", `PRIVMSG #general :${JSON.stringify(done)}`);
    ann.send("PRIVMSG #general :oracle: summarize");
    await ann.expect(/^:oracle!\S+ NOTICE ann :#general: 2 messages from \S+Z to \S+Z, by ann 2$/);
    await ann.expect(/ NOTICE ann :Tasks: Map it: complete$/);
    await ann.expect(/ NOTICE ann :<ann> hello$/);
    const backend = { name: "main", provider: "openai", base_url: fake.url, models: [] };
    const created = backendRequestSchema.parse(backend);
    await world.services.llm.backends.create(created, BY_OPERATOR);
    await world.policies({ oracle: { backend: "main", model: "small" } });
    ann.send("PRIVMSG oracle :summarize #general last=1 format=json");
    await ann.expect(
      / NOTICE ann :\{"channel":"#general","summary":".*Ann decided\.\\nBob did\."\}$/,
    );
    const [{ model, messages }] = seen as [{ model: string; messages: { content: string }[] }];
    assert.equal(model, "small");
    assert.ok(!messages[0]?.content.includes("Map it"));
    assert.match(messages[1]?.content ?? "", /^([\da-f-]{36})\n.*Map it.*\n\1$/s);
    ann.send("PRIVMSG oracle :summarize #general");
    await ann.expect(/Ask again in 30 seconds; DIGEST answers at once$/);
    ann.send("PRIVMSG oracle :digest #general format=toon");
    await ann.expect(/ NOTICE ann :channel: #general$/);
    const rows = await world.services.database.tables.selectFrom("events").select("actor")
      .where("type", "=", "llm.called").execute();
    assert.deepEqual(rows.map(({ actor }) => actor), ["bot:oracle"]);
    const { groups } = await world.services.accounting.usage.read({ by: "agent" });
    assert.deepEqual(groups.map(({ name, calls }) => [name, calls]), [["oracle", 1]]);
    world.services.clock.advance(30_000);
    await world.policies({ oracle: { backend: "gone" } });
    ann.send("PRIVMSG oracle :summarize #general");
    await ann.expect(/ NOTICE ann :The backend "gone" fails \(.*\)\. Instead:$/);
    await ann.expect(/ NOTICE ann :#general: /);
    const guest = await world.guest("guest");
    guest.send("PRIVMSG oracle :summarize #general");
    await guest.expect(/Log in to your account first$/);
    settings.assertAll("oracle");
  });
});

Deno.test("scribe finds what was said", () =>
  withBots(async (world) => {
    await world.enable("scribe");
    const ann = await world.person("ann");
    for (const text of ["one fish", "two Fish", "red cat"]) ann.send(`PRIVMSG #general :${text}`);
    ann.send("PRIVMSG #general :!scribe search fish");
    await ann.expect(/ NOTICE ann :2 messages in #general:$/);
    await ann.expect(/ NOTICE ann :\S+Z <ann> one fish$/);
    await ann.expect(/ NOTICE ann :(\S+Z) <ann> two Fish$/);
    ann.send("PRIVMSG scribe :search fish two from:ann #general");
    await ann.expect(/ NOTICE ann :1 message in #general:$/);
    for (const terms of ["dog", "fish from:bob"]) {
      ann.send(`PRIVMSG scribe :search ${terms} #general`);
      await ann.expect(/ NOTICE ann :Found nothing in #general$/);
    }
    ann.send("PRIVMSG scribe :search fish #general before=never");
    await ann.expect(/ NOTICE ann :"before" must be an ISO 8601 time/);
    ann.send("PRIVMSG scribe :search before=2026-01-01T00:00:00Z #general");
    await ann.expect(/ NOTICE ann :Name a term$/);
    ann.send("PRIVMSG scribe :tail #general 1");
    await ann.expect(/ NOTICE ann :\S+Z <ann> !scribe search fish$/);
    ann.send("PRIVMSG scribe :stats #general");
    await ann.expect(/ NOTICE ann :#general: 4 messages; ann 4$/);
    await ann.expect(/ NOTICE ann :\d+ files? with \d+ KB$/);
  }));

Deno.test("scribe searches everything that is kept, page by page", () =>
  withBots(async (world) => {
    await world.enable("scribe");
    const { bridge, clock } = world.services;
    for (let number = 1; number <= 12; number++) {
      await bridge?.post("#general", { text: `fish ${number}` }, BY_OPERATOR);
      for (let other = 0; other < 20; other++) {
        await bridge?.post("#general", { text: `noise ${number} ${other}` }, BY_OPERATOR);
        clock.advance(1);
      }
    }
    const ann = await world.person("ann");
    ann.send("PRIVMSG scribe :search fish #general");
    const head = await ann.expect(
      / NOTICE ann :10 messages in #general; to search on, add before=/,
    );
    const before = /before=(\S+):$/.exec(head)?.[1];
    await ann.expect(/ <bridge> fish 3$/);
    await ann.expect(/ <bridge> fish 12$/);
    ann.send(`PRIVMSG scribe :search fish #general before=${before}`);
    await ann.expect(/ NOTICE ann :2 messages in #general:$/);
    await ann.expect(/ <bridge> fish 1$/);
    await ann.expect(/ <bridge> fish 2$/);
  }));

Deno.test("scribe writes in every format, rotates, and removes what is too old", async () => {
  const settings = new ReadSettings();
  await withOwnBots(({ bridge, folder }) => [
    settings.watch(scribe({ history: bridge, folder: join(folder, "own"), dataFolder: folder })),
  ], async (world) => {
    const { clock, folder } = world.services;
    await world.enable("scribe");
    const ann = await world.person("ann");
    await written(world, ann, ['=one, "two"']);
    const own = await filesIn(join(folder, "own"));
    assert.deepEqual(Object.keys(own), ["scribe.jsonl"]);
    const { at, message_id: id, ...record } = JSON.parse(own["scribe.jsonl"]?.[0] ?? "");
    assert.match(at, /^2026-11-20T12:.*Z$/);
    assert.ok(id.length > 0);
    assert.deepEqual(record, {
      channel: "#general",
      nick: "ann",
      account: "ann",
      kind: "message",
      message_type: null,
      text: '=one, "two"',
    });
    await world.policies({ scribe: { dir: "kept", format: "csv", rotation: "daily" } });
    await written(world, ann, ['=one, "two"']);
    await world.policies({ scribe: { format: "text", rotation: "weekly", per_channel: true } });
    await written(world, ann, ["week"]);
    await world.policies({ scribe: { rotation: "monthly", per_channel: false } });
    await written(world, ann, ["month"]);
    await world.policies({ scribe: { rotation: "yearly" } });
    await written(world, ann, ["year"]);
    await world.policies({ scribe: { rotation: "size", max_size_mb: 0.0001 } });
    await written(world, ann, ["a".repeat(90)]);
    await written(world, ann, ["b".repeat(90)]);
    await written(world, ann, ["c".repeat(90)]);
    const kept = await filesIn(join(folder, "kept"));
    assert.deepEqual(Object.keys(kept).sort(), [
      "scribe-general.2026-W47.log",
      "scribe.2026-11-20.csv",
      "scribe.2026-11.log",
      "scribe.2026.log",
      "scribe.log",
      "scribe.part1.log",
      "scribe.part2.log",
    ]);
    const [head, row] = kept["scribe.2026-11-20.csv"] ?? [];
    assert.equal(head, "at,channel,nick,account,kind,message_type,message_id,text");
    assert.match(row ?? "", /^2026-11-20T[^,]*,#general,ann,ann,message,,[^,]+,"'=one, ""two"""$/);
    assert.match(kept["scribe.part1.log"]?.[0] ?? "", / #general <ann> a+$/);
    assert.match(kept["scribe.log"]?.[0] ?? "", / #general <ann> c+$/);

    await world.policies({ scribe: { rotation: "none", max_size_mb: 0, max_age_days: 2 } });
    clock.advance(DAY_MS);
    await written(world, ann, ["newer"]);
    clock.advance(DAY_MS);
    await world.bots.idle();
    clock.advance(3_600_000);
    await world.bots.idle();
    const left = await filesIn(join(folder, "kept"));
    assert.deepEqual(Object.keys(left), ["scribe.log"]);
    assert.equal(left["scribe.log"]?.length, 1);
    assert.match(left["scribe.log"]?.[0] ?? "", /<ann> newer$/);
    assert.deepEqual((await world.events("scribe.pruned")).length, 1);
    settings.assertAll("scribe");
  });
});

Deno.test("scribe writes what waits when it is stopped", () =>
  withBots(async (world) => {
    await world.enable("scribe");
    const ann = await world.person("ann");
    ann.send("PRIVMSG #general :last words");
    await ann.sync();
    await world.policies({ scribe: { enabled: false } });
    await world.bots.idle();
    const files = await filesIn(join(world.services.folder, "logs/scribe"));
    assert.match(files["scribe.jsonl"]?.[0] ?? "", /last words/);
  }));

Deno.test("auditbot answers about the event log, for admins", () =>
  withBots(async (world) => {
    await world.enable("auditbot");
    const root = await world.admin("root");
    const ann = await world.person("ann");
    ann.send("PRIVMSG auditbot :status");
    await ann.expect(
      / NOTICE ann :The event log is at number \d+; \d+ entries .*; audited: everything$/,
    );
    root.send("PRIVMSG auditbot :query ann");
    await root.expect(/ NOTICE root :\S+Z account\.created by operator account=ann$/);
    await root.expect(/ NOTICE root :\S+Z channel\.join #general ann$/);
    const task = { v: 1, type: "task.create", id: "t-1", from: "ann", payload: {} };
    ann.send(`PRIVMSG #general :${JSON.stringify(task)}`);
    await ann.sync();
    root.send("PRIVMSG auditbot :query #general 1");
    await root.expect(/ NOTICE root :\S+Z message\.task\.create #general ann t-1$/);
    root.send("PRIVMSG #general :!auditbot recent 50");
    await root.expect(/ NOTICE root :\S+Z bot\.started by bot:auditbot bot=auditbot$/);
    for (const command of ["recent", "query ann"]) {
      ann.send(`PRIVMSG auditbot :${command}`);
      await ann.expect(/Only admins may do that$/);
    }
    await world.policies({ auditbot: { audit_types: ["account.*"] } });
    root.send("PRIVMSG auditbot :recent 1");
    await root.expect(/ NOTICE root :\S+Z account\.created by operator account=ann$/);
  }));

Deno.test("scribe keeps what the disk refuses, and writes it later", async () => {
  await withOwnBots(({ bridge, folder }) => [
    scribe({ history: bridge, folder: join(folder, "own"), dataFolder: folder }),
  ], async (world) => {
    const { clock, folder, log } = world.services;
    await Deno.writeTextFile(join(folder, "own"), "in the way");
    await world.enable("scribe");
    const ann = await world.person("ann");
    await written(world, ann, ["one", "two"]);
    assert.equal(log.lines.filter((line) => line.includes("scribe cannot write")).length, 1);
    await Deno.remove(join(folder, "own"));
    clock.advance(1000);
    await world.bots.idle();
    const files = await filesIn(join(folder, "own"));
    const texts = files["scribe.jsonl"]?.map((line) => JSON.parse(line).text);
    assert.deepEqual(texts, ["one", "two"]);
  });
});

Deno.test("auditbot keeps its record however long the types of envelopes are", async () => {
  await withOwnBots(({ eventLog }) => [auditbot(eventLog)], async (world) => {
    await world.enable("auditbot");
    const { clock } = world.services;
    const bob = await world.agent("bob");
    for (let number = 0; number < 700; number++) {
      const type = `${number} ${"\u0001".repeat(60)}`;
      bob.send(`PRIVMSG #general :${formatEnvelope({ type, from: "bob" }, clock.now())}`);
      clock.advance(1);
    }
    await bob.sync();
    await world.bots.idle();
    clock.advance(5000);
    assert.deepEqual(await world.events("bot.failed"), []);
    const root = await world.admin("root");
    root.send("PRIVMSG auditbot :query bob 1");
    await root.expect(/ NOTICE root :\S+Z message\.699 /);
  });
});

Deno.test("auditbot sums up floods of every kind, and keeps its record", async () => {
  const settings = new ReadSettings();
  await withOwnBots(({ eventLog }) => [settings.watch(auditbot(eventLog))], async (world) => {
    const limits = ["join", "part", "quit", "nick", "kick"].map((
      kind,
    ) => [`throttle_${kind}_max`, 2]);
    await world.enable("auditbot", { throttle_window_sec: 60, ...Object.fromEntries(limits) });
    const root = await world.admin("root");
    const { server, clock } = world.services;
    await world.services.bridge?.join("#busy", BY_OPERATOR);
    server.channels.setStatus("#general", "root", {
      add: true,
      status: "operator",
      by: "ChanServ",
      actor: { nick: "ChanServ", account: null, address: "internal" },
    });
    for (let turn = 0; turn < 5; turn++) {
      const user = await world.guest(`user${turn}`);
      user.send(`NICK other${turn}`, "PART #general", "JOIN #general");
      await user.sync();
      root.send(`KICK #general other${turn}`);
      await root.sync();
      user.send("JOIN #general", "QUIT");
      await user.expect(/ ERROR |^ERROR /);
    }
    await world.bots.idle();
    clock.advance(60_000);
    const throttled = await world.events("audit.throttled") as {
      activity: string;
      count: number;
    }[];
    const counts = Object.fromEntries(throttled.map(({ activity, count }) => [activity, count]));
    assert.deepEqual(counts, { join: 14, part: 3, quit: 3, nick: 3, kick: 3 });
    await world.policies({ auditbot: { enabled: false } });
    await world.enable("auditbot");
    root.send("PRIVMSG auditbot :query * 25");
    await root.expect(/ NOTICE root :\S+Z channel\.join \* \* 14 more in 60 s$/);
    settings.assertAll("auditbot");
  });
});

Deno.test("systembot answers its commands", () =>
  withBots(async (world) => {
    await world.enable("systembot");
    const ann = await world.person("ann");
    const bob = await world.person("bob");
    ann.send("PRIVMSG #general :!systembot status");
    await ann.expect(/PRIVMSG #general :ok: up .*, 0 agents, 1 channel$/);
    ann.send("PRIVMSG #general :systembot: who");
    await ann.expect(/PRIVMSG #general :#general has 4: ann bob bridge systembot$/);
    bob.send("PART #general");
    ann.send("PRIVMSG #general :!systembot recent #general 1");
    await ann.expect(/ NOTICE ann :\S+Z #general: bob left$/);
    ann.send("PRIVMSG #general :!systembot who #secret");
    await ann.expect(/There is no channel #secret, or you may not read it$/);
  }));

import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { HistoryKind, type Message } from "../../../../../services/engines/irc/mod.ts";
import { archivePart } from "../../../../../services/chat/irc_server/history/archive_part.ts";
import { SharedThread } from "../../../../../services/kernel/threads/mod.ts";
import { TestLog } from "../../../../support/services.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import { withFolder } from "../../../../support/temporary.ts";
import type { TestClient } from "../../../engines/irc/support/client.ts";
import { essence, readBatch, texts } from "../../../engines/irc/support/history.ts";
import { startServer, TestAccounts } from "../../../engines/irc/support/server.ts";
import { CAPABILITIES, openArchive, openFile, say } from "./archives.ts";

const EVENTS = `${CAPABILITIES} draft/event-playback extended-join draft/message-redaction`;

const LONG = "timestamp=2099-01-01T00:00:00.000Z";

const AGO = "timestamp=1999-01-01T00:00:00.000Z";

function idOf(messages: readonly Message[]): string {
  return messages.find(({ tags }) => tags.has("msgid"))?.tags.get("msgid") ?? assert.fail();
}

async function read(client: TestClient, request: string): Promise<string[]> {
  await client.sync();
  const messages = await readBatch(client, request);
  return messages.map(({ command, params, tags }) =>
    [tags.get("time"), command, ...params.filter((_, at) => command !== "REDACT" || at !== 1)]
      .join(" ")
  );
}

Deno.test("older messages are read from disk as they would be from memory", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder);
    let now = 2_000_000_000_000;
    const clock = () => now;
    const historyStore = archive.value;
    await using small = startServer({ clock, historyStore, limits: { historyMessages: 7 } });
    await using large = startServer({ clock });
    const readers: [TestClient, TestClient][] = [];
    for (const capabilities of [CAPABILITIES, EVENTS]) {
      const nick = `reader${readers.length}`;
      readers.push([
        await small.client(nick, capabilities),
        await large.client(nick, capabilities),
      ]);
    }
    const both = readers[1] ?? assert.fail();
    const ids: [string, string][] = [];
    for (const pair of readers.toReversed()) {
      for (const client of pair) await say(client, "JOIN #c");
    }
    for (let index = 0; index < 40; index++) {
      if (index % 3 !== 0) now++;
      const line = index % 5 === 4 ? `TOPIC #c :t${index}` : `PRIVMSG #c :m${index}`;
      const [one, other] = [await say(both[0], line), await say(both[1], line)];
      ids.push([idOf(one), idOf(other)]);
      if (index % 9 !== 8) continue;
      for (const [at, client] of both.entries()) {
        await say(client, `REDACT #c ${ids[index - 2]?.[at]}`);
      }
    }
    const reference = fc.oneof(
      fc.nat({ max: 39 }).map((index) => (at: number) => `msgid=${ids[index]?.[at]}`),
      fc.nat({ max: 30 }).map((step) => () => {
        return `timestamp=${new Date(2_000_000_000_000 + step).toISOString()}`;
      }),
    );
    const limit = fc.integer({ min: 1, max: 50 });
    const request = fc.oneof(
      fc.tuple(fc.constantFrom("LATEST", "BEFORE", "AFTER", "AROUND"), reference, limit)
        .map(([name, first, most]) => (at: number) => `${name} #c ${first(at)} ${most}`),
      limit.map((most) => () => `LATEST #c * ${most}`),
      fc.tuple(reference, reference, limit)
        .map(([first, second, most]) => (at: number) =>
          `BETWEEN #c ${first(at)} ${second(at)} ${most}`
        ),
    );
    await fc.assert(
      fc.asyncProperty(request, fc.constantFrom(...readers), async (ask, [one, other]) => {
        assert.deepEqual(await read(one, ask(0)), await read(other, ask(1)), ask(1));
      }),
      { numRuns: 300 },
    );
  }));

Deno.test("lines, ids and times survive a restart; guests' private messages do not", () =>
  withFolder(async (folder) => {
    const accounts = new TestAccounts({ alice: "secret", bob: "secret" });
    let said: Message[];
    {
      await using archive = await openArchive(folder);
      await using server = startServer({ accounts, historyStore: archive.value });
      const alice = await server.member("alice", "secret", EVENTS);
      const bob = await server.member("bob", "secret", CAPABILITIES);
      const guest = await server.client("guest", CAPABILITIES);
      await say(alice, "JOIN #c");
      alice.send("@+reply=x PRIVMSG #c :one", "PRIVMSG bob :two", "PRIVMSG guest :three");
      await alice.sync();
      alice.send("PRIVMSG #c ::four  spaces");
      await alice.sync();
      said = await readBatch(alice, "LATEST #c * 10");
      await say(alice, "PART #c");
      await Promise.all([bob.sync(), guest.sync()]);
      assert.deepEqual(texts(await readBatch(guest, "LATEST alice * 9")), ["three"]);
    }
    assert.equal(Deno.statSync(join(folder, "history.db")).mode ?? 0, 0o100600);

    await using archive = await openArchive(folder);
    const last = Date.parse(said.at(-1)?.tags.get("time") ?? "");
    const clock = () => last - 3_600_000;
    await using server = startServer({ accounts, clock, historyStore: archive.value });
    const bob = await server.member("bob", "secret", EVENTS);
    const guest = await server.client("guest", CAPABILITIES);
    await say(bob, "JOIN #c");
    const again = await readBatch(bob, "LATEST #c * 10");
    assert.deepEqual(again.slice(0, said.length).map(essence), said.map(essence));
    assert.deepEqual(again.slice(said.length).map(({ command }) => command), ["PART", "JOIN"]);
    assert.deepEqual(again.map(({ tags }) => tags.get("+reply") ?? tags.get("account")), [
      ...["alice", "x", "alice", "alice", "bob"],
    ]);
    for (const { tags } of again.slice(said.length)) {
      assert.ok(Date.parse(tags.get("time") ?? "") >= last, "no time goes back");
    }
    assert.deepEqual(texts(await readBatch(bob, "LATEST ALICE * 9")), ["two"]);
    assert.deepEqual(texts(await readBatch(guest, "LATEST alice * 9")), []);
    assert.deepEqual(
      (await readBatch(bob, `TARGETS ${AGO} ${LONG} 9`, "draft/chathistory-targets"))
        .map(({ params }) => params[1]).sort(),
      ["#c", "alice"],
    );
  }));

Deno.test("history forgets deleted accounts, redacted messages and closed channels", () =>
  withFolder(async (folder) => {
    const accounts = new TestAccounts({ alice: "secret", bob: "secret" });
    {
      await using archive = await openArchive(folder);
      await using server = startServer({ accounts, historyStore: archive.value });
      const alice = await server.member("alice", "secret", EVENTS);
      const bob = await server.member("bob", "secret", CAPABILITIES);
      await say(alice, "JOIN #c");
      await say(alice, "PRIVMSG #c :open");
      await say(alice, "MODE #c +k word");
      await say(alice, "PRIVMSG #c :closed");
      await say(alice, "MODE #c -k word");
      await say(alice, "PRIVMSG #c :taken back");
      const [back] = await readBatch(alice, "LATEST #c * 1");
      await say(alice, "PRIVMSG bob :to bob");
      const [message] = await readBatch(alice, "LATEST bob * 1");
      await say(alice, `REDACT bob ${message?.tags.get("msgid")}`);
      await say(alice, "PRIVMSG bob :to bob too");
      await bob.sync();
      // Memory has forgotten it, the disk has not.
      server.server.reconfigure({ limits: { strangerRate: null, historyMessages: 1 } });
      await say(alice, "PRIVMSG #c :later");
      await say(alice, `REDACT #c ${back?.tags.get("msgid")}`);
      assert.deepEqual(texts(await readBatch(bob, "LATEST alice * 9")).at(0), "to bob too");
      server.server.disconnectAccount("alice", "Account deleted");
      server.server.forgetAccount("alice");
      await alice.untilClosed();
    }
    await using archive = await openArchive(folder);
    await using server = startServer({ accounts, historyStore: archive.value });
    const alice = await server.member("alice", "secret", CAPABILITIES);
    const bob = await server.member("bob", "secret", CAPABILITIES);
    await say(bob, "JOIN #c");
    assert.deepEqual(texts(await readBatch(bob, "LATEST #c * 9")), ["open", "later"]);
    assert.deepEqual(texts(await readBatch(bob, "LATEST alice * 9")), ["to bob too"]);
    assert.deepEqual(texts(await readBatch(alice, "LATEST bob * 9")), []);
    await archive.value.forgetStrangers(() => null);
    server.server.reconfigure({ limits: { strangerRate: null, historyMessages: 0 } });
    await say(bob, "PART #c");
    const again = await server.member("bob", "secret", CAPABILITIES);
    assert.deepEqual(texts(await readBatch(again, "LATEST alice * 9")), []);
    const bytes = await Deno.readFile(join(folder, "history.db"));
    assert.ok(!new TextDecoder().decode(bytes).includes("taken back"));
  }));

Deno.test("a kept channel keeps its history while it is closed", () =>
  withFolder(async (folder) => {
    const created = { name: "#c", createdAt: 1, topic: null, userLimit: null };
    const kept = { ...created, flags: "i", key: "word", lists: {} };
    const channels = {
      find: () => kept,
      changed: () => Promise.resolve("stored" as const),
      emptied: () => true,
      renamed: () => Promise.resolve("stored" as const),
    };
    const accounts = new TestAccounts({ alice: "secret" });
    accounts.setStatus("alice", "operator");
    for (let round = 0; round < 2; round++) {
      await using archive = await openArchive(folder);
      await using server = startServer({ accounts, channels, historyStore: archive.value });
      const bridge = await server.internal("bridge", { privileged: true }, CAPABILITIES);
      await say(bridge, "JOIN #c word");
      await say(bridge, `PRIVMSG #c :secret ${round}`);
      const texts0 = texts(await readBatch(bridge, "LATEST #c * 9"));
      assert.deepEqual(texts0, ["secret 0", "secret 1"].slice(0, round + 1));
    }
  }));

Deno.test("while the file cannot be written, chat goes on until no more can wait; then it is refused", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    const log = new TestLog();
    await using archive = await openArchive(folder, { scheduler, log });
    const historyStore = archive.value;
    await using server = startServer({ historyStore, limits: { historyMessages: 3 } });
    const alice = await server.client("alice", CAPABILITIES);
    await say(alice, "JOIN #c");
    await say(alice, "PRIVMSG #c :before");
    assert.deepEqual(texts(await readBatch(alice, "LATEST #c * 9")), ["before"]);

    const other = openFile(folder);
    other.value.exec("BEGIN IMMEDIATE");
    await say(alice, "PRIVMSG #c :meanwhile");
    for (let index = 0; index < 5; index++) await say(alice, `PRIVMSG #c :x${index}`);
    assert.deepEqual(texts(await readBatch(alice, "LATEST #c * 9")), ["before"]);
    assert.deepEqual(texts(await readBatch(alice, "LATEST #c * 2")), ["x3", "x4"]);
    assert.ok(log.lines.some((line) => line.startsWith("error The history cannot be written")));
    assert.match(historyStore.problem ?? "", /refuses the file/);
    const long = "y".repeat(7000);
    alice.send(...Array.from({ length: 1200 }, () => `PRIVMSG #c :${long}`));
    const answers = await alice.syncMessages();
    const echoes = answers.filter(({ command }) => command === "PRIVMSG").length;
    const refused = answers.filter(({ command, params }) =>
      command === "FAIL" && params[1] === "TEMPORARILY_UNAVAILABLE" && params[2] === "#c"
    ).length;
    assert.ok(refused > 0 && echoes + refused === 1200, `${echoes} said, ${refused} refused`);
    assert.equal(historyStore.stats().lost, 0);
    other[Symbol.dispose]();

    await historyStore.recheck();
    await historyStore.flush();
    assert.equal(historyStore.problem, null);
    await say(alice, "PRIVMSG #c :after");
    scheduler.advance(60_000);
    const first = texts(await readBatch(alice, `AFTER #c ${AGO} 3`));
    assert.deepEqual(first, ["before", "meanwhile", "x0"]);
    assert.equal(texts(await readBatch(alice, "LATEST #c * 1")).at(0), "after");
    assert.equal(historyStore.stats().waiting, 0);
    using kept = openFile(folder);
    const long7 = kept.value.prepare(
      "SELECT count(*) AS n FROM entries WHERE length(content) > 7000",
    );
    assert.equal(Number(long7.get()?.["n"]), echoes, "what was echoed is there");
  }));

Deno.test("what the disk has not confirmed at the end stays in the journal for the next start", () =>
  withFolder(async (folder) => {
    const thread = new SharedThread({
      history: (answer) =>
        archivePart((message) => {
          if (message === null) answer({ id: 0, kind: "unsynced" });
          answer(message);
        }),
    });
    const journals = () => [...Deno.readDirSync(folder)].filter(({ name }) => /journal/.test(name));
    const { value: archive } = await openArchive(folder, { thread });
    const said = { time: 1, id: "one", kind: HistoryKind.MESSAGE, content: "one" } as const;
    const target = { account: null, name: "#c" };
    assert.ok(archive.accept([{ ...said, target, title: "#c", confined: false }]));
    await archive.close();
    assert.notEqual(journals().length, 0);
    {
      await using again = await openArchive(folder);
      const places = await again.value.select(target, {
        part: { kind: "latest", since: null },
        limit: 10,
        upTo: HistoryKind.MESSAGE,
      });
      assert.equal(places.length, 1);
    }
    assert.deepEqual(journals(), []);
  }));

import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DatabaseError } from "../../../../services/database/mod.ts";
import { HistoryArchive, type Retention } from "../../../../services/irc_server/history/mod.ts";
import {
  HistoryKind,
  type HistoryQuery,
  type HistoryTarget,
  type Message,
  type NewHistoryRecord,
} from "../../../../services/irc/mod.ts";
import { systemScheduler } from "../../../../services/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";
import type { TestClient } from "../../irc/support/client.ts";
import { essence, readBatch, texts } from "../../irc/support/history.ts";
import { startServer, TestAccounts } from "../../irc/support/server.ts";

const CAPABILITIES = "batch draft/chathistory echo-message message-tags server-time account-tag";
const EVENTS = `${CAPABILITIES} draft/event-playback extended-join draft/message-redaction`;
const EVERYTHING: Retention = { age: null, records: null, bytes: null };
const LONG = "timestamp=2099-01-01T00:00:00.000Z";
const AGO = "timestamp=1999-01-01T00:00:00.000Z";

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
      changed: () => Promise.resolve(),
      emptied: () => true,
      renamed() {},
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

Deno.test("a failing disk does not disturb chat, and lost records are counted", () =>
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
    const long = "y".repeat(7000);
    alice.send(...Array.from({ length: 1200 }, () => `PRIVMSG #c :${long}`));
    await alice.sync();
    const { lost, waiting } = historyStore.stats();
    assert.ok(lost > 0 && lost + waiting >= 1200 && waiting < 1200, `${lost} lost`);
    other[Symbol.dispose]();

    await say(alice, "PRIVMSG #c :after");
    scheduler.advance(60_000);
    const first = texts(await readBatch(alice, `AFTER #c ${AGO} 3`));
    assert.deepEqual(first, ["before", "meanwhile", "x0"]);
    assert.equal(texts(await readBatch(alice, "LATEST #c * 1")).at(0), "after");
    assert.equal(historyStore.stats().waiting, 0);
    assert.ok(log.lines.some((line) => line.includes(`recordsLost: ${lost}`)), "the gap is told");
    using kept = openFile(folder);
    const long7 = kept.value.prepare(
      "SELECT count(*) AS n FROM entries WHERE length(content) > 7000",
    );
    assert.equal(Number(long7.get()?.["n"]), 1200 - lost);
  }));

Deno.test("messages are in the file after five seconds, in one transaction", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    await using archive = await openArchive(folder, { scheduler });
    using file = openFile(folder);
    const count = file.value.prepare("SELECT count(*) AS n FROM entries");
    for (let time = 1; time <= 3; time++) {
      archive.value.append(record(time));
      await settled();
      scheduler.advance(1500);
      assert.equal(count.get()?.["n"], 0);
    }
    scheduler.advance(500);
    await until(() => count.get()?.["n"] === 3);
    await until(() => archive.value.stats().waiting === 0);
    archive.value.append(record(4));
    assert.deepEqual((await archive.value.fetch([3, 4])).map(({ id }) => id), ["id-3", "id-4"]);
  }));

Deno.test("a full batch, and a deletion with what came before, are written within 20 ms", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    await using archive = await openArchive(folder, { scheduler });
    using file = openFile(folder);
    const count = file.value.prepare("SELECT count(*) AS n FROM entries WHERE content <> ''");
    for (let time = 1; time <= 500; time++) archive.value.append(record(time));
    await settled();
    scheduler.advance(20);
    await until(() => count.get()?.["n"] === 500);
    await until(() => archive.value.stats().waiting === 0);
    archive.value.append(record(501));
    await settled();
    scheduler.advance(20);
    await settled();
    assert.equal(count.get()?.["n"], 500);
    archive.value.redact("id-7");
    await settled();
    scheduler.advance(20);
    await until(() => archive.value.stats().waiting === 0);
    assert.equal(count.get()?.["n"], 500);
    for (const { size } of journalsIn(folder)) assert.equal(size, 0);
  }));

Deno.test("a refusal of the disk is reported and retried without a request", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    const log = new TestLog();
    await using archive = await openArchive(folder, { scheduler, log });
    using file = openFile(folder);
    const count = file.value.prepare("SELECT count(*) AS n FROM entries");
    file.value.exec("BEGIN IMMEDIATE");
    archive.value.append(record(1));
    await settled();
    scheduler.advance(1000);
    await until(() => {
      scheduler.advance(1000);
      return log.lines.some((line) => line.startsWith("error The history cannot be written"));
    });
    archive.value.append(record(2));
    assert.equal(archive.value.stats().waiting, 2);
    file.value.exec("ROLLBACK");
    await until(() => {
      scheduler.advance(1000);
      return count.get()?.["n"] === 2;
    });
    await until(() => archive.value.stats().waiting === 0);
  }));

Deno.test("retention removes by age, by number and by size", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    await using archive = await openArchive(folder, {
      scheduler,
      retention: { age: 24 * 3_600_000, records: 50, bytes: 1_048_576 },
    });
    const historyStore = archive.value;
    const clock = () => scheduler.now();
    await using server = startServer({ clock, historyStore, limits: { historyMessages: 1 } });
    const alice = await server.client("alice", CAPABILITIES);
    const count = async (channel: string) =>
      (await readBatch(alice, `LATEST ${channel} * 1000`)).length;
    await say(alice, "JOIN #old,#many,#big");
    await say(alice, "PRIVMSG #old :x");
    await say(alice, "PRIVMSG #old :y");
    scheduler.advance(23 * 3_600_000);
    assert.equal(await count("#old"), 2);
    for (let index = 0; index < 70; index++) alice.send(`PRIVMSG #many :${index}`);
    await alice.sync();
    for (let hour = 0; hour < 2; hour++) {
      scheduler.advance(3_600_000);
      await trimmed(historyStore);
    }
    assert.equal(await count("#old"), 0);
    assert.equal(await count("#many"), 50);
    alice.send(...Array.from({ length: 400 }, () => `PRIVMSG #big :${"z".repeat(7000)}`));
    await alice.sync();
    await count("#big");
    await trimmed(historyStore);
    await say(alice, "PRIVMSG #big :last");
    await count("#big");
    assert.ok(historyStore.stats().bytes <= 1_048_576, `${historyStore.stats().bytes} bytes`);
  }));

Deno.test("a log never exceeds its limit by more than a tenth, however fast it grows", () =>
  withFolder(async (folder) => {
    const limit = 1000;
    const scheduler = new TestScheduler();
    await using archive = await openArchive(folder, {
      scheduler,
      retention: { age: null, records: limit, bytes: null },
    });
    const historyStore = archive.value;
    using file = openFile(folder);
    const count = file.value.prepare(
      "SELECT count(*) AS n, max(records) AS known FROM entries, targets WHERE name = '#many'",
    );
    let sequence = 0;
    for (let round = 0; round < 20; round++) {
      for (let index = 0; index < 700; index++) {
        historyStore.append(record(++sequence));
      }
      await historyStore.flush();
      const row = count.get() ?? {};
      assert.equal(row["n"], row["known"]);
      assert.ok(Number(row["n"]) <= limit * 1.1, `${row["n"]} in round ${round}`);
    }
    const newest = await historyStore.fetch([sequence, sequence - limit + 1]);
    assert.deepEqual(newest.map(({ id }) => id), [`id-${sequence}`, `id-${sequence - limit + 1}`]);
  }));

Deno.test("a question waits for the changes of its own log, and for deletions", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder, { scheduler: new TestScheduler() });
    const historyStore = archive.value;
    using file = openFile(folder);
    const count = file.value.prepare("SELECT count(*) AS n FROM entries");
    const written = () => Number(count.get()?.["n"]);
    const [quiet, many] = [targetOf("#quiet"), targetOf("#many")];
    const newest: HistoryQuery = {
      part: { kind: "latest", since: null },
      limit: 6000,
      upTo: HistoryKind.MESSAGE,
    };
    historyStore.append(record(1, "#quiet"));
    for (let time = 2; time < 3000; time++) historyStore.append(record(time));

    const places = await historyStore.select(quiet, newest);
    assert.deepEqual(places, [1]);
    assert.deepEqual((await historyStore.fetch(places)).map(({ id }) => id), ["id-1"]);
    assert.equal(written(), 500, "the batch with the first change");
    assert.deepEqual(await historyStore.select(targetOf("#none"), newest), []);
    assert.equal(written(), 500, "no other change is of this log");

    historyStore.append(record(3000, "#quiet"));
    historyStore.redact("id-1");
    for (let time = 3001; time < 6000; time++) historyStore.append(record(time));
    assert.deepEqual(await historyStore.fetch([1]), []);
    assert.ok(written() < 4000, `${written()}`);
    assert.equal((await historyStore.select(many, newest)).length, 5997);
    assert.equal(written(), 5999);
  }));

Deno.test("a file that is no archive, or a newer program's, stops the start", () =>
  withFolder(async (folder) => {
    const path = join(folder, "history.db");
    await Deno.writeTextFile(path, "not a database at all, however long this text is");
    await assert.rejects(openArchive(folder), isDatabaseError(/is no database/));
    await Deno.remove(path);
    const newer = new DatabaseSync(path);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    await assert.rejects(openArchive(folder), isDatabaseError(/newer muster/));
  }));

/** Closes an archive at the end of a block. */
interface OpenArchive extends AsyncDisposable {
  readonly value: HistoryArchive;
}

async function openArchive(
  folder: string,
  options: Partial<Parameters<typeof HistoryArchive.open>[0]> = {},
): Promise<OpenArchive> {
  const value = await HistoryArchive.open({
    path: join(folder, "history.db"),
    retention: EVERYTHING,
    scheduler: systemScheduler,
    log: new TestLog(),
    ...options,
  });
  return { value, [Symbol.asyncDispose]: () => value.close() };
}

function openFile(folder: string): Disposable & { readonly value: DatabaseSync } {
  const value = new DatabaseSync(join(folder, "history.db"));
  return { value, [Symbol.dispose]: () => value.close() };
}

/** Lets the task end in which changes were made. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function journalsIn(folder: string): Deno.FileInfo[] {
  return [1, 2].map((number) => Deno.statSync(join(folder, `history.journal${number}`)));
}

function targetOf(name: string): HistoryTarget {
  return { account: null, name };
}

/** A message of a channel. */
function record(time: number, name = "#many"): NewHistoryRecord {
  const said = { id: `id-${time}`, time, kind: 0, content: `text ${time}` } as const;
  return { ...said, target: targetOf(name), title: name, confined: false };
}

async function say(client: TestClient, line: string): Promise<Message[]> {
  client.send(line);
  return await client.syncMessages();
}

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

/** Waits until what retention began is done: a question waits its turn behind it. */
async function trimmed(archive: HistoryArchive): Promise<void> {
  for (let step = 0; step < 5; step++) await archive.fetch([]);
}

function isDatabaseError(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof DatabaseError && message.test(error.message);
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DatabaseError } from "../../../../../services/engines/database/mod.ts";
import { HistoryArchive } from "../../../../../services/chat/irc_server/history/mod.ts";
import {
  HistoryKind,
  type HistoryQuery,
  type HistoryTarget,
  type NewHistoryRecord,
} from "../../../../../services/engines/irc/mod.ts";
import { TestLog } from "../../../../support/services.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { until } from "../../../../support/until.ts";
import { readBatch } from "../../../engines/irc/support/history.ts";
import { startServer } from "../../../engines/irc/support/server.ts";
import { CAPABILITIES, openArchive, openFile, say } from "./archives.ts";

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

/** Waits until what retention began is done: a question waits its turn behind it. */
async function trimmed(archive: HistoryArchive): Promise<void> {
  for (let step = 0; step < 5; step++) await archive.fetch([]);
}

function isDatabaseError(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof DatabaseError && message.test(error.message);
}

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

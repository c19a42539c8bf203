/** What a kill of the process leaves, at any moment, and what the next run makes of it. */
import assert, { fail } from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HistoryArchive } from "../../../../../services/chat/irc_server/history/mod.ts";
import type { HistoryTarget } from "../../../../../services/engines/irc/mod.ts";
import { TestLog } from "../../../../support/services.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { groupOf } from "./support.ts";
import { THOROUGH } from "../../../../support/level.ts";

const FILES = ["history.db", "history.db-wal", "history.journal1", "history.journal2"];
const JOURNALS = /journal/;

type Step =
  | { readonly say: string; readonly confined: boolean; readonly account: string | null }
  | { readonly redact: number }
  | { readonly confine: string }
  | { readonly forgetConfined: string }
  | { readonly forgetAccount: string }
  | { readonly rename: readonly [string, string] }
  | { readonly pass: number }
  | { readonly read: true }
  /** Before or after the archive's transaction, or between it and the end of the journal. */
  | { readonly kill: "before" | "between" };

const channels = fc.constantFrom("#a", "#b");
const accounts = fc.constantFrom("ann", "bob");
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      say: channels,
      confined: fc.boolean(),
      account: fc.option(accounts, { nil: null }),
    }),
  },
  fc.record({ redact: fc.nat(30) }),
  fc.record({ confine: channels }),
  fc.record({ forgetConfined: channels }),
  fc.record({ forgetAccount: accounts }),
  fc.record({ rename: fc.tuple(channels, channels) }),
  fc.record({ pass: fc.constantFrom(1, 20, 400, 1000) }),
  fc.record({ read: fc.constant(true as const) }),
  { weight: 2, arbitrary: fc.record({ kill: fc.constantFrom("before" as const, "between") }) },
);

/** A running archive. */
interface Run {
  readonly folder: string;
  readonly archive: HistoryArchive;
  readonly scheduler: TestScheduler;
  readonly log: TestLog;
}

async function start(folder: string): Promise<Run> {
  const scheduler = new TestScheduler();
  const log = new TestLog();
  const archive = await HistoryArchive.open({
    path: join(folder, "history.db"),
    retention: { age: null, records: null, bytes: null },
    scheduler,
    log,
  });
  return { folder, archive, scheduler, log };
}

/** Says something, and ends the task. */
async function say(run: Run, id: string): Promise<void> {
  const said = { time: 5000, id, kind: 0, content: "text" } as const;
  run.archive.append({ ...said, target: targetOf("#a"), title: "#a", confined: false });
  await Promise.resolve();
  run.scheduler.advance(0);
}

function idsIn(folder: string): unknown[] {
  return logsIn(folder).map((row) => (row as { id: string }).id);
}

/** Copies the files that a kill leaves into a new folder. */
function copy(from: string, to: string, which = (_name: string) => true): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const name of FILES.filter(which)) {
    try {
      Deno.copyFileSync(join(from, name), join(to, name));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Kills the program, and starts it with what that leaves. */
async function killed(run: Run, to: string, moment: "before" | "between"): Promise<Run> {
  const { folder, archive } = run;
  if (moment === "between") {
    copy(folder, to, (name) => JOURNALS.test(name));
    await archive.flush();
    copy(folder, to, (name) => !JOURNALS.test(name));
  } else {
    copy(folder, to);
  }
  await archive.close();
  return await start(to);
}

function targetOf(name: string, account: string | null = null): HistoryTarget {
  return { account, name };
}

/** What every log has, oldest first. */
function logsIn(folder: string): unknown[] {
  using database = new DatabaseSync(join(folder, "history.db"), { readOnly: true });
  return database.prepare(
    `SELECT sequence, account, name, title, time, entries.id, kind, confined, content
     FROM entries JOIN targets ON targets.id = target ORDER BY sequence`,
  ).all();
}

/** Says things and changes the history, as one run without a kill would do it or as several. */
async function play(list: readonly Step[], folder: string, withKills: boolean): Promise<unknown[]> {
  let run = await start(join(folder, "0"));
  for (const [index, step] of list.entries()) {
    const { archive, scheduler } = run;
    if ("say" in step) {
      const said = { time: 1000 + index, id: `id-${index}`, kind: 0, content: `${index}` } as const;
      const target = targetOf(step.account === null ? step.say : "carol", step.account);
      archive.append({ ...said, target, title: target.name, confined: step.confined });
    } else if ("redact" in step) archive.redact(`id-${step.redact}`);
    else if ("confine" in step) archive.confine(targetOf(step.confine));
    else if ("forgetConfined" in step) archive.forgetConfined(targetOf(step.forgetConfined));
    else if ("forgetAccount" in step) archive.forgetAccount(step.forgetAccount);
    else if ("rename" in step) {
      const [from, to] = step.rename;
      archive.rename(targetOf(from), targetOf(to), to);
    }
    // The end of the task, and of the turn.
    await Promise.resolve();
    scheduler.advance(0);
    if (!withKills) continue;
    if ("pass" in step) scheduler.advance(step.pass);
    else if ("read" in step) await archive.flush();
    else if ("kill" in step) run = await killed(run, join(folder, `${index + 1}`), step.kill);
  }
  await run.archive.close();
  return logsIn(run.folder);
}

Deno.test(
  "a kill at any moment loses nothing, and does nothing twice",
  THOROUGH,
  () =>
    withFolder(async (folder) => {
      let number = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (list) => {
          const [killed, whole] = [
            join(folder, `${number}-killed`),
            join(folder, `${number}-whole`),
          ];
          number++;
          Deno.mkdirSync(join(killed, "0"), { recursive: true });
          Deno.mkdirSync(join(whole, "0"), { recursive: true });
          assert.deepEqual(await play(list, killed, true), await play(list, whole, false));
        }),
        { numRuns: 60 },
      );
    }),
);

Deno.test("after a kill, times go on from what only the journal has, and it is emptied", () =>
  withFolder(async (folder) => {
    const first = await start(folder);
    await say(first, "id");
    const second = await killed(first, join(folder, "later"), "before");
    assert.equal(second.archive.newestTime, 5000);
    assert.equal(second.archive.stats().waiting, 0);
    assert.deepEqual((await second.archive.fetch([1])).map(({ id }) => id), ["id"]);
    for (const number of [1, 2]) {
      const { size } = Deno.statSync(join(second.folder, `history.journal${number}`));
      assert.equal(size, 0);
    }
    await second.archive.close();
    assert.deepEqual(Array.from(Deno.readDirSync(second.folder), ({ name }) => name), [
      "history.db",
    ]);
  }));

Deno.test("what another copy of the archive had in its journal is not replayed, and stays", () =>
  withFolder(async (folder) => {
    const [one, other, mixed] = ["one", "other", "mixed"].map((name) => join(folder, name));
    Deno.mkdirSync(one ?? fail());
    const origin = await start(one ?? fail());
    await say(origin, "both");
    const copied = await killed(origin, other ?? fail(), "before");
    const first = await start(one ?? fail());
    await say(first, "one");
    await say(copied, "other");
    await first.archive.flush();
    await say(first, "one more");
    // The archive of one, with the journal of the other.
    copy(first.folder, mixed ?? fail(), (name) => !JOURNALS.test(name));
    copy(copied.folder, mixed ?? fail(), (name) => JOURNALS.test(name));
    for (const { archive } of [first, copied]) await archive.close();
    const run = await start(mixed ?? fail());
    await say(run, "new");
    await run.archive.close();
    assert.deepEqual(idsIn(run.folder), ["both", "one", "new"]);
    assert.equal(run.log.lines.length, 1);
    assert.match(run.log.lines[0] ?? "", /^warn A journal of another history .* kept aside/);
    const kept = [...Deno.readDirSync(run.folder)].map(({ name }) => name).filter((name) =>
      name.includes("foreign")
    );
    assert.equal(kept.length, 1);
    assert.match(Deno.readTextFileSync(join(run.folder, kept[0] ?? fail())), /other/);
  }));

Deno.test("an older copy of the archive takes what its own journal goes on with", () =>
  withFolder(async (folder) => {
    const whole = join(folder, "whole");
    Deno.mkdirSync(whole);
    const run = await start(whole);
    await say(run, "first");
    await run.archive.flush();
    // Litestream has this, and the disk has the journal.
    const restored = join(folder, "restored");
    copy(whole, restored, (name) => !JOURNALS.test(name));
    await say(run, "second");
    copy(whole, restored, (name) => JOURNALS.test(name));
    await run.archive.close();
    const next = await start(restored);
    await next.archive.close();
    assert.deepEqual(idsIn(restored), ["first", "second"]);
    assert.deepEqual(next.log.lines, []);
  }));

Deno.test("an upgrade takes the journal that a kill left of the version before", () =>
  withFolder(async (folder) => {
    const run = await start(folder);
    await say(run, "first");
    await run.archive.close();
    using database = new DatabaseSync(join(folder, "history.db"));
    database.exec("ALTER TABLE targets DROP COLUMN trimmed");
    database.exec("ALTER TABLE last_change DROP COLUMN journal; PRAGMA user_version = 4");
    database.close();
    const record = { time: 6000, id: "second", kind: 0, content: "text" } as const;
    const change = { target: targetOf("#a"), title: "#a", confined: false, ...record };
    const left = groupOf([{ kind: "append", sequence: 2, record: change }]);
    Deno.writeFileSync(join(folder, "history.journal2"), left);
    for (const _ of ["upgraded", "again"]) {
      const next = await start(folder);
      await next.archive.close();
      assert.deepEqual(idsIn(folder), ["first", "second"]);
      assert.deepEqual(next.log.lines, []);
    }
  }));

import assert from "node:assert/strict";
import fc from "fast-check";
import { openSqlite } from "../../../../services/engines/database/mod.ts";
import { Invalid } from "../../../../services/kernel/errors.ts";
import type { EventGap, EventLog } from "../../../../services/engines/events/mod.ts";
import { anEvent, KEY, types, withLog } from "./support.ts";
import { until, within } from "../../../support/until.ts";

/** Follows a log and asks for more as often as it is told to. */
class Reader {
  readonly seen: number[] = [];
  readonly gaps: EventGap[] = [];
  ended = false;
  readonly #eventLog: EventLog;
  readonly #following: ReturnType<EventLog["follow"]>;
  #seesMore = Promise.withResolvers<void>();

  constructor(eventLog: EventLog, query: { after?: number; types?: readonly string[] } = {}) {
    this.#eventLog = eventLog;
    this.#following = eventLog.follow(query, {
      message: ({ seq }) => {
        this.seen.push(seq);
        this.#seesMore.resolve();
        this.#seesMore = Promise.withResolvers<void>();
      },
      gap: (gap) => this.gaps.push(gap),
      end: () => this.ended = true,
    });
  }

  more(): void {
    this.#following.more();
  }

  /** Asks until it has seen the last event and nothing comes any more. */
  async drain(last: number): Promise<void> {
    while ((this.seen.at(-1) ?? 0) < last) {
      const { promise } = this.#seesMore;
      this.more();
      await within(promise, () => `Event ${last}`);
    }
    this.more();
    await this.#eventLog.read({});
  }

  close(): void {
    this.#following.close();
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

Deno.test("read() returns the newest events, or the first ones after a number", async () => {
  await withLog(async ({ eventLog, append }) => {
    const empty = { events: [], cursor: 0, more: false, oldest: 0 };
    assert.deepEqual(await eventLog.read({}), empty);
    assert.deepEqual(await eventLog.read({ after: 0 }), empty);
    await append(types(30));
    const table = [
      [{ limit: 3 }, range(28, 30), 30, false],
      [{ limit: 100 }, range(1, 30), 30, false],
      [{ after: 0, limit: 5 }, range(1, 5), 5, true],
      [{ after: 27, limit: 3 }, range(28, 30), 30, false],
      [{ after: 30 }, [], 30, false],
      [{ types: ["test.t7"] }, [8], 30, false],
      [{ types: ["test.*"], limit: 2 }, [29, 30], 30, false],
      [{ types: ["tes.*", "test.t"] }, [], 30, false],
      [{ after: 0, types: ["test.t2", "test.t9", "other.*"], limit: 1 }, [3], 3, true],
      [{ after: 3, types: ["test.t2", "test.t9", "other.*"], limit: 1 }, [10], 10, true],
      [{ after: 10, types: ["test.t2", "test.t9", "other.*"], limit: 1 }, [], 30, false],
    ] as const;
    for (const [query, seqs, cursor, more] of table) {
      const page = await eventLog.read(query);
      const label = JSON.stringify(query);
      assert.deepEqual(page.events.map(({ seq }) => seq), seqs, label);
      assert.deepEqual([page.cursor, page.more, page.oldest], [cursor, more, 1], label);
    }
    await assert.rejects(eventLog.read({ after: 31 }), Invalid);
    assert.throws(() => eventLog.follow({ after: 31 }, { message() {}, end() {} }), Invalid);
  });
});

Deno.test("read() returns an event with all of its fields", async () => {
  await withLog(async ({ eventLog, append }) => {
    await append(["test.one"]);
    const { events: [event] } = await eventLog.read({});
    assert.match(event?.hash ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual({ ...event, hash: "" }, {
      seq: 1,
      time: "2023-11-14T22:13:20.000Z",
      type: "test.one",
      actor: "agent:scout",
      actor_id: "01ABC",
      address: "192.0.2.1",
      cause: "r-1",
      data: { note: "über test.one" },
      hash: "",
    });
  });
});

Deno.test("followers see every event once and in order, at any pace and from any start", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("append" as const), count: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ kind: fc.constant("more" as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant("resume" as const), count: fc.constant(1) }),
      fc.record({ kind: fc.constant("wait" as const), count: fc.constant(1) }),
    ),
    { minLength: 5, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, (script) =>
      withLog(async ({ eventLog, append }) => {
        let written = 0;
        let writing: Promise<unknown> = Promise.resolve();
        const fromStart = new Reader(eventLog, { after: 0 });
        let resumed = new Reader(eventLog, { after: 0 });
        const before: number[] = [];
        for (const { kind, count } of script) {
          if (kind === "append") {
            written += count;
            writing = Promise.all([writing, append(types(count))]);
          } else if (kind === "more") {
            for (let asked = 0; asked < count; asked++) {
              fromStart.more();
              resumed.more();
            }
          } else if (kind === "resume") {
            resumed.close();
            before.push(...resumed.seen);
            resumed = new Reader(eventLog, { after: before.at(-1) ?? 0 });
          } else await writing;
        }
        await writing;
        await fromStart.drain(written);
        if (before.at(-1) !== written) await resumed.drain(written);
        assert.deepEqual(fromStart.seen, range(1, written));
        assert.deepEqual([...before, ...resumed.seen], range(1, written));
      })),
    { numRuns: 15 },
  );
});

Deno.test("a follower without a number sees only new events of its types", async () => {
  await withLog(async ({ eventLog, append, database }) => {
    await append(types(5));
    const all = new Reader(eventLog);
    const some = new Reader(eventLog, { types: ["wanted.*"] });
    all.more();
    some.more();
    assert.deepEqual(all.seen, []);
    await append(["other", "wanted.one", "other", "wanted.two"]);
    await all.drain(9);
    await some.drain(9);
    const { events } = await eventLog.read({ types: ["wanted.*"] });
    assert.deepEqual(all.seen, range(6, 9));
    assert.deepEqual(some.seen, events.map(({ seq }) => seq));
    await database.commit({});
    assert.deepEqual(all.seen, range(6, 9));
  });
});

Deno.test("a follower that starts during a commit gets each event after its number once", async () => {
  await withLog(async ({ eventLog, database }) => {
    for (let commits = 0; commits < 5; commits++) {
      const { sequence } = await database.commit({ events: types(3).map((type) => anEvent(type)) });
      const last = sequence.at(-1) ?? 0;
      const reader = new Reader(eventLog, { after: last - 1 });
      await reader.drain(last);
      assert.deepEqual(reader.seen, [last]);
    }
  });
});

Deno.test("a follower far behind reads a long log in small parts", async () => {
  await withLog(async ({ eventLog, database, scheduler, append }) => {
    const events = types(6000).map((type) => anEvent(type));
    await database.commit({ events });
    const reader = new Reader(eventLog, { after: 0, types: ["test.t5999"] });
    reader.more();
    assert.deepEqual(reader.seen, []);
    await until(() => {
      scheduler.advance(1);
      return reader.seen.length > 0;
    });
    assert.deepEqual(reader.seen, [6000]);
    reader.more();
    await append(["test.t5999"]);
    await eventLog.read({});
    assert.deepEqual(reader.seen, [6000, 6001]);
    assert.equal(scheduler.pending, 0);
  });
});

Deno.test("close() ends present and later followers", async () => {
  await withLog(async ({ eventLog, append }) => {
    const early = new Reader(eventLog, { after: 0 });
    await append(types(3));
    eventLog.close();
    const late = new Reader(eventLog, { after: 0 });
    assert.ok(early.ended && late.ended);
    await early.drain(0);
    assert.deepEqual(early.seen, []);
  });
});

Deno.test("a follower that retention has overtaken continues with the oldest event", async () => {
  await withLog(async ({ eventLog, append, database }) => {
    await append(types(20));
    await database.trimEvents({ keep: 5, before: -Infinity, limit: 100 });
    const reader = new Reader(eventLog, { after: 2 });
    await reader.drain(20);
    assert.deepEqual(reader.seen, range(16, 20));
    assert.deepEqual(reader.gaps, [{ from: "2", to: "16" }]);
    assert.equal((await eventLog.read({ after: 0 })).oldest, 16);
  });
});

Deno.test("a follower learns of what retention removes while it is behind", async () => {
  await withLog(async ({ eventLog, append, database }) => {
    await append(types(3));
    const slow = new Reader(eventLog, { after: 3 });
    await append(types(2));
    slow.more();
    await eventLog.read({});
    const events = Array.from({ length: 3000 }, () => anEvent("some.kind"));
    await database.commit({ events });
    await database.trimEvents({ keep: 5, before: -Infinity, limit: 10_000 });
    await slow.drain(3005);
    const jumps = slow.seen.flatMap((seq, index) => {
      const before = slow.seen[index - 1] ?? 3;
      return seq === before + 1 ? [] : [{ from: String(before), to: String(seq) }];
    });
    assert.deepEqual([slow.gaps, jumps.length], [jumps, 1]);
  });
});

Deno.test("events of a rare type are found without reading the rows between them", async () => {
  await withLog(async ({ eventLog, database }) => {
    const common = Array.from({ length: 5000 }, () => anEvent("common.kind"));
    const rare = anEvent("rare.kind");
    await database.commit({ events: [rare, ...common, rare, ...common] });
    // A look row by row would wait for its turn in between, which no scheduler gives here.
    for (const types of [["rare.kind"], ["rare.*"], ["rare.kind", "absent.*"]]) {
      const { events, cursor, more } = await eventLog.read({ after: 0, types });
      assert.deepEqual([events.map(({ seq }) => seq), cursor, more], [[1, 5002], 10_002, false]);
      const newest = await eventLog.read({ types });
      assert.deepEqual(newest.events.map(({ seq }) => seq), [1, 5002]);
    }
    assert.deepEqual((await eventLog.read({ types: ["absent.*"] })).events, []);
  });
});

Deno.test("long pages of some types equal the result of reading every row", async () => {
  await withLog(async ({ eventLog, database, scheduler }) => {
    const kinds = ["a.one", "a.two", "b.one", "c.one"];
    const events = Array.from({ length: 2500 }, (_, index) => anEvent(kinds[index % 7] ?? "d.one"));
    await database.commit({ events });
    const all = events.map(({ type }, index) => ({ type, seq: index + 1 }));
    const table = [
      [["a.*", "c.one"], (type: string) => type.startsWith("a.") || type === "c.one"],
      [["d.one"], (type: string) => type === "d.one"],
      [["*"], () => true],
    ] as const;
    for (const [types, isMeant] of table) {
      const seqs = all.filter(({ type }) => isMeant(type)).map(({ seq }) => seq);
      const read = async (query: { readonly after?: number }) => {
        const page = scheduler.passUntil(eventLog.read({ ...query, types, limit: 700 }));
        return (await page).events.map(({ seq }) => seq);
      };
      assert.deepEqual(await read({ after: 10 }), seqs.filter((seq) => seq > 10).slice(0, 700));
      assert.deepEqual(await read({}), seqs.slice(-700));
    }
  });
});

Deno.test("a reader goes on here after an event that only another node knows", async () => {
  await withLog(async ({ path, eventLog, append }) => {
    await append(types(2));
    const other = openSqlite(path, { journalKey: { key: KEY, isNew: false } });
    await other.commit({ events: types(3, "test.other").map((type) => anEvent(type)) });
    await other.close();
    assert.equal(eventLog.newest, 2);
    await eventLog.reach(5);
    const reader = new Reader(eventLog, { after: 5 });
    reader.more();
    const { events } = await eventLog.read({ after: 2 });
    assert.deepEqual(events.map(({ seq }) => seq), range(3, 5));
    assert.deepEqual([reader.seen, reader.ended], [[], false]);
    reader.close();
    await eventLog.reach(6);
    assert.throws(() => eventLog.follow({ after: 6 }, { message() {}, end() {} }), Invalid);
    await assert.rejects(eventLog.read({ after: 6 }), Invalid);
  });
});

/** Writes that share a transaction. */
import assert from "node:assert/strict";
import {
  encodeUtf8,
  type JoinedWrite,
  type PooledRepository,
  type WriteOutcome,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { DATE, withPool } from "./support/pools.ts";
import { Random } from "./support/random.ts";
import { difference, dumpTables } from "./support/tables.ts";

/** What of an outcome another run repeats. */
function told(outcome: WriteOutcome): unknown {
  return outcome.kind === "refused" ? [outcome.code, outcome.message] : outcome;
}

/** Makes writes of every kind, of which some are refused, early or late. */
class Writes {
  readonly #random: Random;
  readonly #start: { readonly ticket: string; readonly tip: string };
  #count = 0;

  constructor(seed: number, start: { readonly ticket: string; readonly tip: string }) {
    this.#random = new Random(seed);
    this.#start = start;
  }

  next(): JoinedWrite {
    const { ticket, tip } = this.#start;
    const count = ++this.#count;
    const user = this.#random.pick(["ann", "bob"]);
    const author = { user, date: DATE + count * 1000, mark: `write ${count}` };
    const text = `Text ${count}`;
    const title = this.#random.pick(["Home", "News"]);
    return this.#random.pick<() => JoinedWrite>([
      () => ({ operation: "changeWiki", input: { ...author, title, text } }),
      () => ({ operation: "changeWiki", input: { ...author, title, text, basedOn: null } }),
      () => ({
        operation: "changeTicket",
        input: { ...author, ticket, fields: [], comment: { text } },
      }),
      () => ({
        operation: "changeTicket",
        input: { ...author, ticket: "0".repeat(40), fields: [], comment: { text } },
      }),
      () => ({ operation: "post", input: { ...author, place: { title: text }, text } }),
      () => ({
        operation: "tagCheckin",
        input: { ...author, name: `v${this.#random.below(4)}`, checkin: tip, message: text },
      }),
      () => ({
        operation: "commit",
        input: {
          ...author,
          parent: tip,
          // Without a comment, it is refused once its files are there.
          comment: this.#random.pick(["A commit", "A commit", ""]),
          allowFork: true,
          changes: [{ kind: "write", path: "a.txt", content: encodeUtf8(text) }],
        },
      }),
    ])();
  }
}

async function begin(repository: PooledRepository) {
  const { uuid: tip } = await repository.resolveCheckin("trunk");
  const fields = [{ name: "title", value: "One", append: false }];
  const { ticket } = await repository.changeTicket({ user: "ann", date: DATE + 1, fields });
  return { ticket, tip };
}

Deno.test("writes together do what they would do one after the other", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    await withPool({}, async (pool, joined) => {
      const start = await begin(joined);
      await joined.close();
      const path = `${joined.path}.alone`;
      Deno.copyFileSync(joined.path, path);
      const alone = await pool.open(path);
      const random = new Random(seed);
      const writes = new Writes(seed, start);
      for (let round = 0; round < 12; round++) {
        const group = Array.from({ length: 1 + random.below(6) }, () => writes.next());
        const { place: after } = await joined.received({ after: null });
        const together = await joined.writeTogether({ writes: group, after });
        const each: WriteOutcome[] = [];
        for (const write of group) {
          const { outcomes } = await alone.writeTogether({ writes: [write], after });
          each.push(...outcomes);
        }
        assert.deepEqual(together.outcomes.map(told), each.map(told), `seed ${seed}`);
        const { artifacts } = await alone.received({ after });
        const tale = ({ uuid, mark }: typeof artifacts[number]) => `${uuid} ${mark}`;
        assert.deepEqual(together.received.artifacts.map(tale), artifacts.map(tale));
      }
      await Promise.all([joined.close(), alone.close()]);
      assert.deepEqual(difference(dumpTables(joined.path), dumpTables(path)), [], `seed ${seed}`);
    });
  }
});

Deno.test("a write is refused alone, whether it has changed something by then or not", async () => {
  await withPool({}, async (_, repository) => {
    const { tip } = await begin(repository);
    const author = (second: number) => ({
      user: "ann",
      date: DATE + 1000 * second,
      mark: `write ${second}`,
    });
    const wiki = (second: number, more = {}): JoinedWrite => ({
      operation: "changeWiki",
      input: { ...author(second), title: `Page ${second}`, text: "Hello", ...more },
    });
    const late: JoinedWrite = {
      operation: "commit",
      input: { ...author(5), parent: tip, comment: "", changes: [put("a.txt", "a\n")] },
    };
    const { place: after } = await repository.received({ after: null });
    const early = await repository.writeTogether({
      writes: [wiki(2), wiki(3, { basedOn: tip }), wiki(4)],
      after,
    });
    assert.deepEqual(early.outcomes.map(({ kind }) => kind), ["done", "refused", "done"]);
    const { outcomes, received } = await repository.writeTogether({
      writes: [wiki(6), late, wiki(7)],
      after: early.received.place,
    });
    assert.deepEqual(outcomes.map(({ kind }) => kind), ["done", "refused", "done"]);
    assert.deepEqual(received.artifacts.map(({ mark }) => mark), ["write 6", "write 7"]);
    const { file, damages } = await repository.verify();
    assert.deepEqual([file, damages], [[], []]);
  });
});

Deno.test("a write that would have to be undone undoes those that it shares a transaction with", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const before = dumpTables(fixture.path);
  refuses("invalid", () =>
    repository.together(() => {
      fixture.commit([put("a.txt", "a\n")]);
      refuses("invalid", () => fixture.commit([put("b.txt", "b\n")], { comment: "" }));
      fixture.commit([put("c.txt", "c\n")]);
    }));
  assert.deepEqual(dumpTables(fixture.path), before);
  fixture.commit([put("d.txt", "d\n")]);
  fixture.assertSound();
});

Deno.test("reads between the writes of a transaction leave nothing behind that is undone", async () => {
  await withPool({}, async (_, repository) => {
    const { tip } = await begin(repository);
    const title = [{ name: "title", value: "Two", append: false }];
    const stamp = { user: "ann", date: DATE + 2000 };
    const { outcomes } = await repository.writeTogether({
      writes: [
        { operation: "saveTicket", input: { ...stamp, fields: title } },
        {
          operation: "commit",
          input: { ...stamp, parent: tip, comment: "", changes: [put("a.txt", "a\n")] },
        },
      ],
      after: null,
    });
    const [saved] = outcomes;
    assert.equal(saved?.kind, "done");
    const { tickets } = await repository.tickets({});
    const { uuid } = saved?.kind === "done" ? saved.value as { uuid: string } : { uuid: "" };
    assert.deepEqual(tickets.map((ticket) => ticket.title).sort(), ["One", "Two"]);
    assert.equal((await repository.ticket(uuid)).title, "Two");
  });
});

Deno.test("changes of tickets that come together leave what depends on check-ins as it is", async () => {
  await withPool({}, async (_, repository) => {
    await begin(repository);
    const { history } = await repository.versions();
    const write = (second: number): JoinedWrite => ({
      operation: "saveTicket",
      input: {
        user: "ann",
        date: DATE + 1000 * second,
        fields: [{ name: "title", value: "Two", append: false }],
      },
    });
    await repository.writeTogether({ writes: [write(2), write(3)], after: null });
    assert.equal((await repository.versions()).history, history);
    const { uuid: parent } = await repository.resolveCheckin("trunk");
    const changes = [put("a.txt", "a\n")];
    const author = { user: "ann", date: DATE + 5000 };
    const commit: JoinedWrite = {
      operation: "commit",
      input: { ...author, parent, comment: "A commit", changes },
    };
    await repository.writeTogether({ writes: [write(4), commit, write(6)], after: null });
    assert.notEqual((await repository.versions()).history, history);
  });
});

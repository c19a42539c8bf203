import assert from "node:assert/strict";
import { createDelta, Repository } from "../../../../services/engines/fossil/mod.ts";
import { peer } from "../../../support/peers.ts";
import { Scratch } from "./support/fossil.ts";
import { judges } from "./support/judges.ts";
import { History } from "./support/history.ts";
import { Random } from "./support/random.ts";
import { assertRebuilds, difference, dumpTables } from "./support/tables.ts";

const ALICE = { user: "alice", ip: null };

/** A repository with a random history, closed again. */
function makeHistory(path: string, seed: number, options: { rivals: boolean }): void {
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  new History(repository, seed, options).run(120);
}

interface Received {
  readonly hash: string;
  readonly content: Uint8Array;
}

function contents(path: string): Received[] {
  using repository = Repository.open(path);
  const rows = repository.db.rows<{ rid: number; hash: string }>(
    "SELECT rid, uuid AS hash FROM blob ORDER BY rid",
  );
  return rows.map(({ rid, hash }) => ({ hash, content: repository.store.require(rid) }));
}

/** Puts artifacts into a new repository in random order, some in each transaction. */
function receiveShuffled(path: string, received: readonly Received[], random: Random): void {
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  const left = random.shuffle(received);
  while (left.length > 0) {
    repository.write(ALICE, () => {
      for (const { content, hash } of left.splice(0, 1 + random.below(20))) {
        repository.receive(content, { hash });
      }
    });
  }
}

/** Asserts that `fossil` finds each artifact whole, and knows what kind it is. */
function assertIntegrity(path: string): void {
  for (const program of judges()) {
    using judge = new Scratch(program);
    const found = judge.fossil(["test-integrity", "--parse", "-R", path]);
    assert.match(found, / 0 errors/, program);
  }
}

for (const seed of [1, 2, 3, 4]) {
  Deno.test(
    `every kind of write leaves the tables that fossil rebuild makes (history ${seed})`,
    peer("fossil"),
    () => {
      using scratch = new Scratch();
      const path = scratch.path("history.fossil");
      makeHistory(path, seed, { rivals: true });
      assertIntegrity(path);
      assertRebuilds(path);
    },
  );

  Deno.test(
    `artifacts in any order leave the tables that fossil rebuild makes (history ${seed})`,
    peer("fossil"),
    () => {
      using scratch = new Scratch();
      const [source, path] = [scratch.path("source.fossil"), scratch.path("shuffled.fossil")];
      makeHistory(source, seed, { rivals: false });
      receiveShuffled(path, contents(source), new Random(seed));
      assertRebuilds(path);
      assertIntegrity(path);
    },
  );
}

Deno.test("deltas whose source comes later give the same tables", () => {
  using scratch = new Scratch();
  const [source, path] = [scratch.path("source.fossil"), scratch.path("deltas.fossil")];
  makeHistory(source, 9, { rivals: false });
  const all = contents(source);
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  const [first, ...rest] = all.filter(({ content }) => content.length > 0);
  assert.ok(first);
  let previous = first;
  for (const artifact of rest) {
    const delta = createDelta(previous.content, artifact.content);
    const options = { hash: artifact.hash, deltaSource: previous.hash };
    repository.write(ALICE, () => repository.receive(delta, options));
    previous = artifact;
  }
  repository.write(ALICE, () => {
    for (const { content, hash } of all) repository.receive(content, { hash });
  });
  assert.equal(repository.db.value("SELECT count(*) FROM phantom"), 0);
  for (const { hash, content } of all) {
    assert.deepEqual(repository.store.require(repository.ridOf(hash)), content);
  }
  assert.deepEqual(difference(dumpTables(path), dumpTables(source)), []);
});

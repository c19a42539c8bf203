import assert from "node:assert/strict";
// @ts-types="../../../../services/engines/database/postgres/pg.d.ts"
import pg from "pg";
import { meanwhile, until } from "../../../support/until.ts";
import {
  anEvent,
  halting,
  type Node,
  resuming,
  testCluster,
  testNotes,
  type World,
} from "./cluster_support.ts";

/** Opens three nodes. */
async function three({ open }: World): Promise<[Node, Node, Node]> {
  return [await open("a"), await open("b"), await open("c")];
}

/** Lets time pass on all nodes until a promise settles. */
async function passing(nodes: readonly Node[], promise: Promise<unknown>): Promise<void> {
  await meanwhile(promise, () => {
    for (const { scheduler } of nodes) scheduler.advance(50);
    return Promise.all(nodes.map(({ database }) => database.peers?.catchUp()));
  });
}

/** Listens to what nodes notify each other of, while a test goes on. */
async function listening(
  { url, ask }: World,
  run: () => Promise<void>,
): Promise<(string | undefined)[]> {
  const [{ channel } = { channel: "" }] = await ask(
    "SELECT 'muster_' || md5(current_schema()) AS channel",
  );
  const client = new pg.Client({ connectionString: url });
  const notified: (string | undefined)[] = [];
  client.on("notification", ({ payload }) => notified.push(payload));
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    await run();
    await client.query("SELECT 1");
    return notified;
  } finally {
    await client.end();
  }
}

testNotes("nodes that notes reach need no notification of PostgreSQL", async (world) => {
  const nodes = await three(world);
  // What a look has found is notified.
  for (const { database } of nodes) await database.peers?.catchUp();
  const notified = await listening(world, async () => {
    for (const node of nodes) {
      await node.database.commit({
        statements: [halting(node, node.name)],
        events: [anEvent("x")],
      });
      for (const { reasons } of nodes) assert.equal(reasons.get(node.name), node.name);
    }
  });
  assert.deepEqual(notified, []);
  const kinds = world.notes.told.map((note) => note.split(" ").slice(0, 3).join(" "));
  for (const pair of ["a b", "a c", "b a", "b c", "c a", "c b"]) {
    assert.ok(kinds.includes(`${pair} committed`));
    assert.ok(kinds.includes(`${pair} saw`));
  }
});

testNotes("a node that notes do not reach is notified with all others", async (world) => {
  const nodes = await three(world);
  world.notes.ways.set("c", "cut");
  for (const node of nodes) {
    await node.database.commit({ statements: [halting(node, node.name)] });
    for (const { reasons } of nodes) assert.equal(reasons.get(node.name), node.name);
  }
});

testNotes("a commit waits for nodes whose notes get lost, until they look", async (world) => {
  const nodes = await three(world);
  const [a, b, c] = nodes;
  for (const name of ["a", "c"]) {
    world.notes.ways.set(name, "lost");
    await passing(nodes, a.database.commit({ statements: [halting(a, name)] }));
    for (const { reasons } of nodes) assert.equal(reasons.get(name), "a");
    world.notes.ways.clear();
  }
  await b.database.commit({ statements: [halting(b, "after")] });
  for (const { reasons } of [a, c]) assert.equal(reasons.get("after"), "b");
});

testNotes("a note that comes after those of later transactions changes nothing", async (world) => {
  const nodes = await three(world);
  const [a, b, c] = nodes;
  world.notes.ways.set("c", "held");
  const halted = a.database.commit({ statements: [halting(a, "kind")] });
  // The other node can only remove what it has loaded.
  const loaded = until(() => b.reasons.has("kind"));
  await meanwhile(loaded, () => b.database.peers?.catchUp());
  await passing(nodes, halted);
  const resumed = b.database.commit({ statements: [resuming(b, "kind")] });
  await passing(nodes, resumed);
  assert.equal(c.reasons.has("kind"), false);
  world.notes.release();
  await c.database.peers?.catchUp();
  assert.equal(c.reasons.has("kind"), false);
  await a.database.commit({ statements: [halting(a, "kind")] });
  assert.equal(c.reasons.get("kind"), "a");
});

testCluster(
  "a node whose lease has ended hears of what is committed all the same",
  async (world) => {
    const [a, b] = [await world.open("a"), await world.open("b")];
    for (const { database } of [a, b]) await database.peers?.catchUp();
    await world.ask("UPDATE leases SET expires_at = 0 WHERE node = 'b'");
    await a.database.commit({ events: [anEvent("x")] });
    // No time passes in which it would look itself.
    await until(() => b.appended.length > 0);
  },
);

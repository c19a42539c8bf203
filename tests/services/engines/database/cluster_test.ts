import assert from "node:assert/strict";
import { sql } from "kysely";
import {
  type AppendedEvent,
  DatabaseError,
  Duplicate,
  openPostgres,
  statement,
  Unchanged,
  verifyPostgresLog,
} from "../../../../services/engines/database/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { asked, meanwhile, until } from "../../../support/until.ts";
import {
  anEvent,
  halting,
  KEY,
  type Node,
  openDatabase,
  resuming,
  testCluster,
} from "./cluster_support.ts";

/** Adds a project without a node. */
const PROJECT = `
  INSERT INTO projects (id, slug, name, description, visibility, settings, created_at)
  VALUES ('p', 'p', 'p', '', 'public', '{}', 1)`;

/** Adds a row to a table that other nodes load later. */
async function addLease({ database }: Node, ticket: string): Promise<void> {
  const row = { project_id: "p", ticket, generation: 1, strikes: 0 };
  await database.commit({
    statements: [statement(database.tables.insertInto("ticket_leases").values(row))],
  });
}

testCluster(
  "what a node commits is in memory on every node once it is acknowledged",
  async (world) => {
    const nodes = [await world.open("a"), await world.open("b"), await world.open("c")] as const;
    for (let turn = 0; turn < 30; turn++) {
      const node = nodes[turn % 3] ?? nodes[0];
      const subject = `kind-${turn}`;
      await node.database.commit({ statements: [halting(node, subject)] });
      for (const { name, reasons } of nodes) {
        assert.equal(reasons.get(subject), node.name, `${subject} on ${name}`);
      }
      await node.database.commit({ statements: [resuming(node, subject)] });
      for (const { reasons } of nodes) assert.equal(reasons.has(subject), false);
    }
  },
);

testCluster("nodes that start at once with an older key begin a whole log", async (world) => {
  await world.ask("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await using closing = new AsyncDisposableStack();
  const nodes = await Promise.all(["a", "b", "c"].map(async (name) => {
    const database = await openDatabase(world.url, name);
    closing.defer(() => database.close());
    return { name, database };
  }));
  await Promise.all(
    nodes.map(({ name, database }) => database.commit({ events: [anEvent(name)] })),
  );
  const events = await world.ask("SELECT type FROM events ORDER BY type");
  assert.deepEqual(events.map(({ type }) => type), ["a", "b", "c"]);
  const report = await verifyPostgresLog({ url: world.url, password: null }, KEY);
  assert.deepEqual(report.findings, []);
});

testCluster(
  "a node goes on to follow the others after a listener of it has failed",
  async (world) => {
    const [a, b] = [await world.open("a"), await world.open("b")] as const;
    const failures: unknown[] = [];
    const survive = (event: ErrorEvent) => {
      event.preventDefault();
      failures.push(event.error);
    };
    globalThis.addEventListener("error", survive);
    const stopFailing = b.database.onPeersLooked(() => {
      throw new Error("planted");
    });
    await b.database.peers?.catchUp();
    await until(() => failures.length > 0);
    globalThis.removeEventListener("error", survive);
    stopFailing();
    await a.database.commit({ statements: [halting(a, "kind")] });
    assert.equal(b.reasons.get("kind"), "a");
  },
);

testCluster("nodes that write at the same time agree, and one of them wins", async (world) => {
  const nodes = [await world.open("a"), await world.open("b"), await world.open("c")];
  const outcomes = await Promise.all(
    nodes.flatMap((node) =>
      Array.from({ length: 40 }, async (_, index) => {
        try {
          const { sequence } = await node.database.commit({
            statements: [halting(node, `kind-${index}`)],
            events: [anEvent(`${node.name}.${index}`)],
          });
          return { index, winner: node.name, sequence };
        } catch (error) {
          if (!(error instanceof Duplicate)) throw error;
          return null;
        }
      })
    ),
  );
  const won = outcomes.filter((outcome) => outcome !== null);
  assert.equal(won.length, 40);
  for (const { name, reasons } of nodes) {
    for (const { index, winner } of won) {
      assert.equal(reasons.get(`kind-${index}`), winner, `kind-${index} on ${name}`);
    }
  }
  const numbers = won.flatMap(({ sequence }) => sequence).sort((one, other) => one - other);
  assert.deepEqual(numbers, Array.from({ length: 40 }, (_, index) => index + numbers[0]!));
  const settings = { url: world.url, password: null };
  assert.deepEqual((await verifyPostgresLog(settings, KEY)).findings, []);
});

testCluster("a row that another node has removed cannot be changed", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  await a.database.commit({ statements: [halting(a, "kind")] });
  await b.database.commit({ statements: [resuming(b, "kind")] });
  await assert.rejects(a.database.commit({ statements: [resuming(a, "kind")] }), Unchanged);
});

testCluster("a node hears of the events of others, after it knows what changed", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  const heard = Promise.withResolvers<string | null | undefined>();
  b.database.onAppended(() => heard.resolve(b.reasons.get("kind")));
  await a.database.commit({ statements: [halting(a, "kind")], events: [anEvent("x")] });
  assert.equal(await heard.promise, "a");
});

testCluster("nodes are told the events themselves, unless they are long", async (world) => {
  const nodes = [await world.open("a"), await world.open("b")] as const;
  const told = nodes.map(({ database }) => {
    const parts: (readonly AppendedEvent[] | null)[] = [];
    database.onAppended((_, events) => parts.push(events));
    return parts;
  });
  const [{ database }] = nodes;
  await database.commit({ events: [anEvent("x"), { ...anEvent("y"), data: { text: "\0ü" } }] });
  await database.commit({ events: [{ ...anEvent("z"), data: { text: "z".repeat(7000) } }] });
  await until(() => told.every((parts) => parts.length > 1));
  const stored = await database.tables.selectFrom("events")
    .select(["seq", "time", "type", "actor", "actor_id", "address", "cause", "data", "hash"])
    .where("type", "in", ["x", "y"]).orderBy("seq").execute();
  assert.deepEqual(told[1], [stored, null]);
  assert.deepEqual(told[0]?.[0], stored);
});

testCluster("a node that has just joined hears of what the others have seen", async (world) => {
  await world.open("a");
  for (let turn = 0; turn < 5; turn++) {
    const database = await openDatabase(world.url, "b");
    const setting = { key: `turn-${turn}`, value: "" };
    // No time passes that would make a node look again.
    await database.commit({
      statements: [statement(database.tables.insertInto("settings").values(setting))],
    });
    await database.close();
  }
});

testCluster("what changes while a directory loads for the first time is in it", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  const [hasRead, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const keys = new Set<string>();
  const kept = b.database.keepCurrent({
    tables: ["settings"],
    load: async () => {
      const rows = await b.database.tables.selectFrom("settings").select("key").execute();
      hasRead.resolve();
      await mayGoOn.promise;
      for (const { key } of rows) keys.add(key);
    },
  });
  await hasRead.promise;
  const committed = a.database.commit({
    statements: [
      statement(a.database.tables.insertInto("settings").values({ key: "new", value: "" })),
    ],
  });
  await asked(
    () => world.ask("SELECT key FROM settings WHERE key = 'new'"),
    (rows) => rows.length > 0,
  );
  // By then, the other node has been told.
  for (let turn = 0; turn < 50; turn++) await sql`SELECT 1`.execute(b.database.tables);
  mayGoOn.resolve();
  await Promise.all([kept, committed]);
  assert.equal(keys.has("new"), true);
});

testCluster(
  "a node knows when all have seen what there is, also what another one wrote",
  async (world) => {
    const nodes = [await world.open("a"), await world.open("b"), await world.open("c")];
    for (const node of nodes) {
      await node.database.commit({ statements: [halting(node, node.name)] });
      // No time passes that would make a node say more than it must.
      for (const { database } of nodes) await database.peers?.confirm();
    }
    await world.ask(PROJECT);
    await addLease(nodes[0] as Node, "t");
    for (const { database } of nodes) await database.peers?.confirm();
  },
);

testCluster("nobody waits until claims are known everywhere, but a reader can", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  const tickets = new Set<string>();
  const loaded: (() => void)[] = [];
  await b.database.keepCurrent({
    tables: ["ticket_leases"],
    load: async () => {
      const rows = await b.database.tables.selectFrom("ticket_leases").select("ticket").execute();
      for (const { ticket } of rows) tickets.add(ticket);
      for (const tell of loaded.splice(0)) tell();
    },
  });
  await world.ask(PROJECT);
  await addLease(a, "one");
  await b.database.peers?.catchUp();
  assert.deepEqual([...tickets], ["one"]);
  // What all nodes must know at once takes along what came before.
  await addLease(a, "two");
  await a.database.commit({ statements: [halting(a, "kind")] });
  assert.deepEqual([...tickets], ["one", "two"]);
  const isLoaded = new Promise<void>((resolve) => loaded.push(resolve));
  await addLease(a, "three");
  await a.database.commit({ events: [anEvent("x")] });
  await until(() => b.appended.length > 0);
  b.scheduler.advance(100);
  await isLoaded;
  assert.deepEqual([...tickets], ["one", "two", "three"]);
});

testCluster("a node that has gone is not waited for, and comes back", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  await b.database.close();
  await a.database.commit({ statements: [halting(a, "one")] });
  const again = await world.open("b");
  assert.deepEqual([...again.reasons.keys()], ["one"]);
  await a.database.commit({ statements: [halting(a, "two")] });
  assert.deepEqual([...again.reasons.keys()], ["one", "two"]);
});

testCluster("a node that hangs refuses to serve before others go on without it", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  const stuck = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await b.database.keepCurrent({
    tables: ["halts"],
    load: async () => {
      if (b.reasons.size > 0) reached.resolve();
      if (b.reasons.size > 0) await stuck.promise;
    },
  });
  let isDone = false;
  const committed = a.database.commit({ statements: [halting(a, "kind")] })
    .then(() => isDone = true);
  await reached.promise;
  assert.equal(b.database.isCurrent, true);
  b.scheduler.advance(5_000);
  assert.equal(b.database.isCurrent, false);
  assert.equal(isDone, false);
  await world.ask("UPDATE leases SET expires_at = 0 WHERE node = 'b'");
  a.scheduler.advance(1_000);
  await committed;
  stuck.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  b.database.onAppended(() => resolve());
  await a.database.commit({ events: [anEvent("x")] });
  await promise;
  assert.equal(b.database.isCurrent, true);
});

testCluster("a lost connection costs a node nothing that others acknowledge", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  for (let turn = 0; turn < 5; turn++) {
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'muster follower _'
    `.execute(a.database.tables);
    const committed = a.database.commit({ statements: [halting(a, `kind-${turn}`)] });
    // What fails because of a lost connection is tried again after a second of the node's time.
    await meanwhile(committed, () => {
      for (const { scheduler } of [a, b]) scheduler.advance(5);
      return sql`SELECT 1`.execute(a.database.tables);
    });
    assert.deepEqual([...b.reasons.keys()].sort(), [...a.reasons.keys()].sort());
  }
});

testCluster("a node learns of its own lines, also if it looks before it is told", async (world) => {
  const [a] = [await world.open("a"), await world.open("b")];
  const known = new Set<number>();
  a.database.onTold(async (told) => {
    const rows = told === null
      ? await a.database.tables.selectFrom("channel_lines").select("seq").execute()
      : told.rows;
    for (const { seq } of rows) known.add(seq);
  });
  const line = { channel: "#room", nick: "ann", text: "Hello", heard_as: 0 };
  for (let turn = 1; turn <= 50; turn++) {
    const row = { ...line, microseconds: turn, mark: `${turn}`, id: `${turn}` };
    const insertion = a.database.tables.insertInto("channel_lines").values(row);
    const committed = a.database.commit({ statements: [statement(insertion)] });
    await meanwhile(committed, () => a.database.peers?.catchUp());
    await a.database.peers?.catchUp();
    assert.equal(known.size, turn);
  }
});

testCluster("names are in use once, and a single server is alone", async ({ url, open }) => {
  await open("a");
  const refused = (message: RegExp) => (error: unknown) =>
    error instanceof DatabaseError && message.test(error.message);
  await assert.rejects(open("a", 200), refused(/is in use by another node "a"$/));
  const single = () => openPostgres({ url, password: null, patience: 50 });
  await assert.rejects(single, refused(/is in use by another muster$/));
});

testCluster("a node of a newer version does not start beside older ones", async (world) => {
  const { database } = await world.open("a");
  await world.ask("UPDATE schema_version SET version = version - 1");
  await assert.rejects(
    world.open("b"),
    (error) =>
      error instanceof DatabaseError &&
      error.message ===
        "The database is in use by nodes of an older version: stop all of them first",
  );
  assert.ok(database.isCurrent);
  await database.commit({ events: [anEvent("goes on")] });
});

testCluster("a node of an older version does not start, and stops serving", async (world) => {
  const node = await world.open("a");
  await node.database.commit({ events: [anEvent("begins")] });
  await world.ask("UPDATE schema_version SET version = version + 1");
  const isNewer = (error: unknown) =>
    error instanceof DatabaseError && /has version \d+ and comes from a newer/.test(error.message);
  await assert.rejects(world.open("b"), isNewer);
  assert.ok(node.database.isCurrent);

  // The newer one could start because the connections of the older one were lost.
  await world.ask(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity " +
      "WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  await until(() => !node.database.isCurrent);
  await assert.rejects(node.database.commit({ statements: [halting(node, "late")] }), Unavailable);
  assert.match(node.database.trouble ?? "", /comes from a newer muster/);
});

testCluster("a node waits for a single server to end", async ({ url, open }) => {
  const single = await openPostgres({ url, password: null });
  await assert.rejects(
    open("a", 200),
    (error) =>
      error instanceof DatabaseError && /a muster that has no node.name$/.test(error.message),
  );
  await single.close();
  await open("a");
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type Database,
  DatabaseError,
  Duplicate,
  eventHash,
  migrate,
  type NewEvent,
  openPostgres,
  openSqlite,
  SCHEMA_VERSION,
  statement,
  Unchanged,
} from "../../../../services/engines/database/mod.ts";
import { MIGRATIONS } from "../../../../services/engines/database/migrations.ts";
import { peer } from "../../../support/peers.ts";
import { postgresOf } from "../../../support/postgres.ts";
import { withFolder, writeFile } from "../../../support/temporary.ts";

/** Opens the database of a folder. */
type Open = (folder: string) => Promise<Database>;

/** A test on a database of each kind. */
function testBoth(
  name: string,
  run: (database: Database, reopen: Open, folder: string) => Promise<void>,
): void {
  const withDatabase = (open: Open) => () =>
    withFolder(async (folder) => {
      const database = await open(folder);
      try {
        await run(database, open, folder);
      } finally {
        await database.close();
      }
    });
  Deno.test(name, withDatabase((folder) => Promise.resolve(openSqlite(join(folder, "muster.db")))));
  Deno.test(
    `PostgreSQL: ${name}`,
    peer("postgres server"),
    withDatabase(async (folder) =>
      await openPostgres({ url: await postgresOf(folder), password: null })
    ),
  );
}

function anEvent(type: string): NewEvent {
  const data = { note: type };
  return { time: 1, type, actor: "system", actorId: null, address: null, cause: null, data };
}

function setSetting(database: Database, key: string, value: string) {
  return statement(database.tables.insertInto("settings").values({ key, value }));
}

function settings(database: Database) {
  return database.tables.selectFrom("settings").select(["key", "value"]).orderBy("key").execute();
}

testBoth("commit() writes all statements and events, and readers see them", async (database) => {
  const committed = await database.commit({
    statements: [setSetting(database, "a", "1"), setSetting(database, "b", "2")],
    events: [anEvent("x"), anEvent("y")],
  });
  assert.deepEqual(committed, { changes: [1, 1], sequence: [1, 2] });
  assert.equal((await settings(database)).length, 2);
});

testBoth("commit() undoes everything when a unique value is taken", async (database) => {
  await database.commit({ statements: [setSetting(database, "a", "1")] });
  const again = [setSetting(database, "b", "2"), setSetting(database, "a", "3")];
  await assert.rejects(database.commit({ statements: again, events: [anEvent("x")] }), Duplicate);
  assert.deepEqual((await settings(database)).map(({ key }) => key), ["a"]);
  const events = await database.tables.selectFrom("events").selectAll().execute();
  assert.deepEqual(events, []);
});

testBoth(
  "commit() undoes everything when a statement changes no row but must",
  async (database) => {
    const update = database.tables.updateTable("settings").set({ value: "2" }).where(
      "key",
      "=",
      "x",
    );
    const change = {
      statements: [setSetting(database, "a", "1"), statement(update, { mustChange: true })],
    };
    await assert.rejects(
      database.commit(change),
      (error) => error instanceof Unchanged && error.statement === 1,
    );
    assert.deepEqual(await settings(database), []);
  },
);

testBoth(
  "commit() keeps the order of concurrent transactions and chains their events",
  async (database) => {
    const types = Array.from({ length: 50 }, (_, index) => `event.${index}`);
    await Promise.all(types.map((type) => database.commit({ events: [anEvent(type)] })));
    const rows = await database.tables.selectFrom("events").selectAll().orderBy("seq").execute();
    assert.deepEqual(rows.map(({ type }) => type), types);
    let previous = "0".repeat(64);
    for (const row of rows) {
      const data = JSON.stringify(anEvent(row.type).data);
      assert.equal(row.hash, eventHash(previous, { ...anEvent(row.type), seq: row.seq, data }));
      previous = row.hash;
    }
  },
);

testBoth(
  "transactions that wait together are written or undone each by itself",
  async (database) => {
    const update = database.tables.updateTable("settings").set({ value: "2" })
      .where("key", "=", "nobody");
    const nonsense = { sql: "INSERT INTO nowhere VALUES (1)", parameters: [], mustChange: false };
    // The first goes to the writer alone; the others wait for it.
    const outcomes = await Promise.allSettled([
      database.commit({ statements: [setSetting(database, "a", "1")], events: [anEvent("a")] }),
      database.commit({ statements: [setSetting(database, "b", "1")], events: [anEvent("b")] }),
      database.commit({
        statements: [setSetting(database, "c", "1"), setSetting(database, "b", "2")],
        events: [anEvent("lost")],
      }),
      database.commit({
        statements: [setSetting(database, "d", "1"), statement(update, { mustChange: true })],
        events: [anEvent("lost too")],
      }),
      database.commit({ statements: [setSetting(database, "e", "1")], events: [anEvent("e")] }),
      database.commit({ statements: [setSetting(database, "f", "1"), nonsense] }),
      database.commit({ statements: [setSetting(database, "g", "1")], events: [anEvent("g")] }),
    ]);
    assert.deepEqual(
      outcomes.map((one) => one.status === "fulfilled" ? one.value.sequence : one.reason.name),
      [[1], [2], "Duplicate", "Unchanged", [3], "Error", [4]],
    );
    assert.deepEqual((await settings(database)).map(({ key }) => key), ["a", "b", "e", "g"]);
    const events = await database.tables.selectFrom("events").select("type").orderBy("seq")
      .execute();
    assert.deepEqual(events.map(({ type }) => type), ["a", "b", "e", "g"]);
  },
);

testBoth(
  "a statement that the database refuses rejects and leaves the writer usable",
  async (database) => {
    const nonsense = { sql: "INSERT INTO nowhere VALUES (1)", parameters: [], mustChange: false };
    await assert.rejects(
      database.commit({ statements: [nonsense] }),
      /Cannot write to the database/,
    );
    await database.commit({ statements: [setSetting(database, "a", "1")] });
    assert.equal(database.trouble, null);
  },
);

testBoth(
  "a change that nobody waits for is written with the next transaction, or by a flush",
  async (database) => {
    const typesOf = async () => {
      const rows = await database.tables.selectFrom("events").select("type").orderBy("seq")
        .execute();
      return rows.map(({ type }) => type);
    };
    const first = database.commitLater({ events: [anEvent("first")] });
    const second = database.commitLater({ events: [anEvent("second")] });
    assert.deepEqual(await typesOf(), []);
    await database.commit({ events: [anEvent("third")] });
    assert.deepEqual([(await first).sequence, (await second).sequence], [[1], [2]]);
    const last = database.commitLater({ events: [anEvent("last")] });
    assert.deepEqual(await typesOf(), ["first", "second", "third"]);
    database.flush();
    assert.deepEqual((await last).sequence, [4]);
    assert.deepEqual(await typesOf(), ["first", "second", "third", "last"]);
  },
);

testBoth("the reading connection refuses to write", async (database) => {
  const insert = database.tables.insertInto("settings").values({ key: "a", value: "1" });
  await assert.rejects(insert.execute(), TypeError);
});

testBoth("close() finishes pending writes", async (database, reopen, folder) => {
  const write = database.commit({ statements: [setSetting(database, "a", "1")] });
  await database.close();
  await write;
  const again = await reopen(folder);
  assert.equal((await settings(again)).length, 1);
  await again.close();
});

testBoth("close() writes what waits for the next transaction", async (database, reopen, folder) => {
  const write = database.commitLater({ statements: [setSetting(database, "a", "1")] });
  await database.close();
  await write;
  const again = await reopen(folder);
  assert.equal((await settings(again)).length, 1);
  await again.close();
});

/** A history of the schema that a database may have had. */
const EARLIER = MIGRATIONS.slice(0, 20);

function inFile<Result>(path: string, read: (database: DatabaseSync) => Result): Result {
  using database = new DatabaseSync(path);
  return read(database);
}

const versionIn = (path: string) =>
  inFile(path, (database) => database.prepare("PRAGMA user_version").get()?.["user_version"]);

Deno.test("migrate() copies an old database aside before it changes it", async () => {
  await withFolder((folder) => {
    const path = join(folder, "muster.db");
    migrate(path, EARLIER);
    inFile(path, (database) => database.exec("INSERT INTO settings VALUES ('kept', '1')"));
    migrate(path);
    const aside = `${path}.v20`;
    assert.deepEqual([path, aside].map(versionIn), [SCHEMA_VERSION, 20]);
    for (const file of [path, aside]) {
      const rows = inFile(file, (database) => database.prepare("SELECT key FROM settings").all());
      assert.deepEqual(rows.map(({ key }) => key), ["kept"]);
    }
  });
});

Deno.test("migrate() leaves the database unchanged when a step fails", async () => {
  await withFolder((folder) => {
    const path = join(folder, "muster.db");
    migrate(path, EARLIER);
    const steps = ["CREATE TABLE b (x INTEGER)", "CREATE TABLE c (x INTEGER); NONSENSE"];
    assert.throws(() => migrate(path, [...EARLIER, ...steps]));
    assert.equal(versionIn(path), 20);
    migrate(path, [...EARLIER, "CREATE TABLE b (x INTEGER)"]);
  });
});

Deno.test("migrate() refuses an unknown version, changes nothing, and refuses files that are no database", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "muster.db");
    migrate(path);
    for (const version of [1, 14, 999]) {
      inFile(path, (database) => database.exec(`PRAGMA user_version = ${version}`));
      assert.throws(() => migrate(path), {
        name: "DatabaseError",
        message: new RegExp(`has version ${version} and comes from .*; .* 15 to \\d+: `),
      });
      assert.equal(versionIn(path), version);
    }
    const text = await writeFile(
      folder,
      "text.db",
      "This is a text of more than a few bytes. ".repeat(50),
    );
    assert.throws(() => migrate(text), DatabaseError);
  });
});

testBoth("statements update directories in the order of commits", async (database) => {
  const seen: string[] = [];
  const noting = (key: string) => ({
    ...setSetting(database, key, "1"),
    committed: (changes: number) => seen.push(`${key} ${changes}`),
  });
  const writes = [
    database.commit({ statements: [noting("a"), noting("b")] }).then(() => seen.push("told")),
    database.commit({ statements: [noting("c"), noting("a")] }).catch(() => seen.push("undone")),
    database.commit({ statements: [noting("d")] }),
  ];
  await Promise.all(writes);
  assert.deepEqual(seen.filter((entry) => /\d/.test(entry)), ["a 1", "b 1", "d 1"]);
  assert.ok(seen.indexOf("b 1") < seen.indexOf("told"));
});

Deno.test("directories are loaded again after the writer broke", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "muster.db");
    const database = openSqlite(path);
    const { promise: loadedAgain, resolve } = Promise.withResolvers<void>();
    let loads = 0;
    await database.keepCurrent({
      tables: [],
      load: async () => {
        await settings(database);
        if (++loads === 2) resolve();
      },
    });
    await Deno.rename(path, join(folder, "aside.db"));
    await Deno.mkdir(path);
    await assert.rejects(database.commit({ statements: [setSetting(database, "a", "1")] }), {
      name: "Unavailable",
    });
    await loadedAgain;
    await Deno.remove(path);
    await Deno.rename(join(folder, "aside.db"), path);
    await database.probe();
    assert.equal(database.trouble, null);
    await database.close();
  });
});

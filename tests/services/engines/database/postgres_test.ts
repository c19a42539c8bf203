import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
// @ts-types="../../../../services/engines/database/postgres/pg.d.ts"
import pg from "pg";
import {
  type Database,
  DatabaseError,
  type NewEvent,
  openPostgres,
  openSqlite,
  type Statement,
  statement,
  verifyPostgresLog,
} from "../../../../services/engines/database/mod.ts";
import { peer } from "../../../support/peers.ts";
import { postgresOf, query } from "../../../support/postgres.ts";
import { Cuttable } from "../../../support/cuttable.ts";
import { withFolder } from "../../../support/temporary.ts";
import { asked } from "../../../support/until.ts";

const KEY = "0123456789abcdef".repeat(4);

/** A database of PostgreSQL, and somebody who works behind the program's back. */
interface World {
  readonly folder: string;
  readonly url: string;
  readonly database: Database;
  ask(sql: string, ...parameters: unknown[]): Promise<Record<string, unknown>[]>;
}

function testPostgres(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () =>
    withFolder(async (folder) => {
      const url = await postgresOf(folder);
      const database = await openPostgres({
        url,
        password: null,
        journalKey: { key: KEY, isNew: true },
      });
      const ask = async (sql: string, ...parameters: unknown[]) =>
        (await query(url, sql, parameters)).rows;
      try {
        await run({ folder, url, database, ask });
      } finally {
        await database.close();
      }
    }));
}

function anEvent(type: string, data: NewEvent["data"] = {}): NewEvent {
  return { time: 1, type, actor: "system", actorId: null, address: null, cause: null, data };
}

function setting(database: Database, key: string, value: string) {
  const insert = database.tables.insertInto("settings").values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }));
  return statement(insert);
}

async function settings(database: Database): Promise<string[]> {
  const rows = await database.tables.selectFrom("settings").select(["key", "value"])
    .orderBy("key").execute();
  return rows.map(({ key, value }) => `${key}=${value}`);
}

/** Ends the connection that writes, as a restart of PostgreSQL does. */
async function endWriter({ ask }: World): Promise<void> {
  await ask(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
}

testPostgres("both stores have the same tables, columns, keys and indexes", async (world) => {
  const path = join(world.folder, "muster.db");
  await openSqlite(path).close();
  assert.deepEqual(await postgresSchema(world), sqliteSchema(path));
});

testPostgres(
  "texts are ordered by their bytes, and numbers come as numbers",
  async ({ database }) => {
    const { tables } = database;
    await database.commit({
      statements: ["b", "ä", "B", "a", "Z", "_"].map((key) => setting(database, key, "1")),
      events: [anEvent("a"), anEvent("b")],
    });
    const rows = await tables.selectFrom("settings").select("key").orderBy("key").execute();
    assert.deepEqual(rows.map(({ key }) => key), ["B", "Z", "_", "a", "b", "ä"]);
    const counted = await tables.selectFrom("events")
      .select(({ fn, eb }) => [
        fn.countAll<number>().as("count"),
        fn.sum<number>("time").as("sum"),
        fn.max("seq").as("last"),
        eb(fn.max("seq"), ">", 1).as("many"),
      ]).executeTakeFirstOrThrow();
    assert.deepEqual({ ...counted }, { count: 2, sum: 2, last: 2, many: 1 });
    assert.deepEqual(
      await tables.selectFrom("settings").select("key").where("key", "in", []).execute(),
      [],
    );
  },
);

testPostgres(
  "a text with a NUL is stored with a replacement, and its event verifies",
  async (world) => {
    const { database, url } = world;
    await database.commit({
      statements: [setting(database, "a", "x\0y")],
      events: [
        { ...anEvent("odd", { text: "\0 and \ud83d" }), cause: "r\0", actor: "half \ud83d" },
      ],
    });
    assert.deepEqual(await settings(database), ["a=x\ufffdy"]);
    assert.deepEqual((await verifyPostgresLog({ url, password: null }, KEY)).findings, []);
  },
);

testPostgres("a database from before the first release is refused", async (world) => {
  await world.database.close();
  await world.ask("UPDATE schema_version SET version = 14");
  await assert.rejects(openPostgres({ url: world.url, password: null }), {
    name: "DatabaseError",
    message: /has version 14 and comes from before the first release;/,
  });
  assert.deepEqual(await world.ask("SELECT version FROM schema_version"), [{ version: "14" }]);
});

testPostgres("a second program is refused, and may follow the first", async ({ database, url }) => {
  const second = () => openPostgres({ url, password: null, patience: 50 });
  await assert.rejects(
    second,
    (error) => error instanceof DatabaseError && /is in use by another muster$/.test(error.message),
  );
  await database.close();
  await (await second()).close();
});

testPostgres(
  "what was acknowledged survives a lost connection, and directories load again",
  async (world) => {
    const { database } = world;
    let loads = 0;
    const loaded = Promise.withResolvers<void>();
    await database.keepCurrent({
      tables: [],
      load: async () => {
        await settings(database);
        if (++loads === 2) loaded.resolve();
      },
    });
    await database.commit({ statements: [setting(database, "a", "1")], events: [anEvent("a")] });
    await endWriter(world);
    await loaded.promise;
    await database.probe();
    assert.equal(database.trouble, null);
    const { sequence } = await database.commit({
      statements: [setting(database, "b", "1")],
      events: [anEvent("b")],
    });
    assert.deepEqual(sequence, [2]);
    const kept = (await settings(database)).filter((one) => !one.startsWith("storage_probe"));
    assert.deepEqual(kept, ["a=1", "b=1"]);
  },
);

testPostgres(
  "transactions under way when the connection breaks are whole or not there",
  async (world) => {
    const { database, url, ask } = world;
    await database.commit({ events: [anEvent("first")] });
    const commits = Array.from({ length: 200 }, (_, index) =>
      database.commit({
        statements: [setting(database, `k${index}`, "1")],
        events: [anEvent(`event.${index}`)],
      }));
    const settled = Promise.allSettled(commits);
    await commits[20];
    await endWriter(world);
    const outcomes = await settled;
    const acknowledged = outcomes.flatMap(({ status }, index) =>
      status === "fulfilled" ? [index] : []
    );
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") assert.equal(outcome.reason.name, "Unavailable");
    }
    await database.probe();
    const stored =
      (await ask("SELECT substr(key, 2)::int AS index FROM settings WHERE key LIKE 'k%'"))
        .map(({ index }) => Number(index)).sort((one, other) => one - other);
    assert.deepEqual(acknowledged.filter((index) => !stored.includes(index)), []);
    const events = (await ask("SELECT substr(type, 7)::int AS index FROM events WHERE seq > 1"))
      .map(({ index }) => Number(index)).sort((one, other) => one - other);
    assert.deepEqual(events, stored);
    assert.deepEqual((await verifyPostgresLog({ url, password: null }, KEY)).findings, []);
  },
);

Deno.test(
  "a read whose connection breaks is asked again, and costs no write",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      await using route = new Cuttable(await postgresOf(folder));
      const database = await openPostgres({ url: route.url, password: null });
      const slow = sql<{ done: number }>`SELECT 1 AS done FROM pg_sleep(2)`
        .execute(database.tables);
      const running = async () => {
        const { rows } = await query(
          await postgresOf(folder),
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
             AND query LIKE '%FROM pg_sleep(2)'`,
        );
        return rows.length;
      };
      await asked(running, (count) => count > 0);
      route.cut();
      route.mend();
      const write = () => database.commit({ statements: [setting(database, "a", "1")] });
      await asked(() => write().then(() => true, () => false), (isWritten) => isWritten);
      assert.deepEqual(await settings(database), ["a=1"]);
      assert.deepEqual((await slow).rows.map(({ done }) => Number(done)), [1]);
      await database.close();
    }),
);

testPostgres("verification finds changed, missing and misplaced events", async (world) => {
  const { database, url, ask } = world;
  const project = { project_id: "01P" };
  await database.commit({
    events: [anEvent("a"), anEvent("b"), anEvent("project.made", project), anEvent("c")],
  });
  const rows = await database.tables.selectFrom("events").select(["seq", "project_id"])
    .where("project_id", "=", "01P").execute();
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ seq: 3, project_id: "01P" }]);
  const findings = async () => (await verifyPostgresLog({ url, password: null }, KEY)).findings;
  assert.deepEqual(await findings(), []);
  await ask("UPDATE events SET project_id = NULL WHERE seq = 3");
  assert.deepEqual(await findings(), ["Row 3 is listed for another project than its own"]);
  await ask("UPDATE events SET project_id = '01P' WHERE seq = 3");
  await ask("UPDATE events SET actor = 'nobody' WHERE seq = 1");
  assert.deepEqual(await findings(), ["Row 1 is not as it was written"]);
  await ask("DELETE FROM events WHERE seq = 2");
  assert.match((await findings()).join(), /Row 2 is missing/);
});

testPostgres(
  "retention removes the beginning, and the rest verifies",
  async ({ database, url }) => {
    for (let index = 0; index < 30; index++) await database.commit({ events: [anEvent("x")] });
    const trim = { keep: 10, before: -Infinity, limit: 100 };
    assert.equal(await database.trimEvents(trim), 20);
    assert.equal(await database.trimEvents(trim), 0);
    const report = await verifyPostgresLog({ url, password: null }, KEY);
    assert.deepEqual([report.events, report.first, report.findings], [10, 21, []]);
  },
);

Deno.test("what cannot be opened is refused in a sentence without the password", async () => {
  const url = "postgres://muster:hunter2@127.0.0.1:1/muster";
  const refused = (error: unknown) => {
    assert.ok(error instanceof DatabaseError);
    assert.match(
      error.message,
      /^The database "postgres:\/\/muster@127\.0\.0\.1:1\/muster" cannot be/,
    );
    return !error.message.includes("hunter2");
  };
  await assert.rejects(openPostgres({ url, password: null }), refused);
  await assert.rejects(
    openPostgres({ url: url.replace(":hunter2", ""), password: "hunter2" }),
    refused,
  );
  await assert.rejects(
    verifyPostgresLog({ url, password: null }, KEY),
    (error: Error) => error instanceof DatabaseError && !error.message.includes("hunter2"),
  );
});

/** Each column as `table.column type nullable`, each index as `table (columns) unique partial`. */
type Schema = readonly string[];

async function postgresSchema({ ask }: World): Promise<Schema> {
  const columns = await ask(
    `SELECT table_name AS "table", column_name AS name, is_nullable = 'YES' AS nullable,
       CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'double precision' THEN 'REAL'
         ELSE upper(data_type) END AS type
     FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> 'schema_version'`,
  );
  const indexes = await ask(
    `SELECT indrelid::regclass::text AS "table", indisunique AS "unique",
       indpred IS NOT NULL AS partial,
       (SELECT string_agg(attname, ', ' ORDER BY place) FROM unnest(indkey) WITH ORDINALITY
          AS key (number, place) JOIN pg_attribute
          ON attrelid = indrelid AND attnum = key.number) AS columns
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = 'public'::regnamespace`,
  );
  const references = await ask(
    `SELECT conrelid::regclass::text AS "table", confrelid::regclass::text AS other,
       confdeltype AS action,
       (SELECT string_agg(attname, ', ') FROM unnest(conkey) AS key JOIN pg_attribute
          ON attrelid = conrelid AND attnum = key) AS columns
     FROM pg_constraint WHERE contype = 'f'`,
  );
  const actions = new Map([["c", "CASCADE"], ["n", "SET NULL"], ["a", "NO ACTION"]]);
  return [
    ...columns.map(({ table, name, type, nullable }) =>
      columnLine(table, name, type, nullable === true)
    ),
    ...indexes.map(({ table, columns, unique, partial }) =>
      indexLine(table, columns, unique === true, partial === true)
    ),
    ...references.map(({ table, columns, other, action }) =>
      `${table} (${columns}) → ${other} ${actions.get(String(action))}`
    ),
  ].sort();
}

function sqliteSchema(path: string): Schema {
  const database = new DatabaseSync(path);
  const rows = (sql: string) => database.prepare(sql).all() as Record<string, unknown>[];
  const tables = rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  const lines = tables.flatMap(({ name: table }) => {
    const columns = rows(`PRAGMA table_xinfo("${table}")`);
    const keys = columns.filter(({ pk }) => Number(pk) > 0)
      .sort((one, other) => Number(one["pk"]) - Number(other["pk"])).map(({ name }) => name);
    const indexes = rows(`PRAGMA index_list("${table}")`).filter(({ origin }) => origin !== "pk");
    return [
      ...columns.map(({ name, type, notnull, pk }) =>
        columnLine(table, name, type, notnull === 0 && pk === 0)
      ),
      indexLine(table, keys.join(", "), true, false),
      ...indexes.map(({ name, unique, partial }) => {
        const names = rows(`PRAGMA index_info("${name}")`).map((column) => column["name"]);
        return indexLine(table, names.join(", "), unique === 1, partial === 1);
      }),
      ...rows(`PRAGMA foreign_key_list("${table}")`).map((reference) =>
        `${table} (${reference["from"]}) → ${reference["table"]} ${reference["on_delete"]}`
      ),
    ];
  });
  database.close();
  return lines.sort();
}

function columnLine(table: unknown, name: unknown, type: unknown, nullable: boolean): string {
  return `${table}.${name} ${type}${nullable ? " nullable" : ""}`;
}

function indexLine(table: unknown, columns: unknown, unique: boolean, partial: boolean): string {
  return `${table} (${columns})${unique ? " unique" : ""}${partial ? " partial" : ""}`;
}

/** Ends all connections of the program, as an operator's limit of idle ones or a proxy does. */
async function endAll({ ask }: World): Promise<void> {
  await ask(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

testPostgres("connections that were closed while idle cost no answer", async (world) => {
  const { database } = world;
  for (const key of ["before the first write", "after one"]) {
    await settings(database);
    await endAll(world);
    await settings(database);
    await database.commit({ statements: [setting(database, key, "1")] });
    assert.ok((await settings(database)).includes(`${key}=1`));
  }
});

testPostgres("connections stay open where PostgreSQL closes idle ones", async (world) => {
  const name = (await world.ask("SELECT current_database() AS name"))[0]?.["name"];
  await world.ask(`ALTER DATABASE "${name}" SET idle_session_timeout = '1s'`);
  const others = await query(world.url, "SHOW idle_session_timeout", []);
  assert.equal(others.rows[0]?.["idle_session_timeout"], "1s");
  await endAll(world);
  const { rows } = await sql<{ value: string }>`
    SELECT current_setting('idle_session_timeout') AS value
  `.execute(world.database.tables);
  assert.equal(rows[0]?.value, "0");
});

/** Adds a row; PostgreSQL ends the connection within the first attempts. */
function ending(key: string, attempts: number): Statement {
  return {
    sql: `INSERT INTO settings (key, value)
      SELECT $1, '1' WHERE CASE WHEN nextval('attempts') <= ${attempts}
        THEN pg_terminate_backend(pg_backend_pid()) ELSE true END`,
    parameters: [key],
    mustChange: false,
  };
}

testPostgres("a transaction that PostgreSQL cut short is made again, and once", async (world) => {
  const { database, ask } = world;
  await ask("CREATE SEQUENCE attempts");
  const commits = ["a", "b", "c"].map((key) =>
    database.commit({
      statements: key === "b" ? [ending(key, 2)] : [setting(database, key, "1")],
      events: [anEvent(key)],
    })
  );
  await Promise.all(commits);
  assert.deepEqual((await settings(database)).filter((one) => /^[abc]=/.test(one)), [
    "a=1",
    "b=1",
    "c=1",
  ]);
  const counted = await database.tables.selectFrom("events").select("type").execute();
  assert.deepEqual(counted.map(({ type }) => type).sort(), ["a", "b", "c"]);
});

testPostgres("a transaction that ends each connection is refused", async (world) => {
  const { database, ask } = world;
  await ask("CREATE SEQUENCE attempts");
  await assert.rejects(database.commit({ statements: [ending("a", 1000)] }), {
    name: "Unavailable",
    message: "PostgreSQL cannot be written at the moment",
  });
  await database.commit({ statements: [setting(database, "b", "1")] });
  assert.ok((await settings(database)).includes("b=1"));
});

testPostgres("a connection that is cut before it is ready costs no answer", async (world) => {
  const { database, ask, url } = world;
  const lock = "hashtextextended('muster ' || current_schema(), 0)";
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const taken = client.query(`SELECT pg_advisory_lock(${lock})`);
    const waiting = () =>
      ask(`SELECT pid FROM pg_stat_activity
        WHERE wait_event = 'advisory' AND datname = current_database()`);
    await asked(waiting, (found) => found.length === 1);
    await endWriter(world);
    await taken;
    const committed = Promise.allSettled([
      database.commit({ statements: [setting(database, "a", "1")] }),
    ]);
    for (let times = 0; times < 3; times++) {
      const [next] = await asked(waiting, (found) => found.length === 1);
      await ask("SELECT pg_terminate_backend($1, 5000)", next?.["pid"]);
    }
    await client.query(`SELECT pg_advisory_unlock(${lock})`);
    assert.deepEqual(await committed, [
      { status: "fulfilled", value: { changes: [1], sequence: [] } },
    ]);
  } finally {
    await client.end();
  }
});

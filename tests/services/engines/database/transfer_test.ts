import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  copyToPostgres,
  copyToSqlite,
  DatabaseError,
  type NewEvent,
  openSqlite,
  verifyLog,
  verifyPostgresLog,
} from "../../../../services/engines/database/mod.ts";
import { peer } from "../../../support/peers.ts";
import { postgresOf, query } from "../../../support/postgres.ts";
import { withFolder } from "../../../support/temporary.ts";

const KEY = "0123456789abcdef".repeat(4);

/** Texts that a copy could change or put in another order. */
const TEXTS = ["", "a", "A", "é", "e\u0301", "\ufeffx", "\u{1f600}", "\uffff", "'\";\\", "\r\n\t"];

/** More rows than are read at once. */
const MANY = 1234;

function anEvent(index: number): NewEvent {
  const about = index % 2 === 0
    ? { type: "project.changed", data: { project_id: `p${index % 3}`, text: "\0\u2028" } }
    : { type: "test.happened", data: { index } };
  return { time: index, actor: "system", actorId: null, address: null, cause: null, ...about };
}

/** Makes a database with rows of every kind of column; gives its file. */
async function aDatabase(folder: string): Promise<string> {
  const file = join(folder, "from.db");
  const database = openSqlite(file, { journalKey: { key: KEY, isNew: true } });
  await database.commit({ events: Array.from({ length: MANY }, (_, index) => anEvent(index)) });
  await database.close();
  const raw = new DatabaseSync(file);
  const account = raw.prepare(
    "INSERT INTO accounts VALUES (?, ?, ?, 'agent', 'sha256', 'x', ?, ?, ?)",
  );
  const agent = raw.prepare(
    "INSERT INTO agents (account_id, type, channels, registered_at, messages_per_second)" +
      " VALUES (?, 'worker', '', ?, ?)",
  );
  const numbers = [0.1, 5, 1e-300, -0, 1.7976931348623157e308, null];
  for (const [index, number] of numbers.entries()) {
    const time = index === 0 ? null : index;
    // A row may refer to an older one of its table.
    const session = index === 0 ? null : "id-0";
    account.run(`id-${index}`, "n", `n-${index}`, 9007199254740993n, time, session);
    agent.run(`id-${index}`, -(2n ** 63n), number);
  }
  const question = raw.prepare(
    "INSERT INTO questions (id, asker, text, choices, asked_at, state) VALUES (?, 'a', '', '', 0, ?)",
  );
  question.run(7, "open");
  for (const text of TEXTS) {
    raw.prepare("INSERT INTO settings VALUES (?, ?)").run(`key ${text}`, text);
  }
  raw.close();
  return file;
}

/** Everything in a SQLite file, table by table, in an order of its own. */
function contentOf(file: string): Record<string, string[]> {
  const database = new DatabaseSync(file);
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
    .all().map(({ name }) => String(name));
  const content = Object.fromEntries(names.map((name) => {
    const statement = database.prepare(`SELECT * FROM "${name}"`);
    statement.setReadBigInts(true);
    return [name, statement.all().map((row) => Deno.inspect(row)).sort()];
  }));
  database.close();
  return content;
}

Deno.test(
  "a database comes back from PostgreSQL as it was, with its event log intact",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const file = await aDatabase(folder);
      const url = await postgresOf(folder);
      const postgres = { url, password: null };
      const seen: number[] = [];
      const onProgress = (done: number, total: number) => seen.push(done, total);
      const there = await copyToPostgres({ file, postgres, onProgress });
      assert.equal(seen.at(-1), 2 * there.rows);
      assert.equal(seen.at(-2), 2 * there.rows);
      assert.deepEqual(await verifyPostgresLog(postgres, KEY), verifyLog(file, KEY));
      // New rows get numbers that are free.
      const { rows } = await query(
        url,
        "INSERT INTO questions (asker, text, choices, asked_at, state) " +
          "VALUES ('a', '', '', 0, 'open') RETURNING id",
      );
      assert.equal(Number(rows[0]?.["id"]), 8);
      await query(url, "DELETE FROM questions WHERE id = 8");

      const back = join(folder, "back.db");
      assert.deepEqual(await copyToSqlite({ file: back, postgres }), there);
      assert.deepEqual(contentOf(back), contentOf(file));
      assert.deepEqual(verifyLog(back, KEY).findings, []);
    }),
);

Deno.test(
  "a copy to a database with rows is refused, and one that fails changes nothing",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const file = await aDatabase(folder);
      const url = await postgresOf(folder);
      const postgres = { url, password: null };
      const before = contentOf(file);
      await query(url, "ALTER TABLE settings ADD CHECK (value <> 'é')");
      await assert.rejects(copyToPostgres({ file, postgres }), DatabaseError);
      await query(url, "ALTER TABLE settings DROP CONSTRAINT settings_value_check");
      const changed = "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS " +
        "$$ BEGIN NEW.value := NEW.value || '!'; RETURN NEW; END $$";
      await query(url, changed);
      await query(
        url,
        "CREATE TRIGGER spoil BEFORE INSERT ON settings FOR EACH ROW " +
          "WHEN (NEW.key = 'key A') EXECUTE FUNCTION spoil()",
      );
      const spoiled = /does not hold what it was given: row \d+ of settings differs/;
      await assert.rejects(copyToPostgres({ file, postgres }), spoiled);
      assert.deepEqual((await query(url, "SELECT * FROM settings")).rows, []);
      await query(url, "DROP TRIGGER spoil ON settings");
      await copyToPostgres({ file, postgres });
      await assert.rejects(copyToPostgres({ file, postgres }), /is in use: it has rows in/);
      await assert.rejects(copyToSqlite({ file, postgres }), /is in use: it has rows in/);
      assert.deepEqual(contentOf(file), before);
    }),
);

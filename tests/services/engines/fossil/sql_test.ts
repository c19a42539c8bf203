import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { Repository } from "../../../../services/engines/fossil/mod.ts";
import {
  type QueryAnswer,
  type QueryLimits,
  runQuery,
} from "../../../../services/engines/fossil/sql/mod.ts";
import { SECRET, SECRETS_SQL, SQL_ATTEMPTS } from "../../../support/sql_attempts.ts";
import { withFolder } from "../../../support/temporary.ts";

/**
 * SQLite's limit on memory is for a whole process and is never raised again, so these tests set one
 * that no test of this process meets. The end-to-end tests run statements with the real limit.
 */
const LIMITS: QueryLimits = {
  rows: 3,
  bytes: 2 ** 20,
  memory: 2 ** 40,
  milliseconds: 5000,
};

/** Runs a test on a repository whose closed tables hold secrets. */
async function withRepository(
  work: (query: (sql: string, limits?: Partial<QueryLimits>) => QueryAnswer, path: string) => void,
): Promise<void> {
  await withFolder((folder) => {
    const path = join(folder, "demo.fossil");
    Repository.create(path, { admin: "alice", date: Date.parse("2026-11-22T00:00:00Z") })[
      Symbol.dispose
    ]();
    using database = new DatabaseSync(path);
    database.exec(SECRETS_SQL);
    work((sql, limits) => runQuery({ path, sql, limits: { ...LIMITS, ...limits } }), path);
    return Promise.resolve();
  });
}

const numbers = (count: number) =>
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT ${count}) SELECT x FROM c`;

Deno.test("a statement gives its columns and rows in order, with equal names told apart", async () => {
  await withRepository((query) => {
    assert.deepEqual(query("SELECT 2, 1, 'é' AS a, NULL AS a -- the end\n;"), {
      kind: "rows",
      columns: ["2", "1", "a", "a:1"],
      rows: [[2, 1, "é", null]],
      cut: null,
    });
    assert.deepEqual(query("SELECT objid AS number FROM event WHERE 0"), {
      kind: "rows",
      columns: ["number"],
      rows: [],
      cut: null,
    });
  });
});

Deno.test("values that JSON cannot hold become text: large integers, infinities, BLOBs", async () => {
  await withRepository((query) => {
    const answer = query("VALUES(9007199254740993, 1e999, x'00ff', 1.5)");
    assert.ok(answer.kind === "rows");
    assert.deepEqual(answer.rows, [["9007199254740993", "Infinity", "x'00ff'", 1.5]]);
  });
});

const READS = [
  "SELECT type, comment FROM event ORDER BY mtime DESC",
  "SELECT count(*) FROM artifact",
  "WITH t AS (SELECT tagid FROM tag WHERE tagname LIKE 'sym-%') SELECT * FROM tagxref JOIN t USING(tagid)",
  "SELECT name, sql FROM sqlite_schema",
  "SELECT name FROM pragma_table_info('ticket')",
  "SELECT row_number() OVER (PARTITION BY type ORDER BY mtime), lag(user) OVER () FROM event",
  "SELECT value FROM json_each('[1,2,3]') UNION SELECT uuid FROM blob EXCEPT SELECT 1",
  "SELECT date('now'), round(2.5), printf('%05d', 7), json('{\"a\":1}') ->> 'a', abs(-2)",
  "EXPLAIN QUERY PLAN SELECT * FROM event",
  "EXPLAIN SELECT * FROM event",
  "PRAGMA table_info(event)",
  "PRAGMA page_count",
  "VALUES(1), (2)",
];

for (const sql of READS) {
  Deno.test(`sql_query runs ${sql}`, async () => {
    await withRepository((query) => {
      const answer = query(sql);
      assert.equal(answer.kind, "rows", JSON.stringify(answer));
    });
  });
}

Deno.test("rows end at the limits of their number and size, and the answer names the limit", async () => {
  await withRepository((query) => {
    const byCount = query(numbers(10));
    assert.ok(byCount.kind === "rows");
    assert.deepEqual([byCount.rows, byCount.cut], [[[1], [2], [3]], "rows"]);
    const bySize = query(`SELECT hex(zeroblob(40)) FROM (${numbers(3)})`, { bytes: 100 });
    assert.ok(bySize.kind === "rows");
    assert.deepEqual([bySize.rows.length, bySize.cut], [1, "bytes"]);
    const whole = query(numbers(3));
    assert.ok(whole.kind === "rows");
    assert.deepEqual([whole.rows.length, whole.cut], [3, null]);
  });
});

Deno.test("an error after the first row is an error, and not a short answer", async () => {
  await withRepository((query) => {
    const sql = `SELECT CASE WHEN x = 2 THEN json('{') ELSE x END FROM (${numbers(3)})`;
    const answer = query(sql);
    assert.deepEqual(answer, {
      kind: "invalid",
      message: "SQLite refuses the statement: malformed JSON",
    });
  });
});

Deno.test("every attempt that neither runs on nor fills memory is refused, and reveals nothing", async () => {
  await withRepository((query) => {
    const attempts = SQL_ATTEMPTS.filter(({ isLong, isLarge }) => !isLong && !isLarge);
    for (const { sql, refusal } of attempts) {
      const answer = query(sql);
      assert.ok(answer.kind !== "rows", sql);
      assert.match(answer.message, refusal, sql);
      assert.ok(!answer.message.includes(SECRET), sql);
    }
  });
});

Deno.test("a statement neither writes the file nor moves its log", async () => {
  await withRepository((query, path) => {
    using writer = new DatabaseSync(path);
    writer.exec("PRAGMA journal_mode=WAL; UPDATE event SET comment='in the log'");
    const before = [path, `${path}-wal`].map((file) => Deno.readFileSync(file));
    const answer = query("SELECT comment FROM event");
    assert.ok(answer.kind === "rows");
    assert.deepEqual(answer.rows[0], ["in the log"]);
    const after = [path, `${path}-wal`].map((file) => Deno.readFileSync(file));
    assert.deepEqual(after, before);
  });
});

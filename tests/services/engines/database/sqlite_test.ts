/** Both copies of `rollBack`: the services' and the engine's. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Database } from "../../../../services/engines/fossil/content/mod.ts";
import { isLocked, isTrouble, rollBack } from "../../../../services/engines/database/sqlite/mod.ts";
import { withFolder } from "../../../support/temporary.ts";

/** The methods of a connection as Deno 2.4 has them: nothing tells whether a transaction is open. */
function oldConnection(connection: DatabaseSync) {
  return { exec: (sql: string) => connection.exec(sql) };
}

const VIEWS = [
  { runtime: "this runtime", viewOf: (connection: DatabaseSync) => connection },
  { runtime: "a runtime without isTransaction", viewOf: oldConnection },
] as const;

for (const { runtime, viewOf } of VIEWS) {
  Deno.test(`rollBack undoes an open transaction (${runtime})`, () => {
    using connection = new DatabaseSync(":memory:");
    connection.exec("CREATE TABLE t(a); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
    rollBack(viewOf(connection));
    assert.equal(connection.prepare("SELECT count(*) AS n FROM t").get()?.["n"], 0);
    connection.exec("BEGIN; COMMIT");
  });

  Deno.test(`rollBack leaves a connection without a transaction alone (${runtime})`, () => {
    using connection = new DatabaseSync(":memory:");
    rollBack(viewOf(connection));
    connection.exec("BEGIN; COMMIT");
  });

  Deno.test(`rollBack accepts that SQLite undid the transaction on a full disk (${runtime})`, () => {
    using connection = new DatabaseSync(":memory:");
    connection.exec("CREATE TABLE t(a); INSERT INTO t VALUES(1); PRAGMA max_page_count=10; BEGIN");
    assert.throws(() => connection.exec("INSERT INTO t VALUES(zeroblob(100000))"), /full/);
    assert.throws(() => connection.exec("ROLLBACK"), /no transaction is active/);
    rollBack(viewOf(connection));
    assert.equal(connection.prepare("SELECT count(*) AS n FROM t").get()?.["n"], 1);
    connection.exec("BEGIN; COMMIT");
  });
}

Deno.test("the engine's connection rolls back what SQLite may have undone by itself", () => {
  const db = new Database(":memory:");
  db.exec("CREATE TABLE t(a); PRAGMA max_page_count=10; BEGIN");
  assert.throws(() => db.exec("INSERT INTO t VALUES(zeroblob(100000))"), /full/);
  db.rollBack();
  db.exec("BEGIN; INSERT INTO t VALUES(1)");
  db.rollBack();
  assert.equal(db.value("SELECT count(*) FROM t"), 0);
  db.close();
});

Deno.test("a lock of another program is a trouble, and wrong SQL is none", async () => {
  await withFolder((folder) => {
    const path = join(folder, "one.db");
    using holder = new DatabaseSync(path);
    using other = new DatabaseSync(path, { timeout: 0 });
    holder.exec("CREATE TABLE t(a); BEGIN EXCLUSIVE");
    const errorOf = (statement: string) => {
      try {
        other.exec(statement);
        return null;
      } catch (error) {
        return error;
      }
    };
    for (const statement of ["BEGIN IMMEDIATE", "SELECT * FROM t"]) {
      assert.equal(isLocked(errorOf(statement)), true, statement);
      assert.equal(isTrouble(errorOf(statement)), true, statement);
    }
    assert.equal(isTrouble(errorOf("SELEC")), false);
    holder.exec("ROLLBACK");
    assert.equal(isTrouble(errorOf("SELECT * FROM none")), false);
    other.exec("PRAGMA query_only = ON");
    assert.equal(isTrouble(errorOf("INSERT INTO t VALUES(1)")), true);
  });
});

Deno.test("SQLite's codes for what no bug causes are troubles", () => {
  const coded = (errcode: number) => Object.assign(new Error("It failed"), { errcode });
  // BUSY, LOCKED, NOMEM, READONLY, IOERR_FSYNC, CORRUPT, FULL, CANTOPEN, NOTADB.
  for (const code of [5, 6, 7, 8, 1034, 11, 13, 14, 26]) {
    assert.ok(isTrouble(coded(code)), `${code}`);
  }
  // ERROR, CONSTRAINT_UNIQUE, MISUSE.
  for (const code of [1, 2067, 21]) assert.ok(!isTrouble(coded(code)), `${code}`);
});

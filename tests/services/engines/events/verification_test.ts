import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DatabaseError, openSqlite } from "../../../../services/engines/database/mod.ts";
import { verifyLog } from "../../../../services/engines/events/mod.ts";
import { withFolder, writeFile } from "../../../support/temporary.ts";
import { anEvent, KEY, types, withLog } from "./support.ts";
import { THOROUGH } from "../../../support/level.ts";

const ROWS = 12;
const TEXTS = ["type", "actor", "actor_id", "address", "cause", "data", "hash"] as const;

/** Changes the database behind the program's back. */
function tamper(path: string, sql: string, ...parameters: (string | number | null)[]): number {
  const database = new DatabaseSync(path);
  try {
    return Number(database.prepare(sql).run(...parameters).changes);
  } finally {
    database.close();
  }
}

/** Makes a log of which retention has cut the first rows, and gives its rows. */
async function aLog(folder: string): Promise<{ path: string; rows: Record<string, unknown>[] }> {
  const path = join(folder, "muster.db");
  const database = openSqlite(path, { journalKey: { key: KEY, isNew: true } });
  for (const type of types(ROWS + 3)) await database.commit({ events: [anEvent(type)] });
  await database.trimEvents({ keep: ROWS, before: -Infinity, limit: 100 });
  await database.close();
  const reading = new DatabaseSync(path);
  const rows = reading.prepare("SELECT * FROM events ORDER BY seq").all();
  reading.close();
  return { path, rows };
}

Deno.test("verifyLog() accepts an unchanged log, even during writes", async () => {
  await withLog(async ({ path, append, database }) => {
    await append(["first"]);
    assert.deepEqual(pick(verifyLog(path, KEY)), { events: 1, first: 1, last: 1, findings: [] });
    const writing = append(types(299));
    for (let round = 0; round < 5; round++) assert.deepEqual(verifyLog(path, KEY).findings, []);
    await writing;
    assert.deepEqual(pick(verifyLog(path, KEY)), {
      events: 300,
      first: 1,
      last: 300,
      findings: [],
    });
    await database.trimEvents({ keep: 120, before: -Infinity, limit: 1000 });
    await append(["later"]);
    assert.deepEqual(pick(verifyLog(path, KEY)), {
      events: 121,
      first: 181,
      last: 301,
      findings: [],
    });
  });
});

Deno.test("verifyLog() finds any change of any row", THOROUGH, async () => {
  await withFolder(async (folder) => {
    const { path, rows } = await aLog(folder);
    const change = fc.record({
      row: fc.nat(ROWS - 1),
      column: fc.constantFrom(...TEXTS),
      at: fc.nat(1000),
      text: fc.oneof(
        fc.string({ minLength: 1, maxLength: 3 }),
        fc.constantFrom("\0", "\ufeff", " "),
      ),
      kind: fc.constantFrom("insert", "replace", "delete", "null"),
    });
    fc.assert(
      fc.property(change, ({ row, column, at, text, kind }) => {
        const original = rows[row]?.[column] as string;
        const place = at % (original.length + (kind === "insert" ? 1 : 0));
        const changed = kind === "null" && ["actor_id", "address", "cause"].includes(column)
          ? null
          : original.slice(0, place) + (kind === "delete" ? "" : text) +
            original.slice(kind === "insert" ? place : place + 1);
        fc.pre(changed !== original);
        const seq = Number(rows[row]?.["seq"]);
        const update = `UPDATE events SET ${column} = ? WHERE seq = ?`;
        assert.equal(tamper(path, update, changed, seq), 1);
        const { findings } = verifyLog(path, KEY);
        assert.equal(tamper(path, update, original, seq), 1);
        assert.match(findings.join("\n"), new RegExp(`\\b(${seq}|${seq + 1})\\b`));
      }),
      { numRuns: 150 },
    );
    for (const { seq, time } of rows) {
      tamper(path, "UPDATE events SET time = time + 1 WHERE seq = ?", Number(seq));
      assert.deepEqual(verifyLog(path, KEY).findings, [`Row ${seq} is not as it was written`]);
      tamper(path, "UPDATE events SET time = ? WHERE seq = ?", Number(time), Number(seq));
    }
    assert.deepEqual(verifyLog(path, KEY).findings, []);
  });
});

Deno.test("verifyLog() finds rows that are missing or were added, at both ends and between", async () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ["DELETE FROM events WHERE seq = 4", /^Row 4 is missing$/],
    ["DELETE FROM events WHERE seq IN (7, 8)", /^The rows 7 to 8 are missing$/],
    ["DELETE FROM events WHERE seq = 15", /^Row 15 is missing at the end of the log$/],
    ["DELETE FROM events", /^The rows 4 to 15 are missing at the end of the log$/],
    ["UPDATE events SET seq = 16 WHERE seq = 15", /missing[^]*after 15/],
    ["UPDATE events SET seq = 3 WHERE seq = 15", /Row 3 stands before/],
    ["UPDATE events SET seq = -7 WHERE seq = 15", /Row -7 stands before/],
    ["UPDATE events SET seq = 9223372036854775807 WHERE seq = 15", /missing/],
    [
      "INSERT INTO events SELECT 16, time, type, actor, actor_id, address, cause, data, hash " +
      "FROM events WHERE seq = 15",
      /Row 16 is not as it was written[^]*after 15 were not written by muster/,
    ],
    ["DELETE FROM checkpoints WHERE name = 'head'", /^The end of the log is not sealed$/],
    ["DELETE FROM checkpoints WHERE name = 'base'", /^The rows 1 to 3 are missing$/],
    ["UPDATE checkpoints SET seq = 14 WHERE name = 'head'", /seal at the end/],
    ["UPDATE checkpoints SET hash = hash || '0' WHERE name = 'base'", /seal at the beginning/],
    ["UPDATE checkpoints SET seal = replace(seal, '1', '2')", /seal at the/],
  ];
  for (const [sql, finding] of table) {
    await withFolder(async (folder) => {
      const { path } = await aLog(folder);
      assert.ok(tamper(path, sql) > 0, sql);
      const { findings, found } = verifyLog(path, KEY);
      assert.match(findings.join("\n"), finding, sql);
      assert.equal(found, findings.length);
    });
  }
});

Deno.test("the seals reveal a recomputed chain", async () => {
  await withFolder(async (folder) => {
    const { path } = await aLog(folder);
    const forged = join(folder, "forged.db");
    const other = openSqlite(forged, { journalKey: { key: "f".repeat(64), isNew: true } });
    for (const type of types(ROWS + 3, "forged.t")) await other.commit({ events: [anEvent(type)] });
    await other.close();
    assert.deepEqual(verifyLog(forged, "f".repeat(64)).findings, []);
    const findings = verifyLog(forged, KEY).findings;
    assert.deepEqual(findings, ["The seal at the end of the log is not of its key"]);
    assert.match(verifyLog(path, null).findings[0] ?? "", /key of the seals is missing/);
  });
});

Deno.test("a log with its end cut off never passes for whole again", async () => {
  const cuts = [
    "DELETE FROM events WHERE seq > 13",
    "DELETE FROM checkpoints WHERE name = 'head'",
    "UPDATE checkpoints SET seq = 14, hash = (SELECT hash FROM events WHERE seq = 14) " +
    "WHERE name = 'head'",
  ];
  for (const cut of cuts) {
    await withFolder(async (folder) => {
      const { path } = await aLog(folder);
      tamper(path, cut);
      const database = openSqlite(path, { journalKey: { key: KEY, isNew: false } });
      await database.commit({ events: [anEvent("test.after")] });
      await database.commit({ events: [anEvent("test.later")] });
      await database.close();
      const { findings } = verifyLog(path, KEY);
      assert.match(findings.join("\n"), /muster found the log damaged/, cut);
    });
  }
});

Deno.test("verifyLog() says why a file cannot be verified", async () => {
  await withFolder(async (folder) => {
    assert.throws(() => verifyLog(join(folder, "none.db"), KEY), DatabaseError);
    const text = await writeFile(folder, "text.db", "This is a text. ".repeat(100));
    assert.throws(() => verifyLog(text, KEY), /cannot be read/);
    const empty = join(folder, "empty.db");
    new DatabaseSync(empty).close();
    assert.throws(() => verifyLog(empty, KEY), DatabaseError);
  });
});

function pick({ events, first, last, findings }: ReturnType<typeof verifyLog>) {
  return { events, first, last, findings };
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call } from "../support/api.ts";
import type { Program } from "../support/program.ts";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { difference, dumpTables } from "../services/engines/fossil/support/tables.ts";

/**
 * Checks what must be true after each start: every intention is settled, the database is sound, the
 * `fossil` program finds nothing wrong with the repository, and its derived tables are those of a
 * rebuild.
 *
 * @throws AssertionError
 */
export async function audit(program: Program): Promise<void> {
  using database = new DatabaseSync(join(program.folder, "data", "muster.db"), { readOnly: true });
  assert.deepEqual(database.prepare("SELECT kind, body FROM intentions").all(), []);
  assert.equal(database.prepare("PRAGMA quick_check").get()?.["quick_check"], "ok");
  assert.deepEqual(database.prepare("PRAGMA foreign_key_check").all(), []);
  const exported = await call(program, "GET", "/v1/projects/soak/repository");
  assert.equal(exported.status, 200);
  using scratch = new Scratch();
  const path = scratch.write("copy.fossil", new Uint8Array(await exported.arrayBuffer()));
  scratch.fossil(["test-integrity", path]);
  const before = dumpTables(path);
  scratch.fossil(["rebuild", path]);
  assert.deepEqual(difference(before, dumpTables(path)), [], "the tables differ from a rebuild");
}

/**
 * Checks that the event log tells of each check-in once.
 *
 * @throws AssertionError
 */
export function auditEvents({ folder }: Program): void {
  using database = new DatabaseSync(join(folder, "data", "muster.db"), { readOnly: true });
  using repository = new DatabaseSync(join(folder, "data", "projects", "soak.fossil"), {
    readOnly: true,
  });
  const told = database.prepare(
    "SELECT json_extract(data, '$.uuid') AS uuid FROM events WHERE type = 'project.checkin'",
  ).all().map(({ uuid }) => uuid);
  const made = repository.prepare(
    "SELECT uuid FROM event JOIN blob ON rid=objid WHERE event.type='ci'",
  ).all().map(({ uuid }) => uuid);
  assert.equal(new Set(told).size, told.length, "a check-in was told twice");
  // The project's own first check-in is older than its cursor.
  assert.deepEqual(made.filter((uuid) => !told.includes(uuid)).length, 1);
  assert.deepEqual(told.filter((uuid) => !made.includes(uuid)), []);
}

/** What happens where the disk is full: nothing is lost, and the error says so. */
import assert from "node:assert/strict";
import type { Repository } from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put } from "./support/fixture.ts";
import { difference, dumpTables } from "./support/tables.ts";

const FULL = /database or disk is full/;

/** No page more than the file has now. */
function fill({ db }: Repository): void {
  db.exec("PRAGMA max_page_count=1");
}

Deno.test("a write without disk space fails with SQLite's error and is rolled back", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("a.txt", "before")]);
  const before = dumpTables(fixture.path);
  fill(repository);
  const content = crypto.getRandomValues(new Uint8Array(60_000));
  const change = { kind: "write", path: "b.bin", content } as const;
  assert.throws(() => fixture.commit([change]), FULL);
  assert.throws(() => fixture.commit([change]), FULL);
  assert.deepEqual(difference(dumpTables(fixture.path), before), []);
  repository.db.exec("PRAGMA max_page_count=1000000");
  fixture.commit([change]);
  assert.deepEqual(repository.verify(), []);
});

Deno.test("a rebuild without disk space is rolled back, and succeeds later", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const names = Array.from({ length: 300 }, (_, i) => `folder/file ${i}`);
  for (let i = 0; i < 5; i++) fixture.commit(names.map((name) => put(name, `version ${i}`)));
  const before = dumpTables(fixture.path);
  repository.db.exec("DELETE FROM mlink; CREATE TABLE fx_filler(x)");
  fill(repository);
  const insert = "INSERT INTO fx_filler VALUES(zeroblob(3000))";
  assert.throws(() => Array.from({ length: 1000 }, () => repository.db.exec(insert)), FULL);
  assert.throws(() => repository.rebuild(), FULL);
  repository.db.exec("PRAGMA max_page_count=1000000");
  repository.rebuild();
  assert.deepEqual(difference(dumpTables(fixture.path), before), []);
});

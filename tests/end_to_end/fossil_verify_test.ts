/** What `muster fossil verify` finds in a damaged repository. */
import assert from "node:assert/strict";
import { Workbench } from "../support/workbench.ts";

Deno.test("verify finds what SQLite's integrity check finds, before it reads artifacts", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  bench.write("tree/a.txt", "text");
  await bench.commit("a file");
  const { entries: [entry] } = await bench.json("ls");
  bench.alter("PRAGMA journal_mode=DELETE");
  const file = Deno.readFileSync(bench.repository);
  const { page, size } = bench.query<{ page: number; size: number }>(
    `SELECT rootpage AS page, page_size AS size FROM sqlite_schema, pragma_page_size
      WHERE name='sqlite_autoindex_blob_1'`,
  );
  const start = new TextDecoder("latin1").decode(file).indexOf(entry.uuid, (page - 1) * size);
  // The last digit: the entry keeps its place among its neighbours, so this is the only finding.
  const at = start + entry.uuid.length - 1;
  file[at] = file[at]! ^ 1;
  Deno.writeFileSync(bench.repository, file);

  assert.equal((await bench.try("cat", ["a.txt"])).code, 1);
  const { code, stdout, stderr } = await bench.try("verify");
  assert.equal(code, 1);
  assert.match(stdout, /^row \d+ missing from index sqlite_autoindex_blob_1\n/);
  assert.equal(stderr, "The file is damaged.\n");
  assert.equal(JSON.parse((await bench.try("verify", ["--json"])).stdout).file.length, 1);
});

Deno.test("verify names missing content and reports the repository as damaged", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  const long = "a line that makes deltas worthwhile\n".repeat(20);
  for (const name of ["phantom", "hanging", "gone"]) bench.write(`tree/${name}.txt`, name + long);
  const old = await bench.commit("old");
  for (const name of ["phantom", "hanging", "gone"]) bench.write(`tree/${name}.txt`, long + name);
  await bench.commit("new");
  const { entries } = await bench.json("ls");
  const uuids = Object.fromEntries(
    entries.map(({ name, uuid }: { name: string; uuid: string }) => [name, uuid]),
  );
  bench.alter(`
    UPDATE blob SET size=-1, content=NULL WHERE uuid='${uuids["phantom.txt"]}';
    UPDATE delta SET srcid=99 WHERE srcid=(SELECT rid FROM blob WHERE uuid='${
    uuids["hanging.txt"]
  }');
    DELETE FROM blob WHERE uuid='${uuids["gone.txt"]}'`);
  assert.equal((await bench.try("cat", ["phantom.txt"])).code, 1);
  assert.equal((await bench.try("cat", ["hanging.txt", "--checkin", old])).code, 1);
  assert.equal((await bench.try("cat", ["gone.txt"])).code, 1);

  const { code, stdout, stderr } = await bench.try("verify");
  assert.equal(code, 1);
  for (const name of ["phantom.txt", "hanging.txt", "gone.txt"]) {
    assert.match(stdout, new RegExp(name));
  }
  // The old versions of two files hang on what is gone.
  assert.equal(stderr, "Missing artifacts: 5.\n");
  const { missing } = JSON.parse((await bench.try("verify", ["--json"])).stdout);
  assert.equal(missing.length, 5);
});

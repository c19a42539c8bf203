/** Repositories that would take more memory than `muster fossil` gives them are refused. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { encodeUtf8, md5, packBlob, sha3 } from "../../services/engines/fossil/mod.ts";
import { makeDoublingDeltas } from "../services/engines/fossil/support/bomb.ts";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { runMuster } from "../support/program.ts";

const MAX_FILES = 200_000;
const MAX_BYTES = 256 * 1024 * 1024;

Deno.test("verify reports a delta of more than 256 MiB and reads smaller ones", async () => {
  using scratch = new Scratch();
  makeDoublingDeltas(scratch.path("bomb.fossil"), 256 * 1024, 11);
  const { code, stdout } = await runMuster(["fossil", "verify", "bomb.fossil"], {
    folder: scratch.folder,
  });
  assert.equal(code, 1);
  assert.match(
    stdout,
    new RegExp(`Delta declares ${2 * MAX_BYTES} bytes, the limit is ${MAX_BYTES}`),
  );
  assert.equal(stdout.match(/does not have its hash/g)?.length, 11);
});

Deno.test("a check-in of more than 200,000 files is refused by rebuild and import", async () => {
  using scratch = new Scratch();
  const at = { folder: scratch.folder, environment: { USER: "alice" } };
  await runMuster(["fossil", "init", "one.fossil"], at);
  const names = Array.from({ length: MAX_FILES + 1 }, (_, i) => `f${`${i}`.padStart(6, "0")}`);
  const cards = names.map((name) => `F ${name} ${"0".repeat(64)}\n`).join("");
  const body = `C many\nD 2026-01-01T00:00:00.000\n${cards}U alice\n`;
  const manifest = encodeUtf8(`${body}Z ${md5(body)}\n`);
  {
    using database = new DatabaseSync(scratch.path("one.fossil"));
    const insert = "INSERT INTO blob(rcvid,size,uuid,content) VALUES(1,?,?,?)";
    database.prepare(insert).run(manifest.length, sha3(manifest), packBlob(manifest));
  }
  const rebuilt = await runMuster(["fossil", "rebuild", "one.fossil"], at);
  assert.deepEqual(
    [rebuilt.code, rebuilt.stderr],
    [1, `A check-in has more than ${MAX_FILES} files\n`],
  );
  const changes = names.map((name) => `M 100644 :1 ${name}\n`).join("");
  const stdin = `feature done\nblob\nmark :1\ndata 1\nx\ncommit refs/heads/main\n` +
    `committer A <a@b> 1600000000 +0000\ndata 2\nm\n${changes}\ndone\n`;
  const imported = await runMuster(["fossil", "import", "two.fossil"], { ...at, stdin });
  assert.equal(imported.code, 1);
  assert.match(imported.stderr, new RegExp(`The tree has more than ${MAX_FILES} files`));
});

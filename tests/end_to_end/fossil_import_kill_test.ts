/** What `kill -9` leaves of an import, and what the next one does with it. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { encode, Scratch } from "../services/engines/fossil/support/fossil.ts";
import { musterCommand, runMuster } from "../support/program.ts";

const FILES = 200;
/** More than a pipe holds, so that a part that was written was read. */
const FILE_BYTES = 10_000;

/** A stream of some megabytes, in one piece for each file. */
function* pieces(): Generator<Uint8Array> {
  yield encode("feature done\n");
  for (let mark = 1; mark <= FILES; mark++) {
    const text = `${mark} `.repeat(FILE_BYTES).slice(0, FILE_BYTES);
    yield encode(`blob\nmark :${mark}\ndata ${FILE_BYTES}\n${text}\n`);
  }
  const files = Array.from({ length: FILES }, (_, i) => `M 100644 :${i + 1} f${i}\n`).join("");
  yield encode(
    `commit refs/heads/main\ncommitter A <a@b> 1600000000 +0000\ndata 2\nm\n${files}\ndone\n`,
  );
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();
}

Deno.test("an import that is killed leaves nothing, and the next one succeeds", async () => {
  using scratch = new Scratch();
  const all = [...pieces()];
  for (const part of [1, FILES / 2, FILES]) {
    const child = musterCommand(["fossil", "import", "new.fossil"], {
      cwd: scratch.folder,
      stdin: "piped",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    const input = child.stdin.getWriter();
    for (const piece of all.slice(0, part)) await input.write(piece);
    child.kill("SIGKILL");
    await child.status;
    await input.close().catch(() => {});
    assert.deepEqual(namesIn(scratch.folder), [], `after ${part} files`);
  }
  const stdin = all.map((piece) => new TextDecoder().decode(piece)).join("");
  const { code, stderr } = await runMuster(["fossil", "import", "new.fossil"], {
    folder: scratch.folder,
    stdin,
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(namesIn(scratch.folder), ["new.fossil"]);
});

Deno.test("an import removes the drafts of dead processes, and leaves those of living ones", async () => {
  using scratch = new Scratch();
  const [dead, torn, living] = ["1", "2", "3"].map((digit) =>
    scratch.path(`old.fossil.muster-draft-${digit.repeat(16)}`)
  ) as [string, string, string];
  const others = ["mine-draft-1111111111111111", "other.fossil-draft"];
  for (const name of others) scratch.write(name, "not a draft of muster");
  scratch.write(torn.slice(scratch.folder.length + 1), "torn");
  {
    using database = new DatabaseSync(dead);
    database.exec("CREATE TABLE blob(rid)");
  }
  using database = new DatabaseSync(living);
  database.exec(
    "PRAGMA journal_mode=MEMORY; PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE blob(rid)",
  );

  const stdin = [...pieces()].map((piece) => new TextDecoder().decode(piece)).join("");
  const run = { folder: scratch.folder, stdin };
  assert.equal((await runMuster(["fossil", "import", "new.fossil"], run)).code, 0);
  assert.deepEqual(
    namesIn(scratch.folder),
    [...others, "new.fossil", living.slice(scratch.folder.length + 1)].toSorted(),
  );
  const again = await runMuster(["fossil", "import", "new.fossil"], run);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /"new\.fossil" exists/);
});

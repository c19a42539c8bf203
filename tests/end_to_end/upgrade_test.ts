/** Data of earlier versions, from `tests/fixtures/data`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "../../services/engines/database/mod.ts";
import { call } from "../support/api.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const FIXTURES = new URL("../fixtures/data/", import.meta.url).pathname;

/** The archives, and whether their version hosted projects. */
const ARCHIVES = [
  { name: "before-hosting", version: 15, hosts: false },
  { name: "before-mirrors", version: 19, hosts: true },
  { name: "before-pages", version: 20, hosts: true },
] as const;

const FREE = {
  MUSTER_API_ADDR: "127.0.0.1:0",
  MUSTER_MCP_ADDR: "127.0.0.1:0",
  MUSTER_IRC_LISTEN: "127.0.0.1:0",
};

async function unpack(folder: string, name: string): Promise<void> {
  const args = ["-xzf", join(FIXTURES, `${name}.tar.gz`), "-C", folder];
  const { success } = await new Deno.Command("tar", { args }).output();
  assert.ok(success);
}

/** The names and contents of the data folder's own files. */
function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(join(folder, "data"))].filter(({ isFile }) => isFile)
    .map(({ name }) => {
      const { size, mtime } = Deno.statSync(join(folder, "data", name));
      return `${name} ${size} ${mtime?.getTime()}`;
    }).toSorted();
}

for (const { name, version, hosts } of ARCHIVES) {
  Deno.test(`the data of a version ${name} is checked, and then upgraded by a start`, async () => {
    await withFolder(async (folder) => {
      await unpack(folder, name);
      const before = filesIn(folder);
      const checked = await runMuster(["upgrade", "--check", "--json"], { folder });
      assert.equal(checked.code, 0, checked.stderr);
      const report = JSON.parse(checked.stdout);
      assert.equal(report.problem, null);
      assert.equal(report.from, version);
      assert.ok(report.to > report.from && report.bytes > 0, checked.stdout);
      assert.deepEqual(filesIn(folder).map(withoutLock), before.map(withoutLock));
      {
        await using program = await startProgram({ folder });
        const agents = await (await call(program, "GET", "/v1/agents")).json();
        assert.deepEqual(agents.map(({ nick }: { nick: string }) => nick), ["scout"]);
        const { tickets } = hosts
          ? await (await call(program, "GET", "/projects/demo/fossil/api/tickets")).json()
          : { tickets: [{ title: "Leak" }] };
        assert.deepEqual(tickets.map(({ title }: { title: string }) => title), ["Leak"]);
        assert.equal(await program.stop(), 0);
      }
      assert.ok(Deno.statSync(join(folder, "data", `muster.db.v${version}`)).isFile);
      const made = join(folder, "made.db");
      migrate(made);
      assert.deepEqual(schemaOf(join(folder, "data", "muster.db")), schemaOf(made));
      const { stdout, code } = await runMuster(["doctor"], { folder, environment: FREE });
      assert.equal(code, 0, stdout);
      const again = await runMuster(["upgrade", "--check"], { folder });
      assert.match(again.stdout, /A start changes nothing/);
    });
  });
}

/** What a database consists of, however the SQL that made it is laid out. */
function schemaOf(path: string): string[] {
  using database = new DatabaseSync(path);
  return database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all()
    .map(({ name, sql }) => `${name} ${sql}`.replaceAll(/\s/g, ""));
}

/** A look at the lock may make its file. */
function withoutLock(file: string): string {
  return file.startsWith("lock ") ? "lock" : file;
}

Deno.test("a start and upgrade --check refuse data of an unknown version in one sentence", async () => {
  await withFolder(async (folder) => {
    await unpack(folder, "before-pages");
    for (
      const [version, refusal] of [
        [
          999,
          /999 and comes from a newer muster; this muster knows versions 15 to \d+: run a newer/,
        ],
        [
          14,
          /14 and comes from before the first .*: upgrade it with an older muster, or begin with/,
        ],
      ] as const
    ) {
      {
        using database = new DatabaseSync(join(folder, "data", "muster.db"));
        database.exec(`PRAGMA user_version = ${version}`);
      }
      for (const command of [["upgrade", "--check"], ["serve"]]) {
        const { code, stderr } = await runMuster(command, { folder, environment: FREE });
        assert.equal(code, 1, stderr);
        assert.match(stderr, refusal);
      }
    }
  });
});

Deno.test("muster upgrade alone says what it is for", async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await runMuster(["upgrade"], { folder });
    assert.equal(code, 2);
    assert.match(stderr, /--check says what it would do/);
  });
});

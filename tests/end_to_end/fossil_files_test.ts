/** The files that `muster fossil` finds, makes and leaves. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { peer } from "../support/peers.ts";
import { musterWords, runMuster } from "../support/program.ts";
import { readOnlyFolders, runReadOnly } from "../support/read_only.ts";
import { Workbench } from "../support/workbench.ts";

/** Byte 18 of a SQLite file: 1 where it has a rollback journal, 2 where it has a log. */
function journalOf(path: string): number {
  return Deno.readFileSync(path)[18] ?? 0;
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("every command keeps a file's journal mode", peer("fossil"), async () => {
  for (const mode of ["DELETE", "WAL"]) {
    using bench = new Workbench();
    bench.fossil(["init", bench.repository]);
    using connection = new Connection(bench.repository);
    connection.exec(`PRAGMA journal_mode=${mode}`);
    connection.close();
    const expected = journalOf(bench.repository);
    const tip = await bench.commitFile("a", "a\n", "first");
    const commands: [command: string, args: string[], stdin?: string][] = [
      ["commit", ["--from", "tree", "-m", "side", "--branch", "side", "--allow-empty"]],
      ["tag", ["v1", tip]],
      ["branch", ["more"]],
      ["amend", [tip, "-m", "another comment"]],
      ["wiki", ["Home", "--write"], "text"],
      ["ticket", ["--new", "--set", "title=Broken"]],
      ["merge", ["side"]],
      ["rebuild", []],
      ["timeline", []],
      ["search", ["text"]],
      ["verify", []],
    ];
    for (const [command, args, stdin] of commands) {
      await bench.muster(command, args, stdin);
      assert.equal(journalOf(bench.repository), expected, `${mode}: ${command}`);
      const beside = namesIn(bench.folder).filter((name) => name.startsWith("one.fossil-"));
      assert.deepEqual(beside, [], `${mode}: ${command}`);
    }
    await bench.assertSound();
  }
});

/** A connection of another program to a repository. */
class Connection implements Disposable {
  readonly #database: DatabaseSync;
  #isOpen = true;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    if (this.#isOpen) this.#database.close();
    this.#isOpen = false;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** How the last writer left a file; gives what the tip's file "a" must be. */
const STATES: Readonly<Record<string, (bench: Workbench, target: string) => Promise<string>>> = {
  "with a rollback journal": async (bench, target) => {
    await bench.commitFile("a", "1\n", "first");
    Deno.copyFileSync(bench.repository, target);
    return "1\n";
  },
  "that was killed in the middle of a commit": async (bench, target) => {
    await bench.commitFile("a", "1\n", "first");
    using connection = new Connection(bench.repository);
    connection.exec("PRAGMA cache_size=1; BEGIN; CREATE TABLE fx_many(text)");
    connection.exec(`WITH RECURSIVE number(n) AS (VALUES(1) UNION ALL SELECT n+1 FROM number)
      INSERT INTO fx_many SELECT hex(randomblob(500)) FROM number LIMIT 2000;
      DELETE FROM event`);
    for (const suffix of ["", "-journal"]) {
      Deno.copyFileSync(bench.repository + suffix, target + suffix);
    }
    return "1\n";
  },
  "with an empty log": async (bench, target) => {
    await bench.commitFile("a", "1\n", "first");
    using connection = new Connection(bench.repository);
    connection.exec("PRAGMA journal_mode=WAL");
    connection.close();
    Deno.copyFileSync(bench.repository, target);
    return "1\n";
  },
  "with commits in its log": (bench, target) => inLog(bench, target, ["", "-wal"]),
  "with a log and shared memory": (bench, target) => inLog(bench, target, ["", "-wal", "-shm"]),
};

async function inLog(bench: Workbench, target: string, suffixes: string[]): Promise<string> {
  await bench.commitFile("a", "1\n", "first");
  using connection = new Connection(bench.repository);
  connection.exec("PRAGMA journal_mode=WAL; BEGIN; SELECT * FROM config");
  await bench.commitFile("a", "2\n", "second");
  for (const suffix of suffixes) Deno.copyFileSync(bench.repository + suffix, target + suffix);
  return "2\n";
}

for (const [state, prepare] of Object.entries(STATES)) {
  for (const isWritable of [false, true]) {
    Deno.test({
      name: `a file ${state} is read in a folder that cannot be written${
        isWritable ? ", though it can be written itself" : ""
      }`,
      ...readOnlyFolders(),
      async fn() {
        using bench = new Workbench();
        await bench.muster("init");
        const folder = bench.path("closed");
        Deno.mkdirSync(folder);
        const path = `${folder}/two ?#%41.fossil`;
        const content = await prepare(bench, path);
        const before = namesIn(folder);
        if (!isWritable) { for (const name of before) Deno.chmodSync(`${folder}/${name}`, 0o444); }
        const run = (command: string, ...args: string[]) =>
          runReadOnly(folder, [...musterWords(), "fossil", command, path, ...args]);
        for (
          const [command, args, expected] of [
            ["cat", ["a"], content],
            ["search", ["first"], /first/],
            ["timeline", [], /first/],
          ] as const
        ) {
          const { code, stdout, stderr } = await run(command, ...args);
          assert.equal(code, 0, `${command}: ${stderr}`);
          if (typeof expected === "string") assert.equal(stdout, expected);
          else assert.match(stdout, expected);
          assert.deepEqual(namesIn(folder), before);
        }
        if (isWritable) return;
        const { code, stderr } = await run("wiki", "--delete", "Home");
        assert.equal(code, 1);
        assert.match(stderr, /^".*two \?#%41\.fossil" cannot be [^\n]*\n$/);
      },
    });
  }
}

Deno.test("a lock of another program is reported with the name of the file", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  bench.write("tree/a", "a\n");
  using connection = new Connection(bench.repository);
  connection.exec("BEGIN EXCLUSIVE");
  const results = await Promise.all([
    bench.try("timeline"),
    bench.try("commit", ["--from", "tree", "-m", "x"]),
  ]);
  for (const { code, stderr } of results) {
    assert.equal(code, 1);
    assert.equal(stderr, `"${bench.repository}" is locked by another program\n`);
  }
});

Deno.test("new files get the permissions that the umask allows", async () => {
  using bench = new Workbench();
  const words = (...args: string[]) =>
    [...musterWords(), "fossil", ...args].map((word) => `'${word}'`).join(" ");
  const script = `umask 027
    ${words("init", "one.fossil", "--user", "alice")} &&
    ${words("search", "one.fossil", "initial")} &&
    ${words("archive", "one.fossil", "-o", "all.zip")} &&
    printf 'commit refs/heads/x\ncommitter A <a@b> 1 +0000\ndata 0\n\nM 644 inline a\ndata 0\n\ndone\n' |
    ${words("import", "two.fossil")}`;
  const command = new Deno.Command("sh", { args: ["-c", script], cwd: bench.folder });
  const { code, stderr } = await command.output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  for (const name of ["one.fossil", "one.index", "all.zip", "two.fossil"]) {
    assert.equal((Deno.statSync(bench.path(name)).mode ?? 0) & 0o777, 0o640, name);
  }
  for (const name of ["one.fossil", "two.fossil"]) assert.equal(journalOf(bench.path(name)), 1);
  assert.equal((await runMuster(["fossil", "verify", "two.fossil"], bench)).code, 0);
});

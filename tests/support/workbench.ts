/** A repository file for `muster fossil` and the `fossil` program in turn. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { difference, dumpTables } from "../services/engines/fossil/support/tables.ts";
import { runMuster } from "./program.ts";

/** A scratch folder with a repository for both programs. */
export class Workbench extends Scratch {
  readonly repository = this.path("one.fossil");

  /** Runs `muster fossil COMMAND REPOSITORY …`; a failure is a value. */
  async try(command: string, args: readonly string[] = [], stdin = "") {
    const words = ["fossil", command, this.repository, ...args];
    return await runMuster(words, { folder: this.folder, environment: { USER: "alice" }, stdin });
  }

  /** Runs `muster fossil`, which must succeed; returns its standard output. */
  async muster(command: string, args: readonly string[] = [], stdin = ""): Promise<string> {
    const { code, stdout, stderr } = await this.try(command, args, stdin);
    assert.equal(code, 0, `${command} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  async json(command: string, ...args: readonly string[]) {
    return JSON.parse(await this.muster(command, [...args, "--json"]));
  }

  /** Commits the folder `tree`; returns the check-in's hash. */
  async commit(message: string, ...more: readonly string[]): Promise<string> {
    const args = ["--from", "tree", "--message", message, "--user", "bob", ...more];
    return (await this.muster("commit", args)).trim();
  }

  /** The first row of a query. */
  query<Row>(sql: string): Row {
    using connection = new DatabaseSync(this.repository, { readOnly: true });
    return connection.prepare(sql).get() as Row;
  }

  /** Changes the file without either program. */
  alter(sql: string): void {
    using connection = new DatabaseSync(this.repository);
    connection.exec(`PRAGMA foreign_keys=OFF; ${sql}`);
  }

  /** Writes a file into the folder `tree` and commits that folder; returns the check-in's hash. */
  commitFile(name: string, content: string, message: string): Promise<string> {
    this.write(`tree/${name}`, content);
    return this.commit(message);
  }

  /**
   * Asserts that all content decodes and parses, and that a rebuild by either program gives the
   * same tables.
   */
  async assertSound(): Promise<void> {
    const [ours, theirs] = [this.path("ours.fossil"), this.path("theirs.fossil")];
    this.fossil(["clone", this.repository, this.path("clone.fossil")]);
    Deno.removeSync(this.path("clone.fossil"));
    assert.match(this.fossil(["test-integrity", "--parse", "-R", this.repository]), / 0 errors/);
    for (const copy of [ours, theirs]) Deno.copyFileSync(this.repository, copy);
    await runMuster(["fossil", "rebuild", ours], { folder: this.folder });
    this.fossil(["rebuild", theirs]);
    assert.deepEqual(difference(dumpTables(ours), dumpTables(theirs)), []);
    assert.deepEqual(difference(dumpTables(this.repository), dumpTables(theirs)), []);
    Deno.removeSync(ours);
    Deno.removeSync(theirs);
  }
}

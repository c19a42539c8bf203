/** A repository to write to, and how to judge what was written. */
import assert from "node:assert/strict";
import {
  encodeUtf8,
  type FileChange,
  FossilError,
  Repository,
  writeCheckin,
} from "../../../../../services/engines/fossil/mod.ts";
import { Scratch } from "./fossil.ts";
import { History } from "./history.ts";
import { difference, dumpTables } from "./tables.ts";

/** A repository, with a clock that goes on by a minute for each write. */
export class Fixture implements Disposable {
  readonly scratch: Scratch;
  readonly path: string;
  readonly repository: Repository;
  #now = History.start;

  /** @param program the `fossil` that judges. */
  constructor(program?: string) {
    this.scratch = new Scratch(program);
    this.path = this.scratch.path("fixture.fossil");
    this.repository = Repository.create(this.path, { admin: "alice", date: History.start });
  }

  author(user = "alice") {
    this.#now += 60_000;
    return { user, date: this.#now };
  }

  tip(branch = "trunk"): string {
    return this.repository.db.value<string>(
      `SELECT uuid FROM tagxref JOIN blob USING(rid) JOIN event ON objid=rid
        WHERE tagxref.tagid=8 AND value=? ORDER BY event.mtime DESC LIMIT 1`,
      branch,
    ) ?? "";
  }

  commit(changes: readonly FileChange[], more: Partial<Parameters<typeof writeCheckin>[1]> = {}) {
    const checkin = { ...this.author(), parent: this.tip(), comment: "a commit", changes, ...more };
    return writeCheckin(this.repository, checkin);
  }

  fossil(...args: readonly string[]): string {
    return this.scratch.fossil([...args, "-R", this.path]);
  }

  /** What every write must hold: all content decodes and parses, a rebuild changes nothing. */
  assertSound(): void {
    const copy = this.scratch.path("copy.fossil");
    this.repository.checkpoint();
    // By another process: where this one closes a file, SQLite loses the locks it has there.
    new Deno.Command("cp", { args: [this.path, copy] }).outputSync();
    assert.match(this.scratch.fossil(["test-integrity", "--parse", "-R", copy]), / 0 errors/);
    this.scratch.fossil(["rebuild", copy]);
    assert.deepEqual(difference(dumpTables(this.path), dumpTables(copy)), []);
  }

  [Symbol.dispose](): void {
    this.repository.close();
    this.scratch[Symbol.dispose]();
  }
}

/** A change that writes a file. */
export function put(path: string, text: string, mode?: "executable" | "link"): FileChange {
  const change = { kind: "write", path, content: encodeUtf8(text) } as const;
  return mode === undefined ? change : { ...change, mode };
}

/** Asserts that work throws an error of the engine with a code. */
export function refuses(code: FossilError["code"], work: () => unknown): void {
  assert.throws(work, (error: unknown) => error instanceof FossilError && error.code === code);
}

/**
 * Notes which statements of SQL each file of tests has an app database in SQLite run, so that a later
 * run can have PostgreSQL run all of them. `deno task test --statements=FOLDER` preloads this.
 */
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { SQLITE_FILE } from "../../services/operation/daemon/app_database.ts";

/** The frame of a file of tests in a stack. */
const TEST_FILE = /file:\/\/\/[^\s)]*_test\.tsx?(?=:\d+:\d+)/;

/** Frames of a stack: more than a test and its fixtures have. */
const FRAMES = 100;

/** Parameters and rows in any number are one statement. */
const LIST = /\((?:\?|\(\?(?:, \?)*\))(?:, (?:\?|\(\?(?:, \?)*\)))*\)/g;

const folder = Deno.env.get("MUSTER_TEST_STATEMENTS") ?? "";

/** What each file of tests has had run. */
const statements = new Map<string, Set<string>>();

/** The file whose test opened a database; null for others than an app database. */
const owners = new WeakMap<DatabaseSync, string | null>();

function ownerOf(database: DatabaseSync): string | null {
  const known = owners.get(database);
  if (known !== undefined) return known;
  const owner = basename(database.location() ?? "") === SQLITE_FILE ? testInStack() : null;
  owners.set(database, owner);
  return owner;
}

/** The file whose test opened a database last. */
let latest = "";

/**
 * The file of the test that awaits the caller, or of the last one that did: an isolate runs one test
 * after the other.
 *
 * @throws Error if there is none
 */
function testInStack(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = limit;
  const url = TEST_FILE.exec(stack)?.[0];
  if (url !== undefined) latest = fileURLToPath(url);
  if (latest === "") throw new Error(`No test awaits what opens this database:\n${stack}`);
  return latest;
}

const { exec, prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.exec = function (sql) {
  // What opens a database sets it up at once, and so in the stack of its test.
  ownerOf(this);
  return exec.call(this, sql);
};

DatabaseSync.prototype.prepare = function (sql, ...options) {
  const owner = ownerOf(this);
  if (owner !== null) {
    const own = statements.get(owner) ?? new Set();
    statements.set(owner, own.add(sql.replaceAll(/\s+/g, " ").replaceAll(LIST, "(?)")));
  }
  return prepare.call(this, sql, ...options);
};

addEventListener("unload", () => {
  const noted = [...statements].map(([file, own]) => [file, [...own]]);
  Deno.writeTextFileSync(join(folder, `${crypto.randomUUID()}.json`), JSON.stringify(noted));
});

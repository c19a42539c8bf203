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

/** An app database. */
interface Opened {
  /** The file of tests whose test uses it; null while no test was seen in a stack. */
  file: string | null;
  /** The file of the test that was seen before. */
  readonly before: string | null;
  readonly statements: Set<string>;
}

/** The app databases, by their paths. */
const opened = new Map<string, Opened>();

/** What connections are to; null for others than app databases. */
const known = new WeakMap<DatabaseSync, Opened | null>();

/** The file of the test that was seen last: an isolate runs one after the other. */
let latest: string | null = null;

function openedBy(connection: DatabaseSync): Opened | null {
  const path = connection.location() ?? "";
  if (basename(path) !== SQLITE_FILE) return null;
  const one = opened.get(path) ?? { file: null, before: latest, statements: new Set() };
  opened.set(path, one);
  return one;
}

/** The file of the test that awaits the caller; null if there is none in the stack. */
function testInStack(): string | null {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = limit;
  const url = TEST_FILE.exec(stack)?.[0];
  return url === undefined ? null : latest = fileURLToPath(url);
}

const { prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.prepare = function (sql, ...options) {
  const one = known.has(this) ? known.get(this) ?? null : openedBy(this);
  known.set(this, one);
  if (one !== null) {
    one.file ??= testInStack();
    one.statements.add(sql.replaceAll(/\s+/g, " ").replaceAll(LIST, "(?)"));
  }
  return prepare.call(this, sql, ...options);
};

addEventListener("unload", () => {
  const noted = [...opened.values()].map(({ file, before, statements }) => {
    return [file ?? before ?? latest, [...statements]];
  });
  Deno.writeTextFileSync(join(folder, `${crypto.randomUUID()}.json`), JSON.stringify(noted));
});

/** The app database, the event log and the IRC history. */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Folders } from "../backup/mod.ts";
import { SCHEMA_VERSION } from "../database/mod.ts";
import { readDatabase } from "../database/sqlite/mod.ts";
import { verifyLog } from "../events/mod.ts";
import { readKeyFile } from "../identity/mod.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Findings of SQLite and of the event log that are shown one by one. */
const SHOWN = 5;

/** How far the clock may be behind the newest event, in milliseconds. */
const CLOCK_TOLERANCE = 60_000;

const RESTORE = "stop muster and restore a backup: muster restore BACKUP --replace";

/** What the app database tells other checks; null if it cannot be read. */
export interface DatabaseFacts {
  readonly slugs: readonly string[];
  readonly unsettled: number;
}

interface DatabaseCheck {
  readonly findings: readonly Finding[];
  readonly facts: DatabaseFacts | null;
}

interface Circumstances {
  /** Unix milliseconds. */
  readonly now: number;
  /** The version of this program. */
  readonly version: string;
  readonly isRunning: boolean;
}

/** Checks the app database, and reads what other checks need. */
export function checkDatabase({ data }: Folders, circumstances: Circumstances): DatabaseCheck {
  const path = join(data, "muster.db");
  const damage = integrityOf(path, "database");
  if (damage.length > 0) return { findings: damage, facts: null };
  return readDatabase(path, (database) => checkContent(database, circumstances));
}

function checkContent(
  database: DatabaseSync,
  { now, version, isRunning }: Circumstances,
): DatabaseCheck {
  const schema = number(database, "SELECT user_version AS value FROM pragma_user_version");
  const found = findingsOf("versions");
  if (schema > SCHEMA_VERSION) {
    const message = `The database has version ${schema} and comes from a newer muster; ` +
      `this one knows versions up to ${SCHEMA_VERSION}`;
    return { findings: [found.error(message, "run a newer muster")], facts: null };
  }
  if (schema < SCHEMA_VERSION) {
    const message = `The database has version ${schema}, and this muster uses ${SCHEMA_VERSION}`;
    const fix = "the next start brings it up to date: muster upgrade --check tells more";
    return { findings: [found.note(message, fix)], facts: null };
  }
  const findings = [
    ...checkReferences(database),
    ...checkClock(database, now),
    ...checkLastVersion(database, version),
  ];
  const slugs = database.prepare("SELECT slug FROM projects ORDER BY slug").all()
    .map(({ slug }) => String(slug));
  const unsettled = number(database, "SELECT count(*) AS value FROM intentions");
  if (unsettled > 0 && !isRunning) {
    findings.push(
      findingsOf("unfinished").note(
        `${unsettled} changes of projects were interrupted`,
        "the next start settles them",
      ),
    );
  }
  return { findings, facts: { slugs, unsettled } };
}

/** Checks the chain of the event log. */
export async function checkEvents({ data }: Folders): Promise<Finding[]> {
  const found = findingsOf("events");
  const fix = "compare the log with a backup; if the change was not yours, restore the backup";
  try {
    const key = await readKeyFile(join(data, "event_key"));
    // The check of the keys reports a missing one.
    const report = verifyLog(join(data, "muster.db"), key);
    const messages = report.findings.filter((message) => !/^The key of the seals/.test(message));
    return few(messages).map((message) => found.error(message, fix));
  } catch (error) {
    return [found.error(reasonOf(error), RESTORE)];
  }
}

/** Checks the IRC history. */
export function checkHistory({ data }: Folders): Finding[] {
  const path = join(data, "history.db");
  try {
    Deno.statSync(path);
  } catch {
    return [];
  }
  const findings = integrityOf(path, "history");
  if (findings.length > 0) return findings;
  const count = `SELECT count(*) AS value FROM targets WHERE records <>
    (SELECT count(*) FROM entries WHERE entries.target = targets.id)`;
  const wrong = readDatabase(path, (database) => number(database, count));
  if (wrong === 0) return [];
  return [
    findingsOf("history").error(
      `The counts of ${wrong} logs in the history are wrong`,
      RESTORE,
    ),
  ];
}

/** Checks the pages, indexes and constraints of a database. */
export function integrityOf(path: string, check: string): Finding[] {
  const found = findingsOf(check);
  try {
    const rows = readDatabase(
      path,
      (database) => database.prepare("PRAGMA integrity_check(100)").all(),
    );
    const messages = rows.map((row) => String(row["integrity_check"]));
    if (messages.length === 1 && messages[0] === "ok") return [];
    return few(messages).map((message) => found.error(`"${path}" is damaged: ${message}`, RESTORE));
  } catch (error) {
    return [found.error(`"${path}" cannot be read: ${reasonOf(error)}`, RESTORE)];
  }
}

function checkReferences(database: DatabaseSync): Finding[] {
  const rows = database.prepare("PRAGMA foreign_key_check").all();
  if (rows.length === 0) return [];
  const tables = [...new Set(rows.map(({ table }) => String(table)))].join(", ");
  const message = `${rows.length} rows of the database name others that do not exist, in ${tables}`;
  return [findingsOf("database").error(message, RESTORE)];
}

function checkClock(database: DatabaseSync, now: number): Finding[] {
  const newest = number(database, "SELECT coalesce(max(time), 0) AS value FROM events");
  if (newest <= now + CLOCK_TOLERANCE) return [];
  return [
    findingsOf("clock").error(
      `The clock of this machine is ${Math.round((newest - now) / 1000)} s behind the newest event`,
      "set the clock and let it follow a time server: timedatectl set-ntp true",
    ),
  ];
}

function checkLastVersion(database: DatabaseSync, version: string): Finding[] {
  const row = database.prepare(
    `SELECT json_extract(data, '$.version') AS version FROM events
     WHERE type = 'program.started' ORDER BY seq DESC LIMIT 1`,
  ).get();
  const last = String(row?.["version"] ?? version);
  if (compareVersions(last, version) <= 0) return [];
  return [
    findingsOf("versions").warning(
      `muster ${last} started last with this data; this is ${version}`,
      `use muster ${last} or a newer one`,
    ),
  ];
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/[.-]/).map(Number)) as [
    number[],
    number[],
  ];
  for (let place = 0; place < 3; place++) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
}

function number(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.["value"]);
}

function few(messages: readonly string[]): string[] {
  if (messages.length <= SHOWN) return [...messages];
  return [...messages.slice(0, SHOWN), `… and ${messages.length - SHOWN} more findings`];
}

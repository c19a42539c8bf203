/** The app database, the event log and the IRC history. */
import { amount } from "../../kernel/words.ts";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Folders } from "../backup/mod.ts";
import {
  type Database,
  type PostgresSettings,
  readPostgres,
  refusalOf,
  SCHEMA_VERSION,
} from "../../engines/database/mod.ts";
import { readDatabase, reasonOfSqlite } from "../../engines/database/sqlite/mod.ts";
import { NO_JOURNAL, readJournal } from "../../chat/irc_server/history/mod.ts";
import { verifyLog, verifyPostgresLog } from "../../engines/events/mod.ts";
import { readKeyFile } from "../../people/identity/mod.ts";
import { countRetained, RETAINED } from "../retention/mod.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";
import { countOf, LARGEST, type StoredFacts } from "./stored.ts";

/** Findings of SQLite and of the event log that are shown one by one. */
const SHOWN = 5;

/** How far the clock may be behind the newest event, in milliseconds. */
const CLOCK_TOLERANCE = 60_000;

/** The first versions of the history that have a journal, and one with an identity. */
const FIRST_WITH_JOURNAL = 4;
const FIRST_WITH_IDENTITY = 5;

const RESTORE = "stop muster and restore a backup: muster restore BACKUP --replace";

/** The same for an app database in PostgreSQL. */
const RESTORE_POSTGRES = "stop muster and restore a dump of the database with pg_restore";

/** A project that is not removed. */
export interface PlacedProject {
  readonly slug: string;
  /** The name of the node with its repository; null if no node has run. */
  readonly home: string | null;
  /** The number of the newest receipt of its repository that the server knows; null if unknown. */
  readonly received: number | null;
  /** The files of its releases, as the repository names them. */
  readonly releaseFiles: readonly string[];
}

/** A mirror or a webhook whose last attempt failed. */
interface Failing {
  /** As `The mirror of "demo"`. */
  readonly what: string;
  /** Since when, in Unix milliseconds; null if nobody knows. */
  readonly since: number | null;
  readonly reason: string | null;
}

/** What the app database tells other checks; null if it cannot be read. */
export interface DatabaseFacts {
  readonly projects: readonly PlacedProject[];
  readonly unsettled: number;
  readonly stored: StoredFacts;
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

/** What the checks read from the app database of this version. */
interface Content {
  /** Tables with rows that name others which do not exist. */
  readonly loose: { readonly rows: number; readonly tables: readonly string[] };
  /** When the newest event was written, in Unix milliseconds; 0 if there is none. */
  readonly newest: number;
  /** The data of the last start; null if there was none. */
  readonly lastStart: string | null;
  readonly projects: readonly PlacedProject[];
  readonly unsettled: number;
  readonly failing: readonly Failing[];
  readonly stored: Omit<StoredFacts, "slugs">;
}

/** Checks the app database, and reads what other checks need. */
export async function checkDatabase(
  { data }: Folders,
  postgres: PostgresSettings | null,
  circumstances: Circumstances,
): Promise<DatabaseCheck> {
  if (postgres !== null) return await checkPostgres(postgres, circumstances);
  const path = join(data, "muster.db");
  const damage = integrityOf(path, "database");
  if (damage.length > 0) return { findings: damage, facts: null };
  return readDatabase(path, (database) => {
    const version = number(database, "SELECT user_version AS value FROM pragma_user_version");
    const outdated = checkSchema(version);
    if (outdated.length > 0) return { findings: outdated, facts: null };
    return checkContent(sqliteContent(database), circumstances);
  });
}

async function checkPostgres(
  settings: PostgresSettings,
  circumstances: Circumstances,
): Promise<DatabaseCheck> {
  try {
    return await readPostgres(settings, async ({ version, tables }) => {
      const outdated = checkSchema(version, "the next start brings it up to date");
      if (outdated.length > 0) return { findings: outdated, facts: null };
      return checkContent(await postgresContent(tables), circumstances);
    });
  } catch (error) {
    const fix = "start PostgreSQL, or correct database.url";
    return { findings: [findingsOf("database").error(reasonOf(error), fix)], facts: null };
  }
}

/** @param update what brings an older one up to date */
function checkSchema(
  version: number,
  update = "the next start brings it up to date: muster upgrade --check tells more",
): Finding[] {
  if (version === 0) return [findingsOf("database").note("There is no data yet", "start muster")];
  const found = findingsOf("versions");
  const refusal = refusalOf(version);
  if (refusal !== null) return [found.error(`The database ${refusal.reason}`, refusal.fix)];
  if (version === SCHEMA_VERSION) return [];
  const message = `The database has version ${version}, and this muster uses ${SCHEMA_VERSION}`;
  return [found.note(message, update)];
}

function sqliteContent(database: DatabaseSync): Content {
  const loose = database.prepare("PRAGMA foreign_key_check").all();
  const start = database.prepare(
    "SELECT data FROM events WHERE type = 'program.started' ORDER BY seq DESC LIMIT 1",
  ).get();
  return {
    loose: { rows: loose.length, tables: [...new Set(loose.map(({ table }) => String(table)))] },
    newest: number(database, "SELECT coalesce(max(time), 0) AS value FROM events"),
    lastStart: start === undefined ? null : String(start["data"]),
    projects: database.prepare(
      `SELECT id, slug, home, last_rcvid FROM projects
       LEFT JOIN repository_cursors ON project_id = id
       WHERE removed_at IS NULL ORDER BY slug`,
    ).all().map(({ id, slug, home, last_rcvid: received }) => ({
      releaseFiles: database.prepare(
        "SELECT tag_name, name FROM release_assets WHERE project_id = ?",
      ).all(String(id)).map(({ tag_name, name }) => `releases/${tag_name}/${name}`),
      slug: String(slug),
      home: home === null ? null : String(home),
      received: received === null ? null : Number(received),
    })),
    unsettled: number(database, "SELECT count(*) AS value FROM intentions"),
    failing: [
      ...database.prepare(
        `SELECT slug, last_success_at, last_error FROM project_mirrors
         JOIN projects ON id = project_id
         WHERE failures > 0 AND removed_at IS NULL ORDER BY slug`,
      ).all().map((row) => mirrorFailing(row as unknown as FailingMirror)),
      ...database.prepare(
        `SELECT webhooks.id, slug, failing_since FROM webhooks
         LEFT JOIN projects ON projects.id = project_id
         WHERE failing_since IS NOT NULL AND is_active = 1 AND removed_at IS NULL ORDER BY 1`,
      ).all().map((row) => webhookFailing(row as unknown as FailingWebhook)),
    ],
    stored: {
      rows: new Map(RETAINED.map((table) => [table, number(database, countOf(table))])),
      largest: largestOf(database.prepare(LARGEST).get()),
    },
  };
}

interface FailingMirror {
  readonly slug: string;
  readonly last_success_at: number | null;
  readonly last_error: string | null;
}

interface FailingWebhook {
  readonly id: string;
  readonly slug: string | null;
  readonly failing_since: number | null;
}

function mirrorFailing(
  { slug, last_success_at: since, last_error: reason }: FailingMirror,
): Failing {
  return { what: `The mirror of "${slug}"`, since, reason };
}

function webhookFailing({ id, slug, failing_since: since }: FailingWebhook): Failing {
  const of = slug === null ? "the server" : `"${slug}"`;
  return { what: `The webhook "${id}" of ${of}`, since, reason: null };
}

/** PostgreSQL itself keeps rows from naming others that do not exist. */
async function postgresContent(tables: Database["tables"]): Promise<Content> {
  const newest = await tables.selectFrom("events").select(({ fn }) => fn.max("time").as("time"))
    .executeTakeFirst();
  const start = await tables.selectFrom("events").select("data")
    .where("type", "=", "program.started").orderBy("seq", "desc").limit(1).executeTakeFirst();
  const projects = await tables.selectFrom("projects")
    .leftJoin("repository_cursors", "project_id", "id")
    .select(["id", "slug", "home", "last_rcvid as received"])
    .where("removed_at", "is", null).orderBy("slug").execute();
  const assets = Map.groupBy(
    await tables.selectFrom("release_assets").select(["project_id", "tag_name", "name"]).execute(),
    ({ project_id }) => project_id,
  );
  const mirrors = await tables.selectFrom("project_mirrors")
    .innerJoin("projects", "projects.id", "project_id")
    .select(["slug", "last_success_at", "last_error"])
    .where("failures", ">", 0).where("removed_at", "is", null).orderBy("slug").execute();
  const webhooks = await tables.selectFrom("webhooks")
    .leftJoin("projects", "projects.id", "project_id")
    .select(["webhooks.id", "slug", "failing_since"])
    .where("failing_since", "is not", null).where("is_active", "=", 1)
    .where("removed_at", "is", null).orderBy("webhooks.id").execute();
  const { unsettled } = await tables.selectFrom("intentions")
    .select(({ fn }) => fn.countAll<number>().as("unsettled")).executeTakeFirstOrThrow();
  return {
    loose: { rows: 0, tables: [] },
    newest: newest?.time ?? 0,
    lastStart: start?.data ?? null,
    projects: projects.map(({ id, ...project }) => ({
      ...project,
      releaseFiles: (assets.get(id) ?? []).map(({ tag_name, name }) =>
        `releases/${tag_name}/${name}`
      ),
    })),
    unsettled,
    failing: [...mirrors.map(mirrorFailing), ...webhooks.map(webhookFailing)],
    stored: {
      rows: await countRetained(tables),
      largest: largestOf(
        await tables.selectFrom("stored_bytes").leftJoin("accounts", "accounts.id", "actor_key")
          .select(({ fn }) => [
            fn.coalesce(fn.max("accounts.name"), "actor_key").as("name"),
            fn.sum<number | string>("bytes").as("bytes"),
          ])
          .groupBy("actor_key").orderBy("bytes", "desc").limit(1).executeTakeFirst(),
      ),
    },
  };
}

function checkContent(
  { loose, newest, lastStart, projects, unsettled, failing, stored }: Content,
  { now, version, isRunning }: Circumstances,
): DatabaseCheck {
  const findings = [
    ...checkReferences(loose),
    ...checkClock(newest, now),
    ...checkLastVersion(lastStart, version),
    ...failing.map(findingOfFailing),
  ];
  if (unsettled > 0 && !isRunning) {
    findings.push(
      findingsOf("unfinished").note(
        `${amount(unsettled, "change")} of projects ${
          unsettled === 1 ? "was" : "were"
        } interrupted`,
        "the next start settles them",
      ),
    );
  }
  const slugs = projects.map(({ slug }) => slug);
  return { findings, facts: { projects, unsettled, stored: { ...stored, slugs } } };
}

/** @param row the name of the caller that stored most, and its bytes */
function largestOf(
  row: { readonly name?: unknown; readonly bytes?: unknown } | undefined,
): StoredFacts["largest"] {
  return row === undefined ? null : { name: String(row.name), bytes: Number(row.bytes) };
}

function findingOfFailing({ what, since, reason }: Failing): Finding {
  const when = since === null ? "" : ` since ${new Date(since).toISOString()}`;
  const why = reason === null ? "" : `: ${reason}`;
  return findingsOf("deliveries").warning(
    `${what} fails${when}${why}`,
    "make its receiver take what comes, or correct or remove it in the project's settings",
  );
}

/** Checks the chain of the event log. */
export async function checkEvents(
  { data }: Folders,
  postgres: PostgresSettings | null,
): Promise<Finding[]> {
  const found = findingsOf("events");
  const fix = "compare the log with a backup; if the change was not yours, restore the backup";
  try {
    const key = await readKeyFile(join(data, "event_key"));
    // The check of the keys reports a missing one.
    const report = postgres === null
      ? verifyLog(join(data, "muster.db"), key)
      : await verifyPostgresLog(postgres, key);
    const messages = report.findings.filter((message) => !/^The key of the seals/.test(message));
    return few(messages).map((message) => found.error(message, fix));
  } catch (error) {
    return [found.error(reasonOf(error), postgres === null ? RESTORE : RESTORE_POSTGRES)];
  }
}

/**
 * Checks the IRC history and its journal.
 *
 * @param state whether a start makes its file, and whether a server runs
 */
export function checkHistory(
  { data }: Folders,
  { isKept, isRunning }: { readonly isKept: boolean; readonly isRunning: boolean },
): Finding[] {
  const found = findingsOf("history");
  const path = join(data, "history.db");
  try {
    Deno.statSync(path);
  } catch {
    const fix = `${RESTORE}; a start makes an empty history`;
    return isKept ? [found.warning(`The history "${path}" is missing`, fix)] : [];
  }
  const findings = integrityOf(path, "history");
  if (findings.length > 0) return findings;
  const tables = "SELECT count(*) AS value FROM sqlite_schema";
  if (readDatabase(path, (database) => number(database, tables)) === 0) {
    return [found.error(`The history "${path}" is empty`, RESTORE)];
  }
  const count = `SELECT count(*) AS value FROM targets WHERE records <>
    (SELECT count(*) FROM entries WHERE entries.target = targets.id)`;
  const wrong = readDatabase(path, (database) => number(database, count));
  if (wrong > 0) {
    const message = `The counts of ${wrong} logs in the history are wrong`;
    return [found.error(message, RESTORE)];
  }
  return isRunning ? [] : checkJournal(path);
}

/** Tells what a stopped program has left in the history's journal. */
function checkJournal(path: string): Finding[] {
  const found = findingsOf("history");
  const last = readDatabase(path, (database) => {
    const version = number(database, "SELECT user_version AS value FROM pragma_user_version");
    if (version < FIRST_WITH_JOURNAL) return null;
    const sequence = number(database, "SELECT sequence AS value FROM last_change");
    if (version < FIRST_WITH_IDENTITY) return { sequence, journal: NO_JOURNAL };
    const { journal } = database.prepare("SELECT journal FROM last_change").get() ?? {};
    return { sequence, journal: String(journal) };
  });
  if (last === null) return [];
  const { operations, torn, foreign } = readJournal(path, last);
  const findings = foreign.map((file) =>
    found.warning(
      `"${file}" is the journal of another history, or of another copy of this one`,
      `if its messages are missed, put it beside the history.db that it belongs to; the next start ` +
        "keeps it aside",
    )
  );
  if (operations.length > 0) {
    const message = `${amount(operations.length, "change")} of the history ${
      operations.length === 1 ? "is" : "are"
    } only in its journal`;
    findings.push(found.note(message, "the next start moves them into the database"));
  }
  if (torn > 0) {
    const message =
      `The history's journal ends in the middle of a change: a kill, a full disk or ` +
      "a loss of power came before its end";
    findings.push(found.note(message, "the next start leaves that change out"));
  }
  return findings;
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
    return [found.error(`"${path}" cannot be read: ${reasonOfSqlite(error, path)}`, RESTORE)];
  }
}

function checkReferences({ rows, tables }: Content["loose"]): Finding[] {
  if (rows === 0) return [];
  const message =
    `${amount(rows, "row")} of the database ${
      rows === 1 ? "names" : "name"
    } others that do not exist, in ` +
    tables.join(", ");
  return [findingsOf("database").error(message, RESTORE)];
}

function checkClock(newest: number, now: number): Finding[] {
  if (newest <= now + CLOCK_TOLERANCE) return [];
  return [
    findingsOf("clock").error(
      `The clock of this machine is ${Math.round((newest - now) / 1000)} s behind the newest event`,
      "set the clock and let it follow a time server: timedatectl set-ntp true",
    ),
  ];
}

/** @param lastStart the data of the event */
function checkLastVersion(lastStart: string | null, version: string): Finding[] {
  const last = versionIn(lastStart) ?? version;
  if (compareVersions(last, version) <= 0) return [];
  return [
    findingsOf("versions").warning(
      `muster ${last} started last with this data; this is ${version}`,
      `use muster ${last} or a newer one`,
    ),
  ];
}

/** The check of the event log reports data that are no JSON. */
function versionIn(data: string | null): string | null {
  try {
    const version: unknown = JSON.parse(data ?? "{}").version;
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
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
  return [...messages.slice(0, SHOWN), `… and ${amount(messages.length - SHOWN, "more finding")}`];
}

import { DatabaseSync } from "node:sqlite";

/**
 * The schema of the archive. A log is a target. One table has the entries of all logs in order;
 * their times never go back, so ordering by time and sequence gives the order of a log.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE targets (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    records INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, name)
  ) STRICT;

  CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    target INTEGER NOT NULL REFERENCES targets (id),
    time INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    confined INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT;

  CREATE INDEX entries_in_order ON entries (target, time);
  CREATE INDEX messages_in_order ON entries (target, time) WHERE kind = 0;
  CREATE INDEX entries_by_id ON entries (id);
  CREATE INDEX confined_entries ON entries (target) WHERE confined = 1;
  `,
  // Earlier versions did not count secret channels (+s) as confined. What they said since their last
  // change of that mode is now: it is forgotten when somebody creates the channel again.
  `
  CREATE TEMPORARY TABLE secrecy AS
  WITH heads AS (
    SELECT entries.target, entries.sequence, json_extract(content, '$.head') AS head
    FROM entries JOIN targets ON targets.id = entries.target
    WHERE targets.account = '' AND kind = 1 AND json_valid(content) AND content LIKE '% MODE %'
  ), changes AS (
    SELECT target, sequence, substr(head, instr(head, ' MODE ') + length(' MODE ')) AS change
    FROM heads WHERE instr(head, ' MODE ') = instr(head, ' ')
  ), parameters AS (
    SELECT target, sequence, substr(change, instr(change, ' ') + 1) || ' ' AS parameters FROM changes
  ), letters AS (
    SELECT target, sequence, substr(parameters, 1, instr(parameters, ' ')) AS letters FROM parameters
  )
  SELECT target, max(sequence) AS sequence,
    rtrim(substr(letters, 1, instr(letters, 's')), 'abcdefghijklmnopqrstuvwxyzCI') LIKE '%+' AS isSet
  FROM letters WHERE instr(letters, 's') > 0 GROUP BY target;

  UPDATE entries SET confined = 1 WHERE confined = 0 AND EXISTS (
    SELECT 1 FROM secrecy
    WHERE secrecy.target = entries.target AND secrecy.sequence <= entries.sequence AND isSet
  );
  DROP TABLE secrecy;
  `,
  // An index of the texts: see SearchIndex. A posting is at the segment's id times the number of
  // keys, plus its first key.
  `
  CREATE TABLE search_segments (
    id INTEGER PRIMARY KEY,
    target INTEGER NOT NULL REFERENCES targets (id),
    first INTEGER NOT NULL,
    first_time INTEGER NOT NULL,
    last INTEGER NOT NULL,
    last_time INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    places BLOB NOT NULL
  ) STRICT;

  CREATE INDEX search_segments_in_order ON search_segments (target, first);

  CREATE TABLE search_postings (
    place INTEGER PRIMARY KEY,
    postings BLOB NOT NULL
  ) STRICT;
  `,
  // The number of the last change that the file has: see Journal.
  `
  CREATE TABLE last_change (sequence INTEGER NOT NULL) STRICT;
  INSERT INTO last_change SELECT coalesce(max(sequence), 0) FROM entries;
  `,
  // The journal that had this change; before the first one with an identity, one that no journal has.
  `
  ALTER TABLE last_change ADD COLUMN journal TEXT NOT NULL DEFAULT '';
  UPDATE last_change SET journal = 'first-' || lower(hex(randomblob(16)));
  `,
  // The time of the newest message that retention removed from a log; 0 if it has removed none. Of
  // earlier removals nobody knows, unless every change since the first is there.
  `
  ALTER TABLE targets ADD COLUMN trimmed INTEGER NOT NULL DEFAULT 0;
  UPDATE targets SET trimmed = coalesce(
    (SELECT min(time) - 1 FROM entries WHERE entries.target = targets.id AND kind = 0), 0
  ) WHERE (SELECT count(*) FROM entries) < (SELECT coalesce(max(sequence), 0) FROM last_change);
  `,
];

/**
 * Opens the archive and migrates it to the present schema. Creates it if it does not exist, readable
 * by its owner alone. Deleted content is overwritten in the file. A commit survives the process, but
 * only a sync of the log survives a loss of power.
 *
 * @throws Error if the file is not an archive of this program or belongs to a newer version
 */
export function openArchive(path: string): DatabaseSync {
  Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 }).close();
  const database = new DatabaseSync(path);
  try {
    const version = versionOf(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF;
    `);
    for (const [index, statements] of MIGRATIONS.slice(version).entries()) {
      database.exec("BEGIN IMMEDIATE");
      database.exec(statements);
      database.exec(`PRAGMA user_version = ${version + index + 1}`);
      database.exec("COMMIT");
    }
    // The journal depends on what the migration says of it, and is synced earlier than the archive.
    if (version < MIGRATIONS.length) database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function versionOf(database: DatabaseSync, path: string): number {
  let version: number;
  try {
    version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  } catch {
    throw new Error(`The file "${path}" is no database`);
  }
  if (version <= MIGRATIONS.length) return version;
  throw new Error(
    `The history "${path}" has version ${version} and comes from a newer muster; ` +
      `this one knows versions up to ${MIGRATIONS.length}`,
  );
}

/**
 * A hundred attempts to read what `sql_query` may not show, to write, to run forever or to exhaust
 * memory. Each is a statement and the pattern of its refusal.
 */

/** What no answer may ever hold: the values of closed tables in the tests' repositories. */
export const SECRET = "s3cr3t-marker";

/** Fills closed tables of a repository, as another program would. */
export const SECRETS_SQL = `
  INSERT INTO user(login, pw, cap, cookie, info) VALUES('target', '${SECRET}', 's', '${SECRET}', '${SECRET}');
  INSERT INTO config(name, value, mtime) VALUES('smtp-password', '${SECRET}', 1);
  INSERT INTO concealed(hash, mtime, content) VALUES('00', 1, '${SECRET}');
  INSERT INTO shun(uuid, mtime, scom) VALUES('ab', 1, '${SECRET}');
  UPDATE rcvfrom SET ipaddr='${SECRET}';
  INSERT INTO reportfmt(rn, owner, title, cols, sqlcode) VALUES(99, 'x', 'x', '', '${SECRET}');
  CREATE TABLE subscriber(semail TEXT, skey BLOB);
  INSERT INTO subscriber VALUES('${SECRET}', '${SECRET}');
  CREATE TABLE accesslog(uname TEXT, ipaddr TEXT);
  INSERT INTO accesslog VALUES('target', '${SECRET}');
  CREATE TABLE admin_log(what TEXT);
  INSERT INTO admin_log VALUES('${SECRET}');
  CREATE TABLE IF NOT EXISTS unversioned(name TEXT PRIMARY KEY, content BLOB);
  INSERT INTO unversioned(name, content) VALUES('releases/draft/file', '${SECRET}');
  CREATE TABLE modreq(objid INTEGER PRIMARY KEY, attachRid INT, tktid TEXT);
  INSERT INTO modreq VALUES(1, 1, '${SECRET}');
  CREATE TABLE chat(msgid INTEGER PRIMARY KEY, xmsg TEXT);
  INSERT INTO chat VALUES(1, '${SECRET}');
  CREATE VIRTUAL TABLE ftsidx USING fts5(body);
  INSERT INTO ftsidx VALUES('${SECRET}');
  CREATE VIEW accounts AS SELECT login, pw FROM user;
  CREATE VIEW nested AS SELECT pw FROM accounts;
`;

/** The statement touches what nobody may read. */
const CLOSED = /sql_query does not (?:read|run)/;
/** The statement changes something, or SQLite says that it does not exist. */
const WRITES =
  /sql_query only reads|sql_query runs these pragmas only|SQLite refuses|one statement at a time/;
/** The statement is not one, or has no such name. */
const REFUSED = /SQLite refuses|sql_query|statement/;
/** The statement needs too much. */
const TOO_MUCH = /more than 64 MiB|SQLite refuses|larger than 1 MiB|longer than 5 seconds/;
/** The statement does not end. */
const ENDLESS = /longer than 5 seconds/;

/** An attempt, and how it ends. */
export interface Attempt {
  readonly sql: string;
  readonly refusal: RegExp;
  /** Whether it occupies a core until it is killed. */
  readonly isLong: boolean;
  /** Whether it takes memory until it is refused. */
  readonly isLarge: boolean;
}

function attempts(refusal: RegExp, statements: readonly string[], isLong = false): Attempt[] {
  return statements.map((sql) => ({
    sql,
    refusal,
    isLong,
    isLarge: refusal === TOO_MUCH,
  }));
}

const READS = attempts(CLOSED, [
  "SELECT * FROM user",
  "SELECT pw FROM main.user",
  "SELECT count(*) FROM user",
  'SELECT u."pw" FROM "user" AS u',
  "SELECT u.pw FROM [user] u",
  "SELECT u.pw FROM `user` u",
  "SELECT/**/pw/**/FROM/**/user",
  "SELECT 1 FROM USER LIMIT 1",
  "SELECT rowid FROM user",
  "SELECT (SELECT group_concat(pw) FROM user)",
  "SELECT comment FROM event WHERE EXISTS (SELECT 1 FROM user WHERE pw LIKE 's%')",
  "SELECT e.objid FROM event e JOIN user u ON u.login=e.user",
  "SELECT e.objid, u.login FROM event e LEFT JOIN user u USING(uid)",
  "SELECT 1 UNION ALL SELECT pw FROM user",
  "SELECT user FROM event EXCEPT SELECT login FROM user",
  "WITH u AS (SELECT pw FROM user) SELECT * FROM u",
  "WITH u AS MATERIALIZED (SELECT pw FROM user) SELECT count(*) FROM u",
  "WITH RECURSIVE r(x) AS (SELECT pw FROM user UNION ALL SELECT x FROM r LIMIT 3) SELECT * FROM r",
  "SELECT pw FROM accounts",
  "SELECT * FROM nested",
  "SELECT login FROM accounts ORDER BY pw",
  "VALUES((SELECT pw FROM user))",
  "SELECT iif((SELECT substr(pw,1,1) FROM user)='s', 1, 0)",
  "SELECT max(pw) FILTER (WHERE 1) FROM user",
  "SELECT first_value(pw) OVER () FROM user",
  "SELECT login FROM user WHERE login='target'",
  "SELECT value FROM json_each((SELECT json_group_array(pw) FROM user))",
  "SELECT hex(cookie) FROM user NOT INDEXED",
  "SELECT login FROM user INDEXED BY sqlite_autoindex_user_1",
  "EXPLAIN SELECT pw FROM user",
  "EXPLAIN QUERY PLAN SELECT value FROM config",
  "-- a comment\nSELECT value FROM config",
  "SELECT value FROM config WHERE name='smtp-password'",
  "SELECT name FROM config",
  "SELECT * FROM concealed",
  "SELECT * FROM private",
  // It holds the files of drafts.
  "SELECT name, content FROM unversioned",
  "SELECT * FROM modreq",
  "SELECT * FROM subscriber",
  "SELECT * FROM accesslog",
  "SELECT * FROM admin_log",
  "SELECT xmsg FROM chat",
  "SELECT ipaddr FROM rcvfrom",
  "SELECT * FROM shun",
  "SELECT sqlcode FROM reportfmt",
  "SELECT * FROM ftsidx",
  "SELECT * FROM ftsidx('s3cr3t')",
  "SELECT * FROM ftsidx_content",
  "SELECT hex(block) FROM ftsidx_data",
  "SELECT * FROM dbstat",
  "SELECT * FROM main.dbstat",
  "SELECT name FROM dbstat('main')",
  "SELECT file FROM pragma_database_list",
  "SELECT * FROM sqlite_temp_schema",
  "SELECT load_extension('/tmp/x.so')",
  "SELECT rtreecheck('main','user')",
  "SELECT fts5_source_id()",
]);

const CHANGES = attempts(WRITES, [
  "INSERT INTO event(objid) VALUES(1)",
  "INSERT INTO ticket(title) VALUES('x') RETURNING *",
  "UPDATE user SET pw='x' RETURNING pw",
  "DELETE FROM event",
  "REPLACE INTO config VALUES('a','b',1)",
  "WITH x AS (SELECT 1) DELETE FROM event",
  "WITH x AS (SELECT 1) UPDATE event SET user='x' RETURNING user",
  "CREATE TABLE t(x)",
  "CREATE TEMP TABLE t AS SELECT pw FROM user",
  "CREATE TEMP TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END",
  "DROP TABLE event",
  "ALTER TABLE event ADD COLUMN x",
  "ATTACH '/etc/passwd' AS x",
  "ATTACH 'file:/tmp/x?mode=rwc' AS x",
  "DETACH main",
  "VACUUM INTO '/tmp/copy'",
  "REINDEX",
  "ANALYZE",
  "BEGIN IMMEDIATE",
  "COMMIT",
  "SAVEPOINT x",
  "SELECT 1; DELETE FROM event",
  "EXPLAIN DELETE FROM event",
  "PRAGMA query_only=OFF",
  "PRAGMA writable_schema=ON",
  "PRAGMA trusted_schema=ON",
  "PRAGMA hard_heap_limit=0",
  "PRAGMA journal_mode=DELETE",
  "PRAGMA wal_checkpoint(TRUNCATE)",
  "PRAGMA locking_mode=EXCLUSIVE",
  "PRAGMA database_list",
  "PRAGMA user_version=7",
  "EXPLAIN PRAGMA query_only=OFF",
  "PRAGMA/**/table_info(user);PRAGMA query_only=OFF",
]);

const UNKNOWN = attempts(REFUSED, [
  "SELECT readfile('/etc/passwd')",
  "SELECT writefile('/tmp/x','y')",
  "SELECT * FROM sqlite_dbpage",
  "SELECT * FROM generate_series(1,1000000000)",
  "SELECT 'a' REGEXP '(a+)+$'",
  "SELECT fts3_tokenizer('simple')",
  "SELECT ?1",
  "SELECT edit('x')",
  "SELECT * FROM pragma_wal_checkpoint",
  "",
  "SELECT 1\0 FROM user",
  `SELECT ${"abs(".repeat(5000)}1${")".repeat(5000)}`,
  `SELECT ${Array(3000).fill("1").join("+")}`,
  `SELECT ${Array(2500).fill("1").join()}`,
]);

const LARGE = attempts(TOO_MUCH, [
  "SELECT randomblob(500000000)",
  "SELECT hex(zeroblob(400000000))",
  "SELECT printf('%.*c', 900000000, 'x')",
  "SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000)))",
  "SELECT json_group_array(hex(zeroblob(100000))) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 5000) SELECT x FROM c)",
  "WITH RECURSIVE c(x) AS (SELECT randomblob(1000000) UNION ALL SELECT randomblob(1000000) FROM c LIMIT 500) SELECT count(*) FROM (SELECT x FROM c ORDER BY x)",
  "WITH RECURSIVE c(x) AS (SELECT 'x' UNION ALL SELECT x||x FROM c) SELECT max(length(x)) FROM c",
  "SELECT hex(zeroblob(2000000))",
]);

const LONG = attempts(ENDLESS, [
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c",
  "SELECT count(*) FROM sqlite_schema a, sqlite_schema b, sqlite_schema c, sqlite_schema d, sqlite_schema e, sqlite_schema f, sqlite_schema g",
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT x FROM c WHERE x=2",
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c WHERE hex(zeroblob(100000 + x % 2)) LIKE '%0%0%1%'",
], true);

const LARGE_AND_LONG = attempts(TOO_MUCH, [
  "SELECT group_concat(hex(randomblob(50000))) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 5000) SELECT x FROM c)",
  "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x+1 FROM c) SELECT count(*) FROM c",
], true);

/** Every attempt. */
export const SQL_ATTEMPTS: readonly Attempt[] = [
  ...READS,
  ...CHANGES,
  ...UNKNOWN,
  ...LARGE,
  ...LARGE_AND_LONG,
  ...LONG,
];

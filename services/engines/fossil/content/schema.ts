/**
 * Tables of a repository. The file format defines names, columns and their order. The program reads
 * tables by name, and `fossil rebuild` recreates the derived ones.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/tech_overview.wiki}
 */

/** `PRAGMA application_id` of a repository, for file(1). */
export const APPLICATION_ID = 252_006_673;

/** Value of the config row `content-schema`. */
export const CONTENT_SCHEMA = "2";
/** Value of the config row `aux-schema`: the layout of the derived tables. */
export const AUX_SCHEMA = "2015-01-24";
/** Oldest layout of the derived tables that a rebuild can start from. */
export const OLDEST_AUX_SCHEMA = "2011-04-25 19:50";

/** The artifacts, and everything that cannot be computed from them. */
export const PERMANENT_SCHEMA = `
CREATE TABLE blob(
  rid INTEGER PRIMARY KEY,
  rcvid INTEGER,
  size INTEGER,
  uuid TEXT UNIQUE NOT NULL,
  content BLOB,
  CHECK( length(uuid)>=40 AND rid>0 )
);
CREATE TABLE delta(rid INTEGER PRIMARY KEY, srcid INTEGER NOT NULL REFERENCES blob);
CREATE INDEX delta_i1 ON delta(srcid);
CREATE TABLE rcvfrom(
  rcvid INTEGER PRIMARY KEY,
  uid INTEGER REFERENCES user,
  mtime DATETIME,
  nonce TEXT UNIQUE,
  ipaddr TEXT
);
CREATE TABLE user(
  uid INTEGER PRIMARY KEY,
  login TEXT UNIQUE,
  pw TEXT,
  cap TEXT,
  cookie TEXT,
  ipaddr TEXT,
  cexpire DATETIME,
  info TEXT,
  mtime DATE,
  photo BLOB,
  jx TEXT DEFAULT '{}'
);
CREATE TABLE config(
  name TEXT PRIMARY KEY NOT NULL,
  value CLOB,
  mtime DATE,
  CHECK( typeof(name)='text' AND length(name)>=1 )
);
CREATE TABLE shun(uuid UNIQUE, mtime DATE, scom TEXT);
CREATE TABLE private(rid INTEGER PRIMARY KEY);
CREATE TABLE reportfmt(
  rn INTEGER PRIMARY KEY,
  owner TEXT,
  title TEXT UNIQUE,
  mtime DATE,
  cols TEXT,
  sqlcode TEXT,
  jx TEXT DEFAULT '{}'
);
CREATE TABLE concealed(hash TEXT PRIMARY KEY, mtime DATE, content TEXT);
CREATE VIEW artifact(rid,rcvid,size,atype,srcid,hash,content) AS
  SELECT blob.rid,rcvid,size,1,srcid,uuid,content FROM blob LEFT JOIN delta ON (blob.rid=delta.rid);
PRAGMA application_id=${APPLICATION_ID};
`;

/** The tables that crosslinking computes from artifacts, except those of tickets. */
export const DERIVED_SCHEMA = `
CREATE TABLE filename(fnid INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE mlink(
  mid INTEGER,
  fid INTEGER,
  pmid INTEGER,
  pid INTEGER,
  fnid INTEGER REFERENCES filename,
  pfnid INTEGER,
  mperm INTEGER,
  isaux BOOLEAN DEFAULT 0
);
CREATE INDEX mlink_i1 ON mlink(mid);
CREATE INDEX mlink_i2 ON mlink(fnid);
CREATE INDEX mlink_i3 ON mlink(fid);
CREATE INDEX mlink_i4 ON mlink(pid);
CREATE TABLE plink(
  pid INTEGER REFERENCES blob,
  cid INTEGER REFERENCES blob,
  isprim BOOLEAN,
  mtime DATETIME,
  baseid INTEGER REFERENCES blob,
  UNIQUE(pid, cid)
);
CREATE INDEX plink_i2 ON plink(cid,pid);
CREATE TABLE leaf(rid INTEGER PRIMARY KEY);
CREATE TABLE event(
  type TEXT,
  mtime DATETIME,
  objid INTEGER PRIMARY KEY,
  tagid INTEGER,
  uid INTEGER REFERENCES user,
  bgcolor TEXT,
  euser TEXT,
  user TEXT,
  ecomment TEXT,
  comment TEXT,
  brief TEXT,
  omtime DATETIME
);
CREATE INDEX event_i1 ON event(mtime);
CREATE TABLE phantom(rid INTEGER PRIMARY KEY);
CREATE TABLE orphan(rid INTEGER PRIMARY KEY, baseline INTEGER);
CREATE INDEX orphan_baseline ON orphan(baseline);
CREATE TABLE unclustered(rid INTEGER PRIMARY KEY);
CREATE TABLE unsent(rid INTEGER PRIMARY KEY);
CREATE TABLE tag(tagid INTEGER PRIMARY KEY, tagname TEXT UNIQUE);
INSERT INTO tag VALUES
  (1,'bgcolor'),(2,'comment'),(3,'user'),(4,'date'),(5,'hidden'),(6,'private'),
  (7,'cluster'),(8,'branch'),(9,'closed'),(10,'parent'),(11,'note');
CREATE TABLE tagxref(
  tagid INTEGER REFERENCES tag,
  tagtype INTEGER,
  srcid INTEGER REFERENCES blob,
  origid INTEGER REFERENCES blob,
  value TEXT,
  mtime TIMESTAMP,
  rid INTEGER REFERENCE blob,
  UNIQUE(rid, tagid)
);
CREATE INDEX tagxref_i1 ON tagxref(tagid, mtime);
CREATE TABLE backlink(
  target TEXT,
  srctype INT,
  srcid INT,
  mtime TIMESTAMP,
  UNIQUE(target, srctype, srcid)
);
CREATE INDEX backlink_src ON backlink(srcid, srctype);
CREATE TABLE attachment(
  attachid INTEGER PRIMARY KEY,
  isLatest BOOLEAN DEFAULT 0,
  mtime TIMESTAMP,
  src TEXT,
  target TEXT,
  filename TEXT,
  comment TEXT,
  user TEXT
);
CREATE INDEX attachment_idx1 ON attachment(target, filename, mtime);
CREATE INDEX attachment_idx2 ON attachment(src);
CREATE TABLE cherrypick(
  parentid INT,
  childid INT,
  isExclude BOOLEAN DEFAULT false,
  PRIMARY KEY(parentid, childid)
) WITHOUT ROWID;
CREATE INDEX cherrypick_cid ON cherrypick(childid);
`;

/** Tables of tickets if the config row `ticket-table` does not give others. */
export const DEFAULT_TICKET_SCHEMA = `
CREATE TABLE ticket(
  tkt_id INTEGER PRIMARY KEY,
  tkt_uuid TEXT UNIQUE,
  tkt_mtime DATE,
  tkt_ctime DATE,
  type TEXT,
  status TEXT,
  subsystem TEXT,
  priority TEXT,
  severity TEXT,
  foundin TEXT,
  private_contact TEXT,
  resolution TEXT,
  title TEXT,
  comment TEXT
);
CREATE TABLE ticketchng(
  tkt_id INTEGER REFERENCES ticket,
  tkt_rid INTEGER REFERENCES blob,
  tkt_mtime DATE,
  tkt_user TEXT,
  login TEXT,
  username TEXT,
  mimetype TEXT,
  icomment TEXT
);
CREATE INDEX ticketchng_idx1 ON ticketchng(tkt_id, tkt_mtime);
`;

/** Created with the first forum post, as by the program. */
export const FORUM_SCHEMA = `
CREATE TABLE IF NOT EXISTS forumpost(
  fpid INTEGER PRIMARY KEY,
  froot INT,
  fprev INT,
  firt INT,
  fmtime REAL
);
CREATE INDEX IF NOT EXISTS forumthread ON forumpost(froot,fmtime);
`;

/**
 * Our own table, created on demand: check-ins that cherry-pick a check-in which this repository
 * does not have yet. `fossil rebuild` keeps tables whose names begin with "fx_".
 */
export const AWAITED_SCHEMA = `
CREATE TABLE IF NOT EXISTS fx_awaited(hash TEXT, rid INTEGER, PRIMARY KEY(hash, rid)) WITHOUT ROWID;
`;

/**
 * Our own table, created on demand: artifacts of a push that nobody could judge, because a part of
 * their content was missing when the push ended.
 */
export const UNJUDGED_SCHEMA = "CREATE TABLE IF NOT EXISTS fx_unjudged(rid INTEGER PRIMARY KEY)";

/** Tables that a rebuild keeps; it drops all others. */
export const PERMANENT_TABLES: readonly string[] = [
  "accesslog",
  "admin_log",
  "alias",
  "blob",
  "chat",
  "concealed",
  "config",
  "delta",
  "modreq",
  "pending_alert",
  "private",
  "purgeevent",
  "purgeitem",
  "rcvfrom",
  "reportfmt",
  "shun",
  "subscriber",
  "unversioned",
  "user",
];

/** Tables whose rows crosslinking computes. */
export const DERIVED_TABLES: readonly string[] = [
  "attachment",
  "backlink",
  "cherrypick",
  "event",
  "filename",
  "forumpost",
  "leaf",
  "mlink",
  "orphan",
  "phantom",
  "plink",
  "tag",
  "tagxref",
  "ticket",
  "ticketchng",
  "unclustered",
  "unsent",
];

/** Ids of the tags that every repository has. */
export const TAG = {
  bgcolor: 1,
  comment: 2,
  user: 3,
  date: 4,
  hidden: 5,
  private: 6,
  cluster: 7,
  branch: 8,
  closed: 9,
  parent: 10,
  note: 11,
} as const;

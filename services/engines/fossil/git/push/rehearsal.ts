/**
 * Long pushes: stored in a copy of the repository first, while others write to it. What has changed
 * there is then changed in the repository, which takes a small part of the time.
 */
import {
  applyChanges,
  Database,
  type FirstNumbers,
  noteChanges,
  type NotedTable,
  Outdated,
} from "../../content/mod.ts";
import { packBlob } from "../../codec/mod.ts";
import { companionPath, type GitCompanion } from "../door/mod.ts";
import { FileDraft } from "./draft.ts";
import { type GitPush, type GitPushReport, receivePush } from "./receive.ts";

/**
 * Numbers that others can use meanwhile. The new rows of a push come behind them, so that they keep
 * their numbers. Each object takes time: so there are some more for each, and no array that is indexed
 * by numbers gets much longer than it has rows.
 */
const GAP = { least: 100, most: 1000 } as const;

/** What check-ins and their tags change. */
const TABLES: readonly NotedTable[] = [
  { name: "rcvfrom", key: ["rcvid"], numbers: { column: "rcvid", of: "rcvfrom" } },
  { name: "blob", key: ["rid"], numbers: { column: "rid", of: "blob" }, isLarge: true },
  { name: "filename", key: ["fnid"], numbers: { column: "fnid", of: "filename" } },
  { name: "tag", key: ["tagid"], numbers: { column: "tagid", of: "tag" } },
  { name: "delta", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "config", key: ["name"] },
  { name: "private", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "event", key: ["objid"], numbers: { column: "objid", of: "blob" } },
  { name: "mlink", key: ["mid"], numbers: { column: "mid", of: "blob" }, hasGroups: true },
  { name: "plink", key: ["pid", "cid"], numbers: { column: "cid", of: "blob" } },
  { name: "tagxref", key: ["rid", "tagid"], numbers: { column: "rid", of: "blob" } },
  { name: "leaf", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "phantom", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "orphan", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "unclustered", key: ["rid"], numbers: { column: "rid", of: "blob" } },
  { name: "backlink", key: ["target", "srctype", "srcid"] },
  { name: "cherrypick", key: ["parentid", "childid"] },
];

const OBJECT_TABLES: readonly NotedTable[] = [
  { name: "object", key: ["name"] },
  { name: "revision", key: ["id"], numbers: { column: "id", of: "revision" } },
  { name: "tree", key: ["id"], numbers: { column: "id", of: "tree" } },
  { name: "tag", key: ["id"], numbers: { column: "id", of: "tag" } },
  { name: "file", key: ["rid"] },
  { name: "move", key: ["ref"] },
  { name: "ref", key: ["name"] },
  { name: "meta", key: ["key"] },
];

/** Rows that keep the numbers before the new ones. */
const KEEPERS = {
  rcvfrom: "INSERT INTO rcvfrom(rcvid) VALUES(?)",
  blob: "INSERT INTO blob(rid,rcvid,size,uuid,content) VALUES(?,0,0,?,?)",
  filename: "INSERT INTO filename(fnid,name) VALUES(?,?)",
  tag: "INSERT INTO tag(tagid,tagname) VALUES(?,?)",
} as const;

/** What keepers have as their names, as nothing else does. */
const KEEPER = "-".repeat(64);

/** On what a rehearsal builds. */
interface Ground {
  readonly state: string;
  readonly stateOfObjects: string;
  /** The last artifact. */
  readonly last: number;
  /** The first number of a new row, for each table that numbers its own. */
  readonly first: FirstNumbers;
  readonly firstObjects: FirstNumbers;
}

/**
 * Stores a push in the copy of a repository, and notes what changes there.
 *
 * @param companion that of the copy
 * @param progress as for {@linkcode receivePush}
 */
export function rehearsePush(
  companion: GitCompanion,
  push: GitPush,
  progress: (done: number, total: number) => void,
): GitPushReport {
  companion.update();
  const { db: objects, reader: { repository: { db } } } = companion;
  const last = lastNumbers(db, TABLES);
  const gap = Math.min(GAP.most, GAP.least + sizeOf(push));
  for (const [name, insert] of Object.entries(KEEPERS)) {
    const names = name === "rcvfrom" ? [] : [KEEPER];
    const contents = name === "blob" ? [packBlob(new Uint8Array(0))] : [];
    db.run(insert, last[name]! + gap, ...names, ...contents);
  }
  const ground: Ground = {
    state: stateOf(db),
    stateOfObjects: stateOfObjects(objects),
    last: last["blob"]!,
    first: following(lastNumbers(db, TABLES)),
    firstObjects: following(lastNumbers(objects, OBJECT_TABLES)),
  };
  db.exec("CREATE TABLE fx_ground(value TEXT)");
  db.run("INSERT INTO fx_ground VALUES(?)", JSON.stringify(ground));
  noteChanges(db, TABLES, ground.first);
  noteChanges(objects, OBJECT_TABLES, ground.firstObjects);
  return receivePush(companion, push, progress);
}

/** The objects that a push brings. */
function sizeOf({ draft, refs }: GitPush): number {
  if (typeof draft !== "string") return refs.length;
  using opened = FileDraft.open(draft);
  return opened.size;
}

/** The last number of each table that numbers its own rows. */
function lastNumbers(db: Database, tables: readonly NotedTable[]): Record<string, number> {
  const own = tables.filter(({ name, numbers }) => name === numbers?.of);
  return Object.fromEntries(
    own.map(({ name, key }) => [name, db.value<number>(`SELECT max(${key[0]}) FROM ${name}`) ?? 0]),
  );
}

function following(numbers: FirstNumbers): FirstNumbers {
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, number + 1]));
}

/** What a rehearsal leaves. */
export interface RehearsedPush {
  /** Where the copy of the repository is. */
  readonly copy: string;
  readonly report: GitPushReport;
}

/**
 * Stores what a push has changed in a copy, unless anything came meanwhile on which a push can depend:
 * check-ins, tags, settings, what was missing. With a mark it can be called again.
 *
 * @param mark as in {@linkcode GitPush}: that of the rehearsal does not count
 * @returns whether it is stored
 */
export function storeRehearsed(
  companion: GitCompanion,
  { copy, report: { receipt }, mark }: RehearsedPush & { readonly mark: string | null },
): boolean {
  using from = new Database(copy, { readOnly: true });
  using fromObjects = new Database(companionPath(copy), { readOnly: true });
  const { repository } = companion.reader;
  // What it lacks is not in the changes of the copy, whose companion was current.
  companion.update();
  const isStored = "SELECT 1 FROM rcvfrom WHERE rcvid=? AND nonce=?";
  if (mark !== null && repository.db.exists(isStored, receipt, mark)) return true;
  try {
    const ground: Ground = JSON.parse(from.value<string>("SELECT value FROM fx_ground")!);
    companion.writeRows((objects) => {
      // Else the next update makes them.
      if (stateOfObjects(objects) === ground.stateOfObjects) {
        applyChanges(fromObjects, objects, { tables: OBJECT_TABLES, first: ground.firstObjects });
      }
      repository.writeRows((db) => {
        const isNewer = "SELECT 1 FROM event WHERE objid>? AND type IN ('ci','g')";
        if (db.exists(isNewer, ground.last) || stateOf(db) !== ground.state) {
          throw new Outdated("The repository has changed");
        }
        applyChanges(from, db, { tables: TABLES, first: ground.first });
        const update = "UPDATE rcvfrom SET nonce=?, mtime=julianday('now') WHERE rcvid=?";
        db.run(update, mark, receipt);
      });
    });
    return true;
  } catch (error) {
    if (error instanceof Outdated) return false;
    throw error;
  }
}

/** What a push depends on, beside check-ins and tags. */
function stateOf(db: Database): string {
  return JSON.stringify([
    db.rows("SELECT name, value, mtime FROM config ORDER BY name"),
    db.rows("SELECT count(*), max(mtime) FROM shun"),
    ...["phantom", "orphan", "private"].map((name) =>
      db.rows(`SELECT count(*), total(rid) FROM ${name}`)
    ),
  ]);
}

function stateOfObjects(db: Database): string {
  return JSON.stringify([
    db.rows("SELECT value FROM meta WHERE key IN ('history','version')"),
    ...["revision", "tree", "tag"].map((name) => db.value(`SELECT max(id) FROM ${name}`)),
  ]);
}

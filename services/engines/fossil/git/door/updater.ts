import { compressed } from "../../../../kernel/compression.ts";
import { bytesOfName, hexOf, MODE, nameOfObject } from "../../../git/mod.ts";
import type { FileMode, Manifest } from "../../artifact/mod.ts";
import { DANGLING, type Database, TAG, walkArtifacts } from "../../content/mod.ts";
import { filesOf, hiddenDeletions } from "../../crosslink/mod.ts";
import { FossilError } from "../../error.ts";
import type { Reader } from "../../read/mod.ts";
import { TextMap } from "../../text/mod.ts";
import { commitOf, commitTextOf, ownProperty } from "../commit.ts";
import { COMMIT_PROPERTY, REFS_PROPERTY } from "../headers.ts";
import { parseOverlay, TREE_PROPERTY } from "../overlay.ts";
import { parseSignature } from "../person.ts";
import { unwrapped } from "../wrapped.ts";
import type { CommitGraph } from "./graph.ts";
import { type CheckinHead, headOf } from "./heads.ts";
import { type CurrentRef, currentRefs, movesOf, type RefMove, sameName } from "./refs.ts";
import type { NotedArtifacts, NotedContent } from "./noted.ts";
import { COMPANION_VERSION, KIND, packRows } from "./schema.ts";
import type { PathChange, TreeStore } from "./trees.ts";

/** Most new check-ins for a short update. */
const SHORT_CHECKINS = 100;
/** Properties of check-ins that no reference depends on. */
const CONTENT_PROPERTIES: ReadonlySet<string> = new Set([COMMIT_PROPERTY, TREE_PROPERTY]);
/** The branch of check-ins that no tag puts on one. */
const TRUNK = "trunk";
/** Modes by `mlink.mperm`, and by ours. */
const MODES = [MODE.file, MODE.executable, MODE.link] as const;
const MODE_OF: Readonly<Record<FileMode, number>> = {
  file: MODE.file,
  executable: MODE.executable,
  link: MODE.link,
};

/** The state of the repository that a companion covers. */
interface State {
  readonly version: string;
  /** Identity of the repository, its last rebuild, which deletes, and what is private or shunned. */
  readonly repository: string;
  /** Last covered row, and its hash: another hash means another history. */
  readonly lastRid: string;
  readonly lastHash: string;
  /** Rows up to the last one whose content was missing. */
  readonly awaited: string;
  readonly mainBranch: string;
}

/** What an updater works on. */
export interface CompanionParts {
  readonly db: Database;
  readonly reader: Reader;
  readonly trees: TreeStore;
  readonly graph: CommitGraph;
  /** What need not be read. */
  readonly noted: Pick<NotedArtifacts, "content" | "head">;
}

/** What an update finds: new check-ins, and moves of references. */
interface Added {
  readonly heads: ReadonlyMap<number, CheckinHead>;
  readonly moves: readonly RefMove[];
}

/** A file of a check-in whose content is not here. */
class ContentMissing extends Error {}

/** Keeps a companion consistent with its repository. */
export class CompanionUpdater {
  readonly #parts: CompanionParts;

  constructor(parts: CompanionParts) {
    this.#parts = parts;
  }

  /** Whether the companion covers the repository as it is. Needs `read`. */
  isCurrent(): boolean {
    const [before, now] = [this.#state(), this.#now()];
    return before !== null && Object.entries(now).every(([key, value]) => {
      return before[key as keyof State] === value;
    });
  }

  /** Whether an update takes so long that nobody should wait for it. Needs `read`. */
  takesLong(): boolean {
    const before = this.#state();
    if (before === null || !this.#continues(before, this.#now())) return this.#hasMoreThan(0);
    return this.#hasMoreThan(Number(before.lastRid));
  }

  #hasMoreThan(rid: number): boolean {
    const count = this.#parts.reader.repository.db.value<number>(
      `SELECT count(*) FROM (SELECT 1 FROM event WHERE objid>? AND type='ci' LIMIT ${
        SHORT_CHECKINS + 1
      })`,
      rid,
    );
    return (count ?? 0) > SHORT_CHECKINS;
  }

  /**
   * Adds what is new; makes everything anew if the companion does not continue. Needs `read`, and a
   * transaction of the companion.
   */
  update(): void {
    const [before, now] = [this.#state(), this.#now()];
    const isSame = before !== null && this.#continues(before, now);
    const added = isSame ? this.#advance(before, now) : this.#rebuild();
    const isPlain = isSame && before.mainBranch === now.mainBranch && added !== null &&
      this.#moveBranches(added);
    if (!isPlain) this.#updateRefs();
    for (const [key, value] of Object.entries(now)) {
      this.#parts.db.run("REPLACE INTO meta(key,value) VALUES(?,?)", key, value);
    }
  }

  #now(): State {
    const { db, config } = this.#parts.reader.repository;
    const last = db.row<{ rid: number; uuid: string }>(
      "SELECT rid, uuid FROM blob ORDER BY rid DESC LIMIT 1",
    );
    const awaited = db.rows<{ rid: number }>(
      `SELECT rid FROM phantom UNION SELECT rid FROM (${DANGLING}) UNION SELECT rid FROM orphan
        ORDER BY 1`,
    );
    return {
      version: COMPANION_VERSION,
      repository: JSON.stringify([
        config.get("project-code") ?? "",
        db.rows("SELECT value, mtime FROM config WHERE name='rebuilt'"),
        db.rows("SELECT rid FROM private"),
        db.rows("SELECT rid FROM shun CROSS JOIN blob USING(uuid) ORDER BY rid"),
      ]),
      lastRid: `${last?.rid ?? 0}`,
      lastHash: last?.uuid ?? "",
      awaited: JSON.stringify(awaited.map(({ rid }) => rid)),
      mainBranch: config.get("main-branch") ?? "",
    };
  }

  #state(): State | null {
    const rows = this.#parts.db.rows<{ key: string; value: string }>("SELECT key, value FROM meta");
    if (rows.length === 0) return null;
    const values = new Map(rows.map(({ key, value }) => [key, value]));
    const value = (key: keyof State) => values.get(key) ?? "";
    return {
      version: value("version"),
      repository: value("repository"),
      lastRid: value("lastRid"),
      lastHash: value("lastHash"),
      awaited: value("awaited"),
      mainBranch: value("mainBranch"),
    };
  }

  /** Whether the companion has an earlier state of the same repository. */
  #continues(before: State, now: State): boolean {
    const { store } = this.#parts.reader.repository;
    return before.version === now.version && before.repository === now.repository &&
      Number(before.lastRid) <= Number(now.lastRid) &&
      store.hashOf(Number(before.lastRid)) === (before.lastHash || undefined);
  }

  /** Returns what was added; null if that is not all that counts. */
  #advance(before: State, now: State): Added | null {
    const { reader, graph } = this.#parts;
    const { repository } = reader;
    // What has arrived late may be anything's parent, baseline or file.
    const from = before.awaited === now.awaited ? Number(before.lastRid) : 0;
    const rows = repository.db.rows<{ rid: number; type: string }>(
      "SELECT objid AS rid, type FROM event WHERE objid>? AND type IN ('ci','g') ORDER BY objid",
      from,
    );
    const heads = new Map<number, CheckinHead>();
    const moves: RefMove[] = [];
    let isPlain = from > 0;
    // The newest first: each is stored as a delta of the next.
    for (const { rid, type } of rows.toReversed()) {
      reader.check();
      if (type === "g") {
        const noted = this.#noteMoves(rid);
        moves.push(...noted.moves);
        isPlain &&= noted.isAll;
      } else if (graph.idOf(rid) === 0) {
        const head = this.#headOf(rid);
        if (head !== null) heads.set(rid, head);
        else isPlain = false;
      } else isPlain = false;
    }
    this.#addAll(heads);
    return isPlain ? { heads, moves } : null;
  }

  #headOf(rid: number): CheckinHead | null {
    const { noted, reader: { repository } } = this.#parts;
    const known = noted.head(rid);
    if (known !== undefined) return known;
    const content = repository.store.get(rid);
    return content === null ? null : headOf(content);
  }

  #rebuild(): null {
    const { db, reader, trees, graph } = this.#parts;
    const { repository } = reader;
    graph.clear();
    trees.forget();
    for (const table of ["object", "revision", "tree", "file", "tag", "move", "ref", "kept"]) {
      db.exec(`DELETE FROM ${table}`);
    }
    db.run("REPLACE INTO meta(key,value) VALUES('history',?)", crypto.randomUUID());
    const rowsOf = (sql: string) =>
      new Set(repository.db.rows<{ rid: number }>(sql).map(({ rid }) => rid));
    const files = rowsOf("SELECT DISTINCT fid AS rid FROM mlink WHERE fid>0");
    const checkins = rowsOf("SELECT objid AS rid FROM event WHERE type='ci'");
    const controls = rowsOf("SELECT objid AS rid FROM event WHERE type='g'");
    const heads = new Map<number, CheckinHead>();
    for (const { rid, content } of walkArtifacts(repository.db, repository.store)) {
      reader.check();
      if (content === null) continue;
      if (files.has(rid) && this.#isServed(rid)) this.#addFile(rid, content);
      const head = checkins.has(rid) ? headOf(content) : null;
      if (head !== null) heads.set(rid, head);
      if (controls.has(rid)) this.#noteMoves(rid);
    }
    this.#addAll(heads);
    return null;
  }

  /** Adds the commits of check-ins, parents before children. */
  #addAll(heads: ReadonlyMap<number, CheckinHead>): void {
    const { reader: { repository, check }, graph } = this.#parts;
    const parentsOf = (head: CheckinHead) =>
      head.parents.map((hash) => repository.store.ridOf(hash));
    const seen = new Set<number>();
    for (const start of [...heads.keys()].sort((left, right) => left - right)) {
      const stack = [start];
      for (let rid = stack.at(-1); rid !== undefined; rid = stack.at(-1)) {
        check();
        const head = heads.get(rid);
        const isNew = head !== undefined && !seen.has(rid);
        seen.add(rid);
        const missing = !isNew
          ? []
          : parentsOf(head).filter((parent) =>
            graph.idOf(parent) === 0 && heads.has(parent) && !seen.has(parent)
          );
        if (missing.length > 0) {
          stack.push(...missing);
          continue;
        }
        stack.pop();
        if (head !== undefined && graph.idOf(rid) === 0) {
          this.#addCheckin(rid, head, parentsOf(head));
        }
      }
    }
  }

  /** Adds the commit of a check-in, unless it or an ancestor is incomplete or private. */
  #addCheckin(rid: number, head: CheckinHead, parents: readonly number[]): void {
    const { db, trees, graph, reader: { repository } } = this.#parts;
    const ids = parents.map((parent) => graph.idOf(parent));
    if (ids.includes(0) || !this.#isServed(rid)) return;
    const id = graph.size;
    const [first = 0] = ids;
    const blobs = new Set<number>();
    let changes;
    try {
      changes = this.#changes(rid, first, blobs);
      changes.push(...this.#overlaid(head, blobs));
    } catch (error) {
      if (error instanceof ContentMissing) return;
      throw error;
    }
    const before = first === 0
      ? 0
      : db.value<number>("SELECT tree FROM revision WHERE id=?", first) ?? 0;
    const touched = new Set<number>();
    const tree = trees.change(before, changes, { origin: id, touched });
    if (first === 0) touched.add(tree);
    for (const blob of blobs) {
      db.run("UPDATE file SET origin=? WHERE rid=? AND origin=0", id, blob);
    }
    const readRest = (hash: string) => repository.store.require(repository.ridOf(hash));
    const { name, content } = commitOf(head, {
      tree: hexOf(trees.row(tree).name),
      parents: ids.map((parent) => hexOf(this.#nameOf(parent))),
      readRest,
    });
    const date = parseSignature(commitTextOf(head, readRest).committer).seconds;
    db.run(
      "INSERT INTO revision VALUES(?,?,?,?,?,?,?,?,?,?)",
      id,
      rid,
      name,
      packRows(ids),
      date,
      tree,
      content.length,
      compressed(content),
      packRows(touched),
      packRows(blobs),
    );
    db.run("INSERT OR IGNORE INTO object VALUES(?,?,?)", name, KIND.commit, id);
    graph.add({ rid, parents: ids, date });
  }

  #nameOf(id: number): Uint8Array {
    return this.#parts.db.value<Uint8Array>("SELECT name FROM revision WHERE id=?", id)!;
  }

  /**
   * What a check-in changes in the tree of its first parent.
   *
   * @param first the commit of the parent; 0 for none
   * @param blobs gets the rows of the contents
   * @throws ContentMissing
   */
  #changes(rid: number, first: number, blobs: Set<number>): PathChange[] {
    const { reader: { repository }, graph } = this.#parts;
    const { db, store } = repository;
    const entryOf = (fid: number, mode: number) => {
      blobs.add(fid);
      return { mode, object: this.#fileName(fid) };
    };
    if (first === 0) {
      return this.#filesOf(rid).map(({ name, hash, mode }) => {
        return { path: name, entry: entryOf(store.ridOf(hash ?? ""), MODE_OF[mode]) };
      });
    }
    const parent = graph.ridOf(first);
    const linked = db.value<number>("SELECT pid FROM plink WHERE cid=? AND isprim", rid);
    // The table of changes lacks what was shunned.
    const isWhole = linked === parent && !db.exists("SELECT 1 FROM shun");
    const hidden = isWhole ? hiddenDeletions(repository, [rid]) : null;
    if (hidden === null) return this.#compared(rid, parent, entryOf);
    const rows = db.rows<{ fid: number; name: string; mperm: number }>(
      `SELECT fid, name, mperm FROM mlink JOIN filename USING(fnid) WHERE mid=? AND NOT isaux`,
      rid,
    );
    // A file that has taken the place of one that was moved has two rows.
    const changes = new TextMap<PathChange>();
    for (const path of hidden) changes.set(path, { path, entry: null });
    for (const { fid, name: path, mperm } of rows) {
      if (fid !== 0) changes.set(path, { path, entry: entryOf(fid, MODES[mperm] ?? MODE.file) });
      else if (!changes.has(path)) changes.set(path, { path, entry: null });
    }
    return [...changes.values()];
  }

  /** What a check-in says that Fossil cannot hold. It comes last: it may be about a file's mode. */
  #overlaid(head: CheckinHead, blobs: Set<number>): PathChange[] {
    const { store } = this.#parts.reader.repository;
    return parseOverlay(ownProperty(head, TREE_PROPERTY)).map(
      ({ path, mode, zeros = 0, object }) => {
        if (mode === 0) return { path, entry: null };
        if (object === "") return { path, entry: null, zeros };
        if (mode === MODE.submodule || mode === MODE.folder) {
          return { path, entry: { mode, zeros, object: bytesOfName(object) } };
        }
        const rid = store.ridOf(object);
        blobs.add(rid);
        return { path, entry: { mode, zeros, object: this.#fileName(rid) } };
      },
    );
  }

  /** As {@link #changes}, from the files of both check-ins. */
  #compared(
    rid: number,
    parent: number,
    entryOf: (fid: number, mode: number) => NonNullable<PathChange["entry"]>,
  ): PathChange[] {
    const { store } = this.#parts.reader.repository;
    const before = new TextMap(this.#filesOf(parent).map((card) => [card.name, card]));
    const changes: PathChange[] = [];
    for (const { name, hash, mode } of this.#filesOf(rid)) {
      const known = before.get(name);
      before.delete(name);
      if (known?.hash === hash && known.mode === mode) continue;
      changes.push({ path: name, entry: entryOf(store.ridOf(hash ?? ""), MODE_OF[mode]) });
    }
    for (const path of before.keys()) changes.push({ path, entry: null });
    return changes;
  }

  #filesOf(rid: number) {
    const { repository } = this.#parts.reader;
    const manifest: Manifest | null = manifestOf(repository.artifact(rid));
    try {
      if (manifest !== null) return filesOf(repository, manifest);
    } catch (error) {
      if (!(error instanceof FossilError && error.code === "missing")) throw error;
    }
    throw new ContentMissing();
  }

  /** The name of a content in Git. */
  #fileName(rid: number): Uint8Array {
    const known = this.#parts.db.value<Uint8Array>("SELECT name FROM file WHERE rid=?", rid);
    if (known !== undefined) return known;
    const isHere = rid !== 0 && this.#isServed(rid);
    const noted = isHere ? this.#parts.noted.content(rid) : undefined;
    if (noted !== undefined) return this.#noteFile(rid, noted);
    const content = isHere ? this.#parts.reader.repository.store.get(rid) : null;
    if (content === null) throw new ContentMissing();
    return this.#addFile(rid, content);
  }

  #fileNameIfHere(rid: number): Uint8Array | null {
    try {
      return this.#fileName(rid);
    } catch (error) {
      if (error instanceof ContentMissing) return null;
      throw error;
    }
  }

  /** Whether an artifact is neither private nor shunned. */
  #isServed(rid: number): boolean {
    const { store } = this.#parts.reader.repository;
    return !store.isPrivate(rid) && !store.isShunned(store.hashOf(rid) ?? "");
  }

  #addFile(rid: number, content: Uint8Array): Uint8Array {
    const seen = unwrapped(content);
    return this.#noteFile(rid, { name: nameOfObject("blob", seen), size: seen.length });
  }

  #noteFile(rid: number, { name, size }: NotedContent): Uint8Array {
    const { db } = this.#parts;
    db.run("INSERT INTO file VALUES(?,?,0,?)", rid, name, size);
    db.run("INSERT OR IGNORE INTO object VALUES(?,?,?)", name, KIND.blob, rid);
    return name;
  }

  /** Notes where a control artifact puts references; returns that, and whether it is all it does. */
  #noteMoves(rid: number): { readonly moves: readonly RefMove[]; readonly isAll: boolean } {
    const { db, reader: { repository } } = this.#parts;
    const artifact = repository.artifact(rid);
    if (artifact?.kind !== "control") return { moves: [], isAll: false };
    const moves = movesOf(artifact);
    for (const { ref, number, target } of moves) {
      db.run(
        `INSERT INTO move VALUES(?,?,?,?) ON CONFLICT(ref) DO UPDATE
           SET number=excluded.number, date=excluded.date, rid=excluded.rid
           WHERE (excluded.number, excluded.date)>(number, date)`,
        ref,
        number,
        artifact.date,
        target === null ? 0 : repository.store.ridOf(target),
      );
    }
    return { moves, isAll: artifact.tags.every(({ name }) => name === REFS_PROPERTY) };
  }

  /**
   * Moves branches to check-ins that do nothing but continue their tips, which is much less work than
   * {@link #updateRefs}; returns whether that is all.
   */
  #moveBranches({ heads, moves }: Added): boolean {
    const { db, graph, reader: { repository } } = this.#parts;
    if (this.#awaitsTags()) return false;
    for (const [rid, { tags }] of [...heads].sort(([left], [right]) => left - right)) {
      const id = graph.idOf(rid);
      if (id === 0 || tags.some(({ name }) => !CONTENT_PROPERTIES.has(name))) return false;
      const parent = graph.firstParent(id);
      const place = repository.db.row<{ branch: string; isNewer: number }>(
        `SELECT coalesce((SELECT value FROM tagxref WHERE rid=child.objid AND tagid=? AND tagtype>0),
             ?) AS branch, child.mtime>=parent.mtime AS isNewer
           FROM event AS child JOIN event AS parent ON parent.objid=? WHERE child.objid=?`,
        TAG.branch,
        TRUNK,
        graph.ridOf(parent),
        rid,
      );
      if (parent === 0 || place?.isNewer !== 1) return false;
      const moved = db.run(
        "UPDATE ref SET object=? WHERE branch=? AND object=?",
        this.#nameOf(id),
        place.branch,
        this.#nameOf(parent),
      );
      if (moved !== 1) return false;
    }
    const isThere = "SELECT 1 FROM ref WHERE name=? AND object=? AND branch<>''";
    return moves.every(({ ref, target }) => {
      const id = target === null ? 0 : graph.idOf(repository.store.ridOf(target));
      return id !== 0 && db.exists(isThere, ref, this.#nameOf(id));
    });
  }

  /** Whether what a tag names was not complete yet. */
  #awaitsTags(): boolean {
    return this.#parts.db.exists(
      `SELECT 1 FROM move WHERE rid>0 AND ref GLOB 'refs/tags/*'
        AND NOT EXISTS(SELECT 1 FROM ref WHERE name=move.ref)`,
    );
  }

  #updateRefs(): void {
    const { db, graph, trees, reader: { repository } } = this.#parts;
    const current = currentRefs({
      db,
      graph,
      repository,
      trees,
      nameOf: (id) => this.#nameOf(id),
      fileName: (rid) => this.#fileNameIfHere(rid),
      isServed: (rid) => this.#isServed(rid),
    });
    const stored = new TextMap(
      db.rows<CurrentRef>("SELECT * FROM ref")
        .map((row) => [row.name, row]),
    );
    for (const { name, object, peeled, branch } of current.refs) {
      const known = stored.get(name);
      stored.delete(name);
      if (known?.branch === branch && sameName(known.object, object)) continue;
      db.run("REPLACE INTO ref VALUES(?,?,?,?)", name, object, peeled, branch);
    }
    for (const name of stored.keys()) db.run("DELETE FROM ref WHERE name=?", name);
    db.run("REPLACE INTO meta(key,value) VALUES('head',?)", current.head);
  }
}

function manifestOf(artifact: ReturnType<Reader["repository"]["artifact"]>): Manifest | null {
  return artifact?.kind === "manifest" ? artifact : null;
}

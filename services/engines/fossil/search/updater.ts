import type { FileCard } from "../artifact/mod.ts";
import type { Database } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { changedFiles, findFileOf, type Reader, resolveCheckin, treeOf } from "../read/mod.ts";
import {
  allDocuments,
  checkinDocument,
  codeDocument,
  type Document,
  forumDocument,
  forumName,
  technoteDocument,
  ticketDocument,
  wikiDocument,
} from "./documents.ts";
import { TextMap } from "../text/mod.ts";

/** Most indexed bytes of a document; the rest is cut off. */
const MAX_BODY = 4 * 1024 * 1024;

/** Most events, and most changes of files by them, for a short update. */
const [SHORT_EVENTS, SHORT_CHANGES] = [500, 2000];

/** An update would take so long that no search should wait for it. */
export class LongUpdate extends Error {}

/** The state of the repository that the index covers. */
interface State {
  readonly version: string;
  /** Identity of the repository, the fields of its tickets, and its last rebuild, which deletes. */
  readonly repository: string;
  /** Last indexed row, and its hash: another hash means another history. */
  readonly lastRid: number;
  readonly lastHash: string;
  /** Rows up to the last one whose content was missing, as JSON. */
  readonly awaited: string;
  /** The check-in whose files are indexed, "" for none. */
  readonly tip: string;
  /** Size from which on files are left out. */
  readonly maxFileBytes: string;
}

/** Keeps an index consistent with its repository. */
export class Updater {
  readonly #index: Database;
  readonly #reader: Reader;
  readonly #maxFileBytes: number;

  constructor(index: Database, reader: Reader, maxFileBytes: number) {
    this.#index = index;
    this.#reader = reader;
    this.#maxFileBytes = maxFileBytes;
  }

  /** Indexes new artifacts; rebuilds the index if it cannot find them. */
  update(): void {
    if (this.#reader.read(() => isSame(this.#state(), this.#now()))) return;
    this.#index.exec("BEGIN IMMEDIATE");
    try {
      this.#reader.read(() => {
        const [before, now] = [this.#state(), this.#now()];
        if (before !== null && this.#continues(before, now)) this.#advance(before, now);
        else this.#rebuild(now);
        this.#keep(now);
      });
      this.#index.exec("COMMIT");
    } catch (error) {
      this.#index.rollBack();
      throw error;
    }
  }

  /**
   * Like {@link update}, for a caller that somebody waits for.
   *
   * @throws LongUpdate
   */
  updateIfShort(): void {
    if (this.#reader.read(() => this.#takesLong())) throw new LongUpdate();
    this.update();
  }

  #takesLong(): boolean {
    const before = this.#state();
    const from = before !== null && this.#continues(before, this.#now()) ? before.lastRid : 0;
    const hasMore = (table: string, column: string, most: number) =>
      (this.#reader.repository.db.value<number>(
        `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${column}>? LIMIT ${most + 1})`,
        from,
      ) ?? 0) > most;
    return hasMore("event", "objid", SHORT_EVENTS) || hasMore("mlink", "mid", SHORT_CHANGES);
  }

  /** The current state of the repository. */
  #now(): State {
    const { db, config } = this.#reader.repository;
    const last = db.row<{ rid: number; uuid: string }>(
      "SELECT rid, uuid FROM blob ORDER BY rid DESC LIMIT 1",
    );
    return {
      version: INDEX_VERSION,
      repository: JSON.stringify([
        config.get("project-code") ?? "",
        db.columns("ticket"),
        db.columns("ticketchng"),
        db.rows("SELECT value, mtime FROM config WHERE name='rebuilt'"),
      ]),
      lastRid: last?.rid ?? 0,
      lastHash: last?.uuid ?? "",
      awaited: this.#awaited(),
      tip: this.#tip(),
      maxFileBytes: `${this.#maxFileBytes}`,
    };
  }

  /** Phantoms, deltas that depend on them, and check-ins whose baseline is missing. */
  #awaited(): string {
    const rows = this.#reader.repository.db.rows<{ rid: number }>(
      `WITH RECURSIVE absent(rid) AS (
         SELECT rid FROM phantom UNION SELECT delta.rid FROM absent JOIN delta ON srcid=absent.rid
       ) SELECT rid FROM absent UNION SELECT rid FROM orphan ORDER BY 1`,
    );
    return JSON.stringify(rows.map(({ rid }) => rid));
  }

  #tip(): string {
    try {
      return resolveCheckin(this.#reader).uuid;
    } catch (error) {
      if (error instanceof FossilError && error.code === "missing") return "";
      throw error;
    }
  }

  #state(): State | null {
    const rows = this.#index.rows<{ key: string; value: string }>("SELECT key, value FROM meta");
    if (rows.length === 0) return null;
    const values = new Map(rows.map(({ key, value }) => [key, value]));
    const value = (key: keyof State) => values.get(key) ?? "";
    return {
      version: value("version"),
      repository: value("repository"),
      lastRid: Number(value("lastRid")),
      lastHash: value("lastHash"),
      awaited: value("awaited") || "[]",
      tip: value("tip"),
      maxFileBytes: value("maxFileBytes"),
    };
  }

  #keep(state: State): void {
    for (const [key, value] of Object.entries(state)) {
      this.#index.run("REPLACE INTO meta(key,value) VALUES(?,?)", key, String(value));
    }
  }

  /** Whether the index is an earlier state of the same repository. */
  #continues(before: State, now: State): boolean {
    return before.version === now.version && before.repository === now.repository &&
      before.maxFileBytes === now.maxFileBytes && before.lastRid <= now.lastRid &&
      (before.lastRid === 0 ||
        this.#reader.repository.store.hashOf(before.lastRid) === before.lastHash);
  }

  #rebuild(now: State): void {
    this.#index.exec("DELETE FROM doc; DELETE FROM fts;");
    for (const document of allDocuments(this.#reader)) {
      this.#reader.check();
      this.#put(document);
    }
    this.#indexTree(now.tip);
  }

  #advance(before: State, now: State): void {
    const awaited = new Set<number>(JSON.parse(now.awaited));
    const arrived = (JSON.parse(before.awaited) as number[]).filter((rid) => !awaited.has(rid));
    const fresh = this.#reader.repository.db.rows<{ rid: number }>(
      "SELECT rid FROM blob WHERE rid>?",
      before.lastRid,
    );
    for (const rid of [...arrived, ...fresh.map((row) => row.rid)]) {
      this.#reader.check();
      this.#indexArtifact(rid);
    }
    if (arrived.length > 0) this.#indexTree(now.tip);
    else if (before.tip !== now.tip) this.#indexChanges(before.tip, now.tip);
  }

  /** Updates the texts that an artifact concerns. */
  #indexArtifact(rid: number): void {
    const { repository } = this.#reader;
    const isEvent = repository.db.exists("SELECT 1 FROM event WHERE objid=?", rid);
    const artifact = isEvent ? repository.artifact(rid) : null;
    switch (artifact?.kind) {
      case "manifest":
        this.#replace("checkin", `${rid}`, checkinDocument(this.#reader, rid));
        for (const { target } of artifact.tags) this.#indexTarget(target);
        return;
      case "control":
        for (const { target } of artifact.tags) this.#indexTarget(target);
        return;
      case "wiki":
        return this.#replace("wiki", artifact.title, wikiDocument(this.#reader, artifact.title));
      case "ticket":
        return this.#replace(
          "ticket",
          artifact.ticket,
          ticketDocument(this.#reader, artifact.ticket),
        );
      case "technote":
        return this.#replace(
          "technote",
          artifact.id,
          technoteDocument(this.#reader, artifact.id),
        );
      case "forum": {
        const name = forumName(this.#reader, repository.store.hashOf(rid) ?? "");
        if (name !== null) this.#replace("forum", name, forumDocument(this.#reader, name));
      }
    }
  }

  /** A tag may have changed the comment of a check-in. */
  #indexTarget(hash: string | null): void {
    const rid = hash === null ? 0 : this.#reader.repository.store.ridOf(hash);
    if (rid !== 0) this.#replace("checkin", `${rid}`, checkinDocument(this.#reader, rid));
  }

  /** Updates the files that changed between two tips. */
  #indexChanges(before: string, tip: string): void {
    const { store } = this.#reader.repository;
    const [earlier, now] = [store.ridOf(before), store.ridOf(tip)];
    const changed = earlier === 0 ? null : changedFiles(this.#reader, earlier, now);
    if (changed === null) return this.#indexTree(tip);
    for (const name of changed) {
      const card = findFileOf(this.#reader, now, name);
      const hash = this.#index.value<string>(
        "SELECT hash FROM doc WHERE kind='code' AND name=?",
        name,
      );
      if (card === null || card.hash !== hash) this.#indexFile(name, card);
    }
  }

  /** Updates all files; skips those with the same hash as before. */
  #indexTree(tip: string): void {
    const known = new TextMap(
      this.#index.rows<{ name: string; hash: string }>(
        "SELECT name, hash FROM doc WHERE kind='code'",
      ).map(({ name, hash }) => [name, hash]),
    );
    const { store } = this.#reader.repository;
    for (const card of tip === "" ? [] : treeOf(this.#reader, store.ridOf(tip))) {
      const isKnown = known.get(card.name) === card.hash;
      known.delete(card.name);
      if (!isKnown) this.#indexFile(card.name, card);
    }
    for (const name of known.keys()) this.#indexFile(name, null);
  }

  #indexFile(name: string, card: FileCard | null): void {
    this.#reader.check();
    const document = card === null || card.mode === "link"
      ? null
      : codeDocument(this.#reader, name, card.hash ?? "", this.#maxFileBytes);
    this.#replace("code", name, document);
  }

  #replace(kind: Document["kind"], name: string, document: Document | null): void {
    const find = "SELECT id FROM doc WHERE kind=? AND name=?";
    const id = this.#index.value<number>(find, kind, name);
    if (id !== undefined) {
      this.#index.run("DELETE FROM fts WHERE rowid=?", BigInt(id));
      this.#index.run("DELETE FROM doc WHERE id=?", id);
    }
    if (document !== null) this.#put(document);
  }

  #put({ kind, name, hash, title, body }: Document): void {
    const insert = "INSERT INTO doc(kind,name,hash) VALUES(?,?,?)";
    const id = this.#index.insert(insert, kind, name, hash);
    const text = body.slice(0, MAX_BODY);
    this.#index.run("INSERT INTO fts(rowid,title,body) VALUES(?,?,?)", BigInt(id), title, text);
  }
}

function isSame(before: State | null, now: State): boolean {
  return before !== null &&
    Object.entries(now).every(([key, value]) => before[key as keyof State] === value);
}

/** Increase this whenever the tables below or their content change: older files are rebuilt. */
const INDEX_VERSION = "2";

/**
 * Tables of the index. `doc` describes a text; the row of `fts` with the same id has the text.
 * `name` identifies a text when it changes: the row of a check-in, the id of a ticket, the title of
 * a page, the id of a technote, the hash of a post's first version, the path of a file.
 */
export const INDEX_SCHEMA = `
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS doc(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE(kind, name)
);
CREATE VIRTUAL TABLE IF NOT EXISTS fts USING fts5(
  title, body, tokenize='unicode61 remove_diacritics 2'
);
`;

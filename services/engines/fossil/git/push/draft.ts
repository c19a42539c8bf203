/** What a push brings, before any of it is in the repository. */
import { Buffer } from "node:buffer";
import { OBJECT_KINDS, type ObjectKind } from "../../../git/mod.ts";
import { Database } from "../../content/mod.ts";

/**
 * - `object`: the objects of a pack, by their names;
 * - `waiting`: deltas whose bases have not come yet.
 */
const SCHEMA = `
CREATE TABLE object(
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE waiting(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
`;

/** An object of a push. */
export interface DraftObject {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
}

/** The objects of a push. */
export interface Draft extends Disposable {
  /** Bytes of its objects. */
  readonly bytes: number;
  readonly size: number;
  /** Adds an object, unless it is there; returns its row. */
  add(name: Uint8Array, object: DraftObject): number;
  /** The row of an object; 0 if it is not there. */
  rowOf(name: Uint8Array): number;
  /** The object of a row. */
  at(row: number): DraftObject;
  /** The name of the object of a row. */
  nameAt(row: number): Uint8Array;
  /** An object by its name; null if it is not there. */
  get(name: Uint8Array): DraftObject | null;
  /** The kind of an object; null if it is not there. */
  kindOf(name: Uint8Array): ObjectKind | null;
  /** Keeps a delta for later; returns its row. */
  keep(delta: Uint8Array): number;
  /** A delta that was kept. */
  kept(row: number): Uint8Array;
}

/** A draft in a file, which its maker deletes. */
export class FileDraft implements Draft {
  readonly db: Database;

  private constructor(db: Database) {
    this.db = db;
  }

  /** Makes a draft, which must not be there. One transaction fills it. */
  static create(path: string): FileDraft {
    const db = new Database(path);
    try {
      db.useNoLog();
      db.exec(`${SCHEMA} BEGIN`);
      return new FileDraft(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  static open(path: string): FileDraft {
    return new FileDraft(new Database(path, { readOnly: true }));
  }

  get bytes(): number {
    return this.db.value<number>("SELECT sum(length(data)) FROM object") ?? 0;
  }

  get size(): number {
    return this.db.value<number>("SELECT count(*) FROM object") ?? 0;
  }

  /** Ends the transaction in which the draft was filled. */
  finish(): void {
    this.db.exec("COMMIT");
  }

  add(name: Uint8Array, { kind, content }: DraftObject): number {
    const known = this.rowOf(name);
    if (known !== 0) return known;
    const insert = "INSERT INTO object(name,kind,data) VALUES(?,?,?)";
    return this.db.insert(insert, name, OBJECT_KINDS.indexOf(kind), content);
  }

  rowOf(name: Uint8Array): number {
    return this.db.value<number>("SELECT id FROM object WHERE name=?", name) ?? 0;
  }

  at(row: number): DraftObject {
    return objectOf(
      this.db.row<ObjectRow>("SELECT kind, data FROM object WHERE id=?", row),
    )!;
  }

  nameAt(row: number): Uint8Array {
    return this.db.value<Uint8Array>("SELECT name FROM object WHERE id=?", row)!;
  }

  get(name: Uint8Array): DraftObject | null {
    return objectOf(this.db.row<ObjectRow>("SELECT kind, data FROM object WHERE name=?", name));
  }

  kindOf(name: Uint8Array): ObjectKind | null {
    const kind = this.db.value<number>("SELECT kind FROM object WHERE name=?", name);
    return kind === undefined ? null : OBJECT_KINDS[kind]!;
  }

  keep(delta: Uint8Array): number {
    return this.db.insert("INSERT INTO waiting(data) VALUES(?)", delta);
  }

  kept(row: number): Uint8Array {
    return this.db.value<Uint8Array>("SELECT data FROM waiting WHERE id=?", row)!;
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

interface ObjectRow {
  readonly kind: number;
  readonly data: Uint8Array;
}

function objectOf(row: ObjectRow | undefined): DraftObject | null {
  return row === undefined ? null : { kind: OBJECT_KINDS[row.kind]!, content: row.data };
}

/** A name as a key of a table in memory: a character for each byte. */
export function keyOf(name: Uint8Array): string {
  return Buffer.from(name.buffer, name.byteOffset, name.length).toString("latin1");
}

/**
 * The client's side of a clone: a repository file that holds an upstream's artifacts as they were
 * sent. Nothing in it is verified: the import of the file does that.
 */
import { deltaTargetLength, packBlob } from "../codec/mod.ts";
import { Config, createDatabase, Database } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { CardReader } from "./card_reader.ts";
import type { FileCard, PackedFileCard } from "./cards.ts";
import { cardsOf, type ReceivedMessage } from "./request.ts";

/** The setting of the file that has the number to go on with. */
const NEXT = "clone-seqno";
/** The login of the file's only user; an import does not copy it. */
const ADMIN = "muster";
const PROJECT_CODE = /^[0-9a-f]{40}$/;

/** How far a clone is. */
export interface CloneState {
  readonly projectCode: string;
  /** The number to ask for next; 0 at the end. */
  readonly next: number;
}

/** An answer of an upstream repository to a message that clones. */
export interface ClonedMessage extends ReceivedMessage {
  /** The file that takes the artifacts; it is made if it is missing. */
  readonly target: string;
}

/** What one answer brought. */
export interface ClonedRound {
  /** Null if the answer does not say. */
  readonly projectCode: string | null;
  /** The number to ask for next; null if the answer has none. */
  readonly next: number | null;
  readonly artifacts: number;
  /** The error that upstream reports; nothing is stored then. */
  readonly error: string | null;
}

/** How far the clone in a file is; null if there is no file. */
export function cloneStateOf(path: string): CloneState | null {
  if (!exists(path)) return null;
  const db = new Database(path);
  try {
    const config = new Config(db);
    return { projectCode: config.get("project-code") ?? "", next: config.integer(NEXT, 1) };
  } finally {
    db.close();
  }
}

/**
 * Stores an answer in the file, in one transaction or not at all. Private artifacts and settings are
 * passed over.
 *
 * @param check ends the work if the call was cancelled.
 * @throws {FossilError} `invalid` or `limit` if the answer is malformed; `conflict` if it is of
 * another project than the file.
 */
export function storeCloned(message: ClonedMessage, check: () => void): ClonedRound {
  const cards = cardsOf(message);
  const { projectCode, next, error } = surveyAnswer(cards);
  if (error !== null || projectCode === null || next === null) {
    return { projectCode, next, artifacts: 0, error };
  }
  const db = openTarget(message.target, projectCode);
  try {
    const config = new Config(db);
    if (config.get("project-code") !== projectCode) {
      throw new FossilError("conflict", "The project code of upstream has changed");
    }
    if (next !== 0 && next <= config.integer(NEXT, 1)) {
      throw new FossilError("invalid", "Upstream does not go on with the clone");
    }
    db.exec("BEGIN IMMEDIATE");
    const artifacts = storeFiles(db, cards, check);
    config.set(NEXT, String(next));
    db.exec("COMMIT");
    return { projectCode, next, artifacts, error: null };
  } finally {
    db.close();
  }
}

function surveyAnswer(cards: Uint8Array): Omit<ClonedRound, "artifacts"> {
  let [projectCode, next, error]: [string | null, number | null, string | null] = [
    null,
    null,
    null,
  ];
  for (const card of new CardReader(cards)) {
    if (card.kind === "push") projectCode = card.projectCode;
    else if (card.kind === "clone_seqno") next = card.next;
    else if (card.kind === "error") error ??= card.text;
  }
  if (projectCode !== null && !PROJECT_CODE.test(projectCode)) {
    throw new FossilError("invalid", "Upstream has no project code of 40 hexadecimal digits");
  }
  return { projectCode, next, error };
}

function openTarget(path: string, projectCode: string): Database {
  return exists(path)
    ? new Database(path)
    : createDatabase(path, { admin: ADMIN, projectCode, writeAheadLog: false });
}

function storeFiles(db: Database, cards: Uint8Array, check: () => void): number {
  let artifacts = 0;
  let isPrivate = false;
  for (const card of new CardReader(cards)) {
    if (card.kind === "private") isPrivate = true;
    if (card.kind !== "file" && card.kind !== "cfile") continue;
    check();
    if (!isPrivate && storeFile(db, card)) artifacts++;
    isPrivate = false;
  }
  return artifacts;
}

/** Stores an artifact as it is. Returns whether it is new. */
function storeFile(db: Database, card: FileCard | PackedFileCard): boolean {
  const { hash, source } = card;
  const packed = card.kind === "cfile" ? card.content : packBlob(card.content);
  const changes = db.run(
    `INSERT INTO blob(rcvid,size,uuid,content) VALUES(1,?,?,?)
      ON CONFLICT(uuid) DO UPDATE SET rcvid=1, size=excluded.size, content=excluded.content
        WHERE content IS NULL`,
    sizeOf(card),
    hash,
    packed,
  );
  if (changes === 0 || source === null) return changes > 0;
  db.run(
    "INSERT INTO blob(rcvid,size,uuid,content) VALUES(0,-1,?,NULL) ON CONFLICT(uuid) DO NOTHING",
    source,
  );
  db.run(
    `INSERT OR REPLACE INTO delta(rid,srcid)
      SELECT target.rid, source.rid FROM blob AS target, blob AS source
        WHERE target.uuid=? AND source.uuid=?`,
    hash,
    source,
  );
  return true;
}

/** The length of the artifact of a card. */
function sizeOf(card: FileCard | PackedFileCard): number {
  if (card.kind === "cfile") return card.size;
  return card.source === null ? card.content.length : deltaTargetLength(card.content);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Unversioned files between a client and the server: `fossil uv sync`. */
import { createHash } from "node:crypto";
import { isFileName } from "../artifact/mod.ts";
import { compareUtf8, hasHash, packBlob, unpackBlob } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { prepareUnversioned, type ReceivedUnversioned, receiveUnversioned } from "../write/mod.ts";
import { NO_HASH, type UnversionedFileCard } from "./cards.ts";
import type { Exchange } from "./exchange.ts";
import { quoted } from "./judge_words.ts";

/** Longest name of an unversioned file, in bytes. */
const MAX_NAME_BYTES = 1000;
/** Files are kept compressed if that saves a fifth. */
const MAX_PACKED_RATIO = 0.8;
/** `unversioned.encoding` of content that is compressed. */
const COMPRESSED = 1;

interface CatalogRow {
  readonly name: string;
  /** Unix seconds. */
  readonly mtime: number;
  /** Null for a file that was removed. */
  readonly hash: string | null;
  readonly sz: number;
}

/** Sends the list of files, unless the hash shows that the client has the same. */
export function sendCatalog(exchange: Exchange, clientHash: string): void {
  const { out, request: { rights } } = exchange;
  const files = visibleFiles(exchange);
  if (hashOf(files) === clientHash) return;
  const name = rights.write ? "uv-push-ok" : "uv-pull-only";
  out.add({ kind: "pragma", name, values: [] });
  for (const { name, mtime: time, hash, sz } of files) {
    out.add({ kind: "uvigot", name, time, hash, size: hash === null ? 0 : sz });
  }
}

/** Sends a file. A full answer names it instead, and the client asks again. */
export function sendUnversioned(exchange: Exchange, name: string): void {
  const { repository: { db }, out, counts } = exchange;
  if (isHidden(exchange, name) || !db.hasTable("unversioned")) return;
  const row = db.row<CatalogRow>(
    "SELECT name, mtime, hash, sz FROM unversioned WHERE name=?",
    name,
  );
  if (row === undefined) return;
  const { mtime: time, hash, sz: size } = row;
  if (exchange.isFull) return out.add({ kind: "uvigot", name, time, hash, size });
  if (hash === null) return out.add({ kind: "uvfile", name, time, hash, size: 0, content: null });
  const stored = db.row<{ encoding: number; content: Uint8Array | null }>(
    "SELECT encoding, content FROM unversioned WHERE name=?",
    name,
  );
  if (stored === undefined || stored.content === null) return;
  const content = stored.encoding === COMPRESSED ? unpackBlob(stored.content) : stored.content;
  out.add({ kind: "uvfile", name, time, hash, size: content.length, content });
  counts.unversionedSent++;
}

/**
 * Stores a file, removes it, or gives it another time: whatever the newer side says. One that the
 * judge refuses is passed over, and noted.
 *
 * @throws {FossilError} `invalid` if it cannot be stored; `corrupt` if it does not have its hash.
 */
export function acceptUnversioned(exchange: Exchange, card: UnversionedFileCard): void {
  const { repository, judge, counts, check } = exchange;
  const { name, hash, content } = card;
  if (judge === null) {
    throw new FossilError("conflict", "Write permissions for unversioned files missing");
  }
  check();
  if (!isFileName(name) || new TextEncoder().encode(name).length > MAX_NAME_BYTES) {
    throw new FossilError("invalid", `An unversioned file cannot have the name ${quoted(name)}`);
  }
  if (content !== null && hash !== null && !hasHash(content, hash)) {
    throw new FossilError("corrupt", "in uvfile line, HASH does not match CONTENT");
  }
  prepareUnversioned(repository);
  const known = repository.db.row<{ mtime: number; hash: string | null }>(
    "SELECT mtime, hash FROM unversioned WHERE name=?",
    name,
  );
  if (known !== undefined && !isNewer(card, known)) return;
  if (known === undefined && hash === null) return;
  const isSame = known !== undefined && known.hash === hash;
  if (hash !== null && content === null && !isSame) {
    throw new FossilError(
      "invalid",
      `The content of the unversioned file ${quoted(name)} is missing`,
    );
  }
  try {
    judge.unversioned({ name, time: card.time, hash, size: card.size });
  } catch (error) {
    if (!(error instanceof FossilError) || error.code !== "conflict") throw error;
    exchange.refusedFiles.push(error.message);
    return;
  }
  receiveUnversioned(repository, receivedOf(card, isSame));
  counts.unversionedReceived++;
}

function receivedOf(
  { name, time, hash, content }: UnversionedFileCard,
  isSame: boolean,
): ReceivedUnversioned {
  if (hash === null) return { kind: "removed", name, time };
  if (isSame || content === null) return { kind: "touched", name, time };
  const packed = packBlob(content);
  const isPacked = packed.length < content.length * MAX_PACKED_RATIO;
  return {
    kind: "written",
    name,
    time,
    hash,
    size: content.length,
    encoding: isPacked ? COMPRESSED : 0,
    content: isPacked ? packed : content,
  };
}

/** Whether a client's version replaces ours: the later one, or at the same time the greater hash. */
function isNewer(
  { time, hash }: UnversionedFileCard,
  known: { readonly mtime: number; readonly hash: string | null },
): boolean {
  if (time !== known.mtime) return time > known.mtime;
  return compareUtf8(hash ?? NO_HASH, known.hash ?? NO_HASH) > 0;
}

/** The files that the client may see, and those that were removed, by name. */
function visibleFiles(exchange: Exchange): CatalogRow[] {
  const { db } = exchange.repository;
  if (!db.hasTable("unversioned")) return [];
  return db.rows<CatalogRow>("SELECT name, mtime, hash, sz FROM unversioned ORDER BY name")
    .filter(({ name }) => !isHidden(exchange, name));
}

/** Clients cannot read a name with a space either: it would be several tokens. */
function isHidden({ request: { rights } }: Exchange, name: string): boolean {
  return /\s/.test(name) || rights.hiddenFiles.some((prefix) => name.startsWith(prefix));
}

/** The hash by which two sides find out whether they have the same files. */
function hashOf(files: readonly CatalogRow[]): string {
  const hasher = createHash("sha1");
  for (const { name, mtime, hash } of files) {
    if (hash === null) continue;
    const time = new Date(mtime * 1000).toISOString().slice(0, 19).replace("T", " ");
    hasher.update(`${name} ${time} ${hash}\n`);
  }
  return hasher.digest("hex");
}

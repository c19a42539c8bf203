import { packBlob, unpackBlob } from "../codec/mod.ts";
import type { Database } from "./database.ts";
import { packPlain, unpackDraft } from "./draft.ts";

/** Default limit of unpacked bytes: many become deltas before the transaction ends. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

/** Options of {@link BlobContents}. */
export interface BlobContentsOptions {
  /** Largest content that is read, in bytes. */
  readonly maxBytes: number;
  /** Most bytes of new contents in memory before they are packed. */
  readonly unpackedBytes?: number | undefined;
  /** Contents are written uncompressed; see `StoreOptions`. */
  readonly isDraft: boolean;
}

/** A row of the table `blob`, with its unpacked content: full text, or a delta. */
export interface StoredRow {
  readonly hash: string;
  readonly size: number;
  readonly stored: Uint8Array;
}

interface BlobRow {
  readonly content: Uint8Array | null;
  readonly size: number;
  readonly uuid: string;
}

/** The contents of the table `blob`. New ones stay in memory until they are packed and written. */
export class BlobContents {
  readonly #db: Database;
  readonly #maxBytes: number;
  readonly #maxUnpacked: number;
  readonly #isDraft: boolean;
  readonly #unpacked = new Map<number, Uint8Array>();
  #bytes = 0;

  constructor(db: Database, options: BlobContentsOptions) {
    this.#db = db;
    this.#maxBytes = options.maxBytes;
    this.#maxUnpacked = options.unpackedBytes ?? MAX_UNPACKED_BYTES;
    this.#isDraft = options.isDraft;
  }

  /** The stored bytes of a row: full text, or a delta. Null for a phantom. */
  get(rid: number): Uint8Array | null {
    return this.#unpacked.get(rid) ?? this.row(rid)?.stored ?? null;
  }

  /** A row; null for a phantom. */
  row(rid: number): StoredRow | null {
    const row = this.#db.row<BlobRow>("SELECT content, size, uuid FROM blob WHERE rid=?", rid);
    if (row === undefined || row.size < 0) return null;
    const { size, uuid: hash } = row;
    const unpacked = this.#unpacked.get(rid);
    if (unpacked !== undefined) return { hash, size, stored: unpacked };
    if (row.content === null) return null;
    const unpack = this.#isDraft ? unpackDraft : unpackBlob;
    return { hash, size, stored: unpack(row.content, this.#maxBytes) };
  }

  /** Sets the content of a row. Packs and writes all of them when too many wait. */
  set(rid: number, stored: Uint8Array): void {
    this.#unpacked.set(rid, stored);
    this.#bytes += stored.length;
    if (this.#bytes > this.#maxUnpacked) this.packAll();
  }

  /** Packs and writes pending contents. */
  packAll(): void {
    const update = "UPDATE blob SET content=? WHERE rid=?";
    const pack = this.#isDraft ? packPlain : packBlob;
    for (const [rid, stored] of this.#unpacked) this.#db.run(update, pack(stored), rid);
    this.clear();
  }

  /** Drops the pending content of a row. */
  delete(rid: number): void {
    this.#unpacked.delete(rid);
  }

  /** Drops all pending contents. */
  clear(): void {
    this.#unpacked.clear();
    this.#bytes = 0;
  }
}

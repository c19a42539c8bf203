/** Writes a pack: most of its objects are copied as they are stored. */
import { compressed, compressedDelta } from "../../../../kernel/compression.ts";
import { DeltaWriter, type EntryForm, PackWriter } from "../../../git/mod.ts";
import { MAX_ARTIFACT_BYTES, readDelta, unpackBlob } from "../../codec/mod.ts";
import type { Database } from "../../content/mod.ts";
import { unwrapped } from "../wrapped.ts";
import type { GitCompanion } from "./companion.ts";
import { entriesOf, type KeptPack, type PackReport } from "./kept_pack.ts";
import type { PackPlan } from "./plan.ts";
import { batches, marked, rowsOf } from "./rows.ts";
import type { TreeRow } from "./trees.ts";

/** Bytes of a length before the zlib stream of `blob.content`. */
const LENGTH_BYTES = 4;
/** About so many bytes of files are read at once, or one file. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** What a pack may use of the protocol. */
export interface PackOptions {
  /** Whether the client has what it says, so that deltas may be of that. */
  readonly isThin: boolean;
  /** Whether a delta may name its base by its place. */
  readonly takesOffsets: boolean;
  /** The pack that comes first, by which its objects are there already; null for none. */
  readonly kept: KeptPack | null;
}

/**
 * Writes a pack.
 *
 * @param sink takes pieces; each is in use until it returns
 */
export function writePack(
  companion: GitCompanion,
  plan: PackPlan,
  options: PackOptions,
  sink: (piece: Uint8Array) => void,
): PackReport {
  const { commits, tags, treeCount, fileCount } = plan;
  const { kept } = options;
  const objects = commits.length + tags.length + treeCount + fileCount + (kept?.objects ?? 0);
  const pack = new PackWriter(objects, sink);
  for (const part of kept === null ? [] : entriesOf(kept)) pack.add(part);
  const packer = new Packer(companion, { plan, options, pack });
  return { objects, bytes: packer.write() };
}

interface ObjectRow {
  readonly size: number;
  readonly data: Uint8Array;
}

interface FileRow {
  readonly rid: number;
  readonly name: Uint8Array;
  readonly origin: number;
  readonly size: number;
}

/** A file as it is stored: a delta, or whole. */
interface StoredFile {
  readonly rid: number;
  readonly content: Uint8Array;
}

class Packer {
  readonly #companion: GitCompanion;
  readonly #plan: PackPlan;
  readonly #options: PackOptions;
  readonly #pack: PackWriter;
  /** Where trees and files begin, by row; 0 if they are not written yet. */
  readonly #treeOffsets: Float64Array;
  readonly #fileOffsets: Float64Array;
  /** What each file is stored as a delta of; 0 for none. */
  readonly #sources: Uint32Array;
  /** Marks of the files that are stored in another form than Git has. */
  readonly #isWrapped: Uint8Array;

  constructor(
    companion: GitCompanion,
    job: {
      readonly plan: PackPlan;
      readonly options: PackOptions;
      readonly pack: PackWriter;
    },
  ) {
    this.#companion = companion;
    this.#plan = job.plan;
    this.#options = job.options;
    this.#pack = job.pack;
    this.#treeOffsets = new Float64Array(job.plan.trees.length);
    this.#fileOffsets = new Float64Array(job.plan.files.length);
    this.#sources = new Uint32Array(job.plan.files.length);
    this.#isWrapped = new Uint8Array(job.plan.files.length);
  }

  write(): number {
    const { commits, tags, trees } = this.#plan;
    const { db, reader: { check } } = this.#companion;
    const select = "SELECT size, data FROM revision WHERE id IN (?) ORDER BY id DESC";
    for (const { size, data } of rowsOf<ObjectRow>(db, select, commits)) {
      check();
      this.#pack.entry({ kind: "commit" }, size, data);
    }
    for (
      const { size, data } of rowsOf<ObjectRow>(
        db,
        "SELECT size, data FROM tag WHERE id IN (?)",
        tags,
      )
    ) {
      this.#pack.entry({ kind: "tag" }, size, data);
    }
    // The base of a tree is an earlier row.
    for (const row of this.#companion.trees.rows(marked(trees))) {
      check();
      this.#writeTree(row);
    }
    for (const batch of batches(this.#filesInOrder())) {
      check();
      this.#writeFiles(batch);
    }
    return this.#pack.finish();
  }

  #writeTree(row: TreeRow): void {
    const { trees } = this.#companion;
    this.#treeOffsets[row.id] = this.#pack.offset;
    const form = row.base === 0 ? null : this.#base(row, () => trees.row(row.base).name);
    if (form !== null || row.base === 0) {
      return this.#pack.entry(form ?? { kind: "tree" }, row.stored, row.data);
    }
    const content = trees.contentOf(row.id);
    this.#pack.entry({ kind: "tree" }, content.length, compressed(content));
  }

  /**
   * How a delta names its base; null if the client does not have the base.
   *
   * @param row its origin is the commit that first has it, and whose first parent has the base
   */
  #base({ base, origin }: TreeRow, nameOf: () => Uint8Array): EntryForm | null {
    const { isThin, takesOffsets, kept } = this.#options;
    const offset = this.#treeOffsets[base]!;
    if (offset > 0) return takesOffsets ? { baseOffset: offset } : { baseName: nameOf() };
    const parent = this.#companion.graph.firstParent(origin);
    const isHad = isThin && this.#plan.had[parent] === 1;
    return isHad || kept?.trees[base] === 1 ? { baseName: nameOf() } : null;
  }

  /** All files, each after the one that it is stored as a delta of. */
  #filesInOrder(): number[] {
    const { files } = this.#plan;
    const select = "SELECT rid, srcid FROM delta WHERE rid IN (?)";
    const rows = rowsOf<{ rid: number; srcid: number }>(this.#repository, select, marked(files));
    for (const { rid, srcid } of rows) this.#sources[rid] = srcid;
    const listed = new Uint8Array(files.length);
    const order: number[] = [];
    for (const start of marked(files)) {
      const chain: number[] = [];
      for (let rid = start; files[rid] === 1 && listed[rid] === 0; rid = this.#sources[rid]!) {
        listed[rid] = 1;
        chain.push(rid);
      }
      order.push(...chain.reverse());
    }
    return order;
  }

  #writeFiles(rids: readonly number[]): void {
    const wanted = new Set([...rids, ...rids.map((rid) => this.#sources[rid]!)]);
    const select = "SELECT rid, name, origin, size FROM file WHERE rid IN (?)";
    const files = new Map<number, FileRow>();
    for (const row of rowsOf<FileRow>(this.#companion.db, select, wanted)) files.set(row.rid, row);
    const sizes = rowsOf<Pick<FileRow, "rid" | "size">>(
      this.#repository,
      "SELECT rid, size FROM blob WHERE rid IN (?)",
      wanted,
    );
    for (const { rid, size } of sizes) {
      if (files.get(rid)?.size !== size) this.#isWrapped[rid] = 1;
    }
    for (const part of this.#parts(rids, files)) {
      const select = "SELECT rid, content FROM blob WHERE rid IN (?)";
      const contents = new Map<number, Uint8Array>();
      for (const { rid, content } of rowsOf<StoredFile>(this.#repository, select, part)) {
        contents.set(rid, content);
      }
      for (const rid of part) this.#writeFile(files.get(rid)!, contents.get(rid)!, files);
    }
  }

  /** Files whose contents fit into memory together. */
  *#parts(rids: readonly number[], files: ReadonlyMap<number, FileRow>): Generator<number[]> {
    let part: number[] = [];
    let bytes = 0;
    for (const rid of rids) {
      const { size } = files.get(rid)!;
      if (part.length > 0 && bytes + size > BATCH_BYTES) {
        yield part;
        part = [];
        bytes = 0;
      }
      part.push(rid);
      bytes += size;
    }
    if (part.length > 0) yield part;
  }

  #writeFile(
    { rid, size }: FileRow,
    stored: Uint8Array,
    files: ReadonlyMap<number, FileRow>,
  ): void {
    const source = this.#sources[rid]!;
    this.#fileOffsets[rid] = this.#pack.offset;
    const { store } = this.#companion.reader.repository;
    if (this.#isWrapped[rid] === 1) {
      const content = unwrapped(store.require(rid));
      return this.#pack.entry({ kind: "blob" }, size, compressed(content));
    }
    if (source === 0) {
      // The stored stream is what a pack has.
      return this.#pack.entry({ kind: "blob" }, size, stored.subarray(LENGTH_BYTES));
    }
    const before = files.get(source);
    const offset = this.#fileOffsets[source] ?? 0;
    const { isThin, kept } = this.#options;
    const isHad = kept?.files[source] === 1 ||
      (isThin && before !== undefined && this.#plan.had[before.origin] === 1);
    const isBase = offset > 0 || isHad;
    if (before === undefined || !isBase || this.#isWrapped[source] === 1) {
      return this.#pack.entry({ kind: "blob" }, size, compressed(store.require(rid)));
    }
    const delta = convertDelta(unpackBlob(stored), { base: before.size, result: size });
    const form = offset > 0 && this.#options.takesOffsets
      ? { baseOffset: offset }
      : { baseName: before.name };
    this.#pack.entry(form, delta.length, compressedDelta(delta));
  }

  get #repository(): Database {
    return this.#companion.reader.repository.db;
  }
}

/** A delta of Fossil as one of Git. */
function convertDelta(
  delta: Uint8Array,
  lengths: { readonly base: number; readonly result: number },
): Uint8Array {
  const writer = new DeltaWriter(lengths);
  readDelta(delta, { sourceLength: lengths.base, maxBytes: MAX_ARTIFACT_BYTES }, {
    copy: (start, end) => writer.copy(start, end),
    literal: (bytes) => writer.insert(bytes),
  });
  return writer.finish();
}

/** Writes a pack: most of its objects are copied as they are stored. */
import { deflateSync } from "node:zlib";
import { DeltaWriter, type EntryForm, PackWriter } from "../../../git/mod.ts";
import { MAX_ARTIFACT_BYTES, readDelta } from "../../codec/mod.ts";
import { unwrapped } from "../wrapped.ts";
import type { GitCompanion } from "./companion.ts";
import { entriesOf, type KeptPack, type PackReport } from "./kept_pack.ts";
import type { PackPlan } from "./plan.ts";
import type { TreeRow } from "./trees.ts";

/** Bytes of a length before the zlib stream of `blob.content`. */
const LENGTH_BYTES = 4;

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

interface FileRow {
  readonly name: Uint8Array;
  readonly origin: number;
  readonly size: number;
}

class Packer {
  readonly #companion: GitCompanion;
  readonly #plan: PackPlan;
  readonly #options: PackOptions;
  readonly #pack: PackWriter;
  /** Where trees and files begin, by row; 0 if they are not written yet. */
  readonly #treeOffsets: Float64Array;
  readonly #fileOffsets: Float64Array;

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
  }

  write(): number {
    const { commits, tags, trees, files } = this.#plan;
    const { db, reader: { check } } = this.#companion;
    for (const id of commits) {
      check();
      const row = db.row<{ size: number; data: Uint8Array }>(
        "SELECT size, data FROM revision WHERE id=?",
        id,
      )!;
      this.#pack.entry({ kind: "commit" }, row.size, row.data);
    }
    for (const id of tags) {
      const row = db.row<{ size: number; data: Uint8Array }>(
        "SELECT size, data FROM tag WHERE id=?",
        id,
      )!;
      this.#pack.entry({ kind: "tag" }, row.size, row.data);
    }
    // The base of a tree is an earlier row.
    for (let id = trees.indexOf(1); id >= 0; id = trees.indexOf(1, id + 1)) {
      check();
      this.#writeTree(id);
    }
    for (let rid = files.indexOf(1); rid >= 0; rid = files.indexOf(1, rid + 1)) {
      check();
      this.#writeFiles(rid);
    }
    return this.#pack.finish();
  }

  #writeTree(id: number): void {
    const { trees } = this.#companion;
    const row = trees.row(id);
    this.#treeOffsets[id] = this.#pack.offset;
    const form = row.base === 0 ? null : this.#base(row, () => trees.row(row.base).name);
    if (form !== null || row.base === 0) {
      return this.#pack.entry(form ?? { kind: "tree" }, row.stored, row.data);
    }
    const content = trees.contentOf(id);
    this.#pack.entry({ kind: "tree" }, content.length, deflateSync(content));
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

  /** Writes a file, after those that it is stored as a delta of. */
  #writeFiles(start: number): void {
    const { store } = this.#companion.reader.repository;
    const chain: number[] = [];
    for (let rid = start; rid !== 0 && this.#plan.files[rid] === 1; rid = store.sourceOf(rid)) {
      if (this.#fileOffsets[rid]! > 0) break;
      chain.push(rid);
    }
    for (const rid of chain.reverse()) this.#writeFile(rid);
  }

  #writeFile(rid: number): void {
    const { repository: { store, db } } = this.#companion.reader;
    const { size } = this.#file(rid)!;
    this.#fileOffsets[rid] = this.#pack.offset;
    if (store.sizeOf(rid) !== size) {
      const content = unwrapped(store.require(rid));
      return this.#pack.entry({ kind: "blob" }, size, deflateSync(content));
    }
    const source = store.sourceOf(rid);
    if (source === 0) {
      // The stored stream is what a pack has.
      const stored = db.value<Uint8Array>("SELECT content FROM blob WHERE rid=?", rid)!;
      return this.#pack.entry({ kind: "blob" }, size, stored.subarray(LENGTH_BYTES));
    }
    const before = this.#file(source);
    const offset = this.#fileOffsets[source] ?? 0;
    const { isThin, kept } = this.#options;
    const isHad = kept?.files[source] === 1 ||
      (isThin && before !== undefined && this.#plan.had[before.origin] === 1);
    const delta = offset > 0 || isHad ? store.getDelta(rid) : null;
    if (delta === null || before === undefined || store.sizeOf(source) !== before.size) {
      return this.#pack.entry({ kind: "blob" }, size, deflateSync(store.require(rid)));
    }
    const converted = convertDelta(delta, { base: before.size, result: size });
    const form = offset > 0 && this.#options.takesOffsets
      ? { baseOffset: offset }
      : { baseName: before.name };
    this.#pack.entry(form, converted.length, deflateSync(converted, { level: 1 }));
  }

  #file(rid: number): FileRow | undefined {
    return this.#companion.db.row<FileRow>("SELECT name, origin, size FROM file WHERE rid=?", rid);
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

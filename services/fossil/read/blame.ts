import { FossilError } from "../error.ts";
import { ancestryOf } from "./ancestry.ts";
import { readRef } from "./checkins.ts";
import { isBinary, type PathOptions } from "./file.ts";
import { fileAt, normalizePath, treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Blame, BlameLine, CheckinRef } from "./shapes.ts";
import { compareEnds, Lines, matchLines } from "./text/mod.ts";

/** Limits where the caller does not say. */
const DEFAULTS = { maxVersions: 10_000, maxBytes: 1024 * 1024 * 1024, maxMs: 10_000 };
/** A larger file has no blame, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Whose lines, and what finding their origin may take. */
export interface BlameOptions extends PathOptions {
  /** Versions of the file that are gone through. */
  readonly maxVersions?: number;
  /** Bytes of all those versions together. */
  readonly maxBytes?: number;
  /** Milliseconds. */
  readonly maxMs?: number;
}

/** One version of a file. */
interface Version {
  readonly checkin: number;
  /** Row of the content. */
  readonly file: number;
}

/**
 * The check-in that last changed each line of a file. Versions are those along the primary
 * parents, renames followed: what a merge brought in is the merge's.
 *
 * @throws {FossilError} `missing` where there is no such file; `ambiguous`; `invalid` where it is
 * binary; `limit` where it has more versions, or larger ones, than the options allow, or where it
 * takes too long.
 */
export function readBlame(reader: Reader, options: BlameOptions): Blame {
  return reader.read(() => {
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const card = fileAt(treeOf(reader, rid), normalizePath(options.path));
    const versions = versionsOf(reader, rid, card.name);
    const origins = originsOf(reader, versions, new Limits(options));
    const newest = versions[0];
    if (newest === undefined) throw new FossilError("missing", `"${card.name}" has no history`);
    const lines = new Lines(reader.repository.store.require(newest.file));
    const refs = new Map<number, CheckinRef | null>();
    return {
      checkin,
      path: card.name,
      lines: Array.from(origins, (origin, i) => {
        if (!refs.has(origin)) refs.set(origin, readRef(reader, origin));
        return lineOf(i, refs.get(origin) ?? null, lines.text(i));
      }),
    };
  });
}

function lineOf(index: number, ref: CheckinRef | null, text: string): BlameLine {
  return {
    number: index + 1,
    uuid: ref?.uuid ?? "",
    user: ref?.user ?? "",
    timestamp: ref?.timestamp ?? "",
    text: text.replace(/\r?\n$/, ""),
  };
}

/** What has been used of the options' limits. */
class Limits {
  readonly #max: typeof DEFAULTS;
  readonly #start = performance.now();
  #versions = 0;
  #bytes = 0;

  constructor({ maxVersions, maxBytes, maxMs }: BlameOptions) {
    this.#max = {
      maxVersions: maxVersions ?? DEFAULTS.maxVersions,
      maxBytes: maxBytes ?? DEFAULTS.maxBytes,
      maxMs: maxMs ?? DEFAULTS.maxMs,
    };
  }

  /** Counts one more version of a file. */
  count(bytes: number): void {
    this.#versions++;
    this.#bytes += bytes;
    const { maxVersions, maxBytes, maxMs } = this.#max;
    if (bytes > MAX_FILE_BYTES) {
      throw new FossilError("limit", `Blame of a file of ${bytes} bytes is not given`);
    }
    if (this.#versions > maxVersions) {
      throw new FossilError("limit", `Blame needs more than ${maxVersions} versions of the file`);
    }
    if (this.#bytes > maxBytes) {
      throw new FossilError("limit", `Blame needs more than ${maxBytes} bytes of the file`);
    }
    if (performance.now() - this.#start > maxMs) {
      throw new FossilError("limit", `Blame takes longer than ${maxMs} ms`);
    }
  }
}

interface FileLink {
  readonly mid: number;
  readonly fid: number;
  readonly pid: number;
  readonly pfnid: number;
}

/** Versions of a file along the primary parents, newest first. */
function versionsOf(reader: Reader, checkin: number, name: string): Version[] {
  const { db } = reader.repository;
  const linksOf = (fnid: number) =>
    new Map(
      db.rows<FileLink>("SELECT mid, fid, pid, pfnid FROM mlink WHERE fnid=? AND NOT isaux", fnid)
        .map((link) => [link.mid, link]),
    );
  const versions: Version[] = [];
  let links = linksOf(db.value<number>("SELECT fnid FROM filename WHERE name=?", name) ?? 0);
  for (const rid of ancestryOf(reader).primaryChain(checkin)) {
    const link = links.get(rid);
    if (link === undefined) continue;
    if (link.fid <= 0) break;
    versions.push({ checkin: rid, file: link.fid });
    if (link.pid <= 0) break;
    if (link.pfnid > 0) links = linksOf(link.pfnid);
  }
  return versions;
}

/**
 * The check-in that each line of the newest version comes from. Goes back from version to version:
 * a line that the older one has as well is looked for there, the others are the newer one's.
 */
function originsOf(reader: Reader, versions: readonly Version[], limits: Limits): Int32Array {
  const { store } = reader.repository;
  const [newest, ...older] = versions;
  if (newest === undefined) return new Int32Array(0);
  let lines = new Lines(require(store.get(newest.file), newest));
  if (isBinary(lines.bytes)) throw new FossilError("invalid", "A binary file has no lines");
  limits.count(lines.bytes.length);
  const origins = new Int32Array(lines.count).fill(newest.checkin);
  /** For each line of the version at hand the line of the newest one that it is, or -1. */
  let targets = Int32Array.from(origins, (_, i) => i);
  for (const { checkin, file } of older) {
    reader.check();
    const content = store.get(file);
    if (content === null || isBinaryQuick(content)) break;
    limits.count(content.length);
    const comparison = compareEnds(lines, content);
    const carried = new Int32Array(comparison.right.count).fill(-1);
    let isAnyLeft = false;
    for (const { left, right, length } of matchLines(comparison)) {
      carried.set(targets.subarray(left, left + length), right);
    }
    for (const target of carried) {
      if (target < 0) continue;
      origins[target] = checkin;
      isAnyLeft = true;
    }
    if (!isAnyLeft) break;
    lines = comparison.right;
    targets = carried;
  }
  return origins;
}

function require(content: Uint8Array | null, version: Version): Uint8Array {
  if (content !== null) return content;
  throw new FossilError("missing", `Content of artifact ${version.file} is missing`);
}

/** Whether an older version was no text. */
function isBinaryQuick(content: Uint8Array): boolean {
  return content.includes(0);
}

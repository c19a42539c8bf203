import { decodeUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { readRefs } from "./checkins.ts";
import { isBinary, type PathOptions } from "./file.ts";
import { type FileVersion, versionsOf } from "./file_versions.ts";
import { fileOf, normalizePath } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Blame } from "./shapes.ts";
import { type Matches, VersionMatches } from "./version_matches.ts";

/** Default limits. */
const DEFAULTS = { maxVersions: 10_000, maxBytes: 1024 * 1024 * 1024 };
/** Largest file with blame, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The file, and the limits of the search. */
export interface BlameOptions extends PathOptions {
  /** Most versions of the file to read. */
  readonly maxVersions?: number;
  /** Most bytes of all these versions. */
  readonly maxBytes?: number;
}

/**
 * The check-in that last changed each line of a file. Follows renames. Lines that came with a merge
 * belong to it, as in the program.
 *
 * @throws {FossilError} `missing` if there is no such file; `ambiguous`; `invalid` if it is binary;
 * `limit` if it has more versions, or larger ones, than the options allow; and what `Reader.check`
 * throws.
 */
export function readBlame(reader: Reader, options: BlameOptions): Blame {
  return reader.read(() => {
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const { name: path } = fileOf(reader, rid, normalizePath(options.path));
    const versions = versionsOf(reader, rid, path);
    const newest = versions.next().value;
    if (!newest) throw new FossilError("missing", `"${path}" has no history`);
    const text = reader.repository.store.require(newest.file);
    if (isBinary(text)) throw new FossilError("invalid", "A binary file has no lines");
    const lines = linesOf(text);
    const origins = new Origins(lines.length);
    const limits = new Limits(reader, options);
    const matches = new VersionMatches(reader, MAX_FILE_BYTES);
    limits.count(text.length);
    let version = newest;
    for (const older of versions) {
      if (origins.areSettled || !isComparable(reader, older)) break;
      limits.count(older.size);
      origins.settle(version.checkin, matches.between(version, older));
      version = older;
    }
    origins.settle(version.checkin, NOTHING);
    const refs = readRefs(reader, origins.checkins);
    return {
      checkin,
      path,
      lines: lines.map((text, i) => {
        const { uuid = "", user = "", timestamp = "" } = refs.get(origins.checkins[i]!) ?? {};
        return { number: i + 1, uuid, user, timestamp, text };
      }),
    };
  });
}

const NOTHING = new Int32Array(0);

/** The lines of a text, without their ends. */
function linesOf(text: Uint8Array): readonly string[] {
  const lines = decodeUtf8(text).split("\n");
  const last = lines.pop();
  const ended = lines.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  return last ? [...ended, last] : ended;
}

/** Whether a version's content is there; a large one must not be binary either. */
function isComparable({ repository }: Reader, { file, size }: FileVersion): boolean {
  if (size <= MAX_FILE_BYTES) return size >= 0;
  return repository.store.get(file)?.includes(0) === false;
}

/** The used part of the limits. */
class Limits {
  readonly #reader: Reader;
  readonly #max: typeof DEFAULTS;
  #versions = 0;
  #bytes = 0;

  constructor(reader: Reader, options: BlameOptions) {
    this.#reader = reader;
    this.#max = {
      maxVersions: options.maxVersions ?? DEFAULTS.maxVersions,
      maxBytes: options.maxBytes ?? DEFAULTS.maxBytes,
    };
  }

  /** Counts one more version of a file. */
  count(bytes: number): void {
    this.#reader.check();
    this.#versions++;
    this.#bytes += bytes;
    const { maxVersions, maxBytes } = this.#max;
    if (bytes > MAX_FILE_BYTES) {
      throw new FossilError("limit", `Blame of a file of ${bytes} bytes is not given`);
    }
    if (this.#versions > maxVersions) {
      throw new FossilError("limit", `Blame needs more than ${maxVersions} versions of the file`);
    }
    if (this.#bytes > maxBytes) {
      throw new FossilError("limit", `Blame needs more than ${maxBytes} bytes of the file`);
    }
  }
}

/** Where the lines of a file come from, found by a walk from its newest version to its oldest. */
class Origins {
  /** The check-in of each line, as far as it is known. */
  readonly checkins: Int32Array;
  /**
   * Runs of lines that the version at hand has, too, in order: for each, the number of its first
   * line there and in the newest version, from 0, and its length.
   */
  #runs: readonly number[];

  constructor(count: number) {
    this.checkins = new Int32Array(count);
    this.#runs = count === 0 ? [] : [0, 0, count];
  }

  get areSettled(): boolean {
    return this.#runs.length === 0;
  }

  /** Goes on to an older version, which has some of the lines; the others come from a check-in. */
  settle(checkin: number, matches: Matches): void {
    const [runs, older] = [this.#runs, [] as number[]];
    let match = 0;
    for (let run = 0; run < runs.length; run += 3) {
      const end = runs[run]! + runs[run + 2]!;
      const shift = runs[run + 1]! - runs[run]!;
      for (let at = runs[run]!; at < end;) {
        while (match < matches.length && matches[match]! + matches[match + 2]! <= at) match += 3;
        const start = Math.min(Math.max(at, matches[match] ?? end), end);
        this.checkins.fill(checkin, at + shift, start + shift);
        at = start;
        if (at === end) break;
        const shared = Math.min(matches[match]! + matches[match + 2]!, end) - at;
        older.push(matches[match + 1]! + at - matches[match]!, at + shift, shared);
        at += shared;
      }
    }
    this.#runs = older;
  }
}

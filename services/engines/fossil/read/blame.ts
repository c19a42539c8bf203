import { FossilError } from "../error.ts";
import { ancestryOf } from "./ancestry.ts";
import { readRef } from "./checkins.ts";
import { isBinary, type PathOptions } from "./file.ts";
import { type FileVersion, FileVersions } from "./file_versions.ts";
import { fileOf, normalizePath } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Blame, BlameLine, CheckinRef } from "./shapes.ts";
import { compareEnds, Lines, matchLines } from "./text/mod.ts";

/** Default limits. */
const DEFAULTS = { maxVersions: 10_000, maxBytes: 1024 * 1024 * 1024 };
/** Largest file with blame, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The file, and the limits of the search. */
export interface BlameOptions extends PathOptions {
  /**
   * Looks for lines that came with a merge in the merged check-ins. By default they belong to the
   * merge, as in the program.
   */
  readonly followMerges?: boolean;
  /** Most versions of the file to read. */
  readonly maxVersions?: number;
  /** Most bytes of all these versions. */
  readonly maxBytes?: number;
}

/**
 * The check-in that last changed each line of a file. Follows renames, and on request merges.
 *
 * @throws {FossilError} `missing` if there is no such file; `ambiguous`; `invalid` if it is binary;
 * `limit` if it has more versions, or larger ones, than the options allow; and what `Reader.check`
 * throws.
 */
export function readBlame(reader: Reader, options: BlameOptions): Blame {
  return reader.read(() => {
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const card = fileOf(reader, rid, normalizePath(options.path));
    const versions = new FileVersions(reader, card.name, options.followMerges ?? false);
    const newest = versions.at(rid);
    if (newest === null) throw new FossilError("missing", `"${card.name}" has no history`);
    const lines = new Lines(reader.repository.store.require(newest.file));
    if (isBinary(lines.bytes)) throw new FossilError("invalid", "A binary file has no lines");
    const origins = new Tracer(reader, versions, new Limits(reader, options)).trace(newest, lines);
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

/** A version whose lines are still to be traced. */
interface Step {
  readonly version: FileVersion;
  readonly lines: Lines;
  /**
   * For each line of this version, the line of the newest version that comes from it, or -1.
   * Several lists, where several lines come from the same one.
   */
  readonly layers: Int32Array[];
}

/**
 * Finds the origin of lines. Goes back from version to version, children before their parents. A
 * line that an older version also has is passed on to it; the others originate here.
 */
class Tracer {
  readonly #reader: Reader;
  readonly #versions: FileVersions;
  readonly #limits: Limits;
  readonly #generations: Int32Array;
  readonly #steps = new Map<number, Step>();
  /** Check-ins that were traced: only a loop of parents leads to one again. */
  readonly #done = new Set<number>();

  constructor(reader: Reader, versions: FileVersions, limits: Limits) {
    this.#reader = reader;
    this.#versions = versions;
    this.#limits = limits;
    this.#generations = ancestryOf(reader).generations();
  }

  /** Rows of the check-ins where the lines of a version originate. */
  trace(newest: FileVersion, lines: Lines): Int32Array {
    this.#limits.count(lines.bytes.length);
    const origins = new Int32Array(lines.count).fill(newest.checkin);
    this.#add(newest, lines, Int32Array.from(origins, (_, i) => i));
    for (let step = this.#next(); step !== null; step = this.#next()) {
      for (const parent of this.#versions.parentsOf(step.version)) this.#carry(step, parent);
      for (const layer of step.layers) {
        for (const target of layer) if (target >= 0) origins[target] = step.version.checkin;
      }
    }
    return origins;
  }

  /**
   * The version that is farthest from the start of history: no pending version descends from it.
   */
  #next(): Step | null {
    let newest: Step | null = null;
    let generation = -1;
    for (const step of this.#steps.values()) {
      const own = this.#generations[step.version.checkin] ?? 0;
      if (own > generation) [newest, generation] = [step, own];
    }
    if (newest !== null) {
      this.#steps.delete(newest.version.checkin);
      this.#done.add(newest.version.checkin);
    }
    return newest;
  }

  /** Passes the lines that a parent also has on to it. */
  #carry(step: Step, parent: FileVersion): void {
    if (this.#done.has(parent.checkin)) return;
    if (step.layers.every((layer) => layer.every((target) => target < 0))) return;
    const content = this.#reader.repository.store.get(parent.file);
    if (content === null || content.includes(0)) return;
    this.#limits.count(content.length);
    const comparison = compareEnds(step.lines, content);
    const matches = matchLines(comparison);
    for (const layer of step.layers) {
      const carried = new Int32Array(comparison.right.count).fill(-1);
      for (const { left, right, length } of matches) {
        carried.set(layer.subarray(left, left + length), right);
        layer.fill(-1, left, left + length);
      }
      this.#add(parent, comparison.right, carried);
    }
  }

  #add(version: FileVersion, lines: Lines, targets: Int32Array): void {
    const known = this.#steps.get(version.checkin);
    if (known === undefined) {
      this.#steps.set(version.checkin, { version, lines, layers: [targets] });
      return;
    }
    const [first] = known.layers;
    const isFree = first!.every((target, i) => target < 0 || targets[i]! < 0);
    if (!isFree) known.layers.push(targets);
    else for (const [i, target] of targets.entries()) if (target >= 0) first![i] = target;
  }
}

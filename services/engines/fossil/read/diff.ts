import { ComputingTime } from "../computing_time.ts";
import { FossilError } from "../error.ts";
import { commonAncestor } from "./ancestry.ts";
import { type CarriedDifference, carryOver } from "./carried.ts";
import { compareTrees } from "./changes.ts";
import { primaryParentOf } from "./checkin.ts";
import { contentOrReason } from "./content.ts";
import { isBinary } from "./file.ts";
import { lfsPointerOf } from "./lfs_pointer.ts";
import { normalizePath, treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { renamesBetween } from "./renames.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Diff, FileDiff, FileDifference } from "./shapes.ts";
import { unifiedDiff } from "./unified.ts";
import { TextMap } from "../text/mod.ts";

/** Default number of lines of context. */
const DEFAULT_CONTEXT = 3;
/** Most lines of context. */
const MAX_CONTEXT = 100_000;
/** Default limit of the bytes of all diffs. */
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** Largest file to compare by lines, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Default limit of the time to compare files, in milliseconds: half of what a read may take. */
const DEFAULT_MAX_MS = 5_000;

/** What to compare. */
export interface DiffOptions {
  /** Any name; absent for the primary parent of `to`. */
  readonly from?: string;
  /** Any name; absent for the tip of the main branch. */
  readonly to?: string;
  /** One file, or everything below a folder. */
  readonly path?: string;
  /** Only files that have one of these names, before or after. */
  readonly names?: Pick<ReadonlySet<string>, "has">;
  /** Whether to compare with the newest check-in that `from` and `to` have in common. */
  readonly fromCommon?: boolean;
  /** Lines around each change, 3 if absent. */
  readonly context?: number;
  /** Whether changes of white space within lines are left out. */
  readonly ignoresWhitespace?: boolean;
  /** At most so many files, and how many to skip; all if absent. */
  readonly limit?: number;
  readonly offset?: number;
  /** Limit of the bytes of all diffs; further files are listed without their diff. */
  readonly maxBytes?: number;
  /** Limit of the time to compute, in milliseconds; otherwise like `maxBytes`. */
  readonly maxMs?: number;
  /**
   * The check-ins that `from` and `to` are changes of: what happened between these is left out. See
   * `carryOver`.
   */
  readonly bases?: { readonly from: string; readonly to: string };
}

/**
 * The differences between two check-ins, as unified diffs sorted by name. Follows recorded renames.
 *
 * @throws {FossilError} `missing` or `ambiguous` if a name fits none or several; `missing` if
 * neither check-in has anything at the path; `invalid` if a number is malformed.
 */
export function readDiff(reader: Reader, options: DiffOptions = {}): Diff {
  const context = options.context ?? DEFAULT_CONTEXT;
  if (!Number.isSafeInteger(context) || context < 0 || context > MAX_CONTEXT) {
    throw new FossilError("invalid", `"${context}" is not a number of context lines`);
  }
  return reader.read(() => {
    const to = resolveCheckin(reader, options.to);
    const from = startOf(reader, options, to.rid);
    const path = normalizePath(options.path ?? "");
    const differences = differencesBetween(reader, from, to.rid)
      .filter((difference) => isWithin(difference, path) && isNamed(difference, options));
    if (path !== "" && differences.length === 0) requireFile(reader, [from, to.rid], path);
    const budget = new Budget(options);
    const { bases } = options;
    const shown = bases === undefined || from === 0
      ? differences.map((difference) => ({ difference, before: null }))
      : carryOver(reader, differences, {
        from,
        to: to.rid,
        oldBase: resolveCheckin(reader, bases.from).rid,
        newBase: resolveCheckin(reader, bases.to).rid,
      }).filter(({ difference }) => isWithin(difference, path));
    const { offset = 0, limit = shown.length } = options;
    const page = shown.slice(offset, offset + limit);
    return {
      from: from === 0 ? "" : reader.repository.store.hashOf(from) ?? "",
      to: to.uuid,
      total: shown.length,
      files: page.map((one) =>
        fileDiff(reader, one, budget, { context, isLoose: options.ignoresWhitespace === true })
      ),
    };
  });
}

/** Approximate memory of a difference, in bytes. */
const DIFFERENCE_BYTES = 400;

/** The files that differ between two check-ins; a page after the other asks for the same. */
function differencesBetween(reader: Reader, from: number, to: number): readonly FileDifference[] {
  return reader.lasting(`differences ${from} ${to}`, () => {
    const before = from === 0 ? [] : treeOf(reader, from);
    const renames = from === 0 ? new TextMap<string>() : renamesBetween(reader, from, to);
    const value = compareTrees(before, treeOf(reader, to), renames);
    return { value, bytes: 200 + value.length * DIFFERENCE_BYTES };
  });
}

/** @throws {FossilError} `missing` if none of the check-ins has anything at the path */
function requireFile(reader: Reader, checkins: readonly number[], path: string): void {
  const has = (rid: number) => rid !== 0 && treeOf(reader, rid).some((file) => isBelow(file, path));
  if (checkins.some(has)) return;
  throw new FossilError("missing", `Neither check-in has a file "${path}"`);
}

/** The check-in before the changes; 0 for none. */
function startOf(reader: Reader, { from, fromCommon }: DiffOptions, to: number): number {
  if (from === undefined) return primaryParentOf(reader, to);
  const { rid } = resolveCheckin(reader, from);
  return fromCommon === true ? commonAncestor(reader, rid, to) ?? rid : rid;
}

function isNamed({ name, prev_name }: FileDifference, { names }: DiffOptions): boolean {
  return names === undefined || names.has(name) || (prev_name !== null && names.has(prev_name));
}

function isWithin({ name, prev_name }: FileDifference, path: string): boolean {
  return isBelow({ name }, path) || (prev_name !== null && isBelow({ name: prev_name }, path));
}

/** Whether a file is the one at a path, or in the folder there. */
function isBelow({ name }: { readonly name: string }, path: string): boolean {
  return path === "" || name === path || name.startsWith(`${path}/`);
}

/** The limits of all diffs together. */
class Budget {
  #bytes: number;
  readonly #maxMs: number;
  readonly #time = new ComputingTime();

  constructor(options: DiffOptions) {
    const { maxBytes = DEFAULT_MAX_BYTES, maxMs = DEFAULT_MAX_MS } = options;
    this.#bytes = maxBytes;
    this.#maxMs = maxMs;
  }

  get isUsedUp(): boolean {
    return this.#bytes <= 0 || this.#time.exceeds(this.#maxMs);
  }

  /** Subtracts the size of a diff; false if the limit is exceeded. */
  spend(bytes: number): boolean {
    this.#bytes -= bytes;
    return this.#bytes >= 0;
  }
}

function fileDiff(
  reader: Reader,
  { difference, before: given }: CarriedDifference,
  budget: Budget,
  { context, isLoose }: { readonly context: number; readonly isLoose: boolean },
): FileDiff {
  reader.check();
  const { name, change_type, prev_name, uuid, prev_uuid } = difference;
  const file = { name, change_type, prev_name, uuid, prev_uuid };
  const nothing = {
    ...file,
    is_binary: false,
    added: 0,
    deleted: 0,
    total_lines: null,
    diff: "",
    unreadable: null,
    prev_lfs: null,
    lfs: null,
  };
  if (uuid === prev_uuid && given === null) return { ...nothing, is_truncated: false };
  if (budget.isUsedUp) return { ...nothing, is_truncated: true };
  const [before, after] = [given ?? contentOf(reader, prev_uuid), contentOf(reader, uuid)];
  if (typeof before === "string") return { ...nothing, is_truncated: false, unreadable: before };
  if (typeof after === "string") return { ...nothing, is_truncated: false, unreadable: after };
  const headers = `--- ${prev_uuid === null ? "/dev/null" : `a/${prev_name ?? name}`}\n+++ ${
    uuid === null ? "/dev/null" : `b/${name}`
  }\n`;
  const pointers = { prev_lfs: lfsPointerOf(before), lfs: lfsPointerOf(after) };
  if (isBinary(before) || isBinary(after)) {
    const diff = `${headers}Binary files differ\n`;
    return { ...nothing, ...pointers, is_binary: true, diff, is_truncated: false };
  }
  if (Math.max(before.length, after.length) > MAX_FILE_BYTES) {
    return { ...nothing, is_truncated: true };
  }
  const { hunks, added, deleted } = unifiedDiff(before, after, context, isLoose);
  const fits = budget.spend(headers.length + hunks.length);
  const total_lines = uuid === null ? null : linesIn(after);
  const diff = fits ? headers + hunks : "";
  return { ...nothing, ...pointers, added, deleted, total_lines, diff, is_truncated: !fits };
}

const LINE_END = 10;

/** How many lines a text has; the last one may lack its line end. */
function linesIn(text: Uint8Array): number {
  let count = 0;
  for (let at = text.indexOf(LINE_END); at !== -1; at = text.indexOf(LINE_END, at + 1)) count++;
  return text.length > 0 && text.at(-1) !== LINE_END ? count + 1 : count;
}

function contentOf(reader: Reader, uuid: string | null): Uint8Array | string {
  return uuid === null ? new Uint8Array(0) : contentOrReason(reader, uuid);
}

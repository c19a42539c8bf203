/** What a pull changes in a folder: the changes of the project since the base, beside the folder's own. */
import { mergeText } from "../../services/engines/fossil/mod.ts";
import { MODE } from "../../services/engines/git/mod.ts";
import type { FileEntry } from "./file_tree.ts";
import { isHeld, isSame, kindOf } from "./local_files.ts";

type Entries = ReadonlyMap<string, FileEntry>;

/** What is to be done. Paths are bytes as `latin1`. */
export interface PullPlan {
  /** Files to write as the project has them. */
  readonly writes: ReadonlyMap<string, FileEntry>;
  readonly deletes: readonly string[];
  /** Texts that both sides have changed. */
  readonly merges: readonly TextMerge[];
  /** Files that both sides have changed, and that cannot be merged. */
  readonly clashes: readonly string[];
  /** Files that were deleted here and changed there: they come back. */
  readonly returned: readonly string[];
  /** Files that were changed here and deleted there: they stay. */
  readonly kept: readonly string[];
}

export interface TextMerge {
  readonly path: string;
  readonly base: FileEntry | undefined;
  readonly local: FileEntry;
  readonly remote: FileEntry;
}

/** Compares three states of the files of a folder: at the base, here, and in the project now. */
export function planPull(base: Entries, local: Entries, remote: Entries): PullPlan {
  const plan = {
    writes: new Map<string, FileEntry>(),
    deletes: [] as string[],
    merges: [] as TextMerge[],
    clashes: [] as string[],
    returned: [] as string[],
    kept: [] as string[],
  };
  for (const path of new Set([...base.keys(), ...remote.keys()])) {
    const [was, here, there] = [base.get(path), local.get(path), remote.get(path)];
    const isOurs = [was, there].every((entry) => entry === undefined || isHeld(path, entry.mode));
    if (!isOurs || isSame(was, there) || isSame(here, there)) continue;
    if (here === undefined && there !== undefined) {
      plan.writes.set(path, there);
      if (was !== undefined) plan.returned.push(path);
    } else if (isSame(here, was)) {
      if (there === undefined) plan.deletes.push(path);
      else plan.writes.set(path, there);
    } else if (there === undefined) plan.kept.push(path);
    else if (
      here !== undefined && isFile(here) && isFile(there) && (was === undefined || isFile(was))
    ) {
      plan.merges.push({ path, base: was, local: here, remote: there });
    } else plan.clashes.push(path);
  }
  return plan;
}

function isFile({ mode }: FileEntry): boolean {
  return mode >> 9 === MODE.file >> 9;
}

/** How the folder's own lines are called beside a conflict. */
const OURS = "this folder";

/** Bytes to search for a NUL, and most bytes of a text that is merged. */
const [SNIFFED_BYTES, MAX_BYTES] = [65_536, 32 * 1024 * 1024];

/** A text with the changes of both sides. */
export interface Merged {
  readonly content: Uint8Array;
  readonly isExecutable: boolean;
  /** Places where both changed the same lines; each has all versions between markers. */
  readonly conflicts: number;
}

/**
 * Merges a text.
 *
 * @param theirs how the project's version is called beside a conflict
 * @returns null if a side is no text
 */
export function mergeFile(
  { base, local, remote }: TextMerge,
  contents: { readonly base: Uint8Array; readonly local: Uint8Array; readonly remote: Uint8Array },
  theirs: string,
): Merged | null {
  if (!Object.values(contents).every(isText)) return null;
  const labels = { ours: OURS, ancestor: "before", theirs };
  const { content, conflicts } = mergeText(contents.base, contents.local, contents.remote, {
    labels,
  });
  const mode = base !== undefined && kindOf(base.mode) === kindOf(local.mode) ? remote : local;
  return { content, conflicts, isExecutable: kindOf(mode.mode) === MODE.executable };
}

/** Whether a text still has a conflict that a pull has marked. */
export function hasMarkers(content: Uint8Array): boolean {
  return isText(content) && /^<<<<<<< this folder$/m.test(new TextDecoder().decode(content));
}

function isText(content: Uint8Array): boolean {
  return content.length <= MAX_BYTES && !content.subarray(0, SNIFFED_BYTES).includes(0);
}

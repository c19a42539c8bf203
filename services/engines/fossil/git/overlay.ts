/**
 * What the tree of a commit has and Fossil cannot hold: submodules, modes of old programs, names that
 * are not UTF-8, empty folders, modes that begin with zeros. It is the value of a property of the check-in: a line for each path
 * that differs from the tree of the first parent, with mode, object and path. The object is an
 * artifact for a file, and Git's own for anything else; a folder without one differs in its mode alone,
 * not in what is below it. A path that is gone has the mode 0. All else is
 * as in the parent, until a check-in of any program changes the path.
 */
import { formatMode, parseMode } from "../../git/mod.ts";
import { formatPath, readPath } from "./stream/mod.ts";

/** Property of a check-in. */
export const TREE_PROPERTY = "git-tree";

/** An entry of a tree that Fossil cannot hold. */
export interface OverlayEntry {
  readonly path: string;
  /** 0 for a path that is gone. */
  readonly mode: number;
  /** Zeros before the mode; absent for none. */
  readonly zeros?: number;
  /**
   * An artifact, or the name of another object of Git; "" for a path that is gone, and for a folder that
   * only has another mode.
   */
  readonly object: string;
}

/** The value of the property; "" for none. */
export function formatOverlay(entries: readonly OverlayEntry[]): string {
  return entries.map(({ path, object, ...mode }) =>
    `${formatMode(mode)} ${object === "" ? "-" : object} ${formatPath(path)}\n`
  ).join("");
}

/** Reads what {@link formatOverlay} wrote; ignores what is malformed. */
export function parseOverlay(text: string): OverlayEntry[] {
  return text.split("\n").flatMap((line) => {
    const [, mode, object, rest] = /^([0-7]{1,7}) ([0-9a-f]{40}|[0-9a-f]{64}|-) (.+)$/.exec(line) ??
      [];
    const path = rest === undefined ? null : readPath(rest, false)?.path ?? null;
    if (path === null) return [];
    return { path, ...parseMode(mode!), object: object === "-" ? "" : object! };
  });
}

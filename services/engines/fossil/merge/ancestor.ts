/**
 * The common ancestor of two check-ins, as a tree. A criss-cross merge has several; these are
 * merged with each other first. Where they disagree, the ancestor is disputed: both sides must
 * agree there, or it is a conflict.
 */
import type { CheckinGraph } from "./graph.ts";
import type { PathMap, Renames } from "./renames.ts";
import { type AncestorFile, type ResultFile, TreeMerge } from "./three_way.ts";
import type { Contents, Tree } from "./tree.ts";
import { TextMap } from "../text/mod.ts";

/** An ancestor, and the paths of its files in other check-ins. */
export interface Ancestor {
  readonly files: ReadonlyMap<string, AncestorFile>;
  /** Paths of its files in a check-in. */
  match(rid: number): PathMap;
}

/** Most common ancestors to merge with each other; others are ignored. */
const MAX_ANCESTORS = 8;
/** Nested criss-cross merges: below this depth only the newest common ancestor is used. */
const MAX_DEPTH = 16;

/** Finds or builds common ancestors. */
export class Ancestors {
  readonly #graph: CheckinGraph;
  readonly #contents: Contents;
  readonly #renames: Renames;
  readonly #joined = new Map<string, Ancestor>();

  constructor(graph: CheckinGraph, contents: Contents, renames: Renames) {
    this.#graph = graph;
    this.#contents = contents;
    this.#renames = renames;
  }

  /** A check-in as the ancestor. */
  single(rid: number): Ancestor {
    return {
      files: undisputed(this.#contents.tree(rid)),
      match: (side) => this.#renames.match(rid, side),
    };
  }

  /** Builds one ancestor from one or more check-ins. */
  join(rids: readonly number[], depth = 0): Ancestor {
    const [first, ...others] = rids.slice(0, MAX_ANCESTORS);
    const single = this.single(first!);
    if (others.length === 0 || depth >= MAX_DEPTH) return single;
    const key = rids.join();
    const known = this.#joined.get(key);
    if (known !== undefined) return known;
    let joined: Joined = { rids: [first!], ancestor: single };
    for (const other of others) joined = this.#add(joined, other, depth);
    this.#joined.set(key, joined.ancestor);
    return joined.ancestor;
  }

  #add({ rids, ancestor }: Joined, other: number, depth: number): Joined {
    const below = this.#graph.commonAncestors(rids[0]!, other);
    const theirs = this.#contents.tree(other);
    const base = below.length === 0
      ? { files: new TextMap<AncestorFile>(), match: () => new TextMap<string>() }
      : this.join(below, depth + 1);
    const toOurs = follow(base.match(rids[0]!), ancestor, rids[0]!);
    const { files, conflicts } = new TreeMerge(this.#contents).run({
      ancestor: base.files,
      ours: ancestor.files,
      theirs,
      toOurs,
      toTheirs: base.match(other),
    });
    const merged = new TextMap<AncestorFile>();
    const origins = new TextMap<ResultFile>();
    for (const file of files) {
      const isDisputed = file.oursPath !== null &&
        ancestor.files.get(file.oursPath)?.isDisputed === true;
      merged.set(file.path, { ...file, isDisputed });
      origins.set(file.path, file);
    }
    for (const conflict of conflicts) {
      for (const version of [conflict.ours, conflict.theirs]) {
        if (version !== null) merged.set(version.path, { ...version, isDisputed: true });
      }
    }
    const match = (side: number): PathMap => {
      const [ofFirst, ofOther] = [ancestor.match(side), this.#renames.match(other, side)];
      return new TextMap([...merged.keys()].flatMap((path) => {
        const { oursPath = path, theirsPath = path } = origins.get(path) ?? {};
        const there = (oursPath === null ? undefined : ofFirst.get(oursPath)) ??
          (theirsPath === null ? undefined : ofOther.get(theirsPath));
        return there === undefined ? [] : [[path, there] as const];
      }));
    };
    return { rids: [...rids, other], ancestor: { files: merged, match } };
  }
}

/** Check-ins that were joined so far. */
interface Joined {
  readonly rids: readonly number[];
  readonly ancestor: Ancestor;
}

function undisputed(tree: Tree): Map<string, AncestorFile> {
  return new TextMap([...tree].map(([path, file]) => [path, { ...file, isDisputed: false }]));
}

/** Maps paths in a check-in to the ancestor that contains it. */
function follow(paths: PathMap, ancestor: Ancestor, rid: number): PathMap {
  const onward = new TextMap([...ancestor.match(rid)].map(([path, there]) => [there, path]));
  return new TextMap([...paths].flatMap(([path, there]) => {
    const end = onward.get(there);
    return end === undefined ? [] : [[path, end] as const];
  }));
}

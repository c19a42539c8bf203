/**
 * Maps the files of one check-in to those of another. Check-ins record renames against the primary
 * parent. These are followed; nothing is guessed from content.
 */
import { Moves, type Rename } from "../graph/mod.ts";
import type { Repository } from "../repository.ts";
import { TextMap, TextSet } from "../text/mod.ts";
import type { CheckinGraph } from "./graph.ts";
import type { Contents, Tree } from "./tree.ts";

/** Paths by the file's path elsewhere. */
export type PathMap = ReadonlyMap<string, string>;

/** Follows files through history. Needs `read`. */
export class Renames {
  readonly #repository: Repository;
  readonly #graph: CheckinGraph;
  readonly #contents: Contents;

  constructor(repository: Repository, graph: CheckinGraph, contents: Contents) {
    this.#repository = repository;
    this.#graph = graph;
    this.#contents = contents;
  }

  /**
   * For each file of `from` that `to` also has, its path there. `from` need not be an ancestor of
   * `to`: the search goes through a common ancestor.
   */
  match(from: number, to: number): PathMap {
    const [before, after] = [this.#contents.tree(from), this.#contents.tree(to)];
    if (from === to) return settle(before, after, new TextMap());
    const over = this.#graph.commonAncestors(from, to)[0];
    if (over === undefined) return settle(before, after, new TextMap());
    const back = inverse(this.#descend(over, from));
    const forth = this.#descend(over, to);
    const moved = new TextMap<string>();
    for (const path of before.keys()) {
      const origin = back.get(path) ?? path;
      const there = forth.get(origin) ?? origin;
      if (there !== path) moved.set(path, there);
    }
    return settle(before, after, moved);
  }

  /** Changed paths from an ancestor to a check-in, by the path in the ancestor. */
  #descend(ancestor: number, rid: number): Map<string, string> {
    if (ancestor === rid) return new TextMap();
    const known = this.#graph.ancestors(ancestor);
    const chain = this.#graph.primaryChain(rid, (next) => known[next] === 1);
    const fork = chain.at(-1)!;
    const moved = this.#along(chain);
    if (fork === ancestor) return moved;
    const path = this.#graph.primaryChain(ancestor, (next) => next === fork);
    if (path.at(-1) === fork) {
      const back = inverse(this.#along(path));
      const paths = new TextSet([...back.keys(), ...moved.keys()]);
      const joined = new TextMap<string>();
      for (const start of paths) {
        const origin = back.get(start) ?? start;
        joined.set(start, moved.get(origin) ?? origin);
      }
      return this.#withMergedRenames(ancestor, rid, joined);
    }
    return this.#withMergedRenames(ancestor, rid, new TextMap());
  }

  /** Renames along a chain of primary parents, given from its newest to its oldest check-in. */
  #along(chain: readonly number[]): Map<string, string> {
    const steps = chain.slice(0, -1).reverse();
    const moves = new Moves();
    for (const rid of steps) moves.add(this.#renamesOf(rid));
    return moves.paths;
  }

  /**
   * Files that a side line renamed before it was merged: only those that are missing where the
   * primary line should have them.
   */
  #withMergedRenames(
    ancestor: number,
    rid: number,
    moved: Map<string, string>,
  ): Map<string, string> {
    const after = this.#contents.tree(rid);
    const missing = [...this.#contents.tree(ancestor).keys()]
      .filter((path) => !after.has(moved.get(path) ?? path));
    if (missing.length === 0) return moved;
    const merged = new Moves();
    for (const checkin of this.#between(ancestor, rid)) merged.add(this.#renamesOf(checkin));
    for (const path of missing) {
      const there = merged.paths.get(path);
      if (there !== undefined && after.has(there)) moved.set(path, there);
    }
    return moved;
  }

  /** Ancestors of `rid` that are not in the history of `ancestor`, parents first. */
  #between(ancestor: number, rid: number): number[] {
    const known = this.#graph.ancestors(ancestor);
    const done = new Set<number>();
    const order: number[] = [];
    const stack: { rid: number; left: number[] }[] = [];
    const enter = (next: number) => {
      if (known[next] === 1 || done.has(next)) return;
      done.add(next);
      stack.push({ rid: next, left: [...this.#graph.parents(next)] });
    };
    enter(rid);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const parent = top.left.pop();
      if (parent !== undefined) enter(parent);
      else order.push(stack.pop()!.rid);
    }
    return order;
  }

  /** Old and new path of each file that a check-in renamed against its primary parent. */
  #renamesOf(rid: number): readonly Rename[] {
    return this.#repository.db.rows(
      `SELECT old.name AS "from", new.name AS "to"
         FROM mlink JOIN filename AS old ON old.fnid=pfnid JOIN filename AS new ON new.fnid=mlink.fnid
        WHERE mid=? AND pfnid>0 AND NOT isaux`,
      rid,
    );
  }
}

function inverse(paths: PathMap): Map<string, string> {
  return new TextMap([...paths].map(([from, to]) => [to, from]));
}

/** Keeps only existing paths, each once: a renamed file wins over a namesake. */
function settle(before: Tree, after: Tree, moved: PathMap): Map<string, string> {
  const result = new TextMap<string>();
  const taken = new TextSet();
  for (const isMoved of [true, false]) {
    for (const path of before.keys()) {
      const target = isMoved ? moved.get(path) : path;
      if (target === undefined || result.has(path) || taken.has(target)) continue;
      if (!after.has(target) || (!isMoved && moved.has(path) && after.has(moved.get(path)!))) {
        continue;
      }
      result.set(path, target);
      taken.add(target);
    }
  }
  return result;
}

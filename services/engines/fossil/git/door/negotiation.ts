/** Finds out what a client lacks. */
import { bytesOfName, type Depth, type FetchRequest, hexOf } from "../../../git/mod.ts";
import { FossilError } from "../../error.ts";
import type { GitCompanion } from "./companion.ts";
import { KIND } from "./schema.ts";

/** What a client wants, as the companion has it. */
export interface Wanted {
  /** Commits by number. */
  readonly commits: readonly number[];
  /** Rows of annotated tags, trees and files. */
  readonly tags: readonly number[];
  readonly trees: readonly number[];
  readonly files: readonly number[];
}

/** Where a client's history ends, before and after the answer. */
export interface Shallows {
  /** Commits whose parents the client lacks now. */
  readonly before: ReadonlySet<number>;
  /** And will lack. */
  readonly after: ReadonlySet<number>;
  /** Commits whose parents it gets now. */
  readonly deepened: readonly number[];
}

/** What is known once a request was read. */
export interface Negotiation {
  readonly wanted: Wanted;
  /** Commits that the client has said that it has, by number, in the order of the request. */
  readonly common: readonly number[];
  readonly shallows: Shallows;
}

/** An answer to a request, before any pack. */
export interface NegotiationAnswer {
  /** Of the commits that the client has named, those that are here. */
  readonly common: readonly string[];
  /** Whether each commit that the client wants continues one that it has. */
  readonly isReady: boolean;
  /** Commits that become the ends of its history, and that are no more. */
  readonly shallow: readonly string[];
  readonly unshallow: readonly string[];
}

/**
 * Reads what a client wants and has.
 *
 * @throws {FossilError} `missing` or `invalid`: it wants what is not here, or no commit is left of its depth
 */
export function negotiate(companion: GitCompanion, request: FetchRequest): Negotiation {
  const wanted = findWanted(companion, request.wants);
  const common = request.haves.map((name) => commitOf(companion, name)).filter((id) => id !== 0);
  const before = new Set(
    request.shallows.map((name) => commitOf(companion, name)).filter((id) => id !== 0),
  );
  const { depth } = request;
  const shallows = depth === null
    ? { before, after: before, deepened: [] }
    : deepen(companion, { starts: wanted.commits, before, depth });
  return { wanted, common, shallows };
}

/** What a client learns of a negotiation. */
export function describeNegotiation(
  companion: GitCompanion,
  { wanted, common, shallows: { before, after, deepened } }: Negotiation,
): NegotiationAnswer {
  const { graph } = companion;
  const names = (ids: Iterable<number>) => [...ids].map((id) => hexOf(companion.commitName(id)));
  const reached = graph.marks();
  let isReady = common.length > 0;
  if (isReady) {
    for (const id of common) reached[id] = 1;
    graph.markDescendants(reached);
    isReady = wanted.commits.every((id) => reached[id] === 1);
  }
  return {
    common: names(common),
    isReady,
    shallow: names([...after].filter((id) => !before.has(id))),
    unshallow: names(deepened),
  };
}

/** The number of a commit; 0 if it is not here. */
function commitOf({ db }: GitCompanion, name: string): number {
  const select = "SELECT place FROM object WHERE name=? AND kind=?";
  return db.value<number>(select, bytesOfName(name), KIND.commit) ?? 0;
}

function findWanted({ db, reader }: GitCompanion, names: readonly string[]): Wanted {
  const [commits, tags, trees, files]: [number[], number[], number[], number[]] = [[], [], [], []];
  const lists = {
    [KIND.commit]: commits,
    [KIND.tag]: tags,
    [KIND.tree]: trees,
    [KIND.blob]: files,
  };
  const select = "SELECT kind, place FROM object WHERE name=?";
  const find = (name: Uint8Array) =>
    db.row<{ kind: keyof typeof lists; place: number }>(select, name);
  for (const name of names) {
    let found = find(bytesOfName(name));
    if (found === undefined) {
      const isShort = reader.repository.db.exists("SELECT 1 FROM shun");
      const reason = isShort ? ": it may have content that was removed from this project" : "";
      throw new FossilError("missing", `not our ref ${name}${reason}`);
    }
    while (found !== undefined) {
      lists[found.kind].push(found.place);
      if (found.kind !== KIND.tag) break;
      found = find(db.value<Uint8Array>("SELECT target FROM tag WHERE id=?", found.place)!);
    }
  }
  return { commits, tags, trees, files };
}

interface Deepening {
  readonly starts: readonly number[];
  readonly before: ReadonlySet<number>;
  readonly depth: Depth;
}

/** Where the client's history will end. */
function deepen(companion: GitCompanion, { starts, before, depth }: Deepening): Shallows {
  const { graph } = companion;
  const { included, ends } = depth.commits === null
    ? selectCommits(companion, starts, depth)
    : countCommits(companion, { starts, before, depth }, depth.commits);
  const deepened = [...before].filter((id) => included[id] === 1 && !ends.has(id));
  const after = new Set([...before].filter((id) => included[id] === 0 || ends.has(id)));
  for (const id of ends) {
    if (graph.firstParent(id) !== 0) after.add(id);
  }
  return { before, after, deepened };
}

/** The commits up to a depth, of which those at the depth are the ends. */
function countCommits(
  { graph }: GitCompanion,
  { starts, before, depth }: Deepening,
  commits: number,
): { readonly included: Uint8Array; readonly ends: ReadonlySet<number> } {
  let [level, left] = [starts as readonly number[], commits];
  if (depth.isRelative) {
    const reached = graph.marks();
    for (const id of starts) reached[id] = 1;
    graph.markAncestors(reached);
    // Each end of the history counts as none of the commits.
    [level, left] = [[...before].filter((id) => reached[id] === 1), commits + 1];
  }
  const included = graph.marks();
  for (const id of level) included[id] = 1;
  for (; left > 1 && level.length > 0; left--) {
    const next: number[] = [];
    for (const id of level) {
      for (const parent of graph.parents(id)) {
        if (included[parent] === 1) continue;
        included[parent] = 1;
        next.push(parent);
      }
    }
    level = next;
  }
  return { included, ends: new Set(level) };
}

/** The commits since a time that some references do not reach. */
function selectCommits(
  companion: GitCompanion,
  starts: readonly number[],
  { since, not }: Depth,
): { readonly included: Uint8Array; readonly ends: ReadonlySet<number> } {
  const { graph, db } = companion;
  const excluded = graph.marks();
  for (const ref of not) {
    const select = `SELECT coalesce(peeled,object) FROM ref
      WHERE name IN (?,'refs/'||?,'refs/tags/'||?,'refs/heads/'||?)`;
    const name = db.value<Uint8Array>(select, ref, ref, ref, ref);
    if (name === undefined) {
      throw new FossilError("missing", `This repository has no reference "${ref.slice(0, 200)}"`);
    }
    excluded[commitOf(companion, hexOf(name))] = 1;
  }
  graph.markAncestors(excluded);
  const isLeftOut = (id: number) =>
    excluded[id] === 1 || (since !== null && graph.dateOf(id) < since);
  const included = graph.marks();
  for (const id of starts) included[id] = isLeftOut(id) ? 0 : 1;
  graph.markAncestors(included, (id) => isLeftOut(id));
  const ends = new Set<number>();
  for (let id = 1; id < included.length; id++) {
    if (included[id] === 1 && isLeftOut(id)) included[id] = 0;
    if (included[id] === 1 && graph.parents(id).some(isLeftOut)) ends.add(id);
  }
  if (!included.includes(1)) {
    throw new FossilError("invalid", "No commit is left of this depth");
  }
  return { included, ends };
}

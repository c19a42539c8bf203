/**
 * Assigns every commit to a branch. Git knows only the tips of branches; Fossil records the branch
 * of each check-in.
 */

import { readable } from "./stream/mod.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/**
 * Gives out names in Fossil. Git has branches and tags apart, and takes almost any bytes; Fossil has
 * one set of names, in UTF-8. Of two equal ones, that with the later date would count, and of equal
 * dates another one in every clone.
 */
export class FossilNames {
  readonly #taken = new TextSet();
  /** The number to try next, by the name that is taken. */
  readonly #next = new TextMap<number>();

  /** The name in Fossil that is most like one of Git, and that nothing else has. */
  take(name: string): string {
    const wanted = readable(name).replace(/\p{Cc}/gu, "_");
    let free = wanted;
    let number = this.#next.get(wanted) ?? 2;
    while (this.#taken.has(free)) free = `${wanted}-${number++}`;
    if (free !== wanted) this.#next.set(wanted, number);
    this.#taken.add(free);
    return free;
  }

  has(name: string): boolean {
    return this.#taken.has(name);
  }
}

/** Commits by number, parents before children, and the targets of the references. */
export interface CommitGraph {
  /** Parents by commit, the first one first. */
  readonly parents: readonly (readonly number[])[];
  /** Whether a commit, and so each of its children, gets no branch. */
  readonly isLeftOut: (commit: number) => boolean;
  /** Reference under which the stream has a commit. */
  readonly label: (commit: number) => string;
  /** Final targets of the references, except for annotated tags. */
  readonly refs: ReadonlyMap<string, number>;
  /** Whether a reference finally points at a commit. */
  readonly isHeld: (ref: string, commit: number) => boolean;
}

/** The branch whose name no reference of Git gives. */
const NAMELESS = "trunk";

/** A branch of Fossil. */
export interface PlannedBranch {
  readonly name: string;
  /** The reference in Git. */
  readonly ref: string;
}

/** The planned branches. */
export interface BranchPlan {
  readonly branches: readonly PlannedBranch[];
  /** Index of the branch by commit. */
  readonly branchOf: Int32Array;
  /** Commits that end a line without a branch in Git. */
  readonly closed: ReadonlySet<number>;
  /** Branches of Git without their own commit. */
  readonly aliases: readonly PlannedBranch[];
  /** Name of the main branch; null if there is none. */
  readonly main: string | null;
  /** The names that the branches have. */
  readonly names: FossilNames;
}

const HEADS = "refs/heads/";
/** Prefix for lines without any reference in Git. */
export const UNNAMED = "refs/unnamed/";
const NONE = -1;

/** The main branch: the requested one, or else the most likely one. */
export function mainRefOf(
  refs: ReadonlyMap<string, number>,
  wanted: string | undefined,
): string | null {
  const names = [...wanted === undefined ? [] : [wanted], "trunk", "main", "master"];
  const known = names.find((name) => refs.has(HEADS + name));
  if (known !== undefined) return HEADS + known;
  const all = [...refs.keys()];
  return all.find((ref) => ref.startsWith(HEADS)) ?? all[0] ?? null;
}

/**
 * Plans the branches:
 * 1. the main branch has its tip and the tip's first parents, down to the root, and its name in Git;
 * 2. each other branch has its tip, if that is free, and its first parents up to a taken commit;
 * 3. the remaining commits were merged: each is on the branch of its newest child, so that no line
 * stays open that is closed in Git;
 * 4. a commit without a child belongs to another reference, such as a tag: it gets a closed branch
 * of that name.
 */
export function planBranches(graph: CommitGraph, mainRef: string | null): BranchPlan {
  const planner = new Planner(graph);
  if (mainRef !== null) planner.takeMain(mainRef);
  planner.takeHeads();
  planner.takeRest();
  return planner.plan();
}

class Planner {
  readonly #graph: CommitGraph;
  readonly #branches: PlannedBranch[] = [];
  readonly #names = new FossilNames();
  readonly #byRef = new Map<string, number>();
  readonly #branchOf: Int32Array;
  readonly #closed = new Set<number>();
  readonly #aliases: PlannedBranch[] = [];
  #main: string | null = null;

  constructor(graph: CommitGraph) {
    this.#graph = graph;
    this.#branchOf = new Int32Array(graph.parents.length).fill(NONE);
  }

  plan(): BranchPlan {
    return {
      branches: this.#branches,
      branchOf: this.#branchOf,
      closed: this.#closed,
      aliases: this.#aliases,
      main: this.#main,
      names: this.#names,
    };
  }

  takeMain(ref: string): void {
    const tip = this.#graph.refs.get(ref);
    if (tip === undefined) return;
    const branch = this.#branch(ref.startsWith(HEADS) ? ref.slice(HEADS.length) : NAMELESS, ref);
    this.#main = this.#branches[branch]!.name;
    this.#branchOf[tip] = branch;
    this.#takeParents(tip, branch);
  }

  takeHeads(): void {
    const tips: [number, number][] = [];
    for (const [ref, tip] of this.#graph.refs) {
      if (!ref.startsWith(HEADS) || this.#byRef.has(ref)) continue;
      if (this.#branchOf[tip] !== NONE) {
        this.#aliases.push({ name: this.#names.take(ref.slice(HEADS.length)), ref });
        continue;
      }
      const branch = this.#branch(ref.slice(HEADS.length), ref);
      this.#branchOf[tip] = branch;
      tips.push([tip, branch]);
    }
    for (const [tip, branch] of tips) this.#takeParents(tip, branch);
  }

  #takeParents(tip: number, branch: number): void {
    let commit = this.#graph.parents[tip]![0];
    while (commit !== undefined && this.#branchOf[commit] === NONE) {
      this.#branchOf[commit] = branch;
      commit = this.#graph.parents[commit]![0];
    }
  }

  takeRest(): void {
    const heirs = new Int32Array(this.#branchOf.length).fill(NONE);
    for (let commit = this.#branchOf.length - 1; commit >= 0; commit--) {
      if (this.#graph.isLeftOut(commit)) continue;
      if (this.#branchOf[commit] === NONE) {
        this.#branchOf[commit] = heirs[commit] === NONE ? this.#loose(commit) : heirs[commit]!;
      }
      for (const parent of this.#graph.parents[commit]!) {
        if (heirs[parent] === NONE) heirs[parent] = this.#branchOf[commit]!;
      }
    }
  }

  /** The branch for the end of a line that has no branch in Git. */
  #loose(commit: number): number {
    const ref = this.#graph.label(commit);
    this.#closed.add(commit);
    const held = this.#graph.isHeld(ref, commit) ? ref : `${UNNAMED}${commit + 1}`;
    return this.#branch(held.replace(/^refs\//, ""), held);
  }

  #branch(wanted: string, ref: string): number {
    const known = this.#byRef.get(ref);
    if (known !== undefined) return known;
    const name = this.#names.take(wanted);
    this.#byRef.set(ref, this.#branches.length);
    return this.#branches.push({ name, ref }) - 1;
  }
}

/** The commits that a push adds, and the branches on which they are. */
import { bytesOfName, hexOf } from "../../../git/mod.ts";
import { parseCommit } from "../check.ts";
import { keyOf } from "./draft.ts";
import type { AllObjects } from "./known.ts";

/** A commit that is not in the repository. */
export interface NewCommit {
  readonly name: Uint8Array;
  readonly tree: Uint8Array;
  readonly parents: readonly Uint8Array[];
}

/** The new commits that some references reach, parents before children. */
export class NewHistory {
  readonly commits: readonly NewCommit[];
  readonly #objects: AllObjects;
  readonly #numbers = new Map<string, number>();

  /** @param tips names of commits */
  constructor(objects: AllObjects, tips: readonly string[]) {
    this.#objects = objects;
    this.commits = this.#collect(tips.map(bytesOfName));
  }

  /** The number of a new commit; -1 for any other. */
  numberOf(name: Uint8Array): number {
    return this.#numbers.get(keyOf(name)) ?? -1;
  }

  #collect(tips: readonly Uint8Array[]): NewCommit[] {
    const commits: NewCommit[] = [];
    const read = new Map<string, NewCommit>();
    const stack = tips.filter((tip) => this.#isNew(tip)).reverse();
    for (let name = stack.at(-1); name !== undefined; name = stack.at(-1)) {
      const key = keyOf(name);
      if (this.#numbers.has(key)) {
        stack.pop();
        continue;
      }
      const known = read.get(key);
      const commit = known ?? this.#read(name);
      read.set(key, commit);
      const missing = known !== undefined
        ? []
        : commit.parents.filter((parent) =>
          !this.#numbers.has(keyOf(parent)) && this.#isNew(parent)
        );
      if (missing.length > 0) {
        stack.push(...missing.reverse());
        continue;
      }
      stack.pop();
      this.#numbers.set(key, commits.push(commit) - 1);
    }
    return commits;
  }

  #isNew(name: Uint8Array): boolean {
    return this.#objects.placeOf(name, "commit") === 0;
  }

  #read(name: Uint8Array): NewCommit {
    const { tree, parents } = parseCommit(this.#objects.get(name)!.content);
    return { name, tree, parents };
  }

  /** The names of the commits of the repository that a commit is, or comes after at once. */
  bases(name: Uint8Array): string[] {
    const known = new Set<string>();
    const seen = new Uint8Array(this.commits.length);
    const stack = [name];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const number = this.numberOf(next);
      if (number < 0) known.add(hexOf(next));
      else if (seen[number] === 0) {
        seen[number] = 1;
        stack.push(...this.commits[number]!.parents);
      }
    }
    return [...known];
  }

  /** Whether a commit is another one, which the repository has, or comes after it. */
  descends(name: Uint8Array, ancestor: Uint8Array): boolean {
    const { graph } = this.#objects.companion;
    const target = this.#objects.placeOf(ancestor, "commit");
    const marks = graph.marks();
    const seen = new Uint8Array(this.commits.length);
    const stack = [name];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const number = this.numberOf(next);
      if (number < 0) marks[this.#objects.placeOf(next, "commit")] = 1;
      else if (seen[number] === 0) {
        seen[number] = 1;
        stack.push(...this.commits[number]!.parents);
      }
    }
    return graph.markAncestors(marks)[target] === 1;
  }

  /**
   * Says by which reference each new commit came: the first parents of a tip came with the first
   * reference that reaches them so; what was merged came with the newest commit that merges it.
   *
   * @param tips the names of commits, the most important one first
   * @returns for each commit, the place of its reference
   */
  assign(tips: readonly string[]): Int32Array {
    const refs = new Int32Array(this.commits.length).fill(-1);
    for (const [place, tip] of tips.entries()) {
      let number = this.numberOf(bytesOfName(tip));
      while (number >= 0 && refs[number] === -1) {
        refs[number] = place;
        const [parent] = this.commits[number]!.parents;
        number = parent === undefined ? -1 : this.numberOf(parent);
      }
    }
    for (let number = refs.length - 1; number >= 0; number--) {
      for (const parent of this.commits[number]!.parents) {
        const before = this.numberOf(parent);
        if (before >= 0 && refs[before] === -1) refs[before] = refs[number]!;
      }
    }
    return refs;
  }
}

/** The commits of a companion in memory: parents before children. */

/** A commit as the graph keeps it. */
export interface GraphCommit {
  readonly rid: number;
  readonly parents: ArrayLike<number>;
  /** The committer's time, in Unix seconds. */
  readonly date: number;
}

/** A list of whole numbers that grows, in four bytes each. */
class GrowingInts {
  #numbers = new Int32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Removes all numbers. */
  clear(): void {
    this.#length = 0;
  }

  /** Adds a number; returns its place. */
  push(number: number): number {
    if (this.#length === this.#numbers.length) {
      const longer = new Int32Array(this.#length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#length] = number;
    return this.#length++;
  }

  /** The number at a place; 0 beyond the end. */
  at(place: number): number {
    return place < this.#length ? this.#numbers[place]! : 0;
  }

  /** A view of the numbers from a place to another. */
  slice(start: number, end: number): Int32Array {
    return this.#numbers.subarray(start, end);
  }
}

/**
 * Parents and dates of commits by their numbers, which begin with 1: a parent's is lower than its
 * child's, so that one pass over the numbers follows every line.
 */
export class CommitGraph {
  readonly #rids = new GrowingInts();
  readonly #byRid = new Map<number, number>();
  /** Where each commit's parents begin among all. */
  readonly #starts = new GrowingInts();
  readonly #parents = new GrowingInts();
  readonly #dates: number[] = [0];

  constructor() {
    this.clear();
  }

  /** Removes all commits. */
  clear(): void {
    for (const list of [this.#rids, this.#starts, this.#parents]) list.clear();
    this.#byRid.clear();
    this.#dates.length = 1;
    this.#rids.push(0);
    this.#starts.push(0);
    this.#starts.push(0);
  }

  /** The number after the last one. */
  get size(): number {
    return this.#rids.length;
  }

  /** Adds the next commit; returns its number. */
  add({ rid, parents, date }: GraphCommit): number {
    const id = this.#rids.push(rid);
    this.#byRid.set(rid, id);
    for (let place = 0; place < parents.length; place++) this.#parents.push(parents[place]!);
    this.#starts.push(this.#parents.length);
    this.#dates.push(date);
    return id;
  }

  /** The number of a check-in's commit; 0 if it is none. */
  idOf(rid: number): number {
    return this.#byRid.get(rid) ?? 0;
  }

  ridOf(id: number): number {
    return this.#rids.at(id);
  }

  dateOf(id: number): number {
    return this.#dates[id] ?? 0;
  }

  /** The parents of a commit, the first one first. */
  parents(id: number): Int32Array {
    return this.#parents.slice(this.#starts.at(id), this.#starts.at(id + 1));
  }

  /** The first parent; 0 for none. */
  firstParent(id: number): number {
    const start = this.#starts.at(id);
    return start < this.#starts.at(id + 1) ? this.#parents.at(start) : 0;
  }

  /** An array with a mark for each commit. */
  marks(): Uint8Array {
    return new Uint8Array(this.size);
  }

  /**
   * Marks all ancestors of the marked commits, in place.
   *
   * @param ends whether a commit's parents are not looked at
   */
  markAncestors(marks: Uint8Array, ends: (id: number) => boolean = () => false): Uint8Array {
    for (let id = marks.lastIndexOf(1); id > 0; id--) {
      if (marks[id] === 0 || ends(id)) continue;
      this.#markParents(marks, id);
    }
    return marks;
  }

  /** Marks all descendants of the marked commits, in place. */
  markDescendants(marks: Uint8Array): Uint8Array {
    for (let id = marks.indexOf(1) + 1; id > 0 && id < this.size; id++) {
      const end = this.#starts.at(id + 1);
      for (let place = this.#starts.at(id); place < end && marks[id] === 0; place++) {
        marks[id] = marks[this.#parents.at(place)]!;
      }
    }
    return marks;
  }

  #markParents(marks: Uint8Array, id: number): void {
    const end = this.#starts.at(id + 1);
    for (let place = this.#starts.at(id); place < end; place++) marks[this.#parents.at(place)] = 1;
  }

  /** Whether a commit is another one or its ancestor. */
  isAncestor(ancestor: number, id: number): boolean {
    if (ancestor > id) return false;
    const marks = this.marks();
    marks[id] = 1;
    for (let next = id; next > ancestor; next--) {
      if (marks[next] === 1) this.#markParents(marks, next);
    }
    return marks[ancestor] === 1;
  }
}

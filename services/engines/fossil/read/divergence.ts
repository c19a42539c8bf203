import { FossilError } from "../error.ts";
import type { Ancestry } from "../graph/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import { listBranches, type Newest } from "./branches.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Branch, DivergedBranch, OpenWork } from "./shapes.ts";
import { mainBranch } from "../content/mod.ts";
import { listTickets } from "./ticket_lists.ts";

/** Most check-ins that are visited for all branches together; a few hundred milliseconds. */
const MAX_STEPS = 50_000_000;

/** Approximate memory of a branch with its figures, in bytes. */
const ENTRY_BYTES = 600;

/** Every branch with its distance from the main branch, in the order of `listBranches`. */
export function listDivergedBranches(reader: Reader): readonly DivergedBranch[] {
  return reader.read(() =>
    reader.cached("diverged branches", () => {
      const value = divergedBranches(reader);
      return { value, bytes: value.length * ENTRY_BYTES };
    })
  );
}

/** At most so many open branches and so many closed ones, with their distances if asked for. */
export function newestBranches(
  reader: Reader,
  { most, isDiverged }: { readonly most: number; readonly isDiverged: boolean },
): Newest<Branch | DivergedBranch> {
  const all = isDiverged ? listDivergedBranches(reader) : listBranches(reader);
  const left = { open: most, closed: most };
  return { newest: all.filter(({ status }) => left[status]-- > 0), total: all.length };
}

function divergedBranches(reader: Reader): DivergedBranch[] {
  const main = new MainCheckins(reader);
  const { store } = reader.repository;
  const counter = main.marks === null
    ? null
    : new DivergenceCounter(reader, ancestryOf(reader), main.marks);
  return listBranches(reader).map((branch) => {
    const { ahead, behind } = counter?.of(store.ridOf(branch.last_uuid)) ?? UNKNOWN;
    const [is_merged, is_named] = [main.hasTipOf(branch), isNamed(reader, branch)];
    return { ...branch, ahead, behind, is_merged, is_named };
  });
}

function isNamed(reader: Reader, { name, last_uuid }: Branch): boolean {
  try {
    return resolveCheckin(reader, name).uuid === last_uuid;
  } catch (error) {
    if (error instanceof FossilError) return false;
    throw error;
  }
}

const UNKNOWN = { ahead: null, behind: null } as const;

/** Counts the check-ins by which tips differ from the main one. */
class DivergenceCounter {
  readonly #reader: Reader;
  readonly #ancestry: Ancestry;
  /** The check-ins of the main branch, as a mark (1) by row, and their number. */
  readonly #main: Uint8Array;
  readonly #mainCount: number;
  /** The number of the last walk that visited a row. */
  readonly #visited: Int32Array;
  /** How many check-ins of the main branch a branch has, by those where it left. */
  readonly #common = new Map<string, number>();
  #walk = 0;
  #steps = 0;

  constructor(reader: Reader, ancestry: Ancestry, main: Uint8Array) {
    this.#reader = reader;
    this.#ancestry = ancestry;
    this.#main = main;
    this.#mainCount = this.#main.reduce((sum, mark) => sum + mark, 0);
    this.#visited = new Int32Array(this.#main.length);
  }

  /** Null if the tips before it have used up the steps. */
  of(tip: number): { readonly ahead: number; readonly behind: number } | null {
    if (this.#steps > MAX_STEPS) return null;
    this.#reader.check();
    const left: number[] = [];
    const ahead = this.#count([tip], (rid) => {
      if (this.#main[rid] !== 1) return true;
      left.push(rid);
      return false;
    });
    const key = left.sort((one, other) => one - other).join(" ");
    const common = this.#common.get(key) ?? this.#count(left, () => true);
    this.#common.set(key, common);
    return { ahead, behind: this.#mainCount - common };
  }

  /** Counts the check-ins and their ancestors, down to those that `mayPass` stops. */
  #count(starts: readonly number[], mayPass: (rid: number) => boolean): number {
    const [visited, walk, stack] = [this.#visited, ++this.#walk, [...starts]];
    let count = 0;
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      for (let rid = next; rid !== 0 && visited[rid] !== walk;) {
        visited[rid] = walk;
        this.#steps++;
        if (!mayPass(rid)) break;
        count++;
        stack.push(...this.#ancestry.mergeParents(rid));
        rid = this.#ancestry.primaryParent(rid);
      }
    }
    return count;
  }
}

/** The check-ins that the main branch has: its newest one and all ancestors of that. Needs `read`. */
export class MainCheckins {
  readonly #reader: Reader;
  /** The newest check-in of the main branch; undefined if there is no such branch. */
  readonly #tip: string | undefined;
  #marks: Uint8Array | null = null;

  constructor(reader: Reader) {
    const main = mainBranch(reader.repository);
    this.#reader = reader;
    this.#tip = listBranches(reader).find(({ name }) => name === main)?.last_uuid;
  }

  /** A mark (1) for each of them, by row; null if there is no main branch. */
  get marks(): Uint8Array | null {
    if (this.#tip === undefined) return null;
    const { store } = this.#reader.repository;
    return this.#marks ??= ancestryOf(this.#reader).ancestors(store.ridOf(this.#tip));
  }

  /** Whether a branch is merged: the main branch, itself included, has its newest check-in. */
  hasTipOf({ last_uuid: tip }: Branch): boolean {
    return tip === this.#tip || this.marks?.[this.#reader.repository.store.ridOf(tip)] === 1;
  }
}

/** How much in a repository is not finished. */
export function readOpenWork(reader: Reader): OpenWork {
  return reader.read(() => ({
    open_tickets: listTickets(reader, { state: "open", limit: 1, offset: 0 }).total,
    unmerged_branches: countUnmerged(reader),
  }));
}

function countUnmerged(reader: Reader): number {
  const main = new MainCheckins(reader);
  return listBranches(reader)
    .filter((branch) => branch.status === "open" && !main.hasTipOf(branch)).length;
}

import { mainBranch } from "../content/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import { listBranches } from "./branches.ts";
import type { Reader } from "./reader.ts";
import type { Branch } from "./shapes.ts";

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

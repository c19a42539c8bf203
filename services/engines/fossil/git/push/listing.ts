/** Stores what a tag names that is no commit, nor a tag of one. */
import { GitError, hexOf, MODE, parseTree } from "../../../git/mod.ts";
import type { Repository } from "../../repository.ts";
import { parseTag } from "../check.ts";
import { formatListing, type ListedObject, MAX_NESTED } from "../listing.ts";
import { wrapped } from "../wrapped.ts";
import { keyOf } from "./draft.ts";
import type { AllObjects } from "./known.ts";

/** Makes the list of the objects that one tag reaches. Needs `write`. */
export class PushedListing {
  readonly #repository: Repository;
  readonly #objects: AllObjects;
  readonly #checkinOf: (commit: Uint8Array) => string;
  readonly #listed: ListedObject[] = [];
  readonly #seen = new Set<string>();

  constructor(
    repository: Repository,
    objects: AllObjects,
    checkinOf: (commit: Uint8Array) => string,
  ) {
    this.#repository = repository;
    this.#objects = objects;
    this.#checkinOf = checkinOf;
  }

  /** Stores an object and all that it names; returns the artifact that lists them. */
  write(name: Uint8Array): string {
    this.#add(name, 0);
    return this.#receive(formatListing(this.#listed));
  }

  /** @param nested tags that were on the way */
  #add(name: Uint8Array, nested: number): void {
    const key = keyOf(name);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (nested > MAX_NESTED) throw new GitError(`a tag is of at most ${MAX_NESTED} tags in a row`);
    const kind = this.#objects.kindOf(name);
    if (kind === null) throw new GitError(`the object ${hexOf(name)} is missing`);
    if (kind === "commit") {
      this.#listed.push({ kind, artifact: this.#checkinOf(name) });
      return;
    }
    const place = kind === "blob" ? this.#objects.placeOf(name, "blob") : 0;
    if (place !== 0) {
      this.#listed.push({ kind, artifact: this.#repository.store.hashOf(place) ?? "" });
      return;
    }
    const { content } = this.#objects.get(name)!;
    if (kind === "tag") this.#add(parseTag(content).object, nested + 1);
    else if (kind === "tree") {
      for (const { mode, object } of parseTree(content)) {
        if (mode !== MODE.submodule) this.#add(object, nested);
      }
    }
    this.#listed.push({ kind, artifact: this.#receive(wrapped(content)) });
  }

  #receive(content: Uint8Array): string {
    return this.#repository.store.hashOf(this.#repository.receive(content).rid) ?? "";
  }
}

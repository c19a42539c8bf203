/** Trees of files for merging. */
import type { FileMode } from "../artifact/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { TextMap } from "../text/mod.ts";

/** One file of a tree. */
export interface TreeFile {
  readonly path: string;
  readonly hash: string;
  readonly mode: FileMode;
}

/** Files by path. */
export type Tree = ReadonlyMap<string, TreeFile>;

/** Reads trees and contents, including merged contents that are not stored yet. */
export class Contents {
  readonly #repository: Repository;
  readonly #combined = new Map<string, Uint8Array>();
  readonly #trees = new Map<number, Tree>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /**
   * The files of a check-in.
   *
   * @throws {FossilError} `missing` if it is not an available check-in.
   */
  tree(rid: number): Tree {
    const known = this.#trees.get(rid);
    if (known !== undefined) return known;
    const manifest = this.#repository.artifact(rid);
    if (manifest?.kind !== "manifest") {
      const hash = this.#repository.store.hashOf(rid) ?? String(rid);
      throw new FossilError("missing", `"${hash}" is not an available check-in`);
    }
    const tree = new TextMap(
      filesOf(this.#repository, manifest)
        .map(({ name, hash, mode }) => [name, { path: name, hash: hash ?? "", mode }]),
    );
    this.#trees.set(rid, tree);
    return tree;
  }

  /** Keeps merged content; returns the name that it would get. */
  keep(content: Uint8Array): string {
    const hash = this.#repository.store.nameOf(content);
    this.#combined.set(hash, content);
    return hash;
  }

  /** @throws {FossilError} `missing` if the content is missing. */
  read(hash: string): Uint8Array {
    const combined = this.#combined.get(hash);
    if (combined !== undefined) return combined;
    return this.#repository.store.require(this.#repository.ridOf(hash));
  }

  /** The size in bytes, without reading the content. */
  sizeOf(hash: string): number {
    const combined = this.#combined.get(hash);
    if (combined !== undefined) return combined.length;
    return this.#repository.store.sizeOf(this.#repository.ridOf(hash));
  }
}

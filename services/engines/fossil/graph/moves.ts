import { TextMap } from "../text/mod.ts";

/** The paths of a file before and after a check-in that renamed it. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/**
 * Where files went that check-ins renamed one after the other. A step takes time for its own renames,
 * however many there were before.
 */
export class Moves {
  /** The path of each renamed file now, by its first one. */
  readonly paths = new TextMap<string>();
  /** Its first path, by the one now. */
  readonly #origins = new TextMap<string>();

  /** Adds the renames of one check-in, all at once. */
  add(renames: readonly Rename[]): void {
    const steps = renames.flatMap(({ from, to }) => {
      const origin = this.#origins.get(from) ?? (this.paths.has(from) ? null : from);
      return origin === null ? [] : [{ origin, from, to }];
    });
    for (const { from } of steps) this.#origins.delete(from);
    for (const { origin, to } of steps) {
      this.paths.set(origin, to);
      this.#origins.set(to, origin);
    }
  }
}

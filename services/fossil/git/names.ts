/** Names in Fossil for the branches and tags of Git, each of which is used once. */
import { readable } from "./stream/mod.ts";

/**
 * Gives out names in Fossil. Git has branches and tags apart, and takes almost any bytes; Fossil has
 * one set of names, in UTF-8. Two that would be equal would mean whichever check-in has the later
 * date, or any of them if the dates are equal.
 */
export class FossilNames {
  readonly #taken = new Set<string>();
  /** The number to try next, by the name that is taken. */
  readonly #next = new Map<string, number>();

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

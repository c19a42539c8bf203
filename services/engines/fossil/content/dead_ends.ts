import { FossilError } from "../error.ts";

/** Why a delta chain gives no content. */
type Reason = "phantom" | "loop";

/** Most artifacts to remember. */
const MAX_REMEMBERED = 1_000_000;

/**
 * Artifacts whose delta chains end without content. They are remembered, so that a long chain is
 * walked only once and not from each of its links.
 */
export class DeadEnds {
  readonly #reasons = new Map<number, Reason>();

  has(rid: number): boolean {
    return this.#reasons.has(rid);
  }

  /**
   * Remembers a chain that ends at a phantom, at a remembered artifact, or never.
   *
   * @returns null if a phantom's content is missing.
   * @throws {FossilError} `corrupt` if the chain is a loop.
   */
  add(chain: readonly number[], end?: Reason): null {
    const reason = end ?? this.#reasons.get(chain.at(-1) ?? 0) ?? "phantom";
    if (this.#reasons.size > MAX_REMEMBERED) this.#reasons.clear();
    for (const rid of chain) this.#reasons.set(rid, reason);
    if (reason === "phantom") return null;
    throw new FossilError("corrupt", `Delta chain of artifact ${chain[0]} is a loop`);
  }

  /** Call this after a row was created again; no delta depends on it yet. */
  forget(rid: number): void {
    this.#reasons.delete(rid);
  }

  /** Call this when content has arrived, or may have. */
  clear(): void {
    this.#reasons.clear();
  }
}

import { FossilError } from "../error.ts";

/** Why a delta chain gives no content. */
type Reason = "phantom" | "loop";

/** Artifacts that are remembered. */
const MAX_REMEMBERED = 1_000_000;

/**
 * Artifacts whose delta chains end without content. They are remembered, so that a long chain is
 * walked once and not from each of its links.
 */
export class DeadEnds {
  readonly #reasons = new Map<number, Reason>();

  has(rid: number): boolean {
    return this.#reasons.has(rid);
  }

  /**
   * Remembers a chain, which ends at a phantom, at an artifact that is remembered, or nowhere.
   *
   * @returns null where a phantom's content is missing.
   * @throws {FossilError} `corrupt` if the chain is a loop.
   */
  add(chain: readonly number[], end?: Reason): null {
    const reason = end ?? this.#reasons.get(chain.at(-1) ?? 0) ?? "phantom";
    if (this.#reasons.size > MAX_REMEMBERED) this.#reasons.clear();
    for (const rid of chain) this.#reasons.set(rid, reason);
    if (reason === "phantom") return null;
    throw new FossilError("corrupt", `Delta chain of artifact ${chain[0]} is a loop, or too long`);
  }

  /** Call this where a row was made again, on which nothing hangs. */
  forget(rid: number): void {
    this.#reasons.delete(rid);
  }

  /** Call this where content has come, or may have. */
  clear(): void {
    this.#reasons.clear();
  }
}

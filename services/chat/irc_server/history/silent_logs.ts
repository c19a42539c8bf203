import type { HistoryQuery, HistoryTarget } from "../../../engines/irc/mod.ts";
import { BoundedMap } from "../../../kernel/bounded_map.ts";

/** Most channels that are known to be silent; of the others, the file is asked again. */
const MOST = 10_000;

/** What is known of a log. It is forgotten once somebody says something. */
interface Silence {
  isKnown: boolean;
}

/**
 * The channels whose logs have no message: the file said so, and nobody has spoken there since the
 * question.
 */
export class SilentLogs {
  readonly #logs = new BoundedMap<string, Silence>(MOST);

  /** Whether a log is known to have no message. */
  has({ account, name }: HistoryTarget): boolean {
    return account === null && this.#logs.get(name)?.isKnown === true;
  }

  /**
   * Called when the file is about to be asked for a part of a log.
   *
   * @returns called once the answer is that the file has nothing, and nothing else waits for it
   */
  ask({ account, name }: HistoryTarget, { part, limit }: HistoryQuery): () => void {
    const asksForAny = account === null && part.kind === "latest" && part.since === null &&
      limit > 0;
    if (!asksForAny) return () => {};
    const silence = this.#logs.use(name, () => ({ isKnown: false }));
    return () => silence.isKnown = true;
  }

  /** Called before a log gets a message. */
  forget({ account, name }: HistoryTarget): void {
    if (account === null) this.#logs.delete(name);
  }
}

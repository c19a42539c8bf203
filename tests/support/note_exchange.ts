import type { PeerNotes } from "../../services/engines/database/mod.ts";

/** Carries notes between nodes of one process. A test can let them get lost, or hold them back. */
export class NoteExchange {
  /** Notes so far, as `FROM TO TEXT`. */
  readonly told: string[] = [];
  /** What becomes of notes to a node. */
  readonly ways = new Map<string, "lost" | "held" | "cut">();
  readonly #listeners = new Map<string, (peer: string, text: string) => void>();
  #held: (() => void)[] = [];

  /** The notes of a node. */
  of(name: string): PeerNotes {
    const isReached = (peer: string) => peer !== name && this.ways.get(peer) !== "cut";
    const listeners = this.#listeners;
    return {
      get reached() {
        return [...listeners.keys()].filter(isReached);
      },
      tell: (peer, text) => isReached(peer) && this.#tell(name, peer, text),
      listen: (listener) => void listeners.set(name, listener),
    };
  }

  /** Delivers what was held back. */
  release(): void {
    this.ways.clear();
    for (const deliver of this.#held.splice(0)) deliver();
  }

  #tell(from: string, to: string, text: string): boolean {
    const listener = this.#listeners.get(to);
    if (listener === undefined) return false;
    this.told.push(`${from} ${to} ${text}`);
    const deliver = () => listener(from, text);
    const way = this.ways.get(to);
    if (way === "held") this.#held.push(deliver);
    else if (way !== "lost") queueMicrotask(deliver);
    return true;
  }
}

import { Unavailable } from "../../../kernel/errors.ts";

/** How long a transaction waits for other nodes, in milliseconds: several leases. */
const PATIENCE_MILLISECONDS = 30_000;

/** A change that other nodes must see before it is acknowledged. */
export interface Unconfirmed {
  readonly change: number;
  /** The nodes that were alive when it was committed. */
  readonly nodes: readonly string[];
}

interface Waiting {
  readonly change: number;
  readonly nodes: Set<string>;
  readonly deadline: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Transactions that are on disk and wait until other nodes have seen them. */
export class Confirmations {
  readonly #now: () => number;
  readonly #waiting = new Set<Waiting>();
  /** How far each node has said that it has seen. */
  readonly #seen = new Map<string, number>();

  /** @param now the time in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether nobody waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /**
   * Resolves when every node has seen a change, or its lease has ended.
   *
   * @throws Unavailable if that takes too long: the change is stored all the same
   */
  async wait({ change, nodes }: Unconfirmed): Promise<void> {
    const missing = nodes.filter((node) => (this.#seen.get(node) ?? 0) < change);
    if (missing.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      const deadline = this.#now() + PATIENCE_MILLISECONDS;
      this.#waiting.add({ change, nodes: new Set(missing), deadline, resolve, reject });
    });
  }

  /** A node says how far it has seen. */
  saw(node: string, change: number): void {
    if ((this.#seen.get(node) ?? 0) >= change) return;
    this.#seen.set(node, change);
    this.#settle((waiting, name) => name === node && waiting.change <= change);
  }

  /** Compares with the leases that run: nobody waits for a node that has none. */
  compare(leases: ReadonlyMap<string, number>): void {
    for (const node of [...this.#seen.keys()]) {
      if (!leases.has(node)) this.#seen.delete(node);
    }
    this.#settle(({ change }, node) => (leases.get(node) ?? Infinity) >= change);
  }

  /** Gives up what has waited too long. */
  expire(): void {
    const now = this.#now();
    for (const waiting of [...this.#waiting]) {
      if (waiting.deadline <= now) this.#giveUp(waiting);
    }
  }

  /** Gives up everything. */
  close(): void {
    for (const waiting of [...this.#waiting]) this.#giveUp(waiting);
  }

  #giveUp(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    const nodes = [...waiting.nodes].join(", ");
    waiting.reject(new Unavailable(`The change is stored, but not confirmed by: ${nodes}`));
  }

  #settle(hasSeen: (waiting: Waiting, node: string) => boolean): void {
    for (const waiting of [...this.#waiting]) {
      for (const node of [...waiting.nodes]) {
        if (hasSeen(waiting, node)) waiting.nodes.delete(node);
      }
      if (waiting.nodes.size > 0) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}

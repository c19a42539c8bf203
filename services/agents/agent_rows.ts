import { foldCase } from "../irc/mod.ts";
import type { AgentRow } from "./records.ts";

/** A position in the order of nicks. */
interface Placed {
  readonly folded: string;
  row: AgentRow;
}

/** The requested part of a list. */
export interface AgentPage {
  /** Only agents whose nick comes after this one, which need not exist. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
}

/** Records of agents in the order of their nicks, compared without regard to case. */
export class AgentRows {
  readonly #byId = new Map<string, Placed>();
  #sorted: Placed[] = [];

  /** Replaces all records. */
  load(rows: readonly AgentRow[]): void {
    this.#byId.clear();
    this.#sorted = rows.map((row) => ({ folded: foldCase(row.name), row }))
      .sort((one, other) => one.folded < other.folded ? -1 : 1);
    for (const placed of this.#sorted) this.#byId.set(placed.row.account_id, placed);
  }

  /** The record of this internal id, or null. */
  get(id: string): AgentRow | null {
    return this.#byId.get(id)?.row ?? null;
  }

  /** Records by nick: all, or a page. */
  list({ after, limit = Infinity }: AgentPage): AgentRow[] {
    const from = after === undefined ? 0 : this.#placeAfter(foldCase(after));
    return this.#sorted.slice(from, from + limit).map(({ row }) => row);
  }

  /** Adds a record, or replaces the one of the same agent. */
  put(row: AgentRow): void {
    this.remove(row.account_id);
    const placed = { folded: foldCase(row.name), row };
    this.#sorted.splice(this.#placeAfter(placed.folded), 0, placed);
    this.#byId.set(row.account_id, placed);
  }

  /** Changes columns of a record, if there is one. Its name stays. */
  change(id: string, columns: Partial<Omit<AgentRow, "name">>): void {
    const placed = this.#byId.get(id);
    if (placed !== undefined) placed.row = { ...placed.row, ...columns };
  }

  remove(id: string): void {
    const placed = this.#byId.get(id);
    if (placed === undefined) return;
    this.#byId.delete(id);
    this.#sorted.splice(this.#placeAfter(placed.folded) - 1, 1);
  }

  /** The number of records up to a folded nick, inclusive. */
  #placeAfter(folded: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const placed = this.#sorted[middle] as Placed;
      if (placed.folded <= folded) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

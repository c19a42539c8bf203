import type { Database } from "../../engines/database/mod.ts";
import {
  type Amount,
  dayOf,
  type LedgerEntry,
  NOTHING,
  type Period,
  REPORTED,
  type Spender,
  startOf,
  type Work,
} from "./records.ts";

/** Whose calls a budget counts. */
export const SCOPES_OF_BUDGETS = ["all", "type", "agent", "project"] as const;
export type BudgetScope = (typeof SCOPES_OF_BUDGETS)[number];

/** Whose calls are counted together. */
export interface Counted {
  readonly scope: BudgetScope;
  /** An agent's type, the key of a caller, the id of a project, or empty. */
  readonly subject: string;
}

interface Sums {
  readonly start: Readonly<Record<Period, number>>;
  readonly sums: Record<Period, Amount>;
  /** What the running calls may take. */
  reserved: Amount;
}

/** Everything that a call through the gateway counts for. */
export function countedFor({ key, type }: Spender, work: Work | null): Counted[] {
  return countedAs({ isReported: false, key, type, projectId: work?.projectId ?? "" });
}

/**
 * What a call counts for. What a client reports of itself counts for its own account alone: nobody
 * has proved it, and it must not use up what others may spend.
 */
function countedAs({ isReported, key, type, projectId }: {
  readonly isReported: boolean;
  readonly key: string;
  /** Empty for none, as the project. */
  readonly type: string;
  readonly projectId: string;
}): Counted[] {
  const own: Counted = { scope: "agent", subject: key };
  if (isReported) return [own];
  return [
    { scope: "all", subject: "" },
    ...(type === "" ? [] : [{ scope: "type" as const, subject: type }]),
    own,
    ...(projectId === "" ? [] : [{ scope: "project" as const, subject: projectId }]),
  ];
}

/** What was spent today and this month, in memory, and what running calls may still take. */
export class Spending {
  readonly #database: Pick<Database, "tables">;
  readonly #clock: () => number;
  readonly #maxAge: number;
  readonly #sums = new Map<string, Sums>();
  #loading: Promise<void> | null = null;
  /** When it was last read from the database. */
  #readAt = -Infinity;

  /** @param maxAge how old sums may be, in milliseconds; Infinity if nobody else spends */
  constructor(database: Pick<Database, "tables">, clock: () => number, maxAge: number) {
    this.#database = database;
    this.#clock = clock;
    this.#maxAge = maxAge;
  }

  /**
   * Reads what was spent before the start of the program, and what other nodes have spent lately.
   * Call it before anything else.
   */
  ready(): Promise<void> {
    const now = this.#clock();
    // The clock may have been set back.
    if (Math.abs(now - this.#readAt) >= this.#maxAge) {
      this.#readAt = now;
      this.#loading = null;
    }
    return this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
  }

  spent(counted: Counted, period: Period): Amount {
    return this.#of(counted)?.sums[period] ?? NOTHING;
  }

  reserved(counted: Counted): Amount {
    return this.#of(counted)?.reserved ?? NOTHING;
  }

  /** Counts a running call; the returned function ends that. */
  reserve(counted: readonly Counted[], amount: Amount): () => void {
    const all = counted.map((one) => this.#ensure(one));
    for (const sums of all) sums.reserved = plus(sums.reserved, amount);
    return () => {
      for (const one of counted) {
        const sums = this.#ensure(one);
        sums.reserved = plus(sums.reserved, { tokens: -amount.tokens, cost: -amount.cost });
      }
    };
  }

  /** Counts what a call took. */
  add(counted: readonly Counted[], amount: Amount): void {
    for (const one of counted) {
      const { sums } = this.#ensure(one);
      sums.day = plus(sums.day, amount);
      sums.month = plus(sums.month, amount);
    }
  }

  #of(counted: Counted): Sums | null {
    const key = keyOf(counted);
    const known = this.#sums.get(key);
    if (known === undefined) return null;
    const now = this.#clock();
    const start = { day: startOf("day", now), month: startOf("month", now) };
    if (known.start.day === start.day) return known;
    const isSameMonth = known.start.month === start.month;
    const current: Sums = {
      start,
      sums: { day: NOTHING, month: isSameMonth ? known.sums.month : NOTHING },
      reserved: known.reserved,
    };
    this.#sums.set(key, current);
    return current;
  }

  #ensure(counted: Counted): Sums {
    const known = this.#of(counted);
    if (known !== null) return known;
    const now = this.#clock();
    const fresh: Sums = {
      start: { day: startOf("day", now), month: startOf("month", now) },
      sums: { day: NOTHING, month: NOTHING },
      reserved: NOTHING,
    };
    this.#sums.set(keyOf(counted), fresh);
    return fresh;
  }

  /** Forgets the sums, but not what is reserved. */
  #clear(): void {
    for (const { sums } of this.#sums.values()) {
      sums.day = NOTHING;
      sums.month = NOTHING;
    }
  }

  async #load(): Promise<void> {
    const now = this.#clock();
    const today = dayOf(now);
    const rows = await this.#database.tables.selectFrom("llm_usage")
      .where("day", ">=", dayOf(startOf("month", now)))
      .groupBy(["day", "caller_key", "caller_type", "project_id", "backend"])
      .select(({ fn }) => [
        "day",
        "caller_key",
        "caller_type",
        "project_id",
        "backend",
        fn.sum<number>("input_tokens").as("input"),
        fn.sum<number>("output_tokens").as("output"),
        fn.sum<number>("cost").as("cost"),
        fn.sum<number>("estimated_tokens").as("estimatedTokens"),
        fn.sum<number>("estimated_cost").as("estimatedCost"),
      ]).execute();
    this.#clear();
    for (const row of rows) {
      const amount = {
        tokens: Number(row.input) + Number(row.output) + Number(row.estimatedTokens),
        cost: Number(row.cost) + Number(row.estimatedCost),
      };
      const counted = countedAs({
        isReported: row.backend.startsWith(REPORTED),
        key: row.caller_key,
        type: row.caller_type,
        projectId: row.project_id,
      });
      for (const one of counted) {
        const { sums } = this.#ensure(one);
        sums.month = plus(sums.month, amount);
        if (row.day === today) sums.day = plus(sums.day, amount);
      }
    }
  }
}

/** What a call took, for whom. */
export function countedOf({ spender: { key, type }, work, report }: LedgerEntry): Counted[] {
  return countedAs({ isReported: report !== null, key, type, projectId: work?.projectId ?? "" });
}

function keyOf({ scope, subject }: Counted): string {
  return `${scope} ${subject}`;
}

function plus(one: Amount, other: Amount): Amount {
  return { tokens: one.tokens + other.tokens, cost: one.cost + other.cost };
}

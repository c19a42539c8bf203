import { sql } from "kysely";
import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { type Scheduler, untilMultiple } from "../../kernel/scheduler.ts";
import { dayOf, type LedgerEntry } from "./records.ts";

/** Rows removed in one transaction, so that no other waits long. */
const STEP = 2000;

/** The statements that record a call: its own row, and the sums of its day. */
export function recording({ tables }: Pick<Database, "tables">, entry: LedgerEntry): Statement[] {
  const { spender, work, tokens, cost, estimate } = entry;
  const shared = {
    caller_key: spender.key,
    caller_name: spender.name,
    project_id: work?.projectId ?? "",
    project: work?.project ?? "",
    ticket: work?.ticket ?? "",
    backend: entry.backend,
    model: entry.model ?? entry.responseModel ?? "",
    estimated_tokens: estimate.tokens,
    estimated_cost: estimate.cost,
    milliseconds: entry.milliseconds,
  };
  const call = {
    ...shared,
    ended_at: entry.endedAt,
    response_model: entry.responseModel ?? "",
    streamed: entry.streamed ? 1 : 0,
    outcome: entry.outcome,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cached_tokens: tokens.cached,
    cache_write_tokens: tokens.written,
    cost,
    report: entry.report,
  };
  const day = {
    ...shared,
    day: dayOf(entry.endedAt),
    caller_type: spender.type,
    calls: 1,
    failed: entry.outcome === "failed" ? 1 : 0,
    cancelled: entry.outcome === "cancelled" ? 1 : 0,
    input_tokens: tokens.input ?? 0,
    output_tokens: tokens.output ?? 0,
    cached_tokens: tokens.cached ?? 0,
    cache_write_tokens: tokens.written ?? 0,
    cost: cost ?? 0,
    unpriced: cost === null ? 1 : 0,
  };
  return [
    statement(tables.insertInto("llm_calls").values(call)),
    statement(
      tables.insertInto("llm_usage").values(day).onConflict((conflict) =>
        conflict.columns(["day", "caller_key", "project_id", "ticket", "backend", "model"])
          .doUpdateSet({
            caller_name: sql`excluded.caller_name`,
            calls: added("calls"),
            failed: added("failed"),
            cancelled: added("cancelled"),
            input_tokens: added("input_tokens"),
            output_tokens: added("output_tokens"),
            cached_tokens: added("cached_tokens"),
            cache_write_tokens: added("cache_write_tokens"),
            cost: added("cost"),
            unpriced: added("unpriced"),
            estimated_tokens: added("estimated_tokens"),
            estimated_cost: added("estimated_cost"),
            milliseconds: added("milliseconds"),
          })
      ),
    ),
  ];
}

function added(column: string) {
  return sql<number>`${sql.ref(`llm_usage.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
}

/** How much of the ledger is kept; 0 means all. */
interface LedgerBounds {
  /** Calls with a row of their own. */
  readonly maxCalls: number;
  /** How long a call keeps its own row, in days. */
  readonly maxDays: number;
  /** How long the sums of a day are kept, in days. */
  readonly maxUsageDays: number;
}

/**
 * The statement that removes some of the oldest calls that are not kept, and sums of days that are too
 * old; null if there is nothing to remove. The sums of a day outlive its calls.
 */
async function trimming(
  { tables }: Pick<Database, "tables">,
  { maxCalls, maxDays, maxUsageDays }: LedgerBounds,
  now: number,
): Promise<Statement[]> {
  const ends = await tables.selectFrom("llm_calls")
    .select(({ fn }) => [fn.min("seq").as("oldest"), fn.max("seq").as("newest")])
    .executeTakeFirst();
  const { oldest = null, newest = null } = ends ?? {};
  const statements: Statement[] = [];
  if (oldest !== null && newest !== null) {
    const byCount = maxCalls === 0 ? -Infinity : newest - maxCalls;
    const byAge = maxDays === 0 ? -Infinity : await lastBefore(tables, now - maxDays * 86_400_000);
    const upTo = Math.min(Math.max(byCount, byAge), oldest + STEP - 1);
    if (upTo >= oldest) {
      statements.push(statement(tables.deleteFrom("llm_calls").where("seq", "<=", upTo)));
    }
  }
  if (maxUsageDays > 0) {
    const before = dayOf(now) - maxUsageDays;
    const old = await tables.selectFrom("llm_usage").select("day").where("day", "<", before)
      .orderBy("day").limit(1).executeTakeFirst();
    if (old !== undefined) {
      statements.push(statement(tables.deleteFrom("llm_usage").where("day", "=", old.day)));
    }
  }
  return statements;
}

/** The number of the last call that ended before a time. */
async function lastBefore(tables: Database["tables"], time: number): Promise<number> {
  const row = await tables.selectFrom("llm_calls").select("seq").where("ended_at", "<", time)
    .orderBy("ended_at", "desc").limit(1).executeTakeFirst();
  return row?.seq ?? -Infinity;
}

/** How often the ledger is checked, in milliseconds. */
const INTERVAL = 600_000;

interface LedgerRetentionOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  readonly bounds: LedgerBounds;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Removes old rows from the ledger, some at a time. */
export class LedgerRetention {
  readonly #options: LedgerRetentionOptions;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: LedgerRetentionOptions) {
    this.#options = options;
  }

  start(): void {
    const { maxCalls, maxDays, maxUsageDays } = this.#options.bounds;
    if (maxCalls + maxDays + maxUsageDays === 0) return;
    this.#stopped = false;
    this.#schedule();
  }

  /** Removes old rows; resolves when no more are due. */
  async run(): Promise<void> {
    const { database, bounds, scheduler, log } = this.#options;
    try {
      while (!this.#stopped) {
        const statements = await trimming(database, bounds, scheduler.now());
        if (statements.length === 0) return;
        await database.commit({ statements });
      }
    } catch (error) {
      log.warn("Old calls of models could not be removed from the ledger", { error });
    }
  }

  /** Stops after the running step. It can start again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { scheduler } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(INTERVAL, scheduler.now()), () => {
      this.#running = this.run().finally(() => this.#schedule());
    });
  }
}

import type { Database } from "../database/mod.ts";

/** A call, as the API shows it. */
export interface LedgerCall {
  readonly id: number;
  readonly agent: string;
  readonly project: string | null;
  readonly ticket: string | null;
  readonly backend: string;
  readonly model: string;
  readonly response_model: string | null;
  readonly streamed: boolean;
  readonly outcome: "completed" | "failed" | "cancelled";
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cost_micro_usd: number | null;
  readonly estimated_tokens: number;
  readonly ended_at: string;
  readonly milliseconds: number;
}

/** The requested part of the calls. */
export interface CallPage {
  /** Only calls before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** The keys of the callers; everybody's if absent. */
  readonly callers?: readonly string[] | undefined;
}

/** Reads the calls that still have rows of their own. */
export class CallReader {
  readonly #tables: Database["tables"];

  constructor(database: Pick<Database, "tables">) {
    this.#tables = database.tables;
  }

  /** A page of calls, newest first. */
  async list({ before, limit, callers }: CallPage): Promise<LedgerCall[]> {
    const rows = await this.#tables.selectFrom("llm_calls").selectAll()
      .$if(before !== undefined, (query) => query.where("seq", "<", before ?? 0))
      .$if(callers !== undefined, (query) => query.where("caller_key", "in", callers ?? []))
      .orderBy("seq", "desc").limit(limit).execute();
    return rows.map((row) => ({
      id: row.seq,
      agent: row.caller_name,
      project: row.project || null,
      ticket: row.ticket || null,
      backend: row.backend,
      model: row.model,
      response_model: row.response_model || null,
      streamed: row.streamed === 1,
      outcome: row.outcome,
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cached_input_tokens: row.cached_tokens,
      cost_micro_usd: row.cost,
      estimated_tokens: row.estimated_tokens,
      ended_at: new Date(row.ended_at).toISOString(),
      milliseconds: row.milliseconds,
    }));
  }
}

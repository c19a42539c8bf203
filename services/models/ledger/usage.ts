import type { Database } from "../../engines/database/mod.ts";
import { Invalid } from "../../kernel/errors.ts";
import { dateOf, dayOf, dayOfDate, REPORTED } from "./records.ts";
import type { UsageGroup } from "./schemas.ts";

/** Most days of one answer. */
const MAX_DAYS = 366;

/** Days of an answer, if the request names none. */
const USUAL_DAYS = 30;

/** Most groups of one answer. */
const MAX_GROUPS = 1000;

/** How long the sums of days are read at once, in milliseconds. */
const SLICE = 5;

/** Which calls are added up. */
export interface UsageQuery {
  readonly by: UsageGroup;
  /** Dates such as `2026-11-23`, in UTC, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The key of a caller; everybody's if absent. */
  readonly caller?: string | undefined;
  /** The name of a caller. */
  readonly agent?: string | undefined;
  /** The slug of a project. */
  readonly project?: string | undefined;
}

/** What calls took. */
export interface UsageSums {
  readonly calls: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The part of the input that came from providers' caches. */
  readonly cached_input_tokens: number;
  /** The part of the input that providers wrote to their caches. */
  readonly cache_write_input_tokens: number;
  /** Of the calls whose cost is known, in millionths of a US dollar. */
  readonly cost_micro_usd: number;
  /** Calls whose cost is not known. */
  readonly unpriced_calls: number;
  /** What budgets count in place of tokens that providers did not report. */
  readonly estimated_tokens: number;
  readonly estimated_cost_micro_usd: number;
  /** How long the calls took, added up. */
  readonly milliseconds: number;
}

/** Usage, by one thing. */
export interface Usage {
  readonly by: UsageGroup;
  readonly from: string;
  readonly to: string;
  /** The most expensive ones first; days in their order. */
  readonly groups: readonly (UsageSums & {
    /** The name of an agent, a backend, a model, a project, `PROJECT/TICKET`, a date; or empty. */
    readonly name: string;
  })[];
  /** Groups that are not in the list; they count in the total. */
  readonly left_out: number;
  readonly total: UsageSums;
}

type Sums = { -readonly [Field in keyof UsageSums]: UsageSums[Field] };
type Tables = Database["tables"];

/** Adds up what calls of models took. It reads day after day, and lets others run between them. */
export class UsageReader {
  readonly #tables: Tables;
  readonly #clock: () => number;

  /** @param clock Unix milliseconds */
  constructor(database: Pick<Database, "tables">, clock: () => number) {
    this.#tables = database.tables;
    this.#clock = clock;
  }

  /** @throws Invalid if the dates are none, or too far from each other */
  async read(query: UsageQuery): Promise<Usage> {
    const { first, last } = this.#daysOf(query);
    const groups = new Map<string, Sums>();
    const total = nothing();
    let begun = performance.now();
    for (let day = first; day <= last; day++) {
      for (const { name, ...sums } of await this.#readDay(day, query)) {
        add(groups, name, sums);
        addTo(total, sums);
      }
      if (performance.now() - begun < SLICE) continue;
      await new Promise<void>((resolve) => setTimeout(resolve));
      begun = performance.now();
    }
    const named = Array.from(groups, ([name, sums]) => ({ name, ...sums }));
    named.sort(query.by === "day" ? byName : byCost);
    return {
      by: query.by,
      from: dateOf(first),
      to: dateOf(last),
      groups: named.slice(0, MAX_GROUPS),
      left_out: Math.max(0, named.length - MAX_GROUPS),
      total,
    };
  }

  #daysOf({ from, to }: UsageQuery): { readonly first: number; readonly last: number } {
    const last = to === undefined ? dayOf(this.#clock()) : dayOfDate(to);
    if (last === null) throw new Invalid('"to" must be a date such as 2026-11-23');
    const first = from === undefined ? last - USUAL_DAYS + 1 : dayOfDate(from);
    if (first === null) throw new Invalid('"from" must be a date such as 2026-11-23');
    if (first > last) throw new Invalid('"from" must not be after "to"');
    if (last - first >= MAX_DAYS) {
      throw new Invalid(`"from" and "to" must not be more than ${MAX_DAYS} days apart`);
    }
    return { first, last };
  }

  async #readDay(day: number, { by, caller, agent, project }: UsageQuery) {
    const column = COLUMNS[by];
    const rows = await this.#tables.selectFrom("llm_usage").where("day", "=", day)
      .$if(caller !== undefined, (query) => query.where("caller_key", "=", caller ?? ""))
      .$if(agent !== undefined, (query) => query.where("caller_name", "=", agent ?? ""))
      .$if(project !== undefined, (query) => query.where("project", "=", project ?? ""))
      .groupBy(column)
      .$if(by === "ticket", (query) => query.groupBy("project"))
      .select(({ fn, ref }) => [
        ref(column).as("name"),
        fn.max("project").as("project"),
        fn.sum<number>("calls").as("calls"),
        fn.sum<number>("failed").as("failed"),
        fn.sum<number>("cancelled").as("cancelled"),
        fn.sum<number>("input_tokens").as("input_tokens"),
        fn.sum<number>("output_tokens").as("output_tokens"),
        fn.sum<number>("cached_tokens").as("cached_input_tokens"),
        fn.sum<number>("cache_write_tokens").as("cache_write_input_tokens"),
        fn.sum<number>("cost").as("cost_micro_usd"),
        fn.sum<number>("unpriced").as("unpriced_calls"),
        fn.sum<number>("estimated_tokens").as("estimated_tokens"),
        fn.sum<number>("estimated_cost").as("estimated_cost_micro_usd"),
        fn.sum<number>("milliseconds").as("milliseconds"),
      ]).execute();
    return rows.map(({ project: slug, name, ...sums }) => ({
      ...sums,
      name: nameOf(by, name, slug),
    }));
  }
}

const COLUMNS = {
  agent: "caller_name",
  ticket: "ticket",
  project: "project",
  backend: "backend",
  model: "model",
  day: "day",
} as const;

function nameOf(by: UsageGroup, value: string | number, project: string): string {
  if (typeof value === "number") return dateOf(value);
  return by === "ticket" && value !== "" ? `${project}/${value}` : value;
}

function nothing(): Sums {
  return {
    calls: 0,
    failed: 0,
    cancelled: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_input_tokens: 0,
    cache_write_input_tokens: 0,
    cost_micro_usd: 0,
    unpriced_calls: 0,
    estimated_tokens: 0,
    estimated_cost_micro_usd: 0,
    milliseconds: 0,
  };
}

function add(groups: Map<string, Sums>, name: string, sums: UsageSums): void {
  const known = groups.get(name) ?? nothing();
  groups.set(name, known);
  addTo(known, sums);
}

function addTo(sums: Sums, more: UsageSums): void {
  for (const field of Object.keys(sums) as (keyof Sums)[]) sums[field] += Number(more[field]);
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

function byCost(one: Sums & { name: string }, other: Sums & { name: string }): number {
  return other.cost_micro_usd - one.cost_micro_usd ||
    other.input_tokens + other.output_tokens - one.input_tokens - one.output_tokens ||
    other.calls - one.calls || byName(one, other);
}

/** A call, as the API shows it. */
export interface LedgerCall {
  readonly id: number;
  /** Whether the gateway counted it, or a client reported it. */
  readonly source: "gateway" | "reported";
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
  readonly cache_write_input_tokens: number | null;
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
      source: row.backend.startsWith(REPORTED) ? "reported" : "gateway",
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
      cache_write_input_tokens: row.cache_write_tokens,
      cost_micro_usd: row.cost,
      estimated_tokens: row.estimated_tokens,
      ended_at: new Date(row.ended_at).toISOString(),
      milliseconds: row.milliseconds,
    }));
  }
}

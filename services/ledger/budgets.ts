import {
  type Database,
  type Directory,
  type NewEvent,
  type Statement,
  statement,
} from "../database/mod.ts";
import { BudgetUsed, Conflict, NotFound, TooMany } from "../errors.ts";
import { newEvent, type Origin, SYSTEM } from "../events/mod.ts";
import { type Caller, originOf } from "../identity/mod.ts";
import { type BudgetName, type BudgetNames, idOf } from "./budget_names.ts";
import type { BudgetRequest } from "./schemas.ts";
import { type Amount } from "./records.ts";
import { endOf, startOf } from "./periods.ts";
import type { Counted, Spending } from "./spending.ts";
import { type BudgetLimits, exhaustion, isOver } from "./budget_limits.ts";

/** Most budgets of a server. */
const MAX_BUDGETS = 1000;

/** A limit on what calls of models may take in a day or a month. */
export interface Budget extends BudgetName, BudgetLimits {
  readonly warnPercent: number;
  readonly setBy: string;
  readonly setAt: number;
  /** When it was last used so far that it warned, in Unix milliseconds. */
  readonly warnedAt: number | null;
  readonly exceededAt: number | null;
}

/** How a budget stands. */
export interface BudgetStanding {
  readonly budget: Budget;
  readonly spent: Amount;
  readonly state: "open" | "warned" | "exceeded";
  /** Since when it is in that state, in Unix milliseconds; null if it is open. */
  readonly since: number | null;
  /** When the next period begins, in Unix milliseconds. */
  readonly endsAt: number;
}

export interface BudgetsOptions {
  readonly database: Database;
  readonly spending: Spending;
  readonly names: BudgetNames;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What is written with a call. */
export interface Marking {
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
}

/** Budgets: they warn when a part is used, and stop calls when all is. */
export class Budgets implements Directory {
  readonly tables = ["llm_budgets"] as const;
  readonly #options: BudgetsOptions;
  readonly #budgets = new Map<string, Budget>();
  /** The budgets of each subject. */
  readonly #bySubject = new Map<string, Budget[]>();

  private constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  static async open(options: BudgetsOptions): Promise<Budgets> {
    const budgets = new Budgets(options);
    await options.database.keepCurrent(budgets);
    return budgets;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("llm_budgets").selectAll()
      .execute();
    this.#budgets.clear();
    for (const row of rows) {
      const { scope, subject, period } = row;
      this.#budgets.set(keyOf({ scope, subject, period }), {
        scope,
        subject,
        period,
        maxCost: row.max_cost,
        maxTokens: row.max_tokens,
        warnPercent: row.warn_percent,
        setBy: row.set_by,
        setAt: row.set_at,
        warnedAt: row.warned_at,
        exceededAt: row.exceeded_at,
      });
    }
    this.#index();
  }

  /** Every budget whose subject still exists. */
  async list(): Promise<readonly BudgetStanding[]> {
    await this.#options.spending.ready();
    return Array.from(this.#budgets.values(), (budget) => this.#standing(budget))
      .filter(({ budget }) => this.#options.names.nameOf(budget) !== null);
  }

  /**
   * Makes a budget, or replaces it.
   *
   * @param id such as `agent.scout.day`
   * @throws Invalid, NotFound if there is no such subject, Conflict if there are too many
   */
  async set(id: string, request: BudgetRequest, caller: Caller): Promise<BudgetStanding> {
    const { database, names, clock } = this.#options;
    const name = names.parse(id);
    const key = keyOf(name);
    if (!this.#budgets.has(key) && (await this.list()).length >= MAX_BUDGETS) {
      throw new Conflict(`There are ${MAX_BUDGETS} budgets, which is the limit`);
    }
    const now = clock();
    const budget: Budget = {
      ...name,
      maxCost: request.max_cost_micro_usd,
      maxTokens: request.max_tokens,
      warnPercent: request.warn_percent,
      setBy: caller.principal.name,
      setAt: now,
      warnedAt: null,
      exceededAt: null,
    };
    const row = {
      max_cost: budget.maxCost,
      max_tokens: budget.maxTokens,
      warn_percent: budget.warnPercent,
      set_by: budget.setBy,
      set_at: now,
      warned_at: null,
      exceeded_at: null,
    };
    const { scope, subject, period } = name;
    const written = statement(
      database.tables.insertInto("llm_budgets").values({ scope, subject, period, ...row })
        .onConflict((conflict) =>
          conflict.columns(["scope", "subject", "period"]).doUpdateSet(row)
        ),
      {
        committed: () => {
          this.#budgets.set(key, budget);
          this.#index();
        },
      },
    );
    const event = newEvent(
      "llm_budget.set",
      {
        budget: idOf(name, names.nameOf(name)),
        max_cost_micro_usd: budget.maxCost,
        max_tokens: budget.maxTokens,
        warn_percent: budget.warnPercent,
      },
      originOf(caller),
      now,
    );
    await database.commit({ statements: [written], events: [event] });
    const marked = this.marking([name]);
    if (marked.statements.length > 0) await database.commit(marked);
    return this.#standing(this.#budgets.get(key) ?? budget);
  }

  /** @throws NotFound */
  async delete(id: string, caller: Caller): Promise<void> {
    const { database, names, clock } = this.#options;
    const { scope, subject, period } = names.parse(id);
    const key = keyOf({ scope, subject, period });
    if (!this.#budgets.has(key)) throw new NotFound(`There is no budget "${id}"`);
    const removed = statement(
      database.tables.deleteFrom("llm_budgets").where("scope", "=", scope)
        .where("subject", "=", subject).where("period", "=", period),
      {
        committed: () => {
          this.#budgets.delete(key);
          this.#index();
        },
      },
    );
    const event = newEvent("llm_budget.deleted", { budget: id }, originOf(caller), clock());
    await database.commit({ statements: [removed], events: [event] });
  }

  /** Whether any budget counts one of these. */
  binds(counted: readonly Counted[]): boolean {
    return this.#budgets.size > 0 && this.#of(counted).length > 0;
  }

  /**
   * Refuses a call that a budget has no room for. What the running calls may take counts as spent.
   *
   * @throws BudgetUsed that says what is spent, the limit and when it ends; TooMany while running
   * calls may use it up
   */
  require(counted: readonly Counted[]): void {
    if (this.#budgets.size === 0) return;
    const { spending, names, clock } = this.#options;
    const now = clock();
    for (const budget of this.#of(counted)) {
      const spent = spending.spent(budget, budget.period);
      const reserved = spending.reserved(budget);
      const all = { tokens: spent.tokens + reserved.tokens, cost: spent.cost + reserved.cost };
      if (!isOver(budget, all, 100)) continue;
      const name = idOf(budget, names.nameOf(budget));
      if (!isOver(budget, spent, 100)) {
        throw new TooMany(
          `The calls that are running may use up the budget "${name}" ` +
            `(${exhaustion(budget, spent)}): wait until some of them end`,
          1,
        );
      }
      const endsAt = endOf(budget.period, now);
      // Without a time to wait: clients would hold a call for hours instead of showing the sentence.
      throw new BudgetUsed(
        `The budget "${name}" is used up: ${exhaustion(budget, spent)}; ` +
          `it begins again at ${new Date(endsAt).toISOString()}`,
      );
    }
  }

  /** What to write after something was spent: budgets that have reached their bounds just now. */
  marking(counted: readonly Counted[], origin: Origin = SYSTEM): Marking {
    if (this.#budgets.size === 0) return { statements: [], events: [] };
    const { spending, clock } = this.#options;
    const statements: Statement[] = [];
    const events: NewEvent[] = [];
    const now = clock();
    for (const budget of this.#of(counted)) {
      const start = startOf(budget.period, now);
      const spent = spending.spent(budget, budget.period);
      const isExceeded = isOver(budget, spent, 100) && (budget.exceededAt ?? -1) < start;
      const isWarned = isOver(budget, spent, budget.warnPercent) && (budget.warnedAt ?? -1) < start;
      if (!isExceeded && !isWarned) continue;
      const marked = {
        ...budget,
        warnedAt: isWarned ? now : budget.warnedAt,
        exceededAt: isExceeded ? now : budget.exceededAt,
      };
      this.#replace(marked);
      statements.push(this.#marks(marked));
      const type = isExceeded ? "llm_budget.exceeded" : "llm_budget.warned";
      events.push(newEvent(type, this.#told(budget, spent), origin, now));
    }
    return { statements, events };
  }

  #told(budget: Budget, spent: Amount) {
    return {
      budget: idOf(budget, this.#options.names.nameOf(budget)),
      spent_micro_usd: spent.cost,
      spent_tokens: spent.tokens,
      max_cost_micro_usd: budget.maxCost,
      max_tokens: budget.maxTokens,
    };
  }

  #marks({ scope, subject, period, warnedAt, exceededAt }: Budget): Statement {
    return statement(
      this.#options.database.tables.updateTable("llm_budgets")
        .set({ warned_at: warnedAt, exceeded_at: exceededAt })
        .where("scope", "=", scope).where("subject", "=", subject).where("period", "=", period),
    );
  }

  #standing(budget: Budget): BudgetStanding {
    const { spending, clock } = this.#options;
    const now = clock();
    const start = startOf(budget.period, now);
    const spent = spending.spent(budget, budget.period);
    const isSince = (time: number | null) => time !== null && time >= start ? time : null;
    const endsAt = endOf(budget.period, now);
    if (isOver(budget, spent, 100)) {
      return { budget, spent, state: "exceeded", since: isSince(budget.exceededAt), endsAt };
    }
    if (isOver(budget, spent, budget.warnPercent)) {
      return { budget, spent, state: "warned", since: isSince(budget.warnedAt), endsAt };
    }
    return { budget, spent, state: "open", since: null, endsAt };
  }

  #of(counted: readonly Counted[]): readonly Budget[] {
    return counted.flatMap((one) => this.#bySubject.get(subjectOf(one)) ?? []);
  }

  #replace(budget: Budget): void {
    this.#budgets.set(keyOf(budget), budget);
    this.#index();
  }

  #index(): void {
    this.#bySubject.clear();
    for (const budget of this.#budgets.values()) {
      const key = subjectOf(budget);
      const known = this.#bySubject.get(key);
      if (known === undefined) this.#bySubject.set(key, [budget]);
      else known.push(budget);
    }
  }
}

function keyOf({ period, ...counted }: BudgetName): string {
  return `${subjectOf(counted)} ${period}`;
}

function subjectOf({ scope, subject }: Counted): string {
  return `${scope} ${subject}`;
}

import { AGENT_TYPES } from "../../people/agents/mod.ts";
import {
  type Database,
  type Directory,
  type NewEvent,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { BudgetUsed, Conflict, Invalid, NotFound, TooMany } from "../../kernel/errors.ts";
import { newEvent, type Origin, SYSTEM } from "../../engines/events/mod.ts";
import { type Caller, isOverseer, originOf, type Principal } from "../../people/identity/mod.ts";
import type { Need, NeedSource } from "../../people/needs/mod.ts";
import { dollars } from "../../kernel/words.ts";
import { type Amount, endOf, type Period, PERIODS, startOf } from "./records.ts";
import type { BudgetRequest } from "./schemas.ts";
import { type BudgetScope, type Counted, SCOPES_OF_BUDGETS, type Spending } from "./spending.ts";

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

interface BudgetsOptions {
  readonly database: Database;
  readonly spending: Spending;
  readonly names: BudgetNames;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What is written with a call. */
interface Marking {
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

/** The limits of a budget; null for no limit. */
interface BudgetLimits {
  /** In millionths of a US dollar. */
  readonly maxCost: number | null;
  readonly maxTokens: number | null;
}

/** Whether an amount reaches a percentage of one of the limits. */
function isOver(
  { maxCost, maxTokens }: BudgetLimits,
  { cost, tokens }: Amount,
  percent: number,
): boolean {
  const reaches = (amount: number, limit: number | null) =>
    limit !== null && amount * 100 >= limit * percent;
  return reaches(cost, maxCost) || reaches(tokens, maxTokens);
}

/** What is spent of the limits, in words: `9.80 of 10.00 US dollars`. */
function exhaustion({ maxCost, maxTokens }: BudgetLimits, { cost, tokens }: Amount): string {
  return [
    ...maxCost === null ? [] : [`${dollars(cost)} of ${dollars(maxCost)} US dollars`],
    ...maxTokens === null ? [] : [`${tokens} of ${maxTokens} tokens`],
  ].join(" and ");
}

/** What a budget is about. There is one of each. */
export interface BudgetName {
  readonly scope: BudgetScope;
  /** An agent's type, the internal id of an agent or a project, or empty. */
  readonly subject: string;
  readonly period: Period;
}

interface BudgetNamesOptions {
  readonly agents: {
    find(nick: string): { readonly id: string } | null;
    get(id: string): { readonly nick: string } | null;
  };
  readonly projects: {
    find(slug: string): { readonly project: { readonly id: string } } | null;
    get(id: string): { readonly project: { readonly slug: string } } | null;
  };
}

/** Names of budgets, such as `agent.scout.day`, `project.demo.month` or `all.day`. */
export class BudgetNames {
  readonly #options: BudgetNamesOptions;

  constructor(options: BudgetNamesOptions) {
    this.#options = options;
  }

  /**
   * @throws Invalid if it is no name of a budget
   * @throws NotFound if there is no such agent or project
   */
  parse(id: string): BudgetName {
    const parts = id.split(".");
    const scope = SCOPES_OF_BUDGETS.find((known) => known === parts.at(0));
    const period = PERIODS.find((known) => known === parts.at(-1));
    const name = parts.slice(1, -1).join(".");
    if (scope === undefined || period === undefined || (scope === "all") !== (name === "")) {
      throw new Invalid(
        'The name of a budget is "all", "type.TYPE", "agent.NICK" or "project.SLUG", ' +
          'with ".day" or ".month" at its end',
      );
    }
    return { scope, subject: this.#subjectOf(scope, name), period };
  }

  /** The name of a budget's subject, empty for `all`; null if it is gone. */
  nameOf({ scope, subject }: Pick<BudgetName, "scope" | "subject">): string | null {
    switch (scope) {
      case "agent":
        return this.#options.agents.get(subject)?.nick ?? null;
      case "project":
        return this.#options.projects.get(subject)?.project.slug ?? null;
      default:
        return subject;
    }
  }

  #subjectOf(scope: BudgetScope, name: string): string {
    const found = this.#find(scope, name);
    if (found === undefined) throw new NotFound(`There is no ${scope} "${name}"`);
    return found;
  }

  #find(scope: BudgetScope, name: string): string | undefined {
    switch (scope) {
      case "all":
        return "";
      case "type":
        return AGENT_TYPES.find((type) => type === name);
      case "agent":
        return this.#options.agents.find(name)?.id;
      case "project":
        return this.#options.projects.find(name)?.project.id;
    }
  }
}

/** The whole name of a budget. */
export function idOf({ scope, subject, period }: BudgetName, name: string | null): string {
  return scope === "all" ? `all.${period}` : `${scope}.${name ?? subject}.${period}`;
}

/** A budget, as the API shows it. */
export interface BudgetView {
  readonly budget: string;
  readonly scope: "all" | "type" | "agent" | "project";
  /** The type, the nick or the slug; empty for `all`. */
  readonly subject: string;
  readonly period: "day" | "month";
  readonly max_cost_micro_usd: number | null;
  readonly max_tokens: number | null;
  readonly warn_percent: number;
  readonly spent_micro_usd: number;
  readonly spent_tokens: number;
  readonly state: "open" | "warned" | "exceeded";
  readonly ends_at: string;
  readonly set_by: string;
  readonly set_at: string;
}

/** @param name the name of its subject */
export function viewOfBudget(
  { budget, spent, state, endsAt }: BudgetStanding,
  name: string,
): BudgetView {
  return {
    budget: idOf(budget, name),
    scope: budget.scope,
    subject: name,
    period: budget.period,
    max_cost_micro_usd: budget.maxCost,
    max_tokens: budget.maxTokens,
    warn_percent: budget.warnPercent,
    spent_micro_usd: spent.cost,
    spent_tokens: spent.tokens,
    state,
    ends_at: new Date(endsAt).toISOString(),
    set_by: budget.setBy,
    set_at: new Date(budget.setAt).toISOString(),
  };
}

interface BudgetNeedsOptions {
  readonly budgets: { list(): Promise<readonly BudgetStanding[]> };
  /** The name of a budget's subject; null if it is gone. */
  readonly nameOf: (name: BudgetName) => string | null;
}

/** Budgets that are used up, or soon will be: an admin raises them, or lets them be. */
export class BudgetNeeds implements NeedSource {
  readonly #options: BudgetNeedsOptions;

  constructor(options: BudgetNeedsOptions) {
    this.#options = options;
  }

  async needs(reader: Principal): Promise<readonly Need[]> {
    const standings = await this.#options.budgets.list();
    return standings.filter(({ state, budget }) =>
      state !== "open" && (isOverseer(reader) || mayKnow(reader, budget))
    ).map((standing) => this.#needOf(standing, reader));
  }

  #needOf({ budget, spent, state, since, endsAt }: BudgetStanding, reader: Principal): Need {
    const name = this.#options.nameOf(budget);
    const id = idOf(budget, name);
    return {
      kind: "budget",
      id: `budget/${id}`,
      title: `Budget ${id}: ${exhaustion(budget, spent)}`,
      why: state === "exceeded" ? "it is used up, and calls are refused" : "it is almost used up",
      actors: [],
      group: "admins",
      isYours: isOverseer(reader),
      since,
      until: endsAt,
      project: budget.scope === "project" ? name : null,
      link: "/settings/usage#budgets",
    };
  }
}

/** An agent knows of its own budget. */
function mayKnow({ id }: Principal, { scope, subject }: BudgetName): boolean {
  return scope === "agent" && subject === id;
}

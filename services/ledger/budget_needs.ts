import { isOverseer, type Principal } from "../identity/mod.ts";
import type { Need, NeedSource } from "../needs/mod.ts";
import { exhaustion } from "./budget_limits.ts";
import { type BudgetName, idOf } from "./budget_names.ts";
import type { BudgetStanding } from "./budgets.ts";

export interface BudgetNeedsOptions {
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

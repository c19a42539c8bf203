import { AGENT_TYPES } from "../agents/mod.ts";
import { Invalid, NotFound } from "../errors.ts";
import { type Period, PERIODS } from "./periods.ts";
import { type BudgetScope, SCOPES_OF_BUDGETS } from "./spending.ts";

/** What a budget is about. There is one of each. */
export interface BudgetName {
  readonly scope: BudgetScope;
  /** An agent's type, the internal id of an agent or a project, or empty. */
  readonly subject: string;
  readonly period: Period;
}

export interface BudgetNamesOptions {
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

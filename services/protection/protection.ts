import type { Checks } from "../checks/mod.ts";
import { type Database, type Directory, statement } from "../database/mod.ts";
import { Forbidden } from "../errors.ts";
import { type Caller, originOf } from "../identity/mod.ts";
import { type Actor, type Project, projectEvent } from "../projects/mod.ts";
import { type BranchRule, ruleOf } from "./rules.ts";
import type { Rule } from "./schemas.ts";

export type { BranchRule } from "./rules.ts";

/** What rules have a say in; README.md says when each is asked. */
export type ProtectedAction = "push" | "merge" | "queue" | "land";

/** A review, as far as rules look at it. */
export interface ReviewStanding {
  /** The check-in that its present round shows. */
  readonly tip: string;
  /** Who approves this round at the moment; nobody twice, and never the author. */
  readonly approvals: readonly Pick<Actor, "kind">[];
}

/** What is to be judged. */
export interface Judged {
  readonly project: Project;
  /** The branch that changes. */
  readonly branch: string;
  readonly actor: Actor;
  /** Whether the caller may administer the project: by its role, and by its credential's scope. */
  readonly isAdmin: boolean;
  readonly action: ProtectedAction;
  /** The check-in whose checks count: what is merged, or the candidate that lands. */
  readonly tip: string;
  /** The review of the change; absent or null for none. */
  readonly review?: ReviewStanding | null;
}

export type Judgement =
  | {
    readonly isAllowed: true;
    /** Why it would be refused to anybody but an admin; null where the rules allow it. */
    readonly bypassed: string | null;
  }
  | { readonly isAllowed: false; readonly reason: string };

export interface ProtectionOptions {
  readonly database: Database;
  readonly checks: Pick<Checks, "statesOf">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Kinds of actors that stand for a person. */
const PEOPLE: ReadonlySet<Actor["kind"]> = new Set(["person", "admin", "operator"]);

/** The rules of every project, in memory, and the judge of what they allow. */
export class Protection implements Directory {
  readonly #database: Database;
  readonly #checks: ProtectionOptions["checks"];
  readonly #clock: () => number;
  /** By the project's id. */
  readonly #rules = new Map<string, readonly Rule[]>();

  private constructor(options: ProtectionOptions) {
    this.#database = options.database;
    this.#checks = options.checks;
    this.#clock = options.clock;
  }

  /** Reads every rule from the database. */
  static async open(options: ProtectionOptions): Promise<Protection> {
    const protection = new Protection(options);
    await options.database.keepCurrent(protection);
    return protection;
  }

  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("protection_rules").selectAll()
      .orderBy("project_id").orderBy("position").execute();
    this.#rules.clear();
    for (const row of rows) {
      const { pattern, push, merge, landing } = row;
      const approvals = { any: row.approvals_any, people: row.approvals_people };
      const contexts: string[] = JSON.parse(row.contexts);
      const rule = { pattern, contexts, approvals, push, merge, landing };
      this.#rules.set(row.project_id, [...this.rulesOf({ id: row.project_id }), rule]);
    }
  }

  /** The rules of a project, in its order. */
  rulesOf({ id }: Pick<Project, "id">): readonly Rule[] {
    return this.#rules.get(id) ?? [];
  }

  /** What the rules demand of a branch. */
  ruleOf(project: Pick<Project, "id">, branch: string): BranchRule {
    return ruleOf(this.rulesOf(project), branch);
  }

  /** Replaces the rules of a project. */
  async set(project: Project, rules: readonly Rule[], caller: Caller): Promise<void> {
    const { tables } = this.#database;
    const { id } = project;
    const rows = rules.map(({ contexts, approvals, ...rule }, position) => ({
      ...rule,
      project_id: id,
      position,
      contexts: JSON.stringify([...new Set(contexts)]),
      approvals_any: approvals.any,
      approvals_people: approvals.people,
    }));
    const by = { origin: originOf(caller), time: this.#clock() };
    const patterns = rules.map(({ pattern }) => pattern);
    const removal = tables.deleteFrom("protection_rules").where("project_id", "=", id);
    await this.#database.commit({
      statements: [
        statement(removal, { committed: () => void this.#rules.set(id, rules) }),
        ...rows.map((row) => statement(tables.insertInto("protection_rules").values(row))),
      ],
      events: [projectEvent(project, "project.protection_changed", { patterns }, by)],
    });
  }

  /** Judges a change of a branch. Nothing may be written to the project between this and the change. */
  async judge(judged: Judged): Promise<Judgement> {
    const rule = this.ruleOf(judged.project, judged.branch);
    if (rule.patterns.length === 0) return { isAllowed: true, bypassed: null };
    const { action, isAdmin, branch } = judged;
    if (action === "push" && rule.push === "nobody") {
      return { isAllowed: false, reason: `Branch '${branch}' is protected: nobody can push to it` };
    }
    const reason = await this.#objection(judged, rule);
    if (reason === null || isAdmin) return { isAllowed: true, bypassed: reason };
    return { isAllowed: false, reason };
  }

  /**
   * Lets a change of a branch pass, or refuses it.
   *
   * @throws Forbidden with the first rule that is not met
   */
  async require(judged: Judged): Promise<void> {
    const judgement = await this.judge(judged);
    if (!judgement.isAllowed) throw new Forbidden(judgement.reason);
  }

  /** What a rule has against a change by somebody who is no admin. */
  async #objection(judged: Judged, rule: BranchRule): Promise<string | null> {
    const { action, branch, project, tip, review = null } = judged;
    if (action === "push") {
      if (rule.push === "admin") {
        return `Branch '${branch}' is protected: only admins can push to it`;
      }
      return null;
    }
    if (rule.merge === "admin") {
      return `Branch '${branch}' is protected: only admins can merge to it`;
    }
    if (action === "merge" && rule.landing === "required") {
      return `Branch '${branch}' is protected: changes come through its landing queue alone`;
    }
    if (action !== "queue") {
      const states = rule.contexts.length === 0
        ? new Map()
        : await this.#checks.statesOf(project, tip);
      const missing = rule.contexts.find((context) => states.get(context) !== "success");
      if (missing !== undefined) return `Required status check '${missing}' has not passed`;
    }
    return approvalObjection(rule, review, action === "merge" ? tip : null);
  }
}

/** @param tip what the review must show; null where that is not for rules to say */
function approvalObjection(
  { approvals: { any, people } }: BranchRule,
  review: ReviewStanding | null,
  tip: string | null,
): string | null {
  if (any === 0 && people === 0) return null;
  if (review === null) {
    return "No approved code review found for this workspace; submit one before merging";
  }
  if (tip !== null && review.tip !== tip) {
    return "The code review shows another check-in than the one to merge";
  }
  const given = review.approvals.length;
  if (given < any) return `The code review has ${given} of ${any} required approvals`;
  const byPeople = review.approvals.filter(({ kind }) => PEOPLE.has(kind)).length;
  if (byPeople < people) {
    return `The code review has ${byPeople} of ${people} required approvals by people`;
  }
  return null;
}

import type { Checks } from "../checks/mod.ts";
import { type Database, type Directory, statement } from "../../engines/database/mod.ts";
import { Forbidden, Invalid } from "../../kernel/errors.ts";
import type { NameRule } from "../../engines/fossil/mod.ts";
import { type AccountDirectory, type Caller, originOf } from "../../people/identity/mod.ts";
import {
  type Actor,
  type Project,
  projectEvent,
  type ProjectRepositories,
} from "../projects/mod.ts";
import {
  type BranchRule,
  type KeptRule,
  mergeRefusal,
  objectionTo,
  pushRefusal,
  type Reporter,
  type RequiredContext,
  ruleOf,
  standingOf,
  type Subject,
  type Tested,
} from "./rules.ts";
import type { RequiredCheck, Rule } from "./schemas.ts";

/** The changes that rules can restrict; README.md says when each is checked. */
export type ProtectedAction = "push" | "merge" | "queue";

/** The parts of a review on which rules depend. */
export interface ReviewStanding {
  /** The check-in of its current round. */
  readonly tip: string;
  /** The actors whose approvals of this round stand; each once, and never the author. */
  readonly approvals: readonly Pick<Actor, "kind">[];
}

/** A change to judge. */
export interface Judged {
  readonly project: Project;
  /** The branch that changes. */
  readonly branch: string;
  /** Whether the caller may administer the project, by both its role and its credential's scope. */
  readonly isAdmin: boolean;
  readonly action: ProtectedAction;
  /** The check-in whose checks count. */
  readonly tip: string;
  /** Whose work it is, beside those who made its check-ins: their reports of checks do not count. */
  readonly subjects?: readonly Subject[];
  /** The review of the change; absent or null for none. */
  readonly review?: ReviewStanding | null;
  /** Whether it changes what the branch defines as its checks: that needs a person's approval. */
  readonly changesChecks?: boolean;
}

export type Judgement =
  | {
    readonly isAllowed: true;
    /** Why anybody but an admin would be refused; null if the rules allow the change. */
    readonly bypassed: string | null;
  }
  | { readonly isAllowed: false; readonly reason: string };

export interface ProtectionOptions {
  readonly database: Database;
  readonly checks: Pick<Checks, "newestReports">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly accounts: Pick<AccountDirectory, "find" | "get" | "session">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** How the name of a project token begins among reporters. */
const TOKEN = "token:";

/** Kinds of actors that are people. */
const PEOPLE: ReadonlySet<Actor["kind"]> = new Set(["person", "admin", "operator"]);

/** Holds the rules of every project in memory, and judges changes by them. */
export class Protection implements Directory {
  readonly tables = ["protection_rules"] as const;
  readonly #options: ProtectionOptions;
  /** By the project's id. */
  readonly #rules = new Map<string, readonly KeptRule[]>();

  private constructor(options: ProtectionOptions) {
    this.#options = options;
  }

  /** Reads every rule from the database. */
  static async open(options: ProtectionOptions): Promise<Protection> {
    const protection = new Protection(options);
    await options.database.keepCurrent(protection);
    return protection;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("protection_rules").selectAll()
      .orderBy("project_id").orderBy("position").execute();
    this.#rules.clear();
    for (const row of rows) {
      const { pattern, push, merge, landing } = row;
      const approvals = { any: row.approvals_any, people: row.approvals_people };
      const contexts = keptContexts(row.contexts);
      const rule = { pattern, contexts, approvals, push, merge, landing };
      this.#rules.set(row.project_id, [...this.#keptRulesOf({ id: row.project_id }), rule]);
    }
  }

  /** The rules of a project, in its order. */
  rulesOf(project: Pick<Project, "id">): Rule[] {
    return this.#keptRulesOf(project).map((rule) => ({
      ...rule,
      contexts: rule.contexts.map(({ context, reporters }) =>
        reporters.length === 0
          ? context
          : { context, reporters: reporters.map((reporter) => this.#nameOf(reporter)) }
      ),
    }));
  }

  #keptRulesOf({ id }: Pick<Project, "id">): readonly KeptRule[] {
    return this.#rules.get(id) ?? [];
  }

  /** An account may have another name by now. */
  #nameOf({ name, key }: Reporter): string {
    return key === null ? name : this.#options.accounts.get(key)?.name ?? name;
  }

  /** The combined rule of a branch. */
  ruleOf(project: Pick<Project, "id">, branch: string): BranchRule {
    return ruleOf(this.#keptRulesOf(project), branch);
  }

  /**
   * Replaces the rules of a project.
   *
   * @throws Invalid if a reporter is no account
   */
  async set(project: Project, given: readonly Rule[], caller: Caller): Promise<void> {
    const { database, clock } = this.#options;
    const { tables } = database;
    const { id } = project;
    const rules = given.map((rule) => ({ ...rule, contexts: this.#keep(rule.contexts) }));
    const rows = rules.map(({ contexts, approvals, ...rule }, position) => ({
      ...rule,
      project_id: id,
      position,
      contexts: JSON.stringify(contexts),
      approvals_any: approvals.any,
      approvals_people: approvals.people,
    }));
    const by = { origin: originOf(caller), time: clock() };
    const patterns = rules.map(({ pattern }) => pattern);
    const removal = tables.deleteFrom("protection_rules").where("project_id", "=", id);
    await database.commit({
      statements: [
        statement(removal, { committed: () => void this.#rules.set(id, rules) }),
        ...rows.map((row) => statement(tables.insertInto("protection_rules").values(row))),
      ],
      events: [projectEvent(project, "project.protection_changed", { patterns }, by)],
    });
  }

  /** The required checks of a rule, each once, with the accounts that it names. */
  #keep(contexts: Rule["contexts"]): readonly RequiredContext[] {
    const kept = new Map<string, Reporter[]>();
    for (const one of contexts) {
      const { context, reporters } = typeof one === "string"
        ? { context: one, reporters: [] }
        : one;
      const others = kept.get(context) ?? [];
      kept.set(context, [...others, ...reporters.map((name) => this.#reporter(name))]);
    }
    return Array.from(kept, ([context, reporters]) => ({ context, reporters }));
  }

  #reporter(name: string): Reporter {
    if (name.startsWith(TOKEN)) return { name, key: null };
    const account = this.#options.accounts.find(name);
    if (account === null) throw new Invalid(`"reporters": there is no account "${name}"`);
    return { name: account.name, key: account.id };
  }

  /**
   * The required checks of a branch, as they stand for a check-in.
   *
   * @param base the check-in that the change is compared with, a whole id; null for none
   */
  async requiredChecks(
    project: Project,
    branch: string,
    { checkin, base, subjects }: Tested,
  ): Promise<readonly RequiredCheck[]> {
    const { contexts } = this.ruleOf(project, branch);
    if (contexts.length === 0) return [];
    const { checks, repositories } = this.#options;
    const names = contexts.map(({ context }) => context);
    const reports = await checks.newestReports(project, checkin, names);
    const users = reports.length === 0
      ? []
      : await repositories.read(project, (repository) => repository.users({ checkin, base }));
    const facts = { branch, reports, users, subjects: [...subjects, ...this.#agentsOf(users)] };
    return contexts.map((context) => standingOf(context, facts));
  }

  /** The agents whose sessions are among the users of check-ins. */
  #agentsOf(users: readonly string[]): readonly Subject[] {
    const { accounts } = this.#options;
    return users.flatMap((user) => {
      const session = accounts.session(user);
      return session === null ? [] : [{ key: session.agentId, name: session.name }];
    });
  }

  /**
   * The branches that are closed to the pushes of a caller, and those that are closed to its merges;
   * each with a clause that says why.
   */
  closedTo(
    project: Pick<Project, "id">,
    isAdmin: boolean,
  ): { readonly pushes: readonly NameRule[]; readonly merges: readonly NameRule[] } {
    const rules = this.#keptRulesOf(project);
    const closed = (refusalOf: (rule: KeptRule) => string | null) =>
      rules.map((rule) => ({ pattern: rule.pattern, refusal: refusalOf(rule) }))
        .filter(({ refusal }) => refusal !== null);
    return {
      pushes: closed((rule) => pushRefusal(rule, isAdmin)),
      merges: closed((rule) => mergeRefusal(rule, isAdmin)),
    };
  }

  /**
   * Judges a change of a branch. Nothing else may be written to the project between this and the
   * change.
   */
  async judge(judged: Judged): Promise<Judgement> {
    const rule = this.ruleOf(judged.project, judged.branch);
    if (rule.patterns.length === 0) return { isAllowed: true, bypassed: null };
    const { action, isAdmin, branch } = judged;
    if (action === "push" && isAdmin) {
      const refusal = pushRefusal(rule, true);
      if (refusal !== null) return { isAllowed: false, reason: protectedBranch(branch, refusal) };
    }
    const reason = await this.#objection(judged, rule);
    if (reason === null || isAdmin) return { isAllowed: true, bypassed: reason };
    return { isAllowed: false, reason };
  }

  /**
   * Lets a change of a branch pass, or refuses it.
   *
   * @throws Forbidden with the first unmet rule
   */
  async require(judged: Judged): Promise<void> {
    const judgement = await this.judge(judged);
    if (!judgement.isAllowed) throw new Forbidden(judgement.reason);
  }

  /** Why a rule refuses a change to anybody but an admin; null if it allows it. */
  async #objection(judged: Judged, rule: BranchRule): Promise<string | null> {
    const { action, branch, project, tip, review = null } = judged;
    const refusal = action === "push" ? pushRefusal(rule, false) : mergeRefusal(rule, false);
    if (refusal !== null) return protectedBranch(branch, refusal);
    if (action === "push") return null;
    if (action === "merge" && rule.landing === "required") {
      return protectedBranch(branch, "changes land only through its queue");
    }
    if (action === "merge") {
      const base = rule.contexts.length === 0
        ? null
        : await this.#options.repositories.read(project, (it) => it.branchTip(branch));
      const { subjects = [] } = judged;
      const checks = await this.requiredChecks(project, branch, { checkin: tip, base, subjects });
      const objection = objectionTo(checks);
      if (objection !== null) return objection;
    }
    const { changesChecks = false } = judged;
    const people = Math.max(rule.approvals.people, changesChecks ? 1 : 0);
    const approvals = { ...rule.approvals, people };
    const shown = action === "merge" ? tip : null;
    const objection = approvalObjection({ approvals }, review, shown);
    const isItsOwn = people === rule.approvals.people;
    return objection === null || isItsOwn ? objection : `${objection}: it changes the checks`;
  }
}

function protectedBranch(branch: string, refusal: string): string {
  return `Branch '${branch}' is protected: ${refusal}`;
}

/** The required checks of a row: rules from before reporters have names alone. */
function keptContexts(text: string): readonly RequiredContext[] {
  const contexts: readonly (string | RequiredContext)[] = JSON.parse(text);
  return contexts.map((one) => typeof one === "string" ? { context: one, reporters: [] } : one);
}

/** @param tip the check-in that the review must show; null for any */
function approvalObjection(
  { approvals: { any, people } }: Pick<BranchRule, "approvals">,
  review: ReviewStanding | null,
  tip: string | null,
): string | null {
  if (any === 0 && people === 0) return null;
  if (review === null) {
    return "No approved code review found for this workspace; submit one before merging";
  }
  if (tip !== null && review.tip !== tip) {
    return "The code review is of another check-in than the one to merge";
  }
  const given = review.approvals.length;
  if (given < any) return `The code review has ${given} of ${any} required approvals`;
  const byPeople = review.approvals.filter(({ kind }) => PEOPLE.has(kind)).length;
  if (byPeople < people) {
    return `The code review has ${byPeople} of ${people} required approvals by people`;
  }
  return null;
}

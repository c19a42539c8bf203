import {
  type Change,
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../database/mod.ts";
import { Halted, NotFound, Unavailable } from "../errors.ts";
import { newEvent } from "../events/mod.ts";
import { type Caller, originOf, type Principal } from "../identity/mod.ts";
import { type HaltRule, HaltRules, type HaltSubject, type HaltTarget } from "./halt_rules.ts";
import type { Roster, RosterEntry } from "./roster.ts";
import type { HaltRequest, ResumeRequest } from "./schemas.ts";

/** Rows that one statement inserts. */
const ROWS_AT_ONCE = 100;

export interface HaltsOptions {
  readonly database: Database;
  readonly roster: Pick<Roster, "find" | "get" | "all">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A rule, as the API shows it. */
export interface HaltView {
  readonly halted: boolean;
  readonly reason: string | null;
  readonly by: string;
  readonly since: string;
}

/** Who is halted, as the API shows it. */
export interface HaltState {
  /** Whether everybody is, except for the types and agents that were resumed. */
  readonly halted: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  readonly since: string | null;
  /** Types with a rule of their own. */
  readonly types: readonly (HaltView & { readonly type: string })[];
  /** Agents with a rule of their own. */
  readonly agents: readonly (HaltView & { readonly nick: string })[];
  /** The number of active agents that are halted. */
  readonly agents_halted: number;
}

/** A halt or its end, once it is in force. */
export interface HaltChange {
  readonly kind: "halted" | "resumed";
  readonly target: HaltTarget;
  /** Whom it is about, for people: `all agents`. */
  readonly subject: string;
  readonly reason: string | null;
  readonly by: string;
  /** Whether an agent was halted before the change. */
  wasHalted(agent: HaltSubject): boolean;
}

/**
 * Statements that belong to the transaction of a change.
 *
 * @param isHalted whether the agent with this internal id is halted after the change
 * @param now Unix milliseconds
 */
export type HaltPart = (isHalted: (id: string) => boolean, now: number) => readonly Statement[];

/**
 * The stop button: which agents may say and change nothing, on any interface. A look at three maps
 * in memory answers for an agent. A halt is in force before it is on disk, so that a slow or full
 * disk does not delay it; its end is on disk first.
 */
export class Halts implements Directory {
  readonly tables = ["halts"] as const;
  readonly #options: HaltsOptions;
  readonly #parts: HaltPart[] = [];
  readonly #listeners = new Set<(change: HaltChange) => void>();
  #rules = new HaltRules();
  /** Whether the rules in memory are not on disk. */
  #isUnsaved = false;
  #changing: Promise<unknown> = Promise.resolve();

  private constructor(options: HaltsOptions) {
    this.#options = options;
  }

  /** Reads the rules from the database. */
  static async open(options: HaltsOptions): Promise<Halts> {
    const halts = new Halts(options);
    await options.database.keepCurrent(halts);
    return halts;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("halts").selectAll().execute();
    if (this.#isUnsaved) return;
    const rules = rows.map(({ scope, subject, halted, reason, halted_by: by, since }) => ({
      scope,
      subject,
      rule: { isHalted: halted === 1, reason, by, since },
    }));
    const of = (scope: string) =>
      new Map(
        rules.filter((row) => row.scope === scope).map(({ subject, rule }) => [subject, rule]),
      );
    this.#rules = new HaltRules(of("everybody").get("") ?? null, of("type"), of("agent"));
  }

  /** Why an agent is halted, as a sentence; null if it is not. */
  reasonOf(agent: HaltSubject): string | null {
    return this.#rules.reasonOf(agent);
  }

  /** Why the agent with this internal id is halted; null if it is not, or is no agent. */
  reasonById(id: string | null): string | null {
    if (this.#rules.isEmpty || id === null) return null;
    const agent = this.#options.roster.get(id);
    return agent === null ? null : this.#rules.reasonOf(agent);
  }

  /** @throws Halted if the principal is a halted agent */
  requireGoing({ kind, id }: Principal): void {
    if (kind === "agent") this.requireGoingById(id);
  }

  /** @throws Halted if the account with this internal id is a halted agent's */
  requireGoingById(id: string | null): void {
    const reason = this.reasonById(id);
    if (reason !== null) throw new Halted(reason);
  }

  /** @throws Halted if the name is a halted agent's */
  requireGoingByName(name: string): void {
    if (this.#rules.isEmpty) return;
    this.requireGoingById(this.#options.roster.find(name)?.id ?? null);
  }

  /** Whether everybody is halted, except for types and agents that were resumed. */
  get coversEverybody(): boolean {
    return this.#rules.everybody !== null;
  }

  /** Whether any rule halts an agent. */
  get isAny(): boolean {
    return !this.#rules.isEmpty;
  }

  /** The number of active agents that are halted. */
  count(): number {
    if (this.#rules.isEmpty) return 0;
    let count = 0;
    for (const agent of this.#options.roster.all()) if (this.reasonOf(agent) !== null) count++;
    return count;
  }

  read(): HaltState {
    const { everybody, types, agents } = this.#rules;
    return {
      halted: everybody !== null,
      reason: everybody?.reason ?? null,
      by: everybody?.by ?? null,
      since: everybody === null ? null : isoOf(everybody.since),
      types: Array.from(types, ([type, rule]) => ({ type, ...viewOf(rule) })),
      agents: Array.from(agents).flatMap(([id, rule]) => {
        const nick = this.#options.roster.get(id)?.nick;
        return nick === undefined ? [] : [{ nick, ...viewOf(rule) }];
      }),
      agents_halted: this.count(),
    };
  }

  /**
   * Halts agents: everybody, or the named ones and those of the named types. Halting them again
   * changes the reason.
   *
   * @throws NotFound if there is no such agent, Conflict if there are too many rules, Unavailable if
   * the halt is in force but not on disk
   */
  halt({ reason, ...names }: HaltRequest, caller: Caller): Promise<HaltState> {
    return this.#inTurn(() => this.#change("halted", names, reason, caller));
  }

  /**
   * Lets agents go on: everybody, or the named ones and those of the named types.
   *
   * @throws NotFound if there is no such agent, Conflict if there are too many rules, Unavailable if
   * the disk refuses it; then they stay halted
   */
  resume(names: ResumeRequest, caller: Caller): Promise<HaltState> {
    return this.#inTurn(() => this.#change("resumed", names, null, caller));
  }

  /** Adds statements to the transaction of every change. */
  extend(part: HaltPart): void {
    this.#parts.push(part);
  }

  /**
   * Calls a listener with every change, once it is in force.
   *
   * @param listener must not throw
   * @returns a function that ends the subscription
   */
  onChanged(listener: (change: HaltChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes come one after the other, because each one writes all rules. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => {});
    return done;
  }

  async #change(
    kind: HaltChange["kind"],
    { agents: nicks, types }: ResumeRequest,
    reason: string | null,
    caller: Caller,
  ): Promise<HaltState> {
    const agents = nicks.map((nick) => this.#find(nick));
    const now = this.#options.clock();
    const target: HaltTarget = { types, agents };
    const before = this.#rules;
    const by = caller.principal.name;
    const rule: HaltRule = { isHalted: kind === "halted", reason, by, since: now };
    const after = before.with(
      target,
      rule,
      (id) => this.#options.roster.get(id)?.type ?? null,
    );
    if (kind === "resumed" && before.isEmpty && !this.#isUnsaved) return this.read();
    const change: HaltChange = {
      kind,
      target,
      subject: subjectOf(target, agents),
      reason,
      by,
      wasHalted: (agent) => before.reasonOf(agent) !== null,
    };
    const apply = () => {
      this.#rules = after;
      for (const listener of this.#listeners) listener(change);
    };
    if (kind === "halted") apply();
    const data = { agents: agents.map(({ nick }) => nick), types };
    const { statements = [] } = this.#rows(after, now);
    const event = kind === "halted"
      ? newEvent("agents.halted", { reason, ...data }, originOf(caller), now)
      : newEvent("agents.resumed", data, originOf(caller), now);
    try {
      await this.#options.database.commit({ statements, events: [event] });
      this.#isUnsaved = false;
    } catch (error) {
      if (kind === "resumed") throw error;
      this.#isUnsaved = true;
      throw new Unavailable(
        "The agents are halted, but the disk refused to keep that: after a restart they go on",
      );
    }
    if (kind === "resumed") apply();
    return this.read();
  }

  /** The statements that write all rules, and those of the parts. */
  #rows(rules: HaltRules, now: number): Change {
    const { tables } = this.#options.database;
    const rowOf = (scope: string, subject: string, rule: HaltRule) => ({
      scope,
      subject,
      halted: rule.isHalted ? 1 : 0,
      reason: rule.reason,
      halted_by: rule.by,
      since: rule.since,
    });
    const rows = [
      ...rules.everybody === null ? [] : [rowOf("everybody", "", rules.everybody)],
      ...Array.from(rules.types, ([type, rule]) => rowOf("type", type, rule)),
      ...Array.from(rules.agents, ([id, rule]) => rowOf("agent", id, rule)),
    ];
    const insertions: Statement[] = [];
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const part = rows.slice(at, at + ROWS_AT_ONCE);
      insertions.push(statement(tables.insertInto("halts").values(part)));
    }
    const isHalted = (id: string) => {
      const agent = this.#options.roster.get(id);
      return agent !== null && rules.reasonOf(agent) !== null;
    };
    const parts = this.#parts.flatMap((part) => part(isHalted, now));
    return { statements: [statement(tables.deleteFrom("halts")), ...insertions, ...parts] };
  }

  #find(nick: string): RosterEntry {
    const agent = this.#options.roster.find(nick);
    if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    return agent;
  }
}

function viewOf({ isHalted, reason, by, since }: HaltRule): HaltView {
  return { halted: isHalted, reason, by, since: isoOf(since) };
}

function subjectOf({ types }: HaltTarget, agents: readonly RosterEntry[]): string {
  if (types.length === 0 && agents.length === 0) return "all agents";
  const names = types.map((type) => `agents of the type ${type}`)
    .concat(agents.map(({ nick }) => nick));
  return new Intl.ListFormat("en").format(names);
}

function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

import {
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { Conflict, Halted, NotFound, Unavailable } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf, type Principal } from "../identity/mod.ts";
import type { AgentType } from "./records.ts";
import type { Roster, RosterEntry } from "./roster.ts";
import type { HaltRequest, ResumeRequest } from "./schemas.ts";

export interface HaltsOptions {
  readonly database: Database;
  readonly roster: Pick<Roster, "find" | "get" | "all">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A rule, as the API shows it. */
interface HaltView {
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
 * Called when a change is in force.
 *
 * @param change null if another program made it, which tells of it
 */
export type HaltListener = (change: HaltChange | null) => void;

/** A halt or its end, as the rules record it. */
interface RuleChange {
  readonly target: HaltTarget;
  readonly rule: HaltRule;
}

/**
 * Statements that belong to the transaction of a change.
 *
 * @param isHalted whether the agent with this internal id is halted after the change
 * @param now Unix milliseconds
 */
type HaltPart = (isHalted: (id: string) => boolean, now: number) => readonly Statement[];

/**
 * The stop button: which agents may say and change nothing, on any interface. A look at three maps
 * in memory answers for an agent. A halt is in force before it is on disk, so that a slow or full
 * disk does not delay it; its end is on disk first.
 */
export class Halts implements Directory {
  readonly tables = ["halts"] as const;
  readonly #options: HaltsOptions;
  readonly #parts: HaltPart[] = [];
  readonly #listeners = new Set<HaltListener>();
  #rules = new HaltRules();
  /** The rules on disk. */
  #saved = new HaltRules();
  /** Halts that are in force and not on disk. */
  #unsaved: RuleChange[] = [];
  /** The last change that was stored. */
  #stored: RuleChange | null = null;
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
    this.#saved = await readRules(this.#options.database);
    this.#rules = this.#unsaved.reduce((rules, change) => this.#with(rules, change), this.#saved);
  }

  announce(): void {
    this.#tell(null);
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
   * the halt is in force but not on disk, or another node has not confirmed it
   */
  halt({ reason, ...names }: HaltRequest, caller: Caller): Promise<HaltState> {
    return this.#inTurn(() => this.#change("halted", names, reason, caller));
  }

  /**
   * Lets agents go on: everybody, or the named ones and those of the named types.
   *
   * @throws NotFound if there is no such agent, Conflict if there are too many rules, Unavailable if
   * the disk refuses it; then they stay halted. Also if another node has not confirmed it
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
  onChanged(listener: HaltListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes come one after the other, because each one builds on the last. */
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
    const made: RuleChange = { target, rule };
    const after = this.#with(before, made);
    if (kind === "resumed" && before.isEmpty && this.#unsaved.length === 0) return this.read();
    const change: HaltChange = {
      kind,
      target,
      subject: subjectOf(target, agents),
      reason,
      by,
      wasHalted: (agent) => before.reasonOf(agent) !== null,
    };
    if (kind === "halted") {
      this.#unsaved.push(made);
      this.#rules = after;
      this.#tell(change);
    }
    const data = { agents: agents.map(({ nick }) => nick), types };
    const event = kind === "halted"
      ? newEvent("agents.halted", { reason, ...data }, originOf(caller), now)
      : newEvent("agents.resumed", data, originOf(caller), now);
    try {
      // Claims that other nodes have made also stop, or go on.
      await this.#options.database.peers?.catchUp();
      await this.#options.database.commit({
        statements: this.#writing(after, made, now),
        events: [event],
      });
    } catch (error) {
      // It is stored, and another node has not confirmed it.
      if (this.#stored === made) {
        if (kind === "resumed") this.#tell(change);
        throw error;
      }
      if (kind === "resumed") throw error;
      throw new Unavailable(
        "The agents are halted, but the disk refused to keep that: after a restart they go on",
      );
    }
    if (kind === "resumed") this.#tell(change);
    return this.read();
  }

  /** The statements that write the rules, and those of the parts. */
  #writing(rules: HaltRules, made: RuleChange, now: number): Statement[] {
    const isHalted = (id: string) => {
      const agent = this.#options.roster.get(id);
      return agent !== null && rules.reasonOf(agent) !== null;
    };
    const committed = () => {
      const changes = new Set([...this.#unsaved, made]);
      this.#rules = this.#saved = [...changes].reduce(
        (saved, change) => this.#with(saved, change),
        this.#saved,
      );
      this.#unsaved = [];
      this.#stored = made;
    };
    const { target } = made;
    return [
      ...writingRules(this.#options.database, { stored: this.#saved, rules, target, committed }),
      ...this.#parts.flatMap((part) => part(isHalted, now)),
    ];
  }

  #with(rules: HaltRules, { target, rule }: RuleChange): HaltRules {
    return rules.with(target, rule, (id) => this.#options.roster.get(id)?.type ?? null);
  }

  #tell(change: HaltChange | null): void {
    for (const listener of this.#listeners) listener(change);
  }

  #find(nick: string): RosterEntry {
    const { roster } = this.#options;
    const found = roster.find(nick);
    const agent = found === null ? null : roster.get(found.agentId);
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

/** What was last said about everybody, about a type, or about an agent. */
interface HaltRule {
  /** False for what goes on while a wider rule halts the others. */
  readonly isHalted: boolean;
  readonly reason: string | null;
  /** The name of the account that said it, or `operator`. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** An agent or a session of one, as far as the rules depend on it. */
interface HaltSubject {
  /** The internal id of the agent: its sessions are halted together. */
  readonly agentId: string;
  readonly type: string;
}

/** Whom a halt or its end is about; neither types nor agents: everybody. */
interface HaltTarget {
  readonly types: readonly AgentType[];
  readonly agents: readonly HaltSubject[];
}

/** Most agents with a rule of their own. */
const MAX_RULES = 10_000;

/**
 * Who is halted: a rule for everybody, rules for types and rules for agents. The narrowest rule
 * decides. A wider one that comes later replaces the narrower ones. Instances do not change.
 */
class HaltRules {
  /** Null while agents go on unless a narrower rule halts them. */
  readonly everybody: HaltRule | null;
  readonly types: ReadonlyMap<string, HaltRule>;
  /** By the internal id of the agent. */
  readonly agents: ReadonlyMap<string, HaltRule>;
  /** Whether no agent is halted. */
  readonly isEmpty: boolean;

  constructor(
    everybody: HaltRule | null = null,
    types: ReadonlyMap<string, HaltRule> = new Map(),
    agents: ReadonlyMap<string, HaltRule> = new Map(),
  ) {
    this.everybody = everybody;
    this.types = types;
    this.agents = agents;
    this.isEmpty = everybody === null && types.size === 0 && agents.size === 0;
  }

  /** The rule that decides about an agent; null if there is none. */
  of({ agentId, type }: HaltSubject): HaltRule | null {
    return this.agents.get(agentId) ?? this.types.get(type) ?? this.everybody;
  }

  /** Why an agent is halted, as a sentence; null if it is not. */
  reasonOf(agent: HaltSubject): string | null {
    if (this.isEmpty) return null;
    const rule = this.of(agent);
    return rule?.isHalted === true ? this.#sentence(agent, rule) : null;
  }

  /**
   * The rules after a halt or its end.
   *
   * @param typeOf the type of an agent by its internal id; null if it is gone
   * @throws Conflict if too many agents would have a rule of their own
   */
  with(
    { types, agents }: HaltTarget,
    rule: HaltRule,
    typeOf: (id: string) => string | null,
  ): HaltRules {
    if (types.length === 0 && agents.length === 0) {
      return new HaltRules(rule.isHalted ? rule : null);
    }
    const newTypes = new Map(this.types);
    for (const type of types) {
      if (rule.isHalted || this.everybody !== null) newTypes.set(type, rule);
      else newTypes.delete(type);
    }
    const covered = new Set<string | null>([...types, null]);
    const newAgents = new Map(
      Array.from(this.agents).filter(([id]) => !covered.has(typeOf(id))),
    );
    for (const { agentId: id, type } of agents) {
      const wider = newTypes.get(type) ?? this.everybody;
      if (!rule.isHalted && wider?.isHalted !== true) newAgents.delete(id);
      else newAgents.set(id, rule);
    }
    if (newAgents.size > MAX_RULES) {
      throw new Conflict(`${MAX_RULES} agents are halted or resumed one by one: use their types`);
    }
    return new HaltRules(this.everybody, newTypes, newAgents);
  }

  #sentence({ agentId, type }: HaltSubject, { reason }: HaltRule): string {
    const subject = this.agents.has(agentId)
      ? "This agent is"
      : this.types.has(type)
      ? `All agents of the type ${type} are`
      : "All agents are";
    return `${subject} halted${reason === null ? "" : `: ${reason}`}`;
  }
}

/** Rows that one statement inserts or deletes. */
const ROWS_AT_ONCE = 100;

const SCOPES = ["everybody", "type", "agent"] as const;

interface Subject {
  readonly scope: (typeof SCOPES)[number];
  /** A type, the internal id of an agent, or empty. */
  readonly subject: string;
}

/** A rule, and whom it is about. */
interface HaltedSubject extends Subject {
  readonly rule: HaltRule;
}

/** A change of the stored rules. */
interface StoredChange {
  readonly stored: HaltRules;
  readonly rules: HaltRules;
  /** Whom it is about. */
  readonly target: HaltTarget;
  /** Called once it is on disk. */
  readonly committed: () => void;
}

/** Reads the rules from the database. */
async function readRules({ tables }: Pick<Database, "tables">): Promise<HaltRules> {
  const rows = await tables.selectFrom("halts").selectAll().execute();
  const of = (wanted: HaltedSubject["scope"]) =>
    new Map(
      rows.filter(({ scope }) => scope === wanted)
        .map((
          { subject, halted, reason, halted_by: by, since },
        ) => [subject, { isHalted: halted === 1, reason, by, since }]),
    );
  return new HaltRules(of("everybody").get("") ?? null, of("type"), of("agent"));
}

/**
 * The statements of a change. Unless it is about everybody, they touch only rows that differ: another
 * program may have changed the rest.
 */
function writingRules(
  { tables }: Pick<Database, "tables">,
  { stored, rules, target, committed }: StoredChange,
): Statement[] {
  const isForAll = target.types.length === 0 && target.agents.length === 0;
  const before = isForAll ? [] : entriesOf(stored);
  const after = entriesOf(rules);
  const written = without(after, before);
  const removed = isForAll
    ? [tables.deleteFrom("halts")]
    : removalsOf([...without(before, after), ...written, ...targeted(target)]).map(
      ({ scope, subjects }) =>
        tables.deleteFrom("halts").where("scope", "=", scope).where("subject", "in", subjects),
    );
  const inserted = inParts(written).map((part) =>
    tables.insertInto("halts").values(part.map(rowOf))
  );
  const [first, ...others] = [...removed, ...inserted];
  if (first === undefined) return [];
  return [statement(first, { committed }), ...others.map((query) => statement(query))];
}

function entriesOf({ everybody, types, agents }: HaltRules): HaltedSubject[] {
  return [
    ...everybody === null ? [] : [{ scope: "everybody" as const, subject: "", rule: everybody }],
    ...Array.from(types, ([subject, rule]) => ({ scope: "type" as const, subject, rule })),
    ...Array.from(agents, ([subject, rule]) => ({ scope: "agent" as const, subject, rule })),
  ];
}

/** The entries that others do not have, or with another rule. */
function without(
  entries: readonly HaltedSubject[],
  others: readonly HaltedSubject[],
): HaltedSubject[] {
  const known = new Map(others.map((entry) => [keyOf(entry), entry.rule]));
  return entries.filter((entry) => known.get(keyOf(entry)) !== entry.rule);
}

function targeted({ types, agents }: HaltTarget): Subject[] {
  return [
    ...types.map((subject) => ({ scope: "type" as const, subject })),
    ...agents.map(({ agentId: subject }) => ({ scope: "agent" as const, subject })),
  ];
}

/** The rows to remove, as each statement names them. */
function removalsOf(
  all: readonly Subject[],
): { readonly scope: Subject["scope"]; readonly subjects: readonly string[] }[] {
  return SCOPES.flatMap((scope) => {
    const subjects = new Set(all.filter((one) => one.scope === scope).map((one) => one.subject));
    return inParts([...subjects]).map((part) => ({ scope, subjects: part }));
  });
}

function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += ROWS_AT_ONCE) {
    parts.push(items.slice(at, at + ROWS_AT_ONCE));
  }
  return parts;
}

function keyOf({ scope, subject }: Subject): string {
  return `${scope} ${subject}`;
}

function rowOf({ scope, subject, rule }: HaltedSubject) {
  return {
    scope,
    subject,
    halted: rule.isHalted ? 1 : 0,
    reason: rule.reason,
    halted_by: rule.by,
    since: rule.since,
  };
}

import { Conflict } from "../errors.ts";
import type { AgentType } from "./agent_types.ts";

/** What was last said about everybody, about a type, or about an agent. */
export interface HaltRule {
  /** False for what goes on while a wider rule halts the others. */
  readonly isHalted: boolean;
  readonly reason: string | null;
  /** The name of the account that said it, or `operator`. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** An agent, as far as the rules depend on it. */
export interface HaltSubject {
  /** The internal id of its account. */
  readonly id: string;
  readonly type: string;
}

/** Whom a halt or its end is about; neither types nor agents: everybody. */
export interface HaltTarget {
  readonly types: readonly AgentType[];
  readonly agents: readonly HaltSubject[];
}

/** Most agents with a rule of their own. */
const MAX_RULES = 10_000;

/**
 * Who is halted: a rule for everybody, rules for types and rules for agents. The narrowest rule
 * decides. A wider one that comes later replaces the narrower ones. Instances do not change.
 */
export class HaltRules {
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
  of({ id, type }: HaltSubject): HaltRule | null {
    return this.agents.get(id) ?? this.types.get(type) ?? this.everybody;
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
    for (const { id, type } of agents) {
      const wider = newTypes.get(type) ?? this.everybody;
      if (!rule.isHalted && wider?.isHalted !== true) newAgents.delete(id);
      else newAgents.set(id, rule);
    }
    if (newAgents.size > MAX_RULES) {
      throw new Conflict(`${MAX_RULES} agents are halted or resumed one by one: use their types`);
    }
    return new HaltRules(this.everybody, newTypes, newAgents);
  }

  #sentence({ id, type }: HaltSubject, { reason }: HaltRule): string {
    const subject = this.agents.has(id)
      ? "This agent is"
      : this.types.has(type)
      ? `All agents of the type ${type} are`
      : "All agents are";
    return `${subject} halted${reason === null ? "" : `: ${reason}`}`;
  }
}

import type { AgentActivity, AgentPresence, DoingOf } from "../../people/agents/mod.ts";
import type { Claim } from "../../work/tickets/mod.ts";
import type { AgentWork } from "../../people/work_states.ts";

/** An agent with what it does. Times are Unix milliseconds. */
export interface AgentAtWork extends AgentPresence {
  readonly state: AgentWork;
  /** How long an agent that works has not called, in minutes; null for one that is there. */
  readonly quietMinutes: number | null;
  /** The claims that it holds, oldest first. */
  readonly claims: readonly Claim[];
}

/** All active agents by state, in no order. */
export type AgentBoard = Readonly<Record<AgentWork, readonly AgentAtWork[]>>;

/** What decides the states of agents. */
export interface BoardSources {
  /** The live claims of accounts. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** Accounts that wait for somebody's answer or verdict. */
  readonly waiting: ReadonlySet<string>;
  /** Accounts that committed lately, or wait for a language model. */
  readonly busy: ReadonlySet<string>;
  /** Unix milliseconds. */
  readonly now: number;
}

const NO_CLAIMS: readonly Claim[] = Object.freeze([]);

/** The activity of each state, for an agent that is not quiet while it works. */
const ACTIVITIES = Object.freeze(
  {
    halted: { state: "halted", quietMinutes: null },
    "needs input": { state: "needs input", quietMinutes: null },
    working: { state: "working", quietMinutes: null },
    idle: { state: "idle", quietMinutes: null },
    away: { state: "away", quietMinutes: null },
  } satisfies Record<AgentWork, AgentActivity>,
);

/** Sorts agents by state. */
export function makeBoard(
  presences: readonly AgentPresence[],
  sources: BoardSources,
): AgentBoard {
  const board: Record<AgentWork, AgentAtWork[]> = {
    halted: [],
    "needs input": [],
    working: [],
    idle: [],
    away: [],
  };
  for (const presence of presences) {
    const agent = atWork(presence, sources);
    board[agent.state].push(agent);
  }
  return board;
}

/** An agent with what it does. */
export function atWork(presence: AgentPresence, sources: BoardSources): AgentAtWork {
  const { id, nick, isPaused, isHalted, lastSeen, online } = presence;
  const { state, quietMinutes } = activityOf(presence, sources);
  const claims = sources.claims.get(id) ?? NO_CLAIMS;
  return { id, nick, isPaused, isHalted, lastSeen, online, state, quietMinutes, claims };
}

/** What an agent does: the only place that decides it. */
export function activityOf(
  { id, isHalted, lastSeen, online }: Parameters<DoingOf>[0],
  { claims, busy, waiting, now }: BoardSources,
): AgentActivity {
  if (isHalted) return ACTIVITIES.halted;
  if (waiting.has(id)) return ACTIVITIES["needs input"];
  if (!claims.has(id) && !busy.has(id)) return online ? ACTIVITIES.idle : ACTIVITIES.away;
  if (online) return ACTIVITIES.working;
  return { state: "working", quietMinutes: Math.floor((now - (lastSeen ?? 0)) / 60_000) };
}

/** Up to so many agents are picked one by one; for more, sorting is faster. */
const PICKED = 50;

/** The agents that were seen last, the latest first. */
export function seenLast<Agent extends Pick<AgentPresence, "lastSeen">>(
  agents: readonly Agent[],
  limit: number,
): readonly Agent[] {
  if (limit > PICKED) {
    return agents.toSorted((one, other) => (other.lastSeen ?? 0) - (one.lastSeen ?? 0))
      .slice(0, limit);
  }
  const latest: Agent[] = [];
  for (const agent of agents) {
    const seen = agent.lastSeen ?? 0;
    if (latest.length === limit && seen <= (latest.at(-1)?.lastSeen ?? 0)) continue;
    const place = latest.findIndex((other) => (other.lastSeen ?? 0) < seen);
    latest.splice(place === -1 ? latest.length : place, 0, agent);
    if (latest.length > limit) latest.pop();
  }
  return latest;
}

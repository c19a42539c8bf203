import type { AgentPresence } from "../agents/mod.ts";
import type { Claim } from "../tickets/mod.ts";

/**
 * What agents do: they are halted, wait for a person (for the verdict on a review), work (hold a
 * claim), are there without work, or are away.
 */
export const WORK_STATES = ["halted", "needs input", "working", "idle", "away"] as const;
export type AgentWork = (typeof WORK_STATES)[number];

/** An agent with what it does. Times are Unix milliseconds. */
export interface AgentAtWork extends AgentPresence {
  readonly state: AgentWork;
  /** The claims that it holds, oldest first. */
  readonly claims: readonly Claim[];
}

/** All active agents by state, in no order. */
export type AgentBoard = Readonly<Record<AgentWork, readonly AgentAtWork[]>>;

/** What decides the states of agents. */
export interface BoardSources {
  /** The live claims of accounts. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** Accounts whose reviews wait for a verdict. */
  readonly waiting: ReadonlySet<string>;
}

const NO_CLAIMS: readonly Claim[] = Object.freeze([]);

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

/** What an agent does. */
export function atWork(presence: AgentPresence, { claims, waiting }: BoardSources): AgentAtWork {
  const { id, nick, isPaused, isHalted, lastSeen, online } = presence;
  const held = claims.get(id) ?? NO_CLAIMS;
  const state = isHalted ? "halted" : stateOf(online, held.length > 0, waiting.has(id));
  return { id, nick, isPaused, isHalted, lastSeen, online, state, claims: held };
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

function stateOf(isOnline: boolean, hasClaim: boolean, isWaiting: boolean): AgentWork {
  if (isWaiting) return "needs input";
  if (!isOnline) return "away";
  return hasClaim ? "working" : "idle";
}

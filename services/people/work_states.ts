/**
 * What agents do, on every door: they are halted; wait for a person (for an answer, or the verdict on
 * a review); work (hold a claim, have committed to a workspace within the last hour, or wait for a
 * language model); are there without work; or are away.
 */
export const WORK_STATES = ["halted", "needs input", "working", "idle", "away"] as const;
export type AgentWork = (typeof WORK_STATES)[number];

/** How long an agent that works has been quiet, such as "quiet for 4 min"; null if it is not. */
export function quietText(minutes: number | null): string | null {
  if (minutes === null) return null;
  return minutes < 120 ? `quiet for ${minutes} min` : `quiet for ${Math.floor(minutes / 60)} h`;
}

import type { AgentWork } from "../../services/attention/mod.ts";

/** The colors of the states. */
export const LOOKS: Readonly<Record<AgentWork, string>> = {
  halted: "bad",
  "needs input": "accent",
  working: "good",
  idle: "",
  away: "",
};

/** What an agent does, and whether it is paused or revoked. */
export function AgentStateBadge({ state, isPaused, isRevoked = false }: {
  readonly state: AgentWork;
  readonly isPaused: boolean;
  readonly isRevoked?: boolean;
}) {
  if (isRevoked) return <span class="badge bad">revoked</span>;
  return (
    <>
      <span class={`badge ${LOOKS[state]}`}>{state}</span>
      {isPaused && <span class="badge warn">paused</span>}
    </>
  );
}

import { type AgentWork, quietText } from "../../services/people/work_states.ts";

/** The colors of the states. */
export const LOOKS: Readonly<Record<AgentWork, string>> = {
  halted: "bad",
  "needs input": "accent",
  working: "good",
  idle: "",
  away: "",
};

/** How long an agent that works has been quiet. The script keeps it current. */
export function Quiet({ minutes, now = Date.now() }: {
  readonly minutes: number | null;
  readonly now?: number;
}) {
  if (minutes === null) return null;
  return (
    <span class="soft small" data-quiet-since={String(now - minutes * 60_000)}>
      {quietText(minutes)}
    </span>
  );
}

/** What an agent does, and whether it is paused or revoked. */
export function AgentStateBadge({ state, quietMinutes, isPaused, isRevoked = false }: {
  readonly state: AgentWork;
  readonly quietMinutes: number | null;
  readonly isPaused: boolean;
  readonly isRevoked?: boolean;
}) {
  if (isRevoked) return <span class="badge bad">revoked</span>;
  return (
    <>
      <span class={`badge ${LOOKS[state]}`}>{state}</span>
      {isPaused && <span class="badge warn">paused</span>}
      <Quiet minutes={quietMinutes} />
    </>
  );
}

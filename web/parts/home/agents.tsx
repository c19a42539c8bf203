import {
  type AgentAtWork,
  type AgentBoard,
  type HeldTicket,
} from "../../../services/oversight/attention/mod.ts";
import { WORK_STATES } from "../../../services/people/work_states.ts";
import type { LoggedEvent } from "../../../services/engines/events/mod.ts";
import { LOOKS, Quiet } from "../agent_state.tsx";
import { EventSentence, type Titles } from "../event_sentence.tsx";
import { Empty } from "../lists.tsx";
import { Time } from "../time.tsx";

/** Agents of each state that the home page names. */
export const SHOWN = 5;

/** What belongs to the agents of the board. */
export interface BoardDetails {
  /** The tickets that they hold, by the claim's id. */
  readonly tickets: ReadonlyMap<string, HeldTicket>;
  readonly lastOf: (accountId: string) => LoggedEvent | null;
  readonly titles: Titles;
}

/** Agents by state, the first few of each; nothing of a state that no agent is in. */
export function AgentBoardView({ board, lately, details, isAdmin }: {
  readonly board: AgentBoard;
  /** Those of each state that were seen last. */
  readonly lately: Readonly<Record<string, readonly AgentAtWork[]>>;
  readonly details: BoardDetails;
  /** Whether the reader may register agents. */
  readonly isAdmin: boolean;
}) {
  const isEmpty = WORK_STATES.every((state) => board[state].length === 0);
  return (
    <section
      aria-labelledby="agents"
      data-live-part="agents"
      data-live-on="agent.* project.claim project.review"
    >
      <h2 id="agents">Agents</h2>
      {isEmpty
        ? (
          <Empty>
            {isAdmin
              ? (
                <>
                  There are no agents. <a href="/agents?register">Register one</a>{" "}
                  to get the lines with which it logs in.
                </>
              )
              : "There are no agents yet. An admin registers them."}
          </Empty>
        )
        : (
          <div class="board">
            {WORK_STATES.filter((state) => board[state].length > 0).map((state) => (
              <section class="board-state" aria-label={state}>
                <h3>
                  <a href={`/agents?state=${encodeURIComponent(state)}`}>{headingOf(state)}</a>{" "}
                  <span class={`badge ${LOOKS[state]}`}>{board[state].length}</span>
                </h3>
                <ul>
                  {lately[state]?.map((agent) => (
                    <AgentLine key={agent.id} agent={agent} details={details} />
                  ))}
                </ul>
                <More state={state} count={board[state].length - SHOWN} />
              </section>
            ))}
          </div>
        )}
    </section>
  );
}

function AgentLine({ agent, details }: {
  readonly agent: AgentAtWork;
  readonly details: BoardDetails;
}) {
  const last = details.lastOf(agent.id);
  const held = agent.claims.map(({ id }) => details.tickets.get(id))
    .find((ticket) => ticket !== undefined);
  return (
    <li>
      <a class="agent-name" href={`/agents/${encodeURIComponent(agent.nick)}`}>{agent.nick}</a>
      {agent.isPaused && <span class="badge warn">paused</span>}
      <Quiet minutes={agent.quietMinutes} />
      {held !== undefined && (
        <div class="small">
          holds <a href={`/projects/${held.slug}/tickets/${held.ticket}`}>{held.title}</a>
          {agent.claims.length > 1 && ` and ${agent.claims.length - 1} more`}
        </div>
      )}
      <div class="soft small">
        {last === null ? <Seen agent={agent} /> : (
          <>
            <EventSentence event={last} titles={details.titles} withActor={false} />{" "}
            <Time at={last.time} />
          </>
        )}
      </div>
    </li>
  );
}

/** How many agents of a state the list leaves out. */
function More({ state, count }: { readonly state: string; readonly count: number }) {
  if (count <= 0) return null;
  return (
    <p class="small">
      <a href={`/agents?state=${encodeURIComponent(state)}`}>and {count} more</a>
    </p>
  );
}

function Seen({ agent: { online, lastSeen } }: { readonly agent: AgentAtWork }) {
  if (online) return <span>is here</span>;
  if (lastSeen === null) return <span>was never here</span>;
  return (
    <span>
      last seen <Time at={new Date(lastSeen).toISOString()} />
    </span>
  );
}

/** A state as the heading of a list. */
function headingOf(state: string): string {
  return state.charAt(0).toUpperCase() + state.slice(1);
}

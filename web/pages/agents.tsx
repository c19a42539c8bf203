import {
  type AgentAtWork,
  type AgentBoard,
  type HeldTicket,
  seenLast,
} from "../../services/oversight/attention/mod.ts";
import type { LoggedEvent } from "../../services/engines/events/mod.ts";
import { WORK_STATES } from "../../services/people/work_states.ts";
import { adoptAgent, getAgent, registerAgent } from "../../services/people/agents/operations.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { adoptionOf, NewAgentForms, registrationOf } from "../parts/agent_forms.tsx";
import { AgentLogin } from "../parts/agent_login.tsx";
import { AgentStateBadge } from "../parts/agent_state.tsx";
import { EventSentence, type Titles } from "../parts/event_sentence.tsx";
import { Empty, Pager } from "../parts/lists.tsx";
import { Time } from "../parts/time.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** Agents on one page. */
const PER_PAGE = 50;

/** Filters of the list, in the order in which they are offered. */
const FILTERS = ["all", ...WORK_STATES, "paused", "revoked"] as const;
type Filter = (typeof FILTERS)[number];

/** All agents, by state, with a search. Admins register and adopt agents here. */
export const page = definePage({
  opens: "session",
  show,
  actions: { register, adopt },
  json: () => "/v1/agents",
});

async function show(visit: Visit): Promise<View> {
  const { services: { attention }, principal } = visit;
  const board = await attention.agents();
  const revoked = revokedOf(visit);
  const filter = FILTERS.find((name) => name === visit.query("state")) ?? "all";
  const search = visit.query("q")?.toLowerCase() ?? "";
  const found = agentsOf(board, revoked, filter)
    .filter(({ nick }) => nick.toLowerCase().includes(search));
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const shown = seenLast(found, page * PER_PAGE).slice((page - 1) * PER_PAGE);
  const lasts = new Map(shown.map(({ id }) => [id, attention.lastOf(id, principal)]));
  const [tickets, titles] = await Promise.all([
    attention.ticketsOf(shown.flatMap(({ claims }) => claims), principal),
    attention.titlesOf([...lasts.values()].filter((event) => event !== null)),
  ]);
  const body = (
    <>
      <div class="page-head">
        <h1>Agents</h1>
        {visit.isAdmin && <NewAgentForms visit={visit} />}
      </div>
      <Filters visit={visit} board={board} revoked={revoked.length} filter={filter} />
      <section
        aria-label="Agents"
        data-live-part="agents"
        data-live-on="agent.* project.claim project.review"
      >
        {shown.length === 0
          ? <NoAgents visit={visit} isFiltered={filter !== "all" || search !== ""} />
          : (
            <AgentTable
              agents={shown}
              details={{ lasts, tickets, titles, isRevoked: filter === "revoked" }}
            />
          )}
        <Pager visit={visit} page={page} pages={pages} />
      </section>
    </>
  );
  return { title: "Agents", body, live: "/live/home" };
}

function Filters({ visit, board, revoked, filter }: {
  readonly visit: Visit;
  readonly board: AgentBoard;
  readonly revoked: number;
  readonly filter: Filter;
}) {
  const search = visit.query("q");
  const counts = (name: Filter) => name === "revoked" ? revoked : agentsOf(board, [], name).length;
  return (
    <div class="filters">
      <nav aria-label="States">
        <ul class="tabs">
          {FILTERS.map((name) => (
            <li>
              <a
                href={withQuery("/agents", { state: name === "all" ? undefined : name, q: search })}
                aria-current={name === filter ? "page" : undefined}
              >
                {name} <span class="badge">{counts(name)}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="get" action="/agents" role="search" class="row">
        {filter !== "all" && <input type="hidden" name="state" value={filter} />}
        <label class="hidden-text" for="q">Search by nick</label>
        <input id="q" name="q" type="search" value={search ?? ""} placeholder="Search by nick" />
      </form>
    </div>
  );
}

/** What belongs to the agents of the table. */
interface Details {
  readonly lasts: ReadonlyMap<string, LoggedEvent | null>;
  readonly tickets: ReadonlyMap<string, HeldTicket>;
  readonly titles: Titles;
  readonly isRevoked: boolean;
}

function AgentTable({ agents, details }: {
  readonly agents: readonly AgentAtWork[];
  readonly details: Details;
}) {
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Table of agents">
      <table class="stacks">
        <thead>
          <tr>
            <th>Nick</th>
            <th>State</th>
            <th>Holds</th>
            <th>Last did</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody data-keys="list">
          {agents.map((agent) => <AgentRow key={agent.id} agent={agent} details={details} />)}
        </tbody>
      </table>
    </div>
  );
}

function AgentRow({ agent, details }: { readonly agent: AgentAtWork; readonly details: Details }) {
  const last = details.lasts.get(agent.id) ?? null;
  const held = agent.claims.flatMap(({ id }) => details.tickets.get(id) ?? []);
  return (
    <tr>
      <td>
        <a href={`/agents/${encodeURIComponent(agent.nick)}`}>{agent.nick}</a>
      </td>
      <td>
        <AgentStateBadge {...agent} isRevoked={details.isRevoked} />
      </td>
      <td>
        {held.slice(0, 2).map(({ slug, ticket, title }) => (
          <div>
            <a href={`/projects/${slug}/tickets/${ticket}`}>{title}</a>
          </div>
        ))}
        {held.length > 2 && <span class="soft small">and {held.length - 2} more</span>}
      </td>
      <td class="soft small">
        {last !== null && (
          <>
            <EventSentence event={last} titles={details.titles} withActor={false} />{" "}
            <Time at={last.time} />
          </>
        )}
      </td>
      <td class="soft small nowrap">
        <span class="stack-label">last seen</span>
        {agent.online
          ? "now"
          : agent.lastSeen === null
          ? "never"
          : <Time at={new Date(agent.lastSeen).toISOString()} />}
      </td>
    </tr>
  );
}

function NoAgents({ visit, isFiltered }: { readonly visit: Visit; readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty>
        No agent fits. <a href="/agents">Show all</a>
      </Empty>
    );
  }
  return (
    <Empty>
      {visit.isAdmin
        ? "There are no agents: register one, and you get the lines with which it logs in."
        : "There are no agents yet. An admin registers them."}
    </Empty>
  );
}

function agentsOf(
  board: AgentBoard,
  revoked: readonly AgentAtWork[],
  filter: Filter,
): readonly AgentAtWork[] {
  if (filter === "revoked") return revoked;
  if (filter !== "all" && filter !== "paused") return board[filter];
  const all = WORK_STATES.flatMap((state) => board[state]);
  return filter === "all" ? all : all.filter(({ isPaused }) => isPaused);
}

/** The revoked agents, which only an admin sees. */
function revokedOf({ isAdmin, services: { agents } }: Visit): readonly AgentAtWork[] {
  if (!isAdmin) return [];
  return agents.roster.rows().filter(({ revoked_at }) => revoked_at !== null).map((row) => ({
    id: row.account_id,
    nick: row.name,
    state: "away",
    isPaused: false,
    isHalted: false,
    online: false,
    lastSeen: row.last_seen,
    quietMinutes: null,
    claims: [],
  }));
}

/** Registers an agent, and shows its passphrase once. */
async function register(visit: Visit): Promise<View> {
  const registration = await visit.invokeOnServer(registerAgent, registrationOf(visit));
  const { nick } = registration;
  const { channels } = await visit.invokeOnServer(getAgent, { nick });
  const body = (
    <>
      <h1>{nick} is registered</h1>
      <AgentLogin
        registration={registration}
        channels={channels}
        origin={visit.origin}
        config={visit.services.config}
      />
      <p class="row">
        <a class="button primary" href={`/agents/${encodeURIComponent(nick)}`}>Go to {nick}</a>
        <a class="button" href="/agents">All agents</a>
      </p>
    </>
  );
  return { title: `${nick} is registered`, body, status: 201 };
}

/** Makes an IRC account an agent. */
async function adopt(visit: Visit): Promise<Leads> {
  const { nick } = await visit.invokeOnServer(adoptAgent, adoptionOf(visit));
  return { to: `/agents/${encodeURIComponent(nick)}`, notice: `${nick} is an agent now.` };
}

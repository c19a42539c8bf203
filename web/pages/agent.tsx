import type { Agent } from "../../services/people/agents/mod.ts";
import {
  changeAgent,
  deleteAgent,
  getAgent,
  pauseAgent,
  resumeAgent,
  revokeAgent,
  rotateAgent,
  setAgentSlots,
} from "../../services/people/agents/operations.ts";
import { NotFound } from "../../services/kernel/errors.ts";
import { acknowledgeMessages, readInbox } from "../../services/chat/inboxes/operations.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { AgentControls } from "../parts/agent_controls.tsx";
import { rateOf } from "../parts/agent_forms.tsx";
import { AgentLogin } from "../parts/agent_login.tsx";
import { AgentStateBadge } from "../parts/agent_state.tsx";
import { MessageText } from "../parts/chat/message.tsx";
import { channelPath } from "../parts/chat/written.ts";
import { ConfirmForm, requireTypedName } from "../parts/confirm.tsx";
import { Time } from "../parts/time.tsx";
import { Happenings, Work } from "../parts/work.tsx";
import type { Visit } from "../visit.ts";

/** Events, and messages of the inbox, that the page shows. */
const SHOWN = 20;

/** One agent: what it holds and did, and, for admins, all that can be done with it. */
export const page = definePage({
  opens: "session",
  show,
  actions: { pause, resume, rate, slots, acknowledge, rotate, revoke, remove },
  json: (visit) => `/v1/agents/${encodeURIComponent(visit.param("nick"))}`,
});

async function show(visit: Visit): Promise<View> {
  const { services: { agents, accounts, attention }, principal } = visit;
  const nick = visit.param("nick");
  // The name of a session shows its agent.
  const session = accounts.session(nick);
  const agent = agents.get(session === null ? nick : accounts.nameOf(session.agentId) ?? nick);
  const id = accounts.named(agent.nick)?.id;
  if (id === undefined) throw new NotFound(`There is no agent "${agent.nick}"`);
  const [work, events, atWork, tokens, inbox] = await Promise.all([
    attention.workOf(id, principal),
    attention.happenedBy(id, principal, SHOWN),
    attention.agent(id),
    visit.isAdmin ? visit.services.tokens.list({ ownerId: id }) : [],
    visit.isAdmin && !agent.revoked ? inboxOf(visit, agent) : null,
  ]);
  const titles = await attention.titlesOf(events);
  const body = (
    <>
      <div class="page-head">
        <h1>{agent.nick}</h1>
        <div
          class="row"
          data-live-part="state"
          data-live-on="agent.* project.claim project.review"
        >
          <AgentStateBadge
            state={atWork?.state ?? "away"}
            quietMinutes={atWork?.quietMinutes ?? null}
            isPaused={agent.paused}
            isRevoked={agent.revoked}
          />
        </div>
      </div>
      <div class="columns">
        <div>
          <Work work={work} />
          <Happenings events={events} titles={titles} />
          {inbox !== null && <InboxView visit={visit} messages={inbox} />}
        </div>
        <div>
          <Facts visit={visit} agent={agent} sessions={agents.roster.sessionsOf(id)} />
          {visit.isAdmin && (
            <AgentControls
              visit={visit}
              agent={agent}
              tokens={tokens}
            />
          )}
        </div>
      </div>
    </>
  );
  return { title: agent.nick, body, live: "/live/home" };
}

function Facts({ visit, agent, sessions }: {
  readonly visit: Visit;
  readonly agent: Agent;
  /** Its further sessions, which have names of their own. */
  readonly sessions: readonly Pick<Agent, "nick">[];
}) {
  return (
    <dl class="facts" data-live-part="facts" data-live-on="agent.*">
      <dt>Type</dt>
      <dd>{agent.type}</dd>
      {sessions.length > 0 && (
        <>
          <dt>Also here as</dt>
          <dd class="row">
            {sessions.map(({ nick }) => (
              <a class="chip" href={`/messages/${encodeURIComponent(nick)}`}>{nick}</a>
            ))}
          </dd>
        </>
      )}
      <dt>Last seen</dt>
      <dd>
        {agent.online ? "now" : agent.last_seen === null ? "never" : <Time at={agent.last_seen} />}
      </dd>
      <dt>Registered</dt>
      <dd>
        <Time at={agent.created_at} />
      </dd>
      {agent.pause_reason !== null && (
        <>
          <dt>Paused because</dt>
          <dd>{agent.pause_reason}</dd>
        </>
      )}
      {visit.isAdmin && (
        <>
          <dt>Messages</dt>
          <dd>{agent.messages_per_minute} in the last minute</dd>
          <dt>Channels</dt>
          <dd>
            {agent.channels.length === 0
              ? "none"
              : agent.channels.map((name) => (
                <a class="chip" href={`/channels/${encodeURIComponent(name.replace(/^#/, ""))}`}>
                  {name}
                </a>
              ))}
          </dd>
        </>
      )}
      {!agent.revoked && (
        <>
          <dt>Message</dt>
          <dd>
            <a href={`/messages/${encodeURIComponent(agent.nick)}`}>Write to {agent.nick}</a>
          </dd>
        </>
      )}
    </dl>
  );
}

/** The newest messages to an agent, oldest first. */
async function inboxOf(visit: Visit, { nick }: Agent) {
  return await visit.invokeOnServer(readInbox, { nick, limit: SHOWN });
}

function InboxView({ visit, messages }: {
  readonly visit: Visit;
  readonly messages: Awaited<ReturnType<typeof inboxOf>>;
}) {
  const newest = messages.at(-1);
  return (
    <section aria-labelledby="inbox">
      <h2 id="inbox">Inbox</h2>
      {messages.length === 0
        ? <p class="soft">Nobody has written to it or named it.</p>
        : (
          <ol class="happenings">
            {messages.toReversed().map(({ from, channel, text, timestamp }) => (
              <li>
                <b>{from}</b> {channel !== null && (
                  <>
                    in <a href={channelPath(channel)}>{channel}</a>
                  </>
                )} <Time at={timestamp} />
                <div class="inbox-text" dir="auto">
                  <MessageText text={text} />
                </div>
              </li>
            ))}
          </ol>
        )}
      {newest !== undefined && (
        <ConfirmForm
          visit={visit}
          action="acknowledge"
          values={{ up_to: newest.id }}
          label="Remove these and all before …"
          button="Remove them"
        >
          <p>The agent does not find them in its inbox any more.</p>
        </ConfirmForm>
      )}
    </section>
  );
}

function here(visit: Visit): string {
  return `/agents/${encodeURIComponent(visit.param("nick"))}`;
}

async function pause(visit: Visit): Promise<Leads> {
  const nick = visit.param("nick");
  const reason = visit.entered("reason").trim() || null;
  await visit.invokeOnServer(pauseAgent, { nick, reason });
  return { to: here(visit), notice: `${nick} is paused: its messages are refused.` };
}

async function resume(visit: Visit): Promise<Leads> {
  const nick = visit.param("nick");
  await visit.invokeOnServer(resumeAgent, { nick });
  return { to: here(visit), notice: `${nick} may speak again.` };
}

async function rate(visit: Visit): Promise<Leads> {
  const limit = rateOf(visit);
  await visit.invokeOnServer(changeAgent, { nick: visit.param("nick"), rate_limit: limit }, {
    "rate_limit.messages_per_second": "messages_per_second",
    "rate_limit.burst": "burst",
  });
  return { to: here(visit), notice: limit === null ? "The general limit applies." : "Saved." };
}

/** Sets the agent's own limits; an empty field is no limit of its own. */
async function slots(visit: Visit): Promise<Leads> {
  const limit = (field: string) => {
    const text = visit.entered(field).trim();
    return text === "" ? null : Number(text);
  };
  await visit.invokeOnServer(setAgentSlots, {
    nick: visit.param("nick"),
    claims: limit("claims"),
    workspaces: limit("workspaces"),
    reviews: limit("reviews"),
    calls: limit("calls"),
  });
  return { to: here(visit), notice: "Saved." };
}

/** Removes what its inbox holds, up to an entry, in place of the agent. */
async function acknowledge(visit: Visit): Promise<Leads> {
  const { acknowledged } = await visit.invokeOnServer(acknowledgeMessages, {
    nick: visit.param("nick"),
    up_to: visit.entered("up_to"),
  });
  return { to: here(visit), notice: `${acknowledged} of its entries are removed.` };
}

/** Gives the agent a new passphrase, which is shown once. */
async function rotate(visit: Visit): Promise<View> {
  const nick = visit.param("nick");
  const keeps = visit.form.has("keep_tokens");
  const registration = await visit.invokeOnServer(rotateAgent, { nick, keep_tokens: keeps });
  const { channels } = await visit.invokeOnServer(getAgent, { nick });
  const body = (
    <>
      <h1>{registration.nick} has a new passphrase</h1>
      <AgentLogin
        registration={registration}
        channels={channels}
        origin={visit.origin}
        config={visit.services.config}
      />
      <p>
        <a class="button primary" href={here(visit)}>Go to {registration.nick}</a>
      </p>
    </>
  );
  return { title: `${registration.nick} has a new passphrase`, body };
}

async function revoke(visit: Visit): Promise<Leads> {
  const { nick } = await visit.invokeOnServer(getAgent, { nick: visit.param("nick") });
  requireTypedName(visit, nick);
  await visit.invokeOnServer(revokeAgent, { nick });
  return { to: here(visit), notice: `${nick} can log in no longer.` };
}

async function remove(visit: Visit): Promise<Leads> {
  const { nick } = await visit.invokeOnServer(getAgent, { nick: visit.param("nick") });
  requireTypedName(visit, nick);
  await visit.invokeOnServer(deleteAgent, { nick });
  return { to: "/agents", notice: `${nick} is deleted, and its nick is free.` };
}

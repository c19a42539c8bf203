import { seenLast } from "../../services/oversight/attention/mod.ts";
import type { Question } from "../../services/oversight/questions/mod.ts";
import { forgetStrikes, releaseTicket } from "../../services/work/tickets/operations.ts";
import { WORK_STATES } from "../../services/people/work_states.ts";
import { addressing } from "../parts/chat/robots.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { AgentBoardView, SHOWN } from "../parts/home/agents.tsx";
import { FirstSteps } from "../parts/home/first_steps.tsx";
import {
  FailedChecks,
  FlakyChecks,
  Happened,
  Landings,
  SHOWN as SHOWN_BESIDE,
  Unread,
} from "../parts/home/side.tsx";
import { flakyChecks, withJobs } from "../parts/home/checks.ts";
import { WaitingList } from "../parts/home/waiting.tsx";
import type { Visit } from "../visit.ts";

/** Events that the page tells. */
const HAPPENED = 20;

/** Questions, and needs without a part of their own, that the page shows. */
const MAX_QUESTIONS = 25;
const MAX_OTHER = 25;

/** Who needs me, what is going on, and what happened. */
export const page = definePage({
  opens: "session",
  show,
  actions: { offer, release },
  json: () => "/v1/needs",
});

async function show(visit: Visit): Promise<View> {
  const { services, principal, caller } = visit;
  const { attention, chats, conversations, needs } = services;
  const [waiting, other, board, events, landings, failed, flaky, direct] = await Promise.all([
    attention.waiting(principal),
    needs.list(principal, { limit: MAX_OTHER, offset: 0, kinds: ["budget"] }),
    attention.agents(),
    attention.happened(principal, HAPPENED),
    attention.landings(principal),
    attention.failedChecks(principal),
    flakyChecks(visit),
    conversations.unread(caller),
  ]);
  const checks = await withJobs(visit, failed.slice(0, SHOWN_BESIDE));
  const lately = Object.fromEntries(
    WORK_STATES.map((state) => [state, seenLast(board[state], SHOWN)]),
  );
  const shown = Object.values(lately).flat();
  const lasts = new Map(shown.map(({ id }) => [id, attention.lastOf(id, principal)]));
  const [tickets, titles] = await Promise.all([
    attention.ticketsOf(shown.flatMap(({ claims }) => claims), principal),
    attention.titlesOf([...events, ...lasts.values()].filter((event) => event !== null)),
  ]);
  const lastOf = (accountId: string) => lasts.get(accountId) ?? null;
  const body = (
    <>
      <h1 class="hidden-text">Home</h1>
      <div class="columns home">
        <div>
          {visit.isAdmin && (
            <FirstSteps
              hasProject={services.hosting.projects.all().length > 0}
              hasAgent={WORK_STATES.some((state) => board[state].length > 0)}
              channel={services.config.bridge.channels[0] ?? null}
            />
          )}
          <WaitingList
            visit={visit}
            waiting={waiting}
            questions={questionsFor(visit)}
            other={other.needs.filter(({ isYours }) => isYours)}
          />
          <AgentBoardView
            board={board}
            lately={lately}
            details={{ tickets, lastOf, titles }}
            isAdmin={visit.isAdmin}
          />
          <Happened events={events} titles={titles} isAdmin={visit.isAdmin} />
        </div>
        <div class="home-side">
          <Unread channels={chats.sidebar(caller, addressing(visit.services))} direct={direct} />
          <Landings landings={landings} />
          <FailedChecks checks={checks} more={failed.length - checks.length} />
          <FlakyChecks checks={flaky} />
        </div>
      </div>
    </>
  );
  return { title: "Home", body, live: "/live/home" };
}

/** The oldest open questions that wait for the visitor. */
function questionsFor({ services: { questions }, principal }: Visit): readonly Question[] {
  return questions.open(principal).filter((question) =>
    questions.isFor(question, principal) &&
    (question.to === null || question.to.id === principal.id)
  ).slice(0, MAX_QUESTIONS);
}

/** Offers a ticket to agents again. */
async function offer(visit: Visit): Promise<Leads> {
  await visit.invoke(visit.entered("slug"), forgetStrikes, { uuid: visit.entered("ticket") });
  return { to: "/", notice: "Agents may claim the ticket again." };
}

/** Ends the claim of an agent that is silent. */
async function release(visit: Visit): Promise<Leads> {
  await visit.invoke(visit.entered("slug"), releaseTicket, { uuid: visit.entered("ticket") });
  return { to: "/", notice: "The claim has ended; the ticket is free." };
}

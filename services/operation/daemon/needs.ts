import { Attention, WorkNeeds } from "../../oversight/attention/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { Llm } from "../../models/llm/mod.ts";
import { Needs } from "../../people/needs/mod.ts";
import { QuestionNeeds, Questions } from "../../oversight/questions/mod.ts";
import { bridgeNickOf } from "../config/mod.ts";
import type { Hosting } from "./hosting.ts";
import type { IrcHost } from "./irc_host.ts";
import { startLeading } from "./leading.ts";
import { QuestionNotices } from "./question_notices.ts";
import type { Stores } from "./stores.ts";

/** What waits for people, and who tells them. */
export interface NeedServices {
  /** For the home page. */
  readonly attention: Attention;
  /** What waits for somebody. Each part in which something can wait is one of its sources. */
  readonly needs: Needs;
  readonly questions: Questions;
}

export interface NeedSurroundings {
  readonly irc: IrcHost;
  readonly hosting: Hosting;
  readonly bridge: Bridge | null;
  readonly llm: Pick<Llm, "gateway">;
}

/** Opens the list of what waits for somebody, with the questions of agents and the work on projects. */
export async function openNeeds(
  stores: Stores,
  { irc, hosting, bridge, llm }: NeedSurroundings,
  started: AsyncDisposableStack,
): Promise<NeedServices> {
  const { people, server } = irc;
  const { database, scheduler, log, identity, leadership, events: { eventLog } } = stores;
  const questions = await openQuestions(stores, irc, hosting, started);
  identity.agentSessions.askBefore(({ agentId, name }) => questions.isOpenOf(agentId, name));
  await startLeading(stores, {
    start: () => questions.start(),
    stop: () => questions.stop(),
  }, started);
  const { agents } = people;
  const callers = () => llm.gateway.callers();
  const attention = new Attention({
    ...hosting,
    agents,
    questions,
    callers,
    database,
    eventLog,
    scheduler,
  });
  started.defer(() => attention.close());
  const needs = new Needs();
  needs.add(workNeeds(stores, hosting, attention));
  needs.add(new QuestionNeeds(questions));
  const notices = new QuestionNotices({
    ...hosting,
    questions,
    commands: people.questionCommands,
    accounts: identity.accounts,
    server,
    bridge,
    bridgeNick: bridgeNickOf(stores.config),
    leadership,
    scheduler,
    log,
  });
  started.defer(() => notices.close());
  await startLeading(stores, { start: () => notices.takeOver(), stop() {} }, started);
  return { attention, needs, questions };
}

function workNeeds(
  { identity: { accounts } }: Stores,
  { projects, reviews }: Pick<Hosting, "projects" | "reviews">,
  attention: Attention,
): WorkNeeds {
  return new WorkNeeds({
    attention,
    reviews,
    slugOf: (projectId) => projects.get(projectId)?.project.slug ?? null,
    nameOf: (accountId) => accounts.get(accountId)?.name ?? null,
  });
}

/** The questions of agents. Their deadlines stand still while the agents are halted. */
async function openQuestions(
  { database, scheduler, log, identity: { accounts, identity } }: Stores,
  { people: { agents: { roster, halts }, inboxes, virtualUsers } }: IrcHost,
  { projects, reads, tickets }: Pick<Hosting, "projects" | "reads" | "tickets">,
  started: AsyncDisposableStack,
): Promise<Questions> {
  const questions = await Questions.open({
    database,
    accounts,
    identity,
    roster,
    halts,
    speech: virtualUsers,
    inboxes,
    projects,
    reads,
    tickets,
    scheduler,
    log,
  });
  started.defer(() => questions.close());
  halts.extend((isHalted, now) => questions.freezing(isHalted, now));
  started.defer(halts.onChanged(() => questions.thawed()));
  return questions;
}

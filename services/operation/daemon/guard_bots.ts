import type { BotDefinition, Speaker } from "../../chat/bots/mod.ts";
import {
  type ModeratedServer,
  type Presence,
  type ProjectWork,
  Reports,
  sentinel,
  shepherd,
  snitch,
  steward,
  warden,
} from "../../chat/bots/catalog/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { type HeldProject, mayRead } from "../../work/projects/mod.ts";
import type { Hosting } from "./hosting.ts";
import type { IrcHost } from "./irc_host.ts";

/** Tickets of each kind that a bot gets of one project. */
const MAX_TICKETS = 50;

/** Digits of a ticket's id that name it. */
const SHORT_ID = 10;

/** What the bots that guard channels and work depend on. */
export interface GuardSurroundings {
  readonly irc: Pick<IrcHost, "mutes" | "server">;
  readonly bridge: Bridge;
  readonly accounts: AccountDirectory;
  readonly hosting: Pick<Hosting, "projects" | "claims" | "reads">;
}

/** The bots that guard channels and work. Those that act on users need muster's own IRC server. */
export function guardBots(surroundings: GuardSurroundings): readonly BotDefinition[] {
  const { irc: { server }, bridge, accounts, hosting: { projects } } = surroundings;
  const reports = new Reports();
  const moderated = moderatedServer(surroundings.irc);
  return [
    ...moderated === null ? [] : [
      warden({ server: moderated, accounts }),
      steward({ server: moderated, reports }),
    ],
    snitch({ presenceOf: (nick) => presenceOf(nick, surroundings) }),
    sentinel({
      reports,
      operators: () =>
        (server?.clients() ?? []).flatMap(({ nick, operator }) =>
          operator && nick !== null ? [nick] : []
        ),
    }),
    shepherd({
      work: (project) => workOf(project, surroundings.hosting),
      mayRead: (project, speaker) => mayReadProject(projects.find(project), speaker),
      agentsIn: async (channel) => {
        const nicks = bridge.channels().includes(channel) ? await bridge.users(channel) : [];
        // One that stays in the channel without a call takes no task.
        return nicks.filter((nick) =>
          accounts.find(nick)?.kind === "agent" && server?.present(nick)?.isAway !== true
        );
      },
    }),
  ];
}

function moderatedServer({ mutes, server }: GuardSurroundings["irc"]): ModeratedServer | null {
  if (mutes === null || server === null) return null;
  return { mutes, present: (nick) => server.present(nick) };
}

/** Where a nick is. Another network does not tell the bridge who is away. */
function presenceOf(nick: string, { irc: { server }, bridge }: GuardSurroundings): Presence {
  if (server === null) return bridge.sees(nick) ? "here" : "gone";
  const present = server.present(nick);
  if (present === null) return "gone";
  return present.isAway ? "away" : "here";
}

function mayReadProject(project: HeldProject | null, { id, kind }: Speaker): boolean {
  return project !== null && id !== null && kind !== null && mayRead(project, { id, kind });
}

/** The open tickets of a project: those that wait, and those that somebody has claimed. */
async function workOf(
  slug: string,
  { projects, claims, reads }: GuardSurroundings["hosting"],
): Promise<ProjectWork | null> {
  const project = projects.find(slug)?.project ?? null;
  if (project === null) return null;
  const held = claims.list(project).slice(0, MAX_TICKETS);
  const without = [...claims.list(project).map(({ ticket }) => ticket), ...claims.struck(project)];
  const { open, claimed } = await reads.read(project, async (repository) => {
    const page = { limit: MAX_TICKETS, offset: 0 };
    const only = held.map(({ ticket }) => ticket);
    return {
      open: await repository.tickets({ ...page, without, state: "open" }),
      claimed: only.length === 0 ? [] : (await repository.tickets({ ...page, only })).tickets,
    };
  });
  const titles = new Map(claimed.map(({ uuid, title }) => [uuid, title]));
  return {
    project: slug,
    unclaimed: open.tickets.map(({ uuid, title }) => ({ id: uuid.slice(0, SHORT_ID), title })),
    unclaimedTotal: open.total,
    claims: held.map(({ ticket, holder, expiresAt }) => {
      const id = ticket.slice(0, SHORT_ID);
      return { id, title: titles.get(ticket) ?? id, agent: holder.name, expiresAt };
    }),
  };
}

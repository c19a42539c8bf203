import { z } from "zod";
import { ServiceError } from "../../kernel/errors.ts";
import { accountNameOf, type AgentSessions, type Principal } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { serverOperation } from "../../people/identity/server_operation.ts";
import {
  accessOf,
  accessProject,
  type Actor,
  actorKeyOf,
  type Project,
  type Projects,
  type ReadsAnywhere,
} from "../../work/projects/mod.ts";
import type { Review, ReviewServices } from "../../work/reviews/mod.ts";
import type { Claims, Tickets } from "../../work/tickets/mod.ts";
import type { Workspaces } from "../../work/workspaces/mod.ts";
import { workloadOf } from "./attention.ts";

const ticketNumber = z.int().nullable();

/** Most projects that one answer looks at, and most entries of each of its lists. */
const MAX_PROJECTS = 50;
const MAX_ENTRIES = 1000;

/** Most assigned tickets of a project. */
const MAX_ASSIGNED = 100;

/** What the operation reads. */
interface WorkServices {
  readonly agentSessions: Pick<AgentSessions, "endedOf">;
  readonly hosting: Pick<ReviewServices, "reviews"> & {
    readonly claims: Claims;
    readonly tickets: Pick<Tickets, "numbers">;
    readonly workspaces: Workspaces;
    readonly projects: Projects;
    readonly reads: Pick<ReadsAnywhere, "read">;
  };
}

const reviewSchema = z.object({
  project: z.string(),
  id: z.int(),
  title: z.string(),
  status: z.string(),
  round: z.int(),
  agent_id: z.string(),
  workspace: z.string().nullable(),
});

const workSchema = z.object({
  you: z.string(),
  claims: z.array(z.object({
    project: z.string(),
    ticket: z.string(),
    ticket_number: ticketNumber,
    workspace: z.string().nullable(),
    generation: z.int(),
    expires_at: z.string(),
  })).describe("Tickets that you hold"),
  assigned: z.array(z.object({
    project: z.string(),
    ticket: z.string(),
    ticket_number: ticketNumber,
    title: z.string(),
    status: z.string(),
    is_blocked: z.boolean(),
  })).describe("Open tickets that are assigned to you and that you do not hold"),
  workspaces: z.array(z.object({
    project: z.string(),
    name: z.string(),
    description: z.string(),
    ticket: z.string().nullable(),
    ticket_number: ticketNumber,
    tip: z.string(),
    commits_made: z.int(),
    files_changed: z.int(),
    overlapping: z.array(z.string()).describe("Workspaces that change the same files"),
  })).describe("Your active workspaces"),
  left: z.array(z.object({
    session: z.string(),
    claims: z.array(z.object({
      project: z.string(),
      ticket: z.string(),
      ticket_number: ticketNumber,
      workspace: z.string().nullable(),
    })),
    workspaces: z.array(z.object({
      project: z.string(),
      name: z.string(),
      ticket: z.string().nullable(),
    })),
    reviews: z.array(z.object({ project: z.string(), id: z.int(), title: z.string() })),
  })).optional().describe(
    "What ended sessions of yours left: claim a ticket, and its workspace is yours as well",
  ),
  to_review: z.array(reviewSchema).describe("Reviews that wait for your verdict"),
  reviews: z.array(reviewSchema).describe("Your reviews that are open"),
  unclaimed: z.array(z.object({ project: z.string(), tickets: z.int() }))
    .describe("How many tickets you could claim"),
  skipped: z.string().optional().describe("Which projects are left out, and why"),
});

export const getMyWork = serverOperation({
  on: "projects",
  summary: "Show the caller's work, in one project or in all",
  mcp: {
    name: "get_my_work",
    about: "Shows what is yours, in one project or in all: tickets, workspaces, reviews, reviews " +
      "that wait for your verdict, what ended sessions of yours left, and how many tickets are " +
      "free. Call it when you begin or resume work. If nothing is yours: list_tickets with unclaimed.",
    cuts: ["unclaimed", "left", "reviews", "to_review", "workspaces", "assigned", "claims"],
    advice: { notFound: "list_projects names your projects" },
  },
  input: z.object({
    slug: z.string().optional().describe("Only this project; all of yours if absent"),
  }),
  ok: { schema: workSchema, description: "The work" },
}, async ({ hosting, agentSessions }: WorkServices, { slug }, { caller: { principal } }) => {
  const { projects, skipped } = projectsOf(hosting.projects, principal, slug);
  const slugs = new Map(projects.map(({ id, slug }) => [id, slug]));
  const here = <Item extends { readonly projectId: string }>(items: readonly Item[]) =>
    items.flatMap((item) => {
      const project = slugs.get(item.projectId);
      return project === undefined ? [] : [{ project, item }];
    });
  const key = actorKeyOf(principal);
  const [ofAll, awaited] = await Promise.all([
    workloadOf(hosting, key, MAX_ENTRIES),
    hosting.reviews.store.waitingFor(key, MAX_ENTRIES),
  ]);
  const work = workUnder(principal.name, ofAll);
  const left = agentSessions.endedOf(key).filter((name) => !isNamed(principal, name))
    .flatMap((session) => {
      const { claims, workspaces, reviews } = workUnder(session, ofAll);
      const shown = {
        session,
        claims: here(claims).map(({ project, item }) => ({
          project,
          ticket: item.ticket,
          ticket_number: item.ticketNumber,
          workspace: item.workspace,
        })),
        workspaces: here(workspaces).map(({ project, item: { name, ticket } }) => (
          { project, name, ticket }
        )),
        reviews: here(reviews).map(({ project, item: { number: id, title } }) => (
          { project, id, title }
        )),
      };
      const isEmpty = [shown.claims, shown.workspaces, shown.reviews].every(({ length }) =>
        length === 0
      );
      return isEmpty ? [] : [shown];
    });
  const owners = new Set(work.workspaces.map(({ projectId }) => projectId));
  const read = await Promise.all(
    projects.map((project) =>
      readProject(hosting, project, {
        name: principal.name,
        key,
        account: accountNameOf(principal),
        owner: owners.has(project.id) ? key : null,
      })
    ),
  );
  const unread = read.filter(({ tickets, assigned, workspaces }) =>
    tickets === null || assigned === null || workspaces === null
  ).map(({ slug }) => slug);
  const reasons = [
    ...skipped,
    ...unread.length === 0 ? [] : [`Not all of ${unread.join(", ")} can be read now`],
  ];
  return {
    you: principal.name,
    claims: here(work.claims).map(({ project, item }) => ({
      project,
      ticket: item.ticket,
      ticket_number: item.ticketNumber,
      workspace: item.workspace,
      generation: item.generation,
      expires_at: new Date(item.expiresAt).toISOString(),
    })),
    assigned: read.flatMap(({ assigned }) => assigned ?? []),
    workspaces: read.flatMap(({ workspaces }) => workspaces ?? []),
    to_review: here(awaited).map(viewOfReview),
    reviews: here(work.reviews).map(viewOfReview),
    ...left.length === 0 ? {} : { left },
    unclaimed: read.flatMap(({ slug, tickets }) =>
      tickets === null || tickets === 0 ? [] : [{ project: slug, tickets }]
    ),
    ...reasons.length === 0 ? {} : { skipped: reasons.join(". ") },
  };
});

function isNamed({ name }: Pick<Principal, "name">, other: string): boolean {
  return foldCase(name) === foldCase(other);
}

/** The part of an agent's work that is under one of its names. */
function workUnder(
  name: string,
  { claims, workspaces, reviews }: Awaited<ReturnType<typeof workloadOf>>,
) {
  return {
    claims: claims.filter(({ holder }) => isNamed(holder, name)),
    workspaces: workspaces.filter(({ owner }) => isNamed(owner, name)),
    reviews: reviews.filter(({ author }) => isNamed(author, name)),
  };
}

/** The named project, or those in which a principal may work. */
function projectsOf(
  projects: Projects,
  principal: Principal,
  slug: string | undefined,
): { readonly projects: readonly Project[]; readonly skipped: readonly string[] } {
  if (slug !== undefined) {
    const access = accessProject(projects, slug, principal);
    access.require("read");
    return { projects: [access.project], skipped: [] };
  }
  const own = projects.all().filter((held) => accessOf(held, principal).may("write"))
    .map(({ project }) => project);
  const skipped = own.length > MAX_PROJECTS
    ? [`Only the first ${MAX_PROJECTS} projects; name the others in "slug"`]
    : [];
  return { projects: own.slice(0, MAX_PROJECTS), skipped };
}

/**
 * What only a project's repository knows; null for what cannot be read now.
 *
 * @param caller.owner the key of the caller, if it has active workspaces there
 */
async function readProject(
  { claims, tickets: { numbers }, workspaces, reads }: WorkServices["hosting"],
  project: Project,
  { name, key, account, owner }: Pick<Actor, "key" | "name"> & {
    readonly account: string;
    readonly owner: string | null;
  },
) {
  const without = claims.list(project).filter(({ holder }) => holder.key === key)
    .map(({ ticket }) => ticket);
  const given = { assignee: account, state: "open", without, limit: MAX_ASSIGNED } as const;
  const [free, assigned, own] = await Promise.all([
    readable(claims.unclaimed(project, { for: account, limit: 1, status: "Open" }, reads)),
    readable(reads.read(project, (repository) => repository.tickets(given))),
    owner === null ? [] : readable(workspacesOf(workspaces, project, { key: owner, name })),
  ]);
  const known = await numbers.of(project, [
    ...(assigned?.tickets ?? []).map(({ uuid }) => uuid),
    ...(own ?? []).flatMap(({ ticket }) => ticket ?? []),
  ]);
  const numberOf = (ticket: string | null) => known.get(ticket ?? "") ?? null;
  return {
    slug: project.slug,
    tickets: free?.total ?? null,
    assigned: assigned?.tickets.map(({ uuid: ticket, title, status, is_blocked }) => ({
      project: project.slug,
      ticket,
      ticket_number: numberOf(ticket),
      title,
      status,
      is_blocked,
    })) ?? null,
    workspaces: own?.map((workspace) => ({
      ...workspace,
      ticket_number: numberOf(workspace.ticket),
    })) ?? null,
  };
}

/** What a read finds; null if it cannot be made now. */
async function readable<Found>(read: Promise<Found>): Promise<Found | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function workspacesOf(
  workspaces: Workspaces,
  project: Project,
  { key, name }: Pick<Actor, "key" | "name">,
) {
  const page = { status: "active" as const, owner: key, limit: MAX_ENTRIES, offset: 0 };
  const { workspaces: all } = await workspaces.list(project, page);
  const opened = all.filter(({ workspace: { owner } }) => isNamed(owner, name));
  const counts = await workspaces.fileCounts(project, opened);
  const own = new Set(opened.map(({ workspace }) => workspace.id));
  const { overlaps } = await workspaces.overlaps.of(project, ({ id }) => own.has(id));
  return opened.map(({ workspace, line }, index) => ({
    project: project.slug,
    name: workspace.name,
    description: workspace.description,
    ticket: workspace.ticket,
    tip: line.tip,
    commits_made: line.commitsMade,
    files_changed: counts[index] ?? 0,
    overlapping: (overlaps.get(workspace.id) ?? []).map((overlap) => overlap.workspace.name),
  }));
}

function viewOfReview(
  { project, item: { number: id, title, status, round, author, workspace } }: {
    readonly project: string;
    readonly item: Review;
  },
) {
  const agent_id = author.name;
  return { project, id, title, status, round, agent_id, workspace: workspace?.name ?? null };
}

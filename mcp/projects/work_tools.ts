import { z } from "zod";
import { listReviews } from "../../services/work/reviews/operations.ts";
import { listClaims, listUnclaimedTickets } from "../../services/work/tickets/operations.ts";
import { listWorkspaces } from "../../services/work/workspaces/operations.ts";
import { type Tool, tool } from "../tool.ts";
import type { ToolCall } from "../tool_call.ts";

/** Most projects that one answer looks at, and most entries of each list that it reads in one. */
const MAX_PROJECTS = 50;
const MAX_ENTRIES = 1000;

const claimShape = {
  project: z.string(),
  ticket: z.string(),
  workspace: z.string().nullable(),
  generation: z.int(),
  expires_at: z.string(),
};

const workspaceShape = {
  project: z.string(),
  name: z.string(),
  description: z.string(),
  ticket: z.string().nullable(),
  tip: z.string(),
  commits_made: z.int(),
  files_changed: z.int(),
  overlapping: z.array(z.string()).describe("Workspaces that change the same files"),
};

const reviewShape = {
  project: z.string(),
  id: z.int(),
  title: z.string(),
  status: z.string(),
  round: z.int(),
  agent_id: z.string(),
  workspace: z.string().nullable(),
};

const output = {
  you: z.string(),
  claims: z.array(z.object(claimShape)).describe("Tickets that you hold"),
  workspaces: z.array(z.object(workspaceShape)).describe("Your active workspaces"),
  reviews: z.array(z.object(reviewShape)).describe("Your reviews that are open"),
  to_review: z.array(z.object(reviewShape)).describe("Reviews that wait for your verdict"),
  unclaimed: z.array(z.object({ project: z.string(), tickets: z.int() }))
    .describe("How many tickets you could claim"),
};

type Work = Omit<z.output<z.ZodObject<typeof output>>, "you">;

const getMyWork = tool({
  name: "get_my_work",
  description: "Shows what is yours, in one project or in all: tickets that you hold, your " +
    "workspaces and reviews, reviews that wait for your verdict, and how many tickets are free. " +
    "Call it when you begin or resume work. If nothing is yours: list_tickets with unclaimed.",
  does: { declared: { ...listClaims.declared, needs: "write" } },
  input: {
    slug: z.string().optional().describe("Only this project; all of yours if absent"),
  },
  output,
  advice: { notFound: "list_projects names your projects" },
  async run({ slug }, call) {
    const { api, principal } = call;
    const { projects, total } = slug === undefined
      ? api.reachable(principal, { offset: 0, limit: MAX_PROJECTS })
      : { projects: [{ slug, rights: ["write" as const] }], total: 1 };
    const work: Work = { claims: [], workspaces: [], reviews: [], to_review: [], unclaimed: [] };
    for (const project of projects) {
      if (project.rights.some((right) => right === "write")) {
        await addWork(work, call.in(project.slug));
      }
    }
    const skipped = total > projects.length
      ? { skipped: `Only the first ${MAX_PROJECTS} projects; name the others in "slug"` }
      : {};
    const { claims, workspaces, reviews, to_review, unclaimed } = work;
    const data = {
      you: principal.name,
      claims,
      workspaces,
      to_review,
      reviews,
      unclaimed: unclaimed.filter(({ tickets }) => tickets > 0),
      ...skipped,
    };
    const fields = ["unclaimed", "reviews", "to_review", "workspaces", "claims"] as const;
    return {
      data,
      cuts: fields.map((field) => ({ field, noun: field, total: data[field].length })),
    };
  },
});

/** Adds what is the caller's in one project. */
async function addWork(work: Work, project: ToolCall): Promise<void> {
  const part = { offset: 0, limit: MAX_ENTRIES };
  const at = { project: project.slug };
  const claims = await project.part(
    part,
    (page) => project.invoke(listClaims, { agent_id: project.principal.name, ...page }),
    ({ claims }) => claims,
  );
  work.claims.push(...claims.entries.map((claim) => ({
    ...at,
    ticket: claim.ticket,
    workspace: claim.workspace,
    generation: claim.generation,
    expires_at: claim.expires_at,
  })));
  const workspaces = await project.part(
    part,
    (page) => project.invoke(listWorkspaces, { owner: "me", ...page }),
    ({ workspaces }) => workspaces,
  );
  work.workspaces.push(...workspaces.entries.map((workspace) => ({
    ...at,
    name: workspace.name,
    description: workspace.description,
    ticket: workspace.ticket,
    tip: workspace.tip,
    commits_made: workspace.commits_made,
    files_changed: workspace.files_changed,
    overlapping: workspace.overlaps.map((overlap) => overlap.workspace),
  })));
  work.reviews.push(...await reviewsOf(project, { state: "open", author: "me" }));
  work.to_review.push(...await reviewsOf(project, { waiting_for: "me" }));
  const { total } = await project.invoke(listUnclaimedTickets, { limit: 1 });
  work.unclaimed.push({ ...at, tickets: total });
}

async function reviewsOf(
  project: ToolCall,
  query: z.input<typeof listReviews.declared.input>,
) {
  const { entries } = await project.part(
    { offset: 0, limit: MAX_ENTRIES },
    (page) => project.invoke(listReviews, { ...query, ...page }),
    ({ reviews }) => reviews,
  );
  return entries.map(({ id, title, status, round, agent_id, workspace }) => (
    { project: project.slug, id, title, status, round, agent_id, workspace }
  ));
}

/** `get_my_work`. */
export const workTools: readonly Tool[] = [getMyWork];

import type { Project } from "../projects/mod.ts";
import type { Claim, Claims, Numbered } from "../tickets/mod.ts";
import type { OpenedWorkspace, WorkRequest } from "./records.ts";
import type { Workspaces } from "./workspaces.ts";

/** Work on a ticket that begins, or goes on. */
export interface StartRequest extends Omit<WorkRequest, "isAdmin"> {
  /** Which workspace; by default the actor's newest one for the ticket, or a new one. */
  readonly name?: string | undefined;
  /** The branch from which a new workspace starts; the main branch by default. */
  readonly from?: string | undefined;
}

export interface StartedWork {
  readonly claim: Claim;
  readonly opened: OpenedWorkspace;
  /** Whether the claim or the workspace is new. */
  readonly isNew: boolean;
  /** Other active workspaces for the ticket, newest first. */
  readonly others: readonly OpenedWorkspace[];
}

/** Most active workspaces for one ticket that are looked at. */
const MAX_WORKSPACES = 100;

/**
 * Claims a ticket and makes a workspace for it, or neither. What the actor has of both stays.
 *
 * @throws what a claim and a new workspace are refused with
 */
export async function startWork(
  { claims, workspaces }: {
    readonly claims: Pick<Claims, "claim" | "release">;
    readonly workspaces: Pick<Workspaces, "list" | "create">;
  },
  project: Project,
  ticket: Numbered,
  { caller, actor, generation, name, from }: StartRequest,
): Promise<StartedWork> {
  const found = async () => {
    const page = {
      status: "active",
      ticket: ticket.uuid,
      limit: MAX_WORKSPACES,
      offset: 0,
    } as const;
    const { workspaces: all } = await workspaces.list(project, page);
    const own = all.find(({ workspace }) =>
      workspace.owner.key === actor.key && (name === undefined || workspace.name === name)
    );
    return { own, others: all.filter((one) => one !== own) };
  };
  const before = await found();
  const wanted = before.own?.workspace.name ?? name ?? freeName(ticket, before.others);
  const by = { caller, actor, generation };
  const { claim, isNew } = await claims.claim(project, ticket, { ...by, workspace: wanted });
  const { own, others } = before;
  if (own !== undefined) return { claim, opened: own, others, isNew };
  const held = { caller, actor, generation: claim.generation, isAdmin: false };
  try {
    const made = { name: wanted, description: ticket.title, ticket: ticket.uuid, from };
    return { claim, opened: await workspaces.create(project, made, held), others, isNew: true };
  } catch (error) {
    const now = await found();
    // Another call of the actor was faster.
    if (now.own !== undefined) return { claim, opened: now.own, others: now.others, isNew };
    if (isNew) await claims.release(project, ticket.uuid, { ...held, isUndone: true });
    throw error;
  }
}

/** A name for a workspace of a ticket that none of these has. */
function freeName(
  { uuid, number }: Numbered,
  others: readonly OpenedWorkspace[],
): string {
  const name = `ticket-${number ?? uuid.slice(0, 12)}`;
  const used = new Set(others.map(({ workspace }) => workspace.name));
  for (let count = 1;; count++) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!used.has(free)) return free;
  }
}

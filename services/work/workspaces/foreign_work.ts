/** What other programs do to workspaces: they push to them, merge them and close them. */
import type { Change } from "../../engines/database/mod.ts";
import type { MergeOf, PooledRepository, ReceivedArtifact } from "../../engines/fossil/mod.ts";
import type { Project, ProjectRepositories, Reception } from "../projects/mod.ts";
import { linesOf } from "./lines.ts";
import {
  branchOf,
  isPassing,
  type WorkFence,
  type Workspace,
  type WorkspaceLine,
} from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

interface ForeignWorkParts {
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly store: WorkspaceStore;
}

/**
 * Notes the work of those who pushed a check-in to their workspace: when it changed last, and the
 * lease of its ticket.
 */
export async function renewPushedWork(
  { store, claims }: {
    readonly store: Pick<WorkspaceStore, "active" | "touching">;
    readonly claims: Pick<WorkFence, "renewing">;
  },
  { project, artifacts, originOf, isOwn, now }: Reception,
): Promise<Change> {
  const prefix = branchOf({ name: "" });
  const pushers = new Map<string, string>();
  for (const artifact of artifacts) {
    if (artifact.kind !== "checkin" || !artifact.branch.startsWith(prefix)) continue;
    const { actorId } = originOf(artifact);
    if (actorId !== null && !isOwn(artifact)) {
      pushers.set(artifact.branch.slice(prefix.length), actorId);
    }
  }
  const acts = [];
  const statements = [];
  for (const [name, key] of pushers) {
    const workspace = await store.active(project, name);
    if (workspace === null) continue;
    if (workspace.owner.key === key) statements.push(store.touching(workspace, now));
    if (workspace.ticket !== null) acts.push({ ticket: workspace.ticket, holder: { key } });
  }
  const renewed = claims.renewing(project, acts);
  return { ...renewed, statements: [...renewed.statements ?? [], ...statements] };
}

/** A merge, and what the merged changes are changes of. */
type ForeignMerge = MergeOf & { readonly base: string };

/** How another program ended a workspace. */
interface Ending {
  readonly workspace: Workspace;
  readonly line: WorkspaceLine;
  /** Null for a branch that was closed without a merge. */
  readonly merge: ForeignMerge | null;
}

/**
 * Ends the workspaces that another program merged or closed, with the same row, event and listeners as
 * an end by this service. The repository stays as it is.
 *
 * @returns the change of the app database
 */
export async function endForeignWork(
  parts: ForeignWorkParts,
  reception: Reception,
): Promise<Change> {
  const { project, artifacts, settled, isOwn } = reception;
  const cause = artifacts.findLast((artifact) => !isOwn(artifact) && mayEnd(artifact));
  if (cause === undefined) return {};
  const known = new Set(
    settled.filter(({ type }) => type === "project.workspace").map(({ data }) => data["name"]),
  );
  const active = (await parts.store.allActive(project))
    .filter(({ name }) => !known.has(name));
  const changes: Change[] = [];
  for (const ending of await endingsOf(parts, project, active)) {
    changes.push(await changeOf(parts, reception, ending, cause));
  }
  return {
    statements: changes.flatMap(({ statements = [] }) => statements),
    events: changes.flatMap(({ events = [] }) => events),
  };
}

function changeOf(
  { store }: ForeignWorkParts,
  { project, artifacts, originOf, now }: Reception,
  { workspace, line, merge }: Ending,
  cause: ReceivedArtifact,
): Promise<Change> {
  const common = { project, extra: null, now };
  if (merge === null) {
    return store.changeOf({
      ...common,
      action: "abandoned",
      workspace: { ...workspace, status: "abandoned", updatedAt: now },
      checkin: null,
      origin: originOf(cause),
    });
  }
  const { uuid, base, branch } = merge;
  return store.changeOf({
    ...common,
    action: "merged",
    workspace: {
      ...workspace,
      status: "merged",
      tip: line.tip,
      base,
      mergedAs: uuid,
      targetBranch: branch,
      updatedAt: now,
    },
    checkin: uuid,
    origin: originOf(artifacts.find((artifact) => artifact.uuid === uuid) ?? cause),
  });
}

function endingsOf(
  { repositories }: ForeignWorkParts,
  project: Project,
  active: readonly Workspace[],
): Promise<Ending[]> {
  return repositories.read(project, async (repository) => {
    const lines = await linesOf(repository, active);
    const endings: Ending[] = [];
    for (const [index, workspace] of active.entries()) {
      const line = lines[index];
      if (line === undefined) continue;
      const merge = await mergeOf(repository, line);
      if (merge !== null || line.isClosed) endings.push({ workspace, line, merge });
    }
    return endings;
  });
}

/** Whether an artifact can merge or close a branch. */
function mayEnd(artifact: ReceivedArtifact): boolean {
  if (artifact.kind === "tag") return artifact.tags.some(({ name }) => name === "closed");
  if (artifact.kind !== "checkin") return false;
  // A check-in can close its own branch.
  return artifact.parents.length > 1 || artifact.branch.startsWith(branchOf({ name: "" }));
}

/** The first merge of a workspace's tip into a branch that ends the workspace. */
async function mergeOf(
  repository: PooledRepository,
  line: WorkspaceLine,
): Promise<ForeignMerge | null> {
  if (line.commitsMade === 0) return null;
  const merges = await repository.mergesOf(line.tip);
  const merge = merges.find(({ branch }) => !isPassing(branch));
  if (merge === undefined) return null;
  const { parents: [ours] } = await repository.checkin(merge.uuid);
  if (ours === undefined) return { ...merge, base: line.base };
  const { ancestors: [base] } = await repository.previewMerge({ ours, theirs: line.tip });
  return { ...merge, base: base ?? line.base };
}

import type { Change } from "../database/mod.ts";
import type { MergeOf, PooledRepository, ReceivedArtifact } from "../fossil/mod.ts";
import type { Project, Reception } from "../projects/mod.ts";
import type { WorkspaceParts } from "./parts.ts";
import { linesOf } from "./authorization.ts";
import { branchOf, isPassing, type Workspace, type WorkspaceLine } from "./records.ts";

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
 */
export class ForeignEndings {
  readonly #parts: Pick<WorkspaceParts, "repositories" | "store" | "reconciliation">;

  constructor(parts: Pick<WorkspaceParts, "repositories" | "store" | "reconciliation">) {
    this.#parts = parts;
  }

  /** The change of the app database for the workspaces that a reception ends. */
  async observe(reception: Reception): Promise<Change> {
    const { project, artifacts, settled, isOwn } = reception;
    const cause = artifacts.findLast((artifact) => !isOwn(artifact) && mayEnd(artifact));
    if (cause === undefined) return {};
    const known = new Set(
      settled.filter(({ type }) => type === "project.workspace").map(({ data }) => data["name"]),
    );
    const active = (await this.#parts.store.allActive(project))
      .filter(({ name }) => !known.has(name));
    const changes: Change[] = [];
    for (const ending of await this.#endings(project, active)) {
      changes.push(await this.#changeOf(reception, ending, cause));
    }
    return {
      statements: changes.flatMap(({ statements = [] }) => statements),
      events: changes.flatMap(({ events = [] }) => events),
    };
  }

  #changeOf(
    { project, artifacts, originOf, now }: Reception,
    { workspace, line, merge }: Ending,
    cause: ReceivedArtifact,
  ): Promise<Change> {
    const common = { project, extra: null, now };
    if (merge === null) {
      return this.#parts.reconciliation.changeOf({
        ...common,
        action: "abandoned",
        workspace: { ...workspace, status: "abandoned", updatedAt: now },
        checkin: null,
        origin: originOf(cause),
      });
    }
    const { uuid, base, branch } = merge;
    return this.#parts.reconciliation.changeOf({
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

  #endings(project: Project, active: readonly Workspace[]): Promise<Ending[]> {
    return this.#parts.repositories.read(project, async (repository) => {
      const lines = await linesOf(repository, active);
      const endings: Ending[] = [];
      for (const [index, workspace] of active.entries()) {
        const line = lines[index];
        if (line === undefined) continue;
        const merge = await mergeOf(repository, workspace, line);
        if (merge !== null || line.isClosed) endings.push({ workspace, line, merge });
      }
      return endings;
    });
  }
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
  workspace: Workspace,
  line: WorkspaceLine,
): Promise<ForeignMerge | null> {
  if (line.tip === workspace.startedAs) return null;
  const merges = await repository.mergesOf(line.tip);
  const merge = merges.find(({ branch }) => !isPassing(branch));
  if (merge === undefined) return null;
  const { parents: [ours] } = await repository.checkin(merge.uuid);
  if (ours === undefined) return { ...merge, base: line.base };
  const { ancestors: [base] } = await repository.previewMerge({ ours, theirs: line.tip });
  return { ...merge, base: base ?? line.base };
}

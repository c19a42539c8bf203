import { Conflict, Invalid } from "../errors.ts";
import type { FileChange, PooledRepository } from "../fossil/mod.ts";
import type { Project, RegisteredKind, Stamp } from "../projects/mod.ts";
import type { WorkRequest } from "./interfaces.ts";
import type { WorkspaceParts } from "./parts.ts";
import { lineOf } from "./authorization.ts";
import { branchOf, type Workspace, type WorkspaceLine } from "./records.ts";
import { changed, checkinOn } from "./reconciliation.ts";
import { mergeConflict, requireBranchTip, requireTip } from "./tips.ts";

/** The content of a commit. */
export interface NewCommit {
  readonly message: string;
  readonly changes: readonly FileChange[];
  /** The check-in that the caller expects at the tip, or a prefix of its hash. */
  readonly parent?: string | undefined;
}

/** A merge of another branch into a workspace; its changes resolve the conflicts. */
export interface UpdateRequest extends WorkRequest, Omit<NewCommit, "message"> {
  /** The branch to merge; the main branch by default. */
  readonly source?: string | undefined;
  readonly message?: string | undefined;
}

/** A written commit. */
export interface WrittenCommit {
  readonly workspace: Workspace;
  readonly uuid: string;
  readonly parent: string;
  readonly commitsMade: number;
}

interface CommitBody {
  readonly workspaceId: string;
}

/** Writes check-ins to the branches of workspaces. */
export class Committing {
  readonly #parts: WorkspaceParts;
  readonly #kind: RegisteredKind<CommitBody>;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
    this.#kind = parts.reconciliation.register("committed", async ({ body, artifacts, now }) => {
      const workspace = changed(await parts.store.get(body.workspaceId), {}, now);
      if (workspace === null) return null;
      const checkin = checkinOn(artifacts, branchOf(workspace));
      return checkin === undefined ? null : { workspace, checkin: checkin.uuid };
    });
  }

  /**
   * Commits changes of files.
   *
   * @throws Invalid if the engine refuses a path or content; NotFound, Forbidden
   * @throws Conflict if the workspace is not active, has moved on from `parent`, or would not
   * change
   */
  commit(
    project: Project,
    name: string,
    { message, changes, parent, ...request }: WorkRequest & NewCommit,
  ): Promise<WrittenCommit> {
    if (message.trim() === "") throw new Invalid("Commit message is required");
    return this.#write(project, name, { ...request, parent }, async (repository, stamp, line) => {
      if (changes.length === 0) throw new Conflict("Nothing to commit");
      const checkin = { ...stamp, parent: line.tip, comment: message, changes };
      try {
        return await repository.commit({ ...checkin, followParents: true });
      } catch (error) {
        throw isEmptyCommit(error) ? new Conflict("Nothing to commit") : error;
      }
    });
  }

  /**
   * Merges a branch into a workspace, so that the workspace's changes apply to the branch's tip.
   *
   * @throws Conflict with `conflicts` if `changes` do not resolve all of them; otherwise like
   * `commit`
   */
  update(
    project: Project,
    name: string,
    { message, changes, parent, source, ...request }: UpdateRequest,
  ): Promise<WrittenCommit> {
    return this.#write(project, name, { ...request, parent }, async (repository, stamp, line) => {
      const { checkin, preview } = await repository.merge({
        ...stamp,
        ours: line.tip,
        theirs: await requireBranchTip(repository, source ?? await repository.mainBranch()),
        resolutions: changes,
        followParents: true,
        ...(message === undefined ? {} : { comment: message }),
      });
      if (checkin === null) throw mergeConflict(preview);
      return checkin;
    });
  }

  async #write(
    project: Project,
    name: string,
    { parent, ...request }: WorkRequest & Pick<NewCommit, "parent">,
    write: (repository: PooledRepository, stamp: Stamp, line: WorkspaceLine) => Promise<string>,
  ): Promise<WrittenCommit> {
    const { repositories, authorization } = this.#parts;
    const { id } = await authorization.requireActive(project, name, "commit");
    return await repositories.write(project, {
      caller: request.caller,
      user: request.actor.name,
      intention: { kind: this.#kind, body: { workspaceId: id } },
      write: async (repository, stamp) => {
        const workspace = await authorization.requireActive(project, name, "commit");
        authorization.requireOwner(workspace, request);
        await authorization.fence(project, workspace, request);
        const line = await lineOf(repository, workspace);
        requireTip(line, parent);
        const uuid = await write(repository, stamp, line);
        return { workspace, uuid, parent: line.tip, commitsMade: line.commitsMade + 1 };
      },
    });
  }
}

/** Whether the engine refused a commit because it changes nothing. */
function isEmptyCommit(error: unknown): boolean {
  return error instanceof Error && error.message === "The check-in changes nothing";
}

import { Conflict } from "../errors.ts";
import type { PooledRepository, TagChange } from "../fossil/mod.ts";
import type { Project, RegisteredKind } from "../projects/mod.ts";
import type { WorkRequest } from "./interfaces.ts";
import type { WorkspaceParts } from "./parts.ts";
import { lineOf } from "./authorization.ts";
import type { Workspace } from "./records.ts";
import type { WorkspaceQuota } from "./quota.ts";
import { changed, hasClosedTag } from "./reconciliation.ts";

interface ClosingBody {
  readonly workspaceId: string;
}

/** Abandons workspaces, and restores them. */
export class Closing {
  readonly #parts: WorkspaceParts;
  readonly #abandoning: RegisteredKind<ClosingBody>;
  readonly #restoring: RegisteredKind<ClosingBody>;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
    const register = (action: "abandoned" | "restored", sign: "+" | "-") =>
      parts.reconciliation.register<ClosingBody>(action, async ({ body, artifacts, now }) => {
        if (!hasClosedTag(artifacts, sign)) return null;
        const status = action === "abandoned" ? "abandoned" : "active";
        const workspace = changed(await parts.store.get(body.workspaceId), { status }, now);
        return workspace === null ? null : { workspace, checkin: null };
      });
    this.#abandoning = register("abandoned", "+");
    this.#restoring = register("restored", "-");
  }

  /**
   * Closes a workspace and its branch. Nothing is erased.
   *
   * @throws NotFound, Forbidden; Conflict if it is closed already, or the lease of its ticket's claim
   * has run out
   */
  async abandon(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    const { store, authorization } = this.#parts;
    const find = async () => {
      const workspace = await store.require(project, name);
      if (workspace.status !== "active") {
        throw new Conflict(`Workspace is already ${workspace.status}`);
      }
      authorization.requireOwner(workspace, request);
      await authorization.fenceGivingUp(project, workspace, request);
      return workspace;
    };
    const { id } = await find();
    return await this.#write(project, request, { kind: this.#abandoning, id, sign: "+" }, find);
  }

  /**
   * Opens an abandoned workspace again.
   *
   * @throws NotFound, Forbidden; Conflict if it is not abandoned
   */
  async restore(
    project: Project,
    name: string,
    request: WorkRequest,
    quota: WorkspaceQuota,
  ): Promise<Workspace> {
    const { store, authorization } = this.#parts;
    const find = async () => {
      const workspace = await store.require(project, name);
      if (workspace.status !== "abandoned") {
        throw new Conflict(`Workspace is ${workspace.status}, cannot restore`);
      }
      authorization.requireOwner(workspace, request);
      await authorization.fence(project, workspace, request);
      await quota.require(project, workspace.owner.key);
      return workspace;
    };
    const { id, owner } = await find();
    const kind = this.#restoring;
    return await quota.give(
      owner.key,
      () => this.#write(project, request, { kind, id, sign: "-" }, find),
    );
  }

  async #write(
    project: Project,
    { caller, actor }: WorkRequest,
    { kind, id, sign }: {
      readonly kind: RegisteredKind<ClosingBody>;
      readonly id: string;
      readonly sign: "+" | "-";
    },
    find: () => Promise<Workspace>,
  ): Promise<Workspace> {
    return await this.#parts.repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind, body: { workspaceId: id } },
      write: async (repository, stamp) => {
        const workspace = await find();
        const changes = await closedTags(repository, workspace, sign);
        await repository.changeTags({ ...stamp, changes });
        return { ...workspace, status: sign === "+" ? "abandoned" : "active" };
      },
    });
  }
}

async function closedTags(
  repository: PooledRepository,
  workspace: Workspace,
  sign: "+" | "-",
): Promise<TagChange[]> {
  const { leaves } = await lineOf(repository, workspace);
  return leaves.map((target) => ({ sign, name: "closed", target }));
}

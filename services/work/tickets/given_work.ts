import { Invalid, NotFound } from "../../kernel/errors.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { TicketNumbers } from "./numbers.ts";
import type { TicketWriter } from "./records.ts";
import type { TicketEdit } from "./schemas.ts";

export interface GivenWorkOptions {
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly numbers: Pick<TicketNumbers, "idOf">;
}

/**
 * The name that a request means by an assignee; empty for nobody.
 *
 * @param me the name of the account that `me` means
 */
export function assigneeOf(assignee: string, me: string): string {
  return assignee === "me" ? me : assignee === "nobody" ? "" : assignee;
}

/**
 * The fields of tickets that give work, as a request names them, and as the repository keeps them: the
 * name of an account, labels between commas, and whole ids between spaces.
 */
export class GivenWork {
  readonly #options: GivenWorkOptions;

  constructor(options: GivenWorkOptions) {
    this.#options = options;
  }

  /**
   * The texts of the fields; undefined for what the request leaves alone.
   *
   * @throws Invalid if the assignee is no member, or a blocker does not exist
   */
  async textsOf(
    project: Project,
    { assignee, labels, blocked_by }: Pick<TicketEdit, "assignee" | "labels" | "blocked_by">,
    { actor }: Pick<TicketWriter, "actor">,
  ) {
    return {
      assignee: assignee === undefined
        ? undefined
        : this.#memberOf(project, assigneeOf(assignee, actor.name)),
      labels: labels?.join(", "),
      blocked_by: blocked_by === undefined
        ? undefined
        : (await this.#idsOf(project, blocked_by)).join(" "),
    };
  }

  #memberOf({ id, slug }: Project, name: string): string {
    if (name === "") return name;
    const { accounts, projects } = this.#options;
    const account = accounts.find(name);
    const isMember = account !== null && account.revokedAt === null &&
      (account.kind === "admin" || projects.get(id)?.members.has(account.id) === true);
    if (isMember) return account.name;
    throw new Invalid(`"${name}" is no member of "${slug}", and cannot be assigned its tickets`);
  }

  async #idsOf(project: Project, names: readonly string[]): Promise<readonly string[]> {
    const { numbers, repositories } = this.#options;
    const found = await Promise.all(names.map(async (name) => {
      const id = await numbers.idOf(project, name);
      try {
        return (await repositories.read(project, (read) => read.resolveTicket(id))).uuid;
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        throw new Invalid(`There is no ticket "${name}" for which another one could wait`);
      }
    }));
    return [...new Set(found)];
  }
}

import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import type { ProjectRole } from "../../people/identity/mod.ts";
import type { ProjectDirectory } from "./project_directory.ts";
import type { Project } from "./records.ts";

/**
 * The statements of changes of projects. Each also updates the directory. Times are Unix
 * milliseconds.
 */
export class ProjectStatements {
  readonly #tables: Database["tables"];
  readonly #directory: ProjectDirectory;

  constructor(database: Pick<Database, "tables">, directory: ProjectDirectory) {
    this.#tables = database.tables;
    this.#directory = directory;
  }

  /** @param adminId the account that becomes the first member; null for none */
  creation(project: Project, adminId: string | null): readonly Statement[] {
    const { id, slug, name, description, visibility, createdAt, home } = project;
    const insertion = this.#tables.insertInto("projects").values({
      id,
      slug,
      name,
      description,
      visibility,
      channel: null,
      settings: "{}",
      created_at: createdAt,
      archived_at: null,
      removed_at: null,
      home,
    });
    return [
      statement(insertion, { committed: () => this.#directory.hold(project) }),
      ...(adminId === null
        ? []
        : [this.membership(project, adminId, { role: "admin", now: createdAt })]),
    ];
  }

  /** Undoes its transaction if the project has been removed. */
  change({ id }: Project, change: Partial<Project>): Statement {
    const update = this.#tables.updateTable("projects").set(columnsOf(change))
      .where("id", "=", id).where("removed_at", "is", null);
    return statement(update, {
      mustChange: true,
      committed: () => this.#directory.replace(id, change),
    });
  }

  /** Undoes its transaction if the project is not on the node `from`. */
  homing({ id }: Project, from: string, to: string): Statement {
    const update = this.#tables.updateTable("projects").set({ home: to })
      .where("id", "=", id).where("home", "=", from).where("removed_at", "is", null);
    return statement(update, {
      mustChange: true,
      committed: () => this.#directory.replace(id, { home: to }),
    });
  }

  /** Undoes its transaction if the project has been removed. */
  removal({ id }: Project, now: number): Statement {
    const update = this.#tables.updateTable("projects").set({ removed_at: now })
      .where("id", "=", id).where("removed_at", "is", null);
    return statement(update, { mustChange: true, committed: () => this.#directory.drop(id) });
  }

  /** Sets the role of an account; adds the account if it is no member yet. */
  membership(
    { id }: Project,
    accountId: string,
    { role, now }: { readonly role: ProjectRole; readonly now: number },
  ): Statement {
    const insertion = this.#tables.insertInto("project_members")
      .values({ project_id: id, account_id: accountId, role, added_at: now })
      .onConflict((conflict) =>
        conflict.columns(["project_id", "account_id"]).doUpdateSet({ role })
      );
    const committed = () => this.#directory.setRole(id, accountId, role);
    return statement(insertion, { committed });
  }

  /** Undoes its transaction if the account is no member. */
  endOfMembership({ id }: Project, accountId: string): Statement {
    const removal = this.#tables.deleteFrom("project_members")
      .where("project_id", "=", id).where("account_id", "=", accountId);
    const committed = () => this.#directory.setRole(id, accountId, null);
    return statement(removal, { mustChange: true, committed });
  }

  star({ id }: Project, accountId: string, now: number): Statement {
    const insertion = this.#tables.insertInto("project_stars")
      .values({ project_id: id, account_id: accountId, starred_at: now })
      .onConflict((conflict) => conflict.doNothing());
    const committed = () => void this.#directory.get(id)?.stars.add(accountId);
    return statement(insertion, { committed });
  }

  endOfStar({ id }: Project, accountId: string): Statement {
    const removal = this.#tables.deleteFrom("project_stars")
      .where("project_id", "=", id).where("account_id", "=", accountId);
    const committed = () => void this.#directory.get(id)?.stars.delete(accountId);
    return statement(removal, { committed });
  }
}

function columnsOf(
  { name, description, visibility, channel, settings, archivedAt, home }: Partial<Project>,
) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(channel === undefined ? {} : { channel }),
    ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }),
    ...(archivedAt === undefined ? {} : { archived_at: archivedAt }),
    ...(home === undefined ? {} : { home }),
  };
}

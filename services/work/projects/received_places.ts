import type { Selectable } from "kysely";
import {
  type Change,
  type Database,
  type Statement,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { ReceivedPlace, RepositoryPlace } from "../../engines/fossil/mod.ts";
import type { Project } from "./records.ts";

/** What the database knows of a repository. */
export interface KnownPlace extends ReceivedPlace {
  /** Null if the server has not looked at it since it notes the codes. */
  readonly projectCode: string | null;
}

/** Whether a repository may be the one that is known: codes that are not known yet fit all. */
export function isSameProject(known: KnownPlace | null, { projectCode }: RepositoryPlace): boolean {
  const code = known?.projectCode ?? null;
  return code === null || code === projectCode;
}

/** How far the events of each project's repository go. */
export class ReceivedPlaces {
  readonly #database: Database;
  readonly #home: string | null;
  readonly #places = new Map<string, KnownPlace>();

  /** @param home the name of this node; null if the server is alone */
  constructor(database: Database, home: string | null) {
    this.#database = database;
    this.#home = home;
  }

  /** Reads the places of all projects. */
  async load(): Promise<void> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("repository_cursors").selectAll().execute();
    for (const row of rows) this.#places.set(row.project_id, placeOf(row));
  }

  /** Reads the place of a project that another node has written to. */
  async reload(project: Pick<Project, "id">): Promise<void> {
    const place = await this.read(project);
    if (place === null) this.#places.delete(project.id);
    else this.#places.set(project.id, place);
  }

  /** The place of a project, as the database has it; null before the first one. */
  async read({ id }: Pick<Project, "id">): Promise<KnownPlace | null> {
    const row = await this.#database.tables.selectFrom("repository_cursors").selectAll()
      .where("project_id", "=", id).executeTakeFirst();
    return row === undefined ? null : placeOf(row);
  }

  /** Undefined before the first place of a project. */
  of({ id }: Pick<Project, "id">): KnownPlace | undefined {
    return this.#places.get(id);
  }

  /** Commits a place together with the events up to it, and with what else belongs to them. */
  async keep(
    project: Pick<Project, "id">,
    place: RepositoryPlace,
    also: Change = {},
  ): Promise<void> {
    const { statements = [], events = [] } = also;
    const kept = this.keeping(project, place, this.#home);
    try {
      await this.#database.commit({ statements: [...statements, kept], events });
    } catch (error) {
      const hasLeft = error instanceof Unchanged && error.statement === statements.length;
      throw hasLeft ? leftMeanwhile(error) : error;
    }
  }

  /**
   * The statement that stores a place.
   *
   * @param home undoes its transaction if the project is not on this node; null for a server that is
   * alone
   */
  keeping(
    { id }: Pick<Project, "id">,
    place: RepositoryPlace,
    home: string | null = null,
  ): Statement {
    const { rcvid: last_rcvid, rid: last_rid, phantoms, projectCode: project_code } = place;
    const columns = { last_rcvid, last_rid, phantoms, project_code };
    const { tables } = this.#database;
    const insertion = home === null
      ? tables.insertInto("repository_cursors").values({ project_id: id, ...columns })
      : tables.insertInto("repository_cursors")
        .columns(["project_id", "last_rcvid", "last_rid", "phantoms", "project_code"])
        .expression(
          tables.selectFrom("projects").where("id", "=", id).where("home", "=", home)
            .select(({ val, ref }) => [
              ref("id").as("project_id"),
              val(last_rcvid).as("last_rcvid"),
              val(last_rid).as("last_rid"),
              val(phantoms).as("phantoms"),
              val(project_code).as("project_code"),
            ]),
        );
    const kept = insertion.onConflict((conflict) =>
      conflict.column("project_id").doUpdateSet(columns)
    );
    return statement(kept, {
      mustChange: home !== null,
      committed: () => void this.#places.set(id, place),
    });
  }

  /** Forgets the place of a project that is removed, or on another node now. */
  forget({ id }: Pick<Project, "id">): void {
    this.#places.delete(id);
  }
}

function leftMeanwhile(cause: Unchanged): Unavailable {
  return new Unavailable("The project has moved to another node", { cause, retryAfterSeconds: 1 });
}

function placeOf(row: Selectable<Tables["repository_cursors"]>): KnownPlace {
  const { last_rcvid: rcvid, last_rid: rid, phantoms, project_code: projectCode } = row;
  return { rcvid, rid, phantoms, projectCode };
}

import type { Selectable } from "kysely";
import { type Change, type Database, statement, type Tables } from "../database/mod.ts";
import type { ReceivedPlace } from "../fossil/mod.ts";
import type { Project } from "./records.ts";

/** How far the events of each project's repository go. */
export class ReceivedPlaces {
  readonly #database: Database;
  readonly #places = new Map<string, ReceivedPlace>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads the places of all projects. */
  async load(): Promise<void> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("repository_cursors").selectAll().execute();
    for (const row of rows) this.#places.set(row.project_id, placeOf(row));
  }

  /** Reads the place of a project that another node has written to. */
  async reload({ id }: Pick<Project, "id">): Promise<void> {
    const row = await this.#database.tables.selectFrom("repository_cursors").selectAll()
      .where("project_id", "=", id).executeTakeFirst();
    if (row === undefined) this.#places.delete(id);
    else this.#places.set(id, placeOf(row));
  }

  /** Undefined before the first place of a project. */
  of({ id }: Pick<Project, "id">): ReceivedPlace | undefined {
    return this.#places.get(id);
  }

  /** Commits a place together with the events up to it, and with what else belongs to them. */
  async keep({ id }: Pick<Project, "id">, place: ReceivedPlace, also: Change = {}): Promise<void> {
    const columns = { last_rcvid: place.rcvid, last_rid: place.rid, phantoms: place.phantoms };
    const insertion = this.#database.tables.insertInto("repository_cursors")
      .values({ project_id: id, ...columns })
      .onConflict((conflict) => conflict.column("project_id").doUpdateSet(columns));
    const kept = statement(insertion, { committed: () => void this.#places.set(id, place) });
    await this.#database.commit({ ...also, statements: [...also.statements ?? [], kept] });
  }

  /** Forgets the place of a removed project; its row goes with the project. */
  forget({ id }: Pick<Project, "id">): void {
    this.#places.delete(id);
  }
}

function placeOf(
  { last_rcvid: rcvid, last_rid: rid, phantoms }: Selectable<Tables["repository_cursors"]>,
): ReceivedPlace {
  return { rcvid, rid, phantoms };
}

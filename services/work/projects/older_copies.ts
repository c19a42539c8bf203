import type { Database } from "../../engines/database/mod.ts";
import { Conflict, Unavailable } from "../../kernel/errors.ts";
import { errorCodeOf } from "../../engines/fossil/front/mod.ts";
import type { PooledRepository } from "../../engines/fossil/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { ARTIFACT_EVENTS } from "./events.ts";
import { isSameProject, type ReceivedPlaces } from "./received_places.ts";
import type { Project } from "./records.ts";

type Named = Pick<Project, "id" | "slug">;

export interface OlderCopiesOptions {
  readonly database: Pick<Database, "tables">;
  readonly places: Pick<ReceivedPlaces, "of">;
  readonly log: Log;
}

/**
 * Notices repository files that lack what the server has acknowledged, such as one from a backup,
 * or that of another project. Such a project is not served until an operator accepts the file. The
 * comparison is made when a file is opened, so it costs nothing afterwards.
 */
export class OlderCopies {
  readonly #options: OlderCopiesOptions;
  /** By the project's id. */
  readonly #refusals = new Map<string, Unavailable>();

  constructor(options: OlderCopiesOptions) {
    this.#options = options;
  }

  /**
   * Checks that the project's file is not refused.
   *
   * @throws Unavailable
   */
  require({ id }: Named): void {
    const refusal = this.#refusals.get(id);
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Compares a file that is opened with what the database knows of it.
   *
   * @throws Unavailable if it lacks something; also in later calls of `require`, until `forget`
   */
  async compare(project: Named, repository: PooledRepository): Promise<void> {
    const known = this.#options.places.of(project);
    if (known === undefined) return;
    const { place } = await repository.received({ after: null, limit: 0 });
    const isSame = isSameProject(known, place);
    if (isSame && place.rcvid >= known.rcvid) return;
    const newest = await this.#newestOf(project);
    // Without one, an import was killed after it had replaced an empty repository.
    if (newest === null || await hasArtifact(repository, newest.uuid)) return;
    const refusal = refusalOf(project, newest, isSame);
    this.#refusals.set(project.id, refusal);
    this.#options.log.error("A project is not served", {
      slug: project.slug,
      reason: refusal.message,
    });
    throw refusal;
  }

  /**
   * Accepts the file of a project that is refused.
   *
   * @param commit writes down how far the file goes
   * @throws Conflict if it is not refused
   */
  async accept(project: Named, commit: () => Promise<void>): Promise<void> {
    const refusal = this.#refusals.get(project.id);
    if (refusal === undefined) {
      throw new Conflict(`The repository of "${project.slug}" lacks nothing that is known`);
    }
    this.#refusals.delete(project.id);
    try {
      await commit();
    } catch (error) {
      this.#refusals.set(project.id, refusal);
      throw error;
    }
  }

  /** Forgets the refusal of a file that is replaced. */
  forget({ id }: Named): void {
    this.#refusals.delete(id);
  }

  /** The newest artifact of a project that the event log tells of; null if there is none. */
  async #newestOf({ id }: Named): Promise<Newest | null> {
    const row = await this.#options.database.tables.selectFrom("events").select(["time", "data"])
      .where("project_id", "=", id).where("type", "in", ARTIFACT_EVENTS)
      .orderBy("seq", "desc").limit(1).executeTakeFirst();
    if (row === undefined) return null;
    const { uuid } = JSON.parse(row.data) as { readonly uuid: string };
    return { uuid, time: row.time };
  }
}

/** An artifact, and when it came, in Unix milliseconds. */
interface Newest {
  readonly uuid: string;
  readonly time: number;
}

async function hasArtifact(repository: PooledRepository, uuid: string): Promise<boolean> {
  try {
    return (await repository.resolveArtifact(uuid)).uuid === uuid;
  } catch (error) {
    if (errorCodeOf(error) === "missing") return false;
    throw error;
  }
}

function refusalOf({ slug }: Named, { uuid, time }: Newest, isSame: boolean): Unavailable {
  const what = isSame ? "older than what the server has received" : "that of another project";
  const artifact = uuid.slice(0, 16);
  const when = new Date(time).toISOString();
  return new Unavailable(
    `The repository file of "${slug}" is ${what}: it lacks the artifact "${artifact}" of ${when}. ` +
      `Stop muster and put the right file in its place, or accept this one: ` +
      `muster project accept ${slug}`,
  );
}

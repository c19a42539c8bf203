import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import type { NameRule, PooledRepository } from "../../engines/fossil/mod.ts";
import { originOf } from "../../people/identity/mod.ts";
import { inPieces } from "../../kernel/pieces.ts";
import type { Project, RegisteredKind } from "../projects/mod.ts";
import {
  eventsOf,
  fileOf,
  findRow,
  noSuchRelease,
  type ReleaseRequest,
  type ReleasesOptions,
  type Row,
  viewOf,
} from "./records.ts";
import { ReleaseFiles } from "./release_files.ts";
import type { NewRelease, Release, ReleaseChange } from "./schemas.ts";

const MAX_RELEASES = 1000;

/** The releases of projects. */
export class Releases {
  readonly files: ReleaseFiles;
  readonly #database: Database;
  readonly #repositories: ReleasesOptions["repositories"];
  readonly #clock: () => number;
  readonly #publishing: RegisteredKind<Row>;

  constructor(options: ReleasesOptions) {
    this.#database = options.database;
    this.#repositories = options.repositories;
    this.#clock = options.clock;
    this.files = new ReleaseFiles(options);
    this.#publishing = options.repositories.intentions.register<Row>({
      name: "release.publish",
      settle: ({ project, body, origin, now }) => ({
        statements: [this.#keeping(body)],
        events: eventsOf(project, body, "published", { origin, time: now }),
      }),
    });
  }

  /** The releases of a project: drafts first, then the newest. */
  async list(project: Project, { withDrafts }: { withDrafts: boolean }): Promise<Release[]> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("releases").selectAll()
      .where("project_id", "=", project.id).execute();
    const assets = await this.files.all(project);
    const shown = rows.filter((row) => withDrafts || row.is_draft === 0)
      .sort((one, other) =>
        (other.published_at ?? Infinity) - (one.published_at ?? Infinity) ||
        other.created_at - one.created_at
      );
    const listed: Release[] = [];
    await inPieces(shown, (row) => listed.push(viewOf(row, assets.get(row.tag_name) ?? [])));
    return listed;
  }

  /**
   * Which unversioned files a push may write below `releases/`: those of releases that exist. The
   * first rule that matches a name counts.
   */
  async fileRules({ id }: Pick<Project, "id">): Promise<NameRule[]> {
    const rows = await this.#database.tables.selectFrom("releases").select("tag_name")
      .where("project_id", "=", id).execute();
    const refusal = "there is no release of this name: create it first";
    return [
      ...rows.map(({ tag_name }) => ({ pattern: fileOf(tag_name, "*"), refusal: null })),
      { pattern: fileOf("*", "*"), refusal },
    ];
  }

  /** What the names of the files of drafts begin with, in a repository. */
  async draftFolders({ id }: Pick<Project, "id">): Promise<string[]> {
    const rows = await this.#database.tables.selectFrom("releases").select("tag_name")
      .where("project_id", "=", id).where("is_draft", "=", 1).execute();
    return rows.map(({ tag_name }) => fileOf(tag_name, ""));
  }

  /** @throws NotFound if there is no such release, or it is a draft that the caller may not see */
  async find(
    project: Project,
    tag: string,
    { withDrafts }: { withDrafts: boolean },
  ): Promise<Release> {
    const row = await findRow(this.#database, project, tag);
    if (row.is_draft === 1 && !withDrafts) throw noSuchRelease(tag);
    return viewOf(row, (await this.files.all(project)).get(tag) ?? []);
  }

  /**
   * Makes a release and, unless it is a draft, its tag.
   *
   * @throws Conflict if it exists already, the name is a branch's, or the tag is on another
   * check-in
   * @throws NotFound if there is no such check-in
   */
  async create(project: Project, asked: NewRelease, request: ReleaseRequest): Promise<Release> {
    const tag = asked.tag_name;
    const now = this.#clock();
    const row: Row = {
      project_id: project.id,
      tag_name: tag,
      name: asked.name ?? tag,
      body: asked.body,
      checkin: await this.#checkinOf(project, asked),
      is_prerelease: Number(asked.is_prerelease),
      is_draft: Number(asked.is_draft),
      author_name: request.actor.name,
      created_at: now,
      published_at: asked.is_draft ? null : now,
    };
    await this.#requireNew(project, tag);
    if (asked.is_draft) {
      await this.#database.commit({ statements: [this.#keeping(row)] });
    } else {
      await this.#publish(project, row, request, () => this.#requireNew(project, tag));
    }
    return this.find(project, tag, { withDrafts: true });
  }

  /** Changes a release's name and notes, or publishes a draft. */
  async change(
    project: Project,
    tag: string,
    { is_draft, is_prerelease, name, body }: ReleaseChange,
    request: ReleaseRequest,
  ): Promise<Release> {
    const row = await findRow(this.#database, project, tag);
    const now = this.#clock();
    const changed: Row = {
      ...row,
      name: name ?? row.name,
      body: body ?? row.body,
      is_prerelease: is_prerelease === undefined ? row.is_prerelease : Number(is_prerelease),
    };
    if (is_draft === false && row.is_draft === 1) {
      await this.#publish(project, { ...changed, is_draft: 0, published_at: now }, request);
    } else {
      await this.#commit(project, changed, "changed", request, [this.#keeping(changed)]);
    }
    return this.find(project, tag, { withDrafts: true });
  }

  /** Removes a release with its files. Its tag stays. */
  async remove(project: Project, tag: string, request: ReleaseRequest): Promise<void> {
    const row = await findRow(this.#database, project, tag);
    await this.files.removeRelease(project, row, request);
  }

  async #publish(
    project: Project,
    row: Row,
    { caller, actor }: ReleaseRequest,
    check: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { tag_name: name, checkin, name: message } = row;
    await this.#repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#publishing, body: row },
      write: async (repository: PooledRepository, stamp) => {
        await check();
        return await repository.tagCheckin({ ...stamp, name, checkin, message });
      },
    });
  }

  async #commit(
    project: Project,
    row: Row,
    status: string,
    { caller }: ReleaseRequest,
    statements: readonly Statement[],
  ): Promise<void> {
    const by = { origin: originOf(caller), time: this.#clock() };
    await this.#database.commit({ statements, events: eventsOf(project, row, status, by) });
  }

  #keeping(row: Row): Statement {
    const { name, body, is_prerelease, is_draft, published_at } = row;
    const insertion = this.#database.tables.insertInto("releases").values(row)
      .onConflict((conflict) =>
        conflict.columns(["project_id", "tag_name"])
          .doUpdateSet({ name, body, is_prerelease, is_draft, published_at })
      );
    return statement(insertion);
  }

  async #requireNew(project: Pick<Project, "id">, tag: string): Promise<void> {
    const rows = await this.#database.tables.selectFrom("releases").select("tag_name")
      .where("project_id", "=", project.id).execute();
    if (rows.some(({ tag_name }) => tag_name === tag)) {
      throw new Conflict(`The release "${tag}" already exists`);
    }
    if (rows.length >= MAX_RELEASES) {
      throw new Conflict(`A project has at most ${MAX_RELEASES} releases`);
    }
  }

  #checkinOf(project: Project, { checkin, tag_name }: NewRelease): Promise<string> {
    return this.#repositories.read(project, async (repository) => {
      const tagged = checkin === undefined
        ? (await repository.tags()).find(({ name }) => name === tag_name)
        : undefined;
      return tagged?.uuid ?? (await repository.resolveCheckin(checkin)).uuid;
    });
  }
}

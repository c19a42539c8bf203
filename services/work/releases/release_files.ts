import type { Selectable } from "kysely";
import { type Change, type Database, statement, type Tables } from "../../engines/database/mod.ts";
import type { UnversionedRef } from "../../engines/fossil/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import { originOf } from "../../people/identity/mod.ts";
import type { Project, RegisteredKind } from "../projects/mod.ts";
import {
  type By,
  eventsOf,
  fileOf,
  findRow,
  noSuchAsset,
  type ReleaseRequest,
  RELEASES_FOLDER,
  type ReleasesOptions,
  type Row,
} from "./records.ts";
import type { Asset } from "./schemas.ts";

/** Most files of one release. */
const MAX_FILES = 100;

/** The default type of a file. */
const OTHER_TYPE = "application/octet-stream";

/** A new file of a release. */
export interface NewAsset {
  readonly name: string;
  /** Path of the file with the content. */
  readonly source: string;
  readonly contentType: string | null;
}

/** A file to add to a release; `uuid` is the hash of its content. */
interface Addition {
  readonly row: Row;
  readonly name: string;
  readonly content_type: string;
  readonly uuid: string;
}

/** Files to remove from a release; with `isWhole`, the release is removed too. */
interface Removal {
  readonly row: Row;
  readonly names: readonly string[];
  readonly isWhole: boolean;
}

/**
 * The files of releases: unversioned files of the repository, each with a row for the properties
 * that a repository cannot hold.
 */
export class ReleaseFiles {
  readonly #database: Database;
  readonly #repositories: ReleasesOptions["repositories"];
  readonly #clock: () => number;
  readonly #adding: RegisteredKind<Addition>;
  readonly #dropping: RegisteredKind<Removal>;

  constructor(options: ReleasesOptions) {
    this.#database = options.database;
    this.#repositories = options.repositories;
    this.#clock = options.clock;
    const { intentions } = options.repositories;
    this.#adding = intentions.register<Addition>({
      name: "release.add_file",
      settle: ({ project, body, origin, now: time }) =>
        this.#added(project, body, { origin, time }),
      isDone: async (repository, { body: { row, name, uuid } }) => {
        const path = fileOf(row.tag_name, name);
        const [file] = await repository.findUnversioned([path]);
        return file?.uuid === uuid;
      },
    });
    this.#dropping = intentions.register<Removal>({
      name: "release.drop_files",
      settle: ({ project, body, origin, now: time }) =>
        this.#dropped(project, body, { origin, time }),
      isDone: async (repository, { body: { row, names } }) => {
        const paths = names.map((name) => fileOf(row.tag_name, name));
        return (await repository.findUnversioned(paths)).length === 0;
      },
    });
  }

  /** The files of every release of a project, by its tag. */
  async all(project: Project): Promise<ReadonlyMap<string, readonly Asset[]>> {
    const files = await this.#repositories.answers.value<UnversionedRef[]>(
      project,
      "release files",
      async ({ json }) => ({ bytes: await json.unversionedFiles(RELEASES_FOLDER) }),
    );
    const rows = await this.#database.tables.selectFrom("release_assets").selectAll()
      .where("project_id", "=", project.id).execute();
    const known = new Map(rows.map((row) => [fileOf(row.tag_name, row.name), row]));
    const assets = new Map<string, Asset[]>();
    for (const file of files) {
      const [, tag, name] = /^releases\/([^/]+)\/([^/]+)$/.exec(file.name) ?? [];
      if (tag === undefined || name === undefined) continue;
      const asset = assetOf(file, name, known.get(file.name));
      const others = assets.get(tag);
      if (others === undefined) assets.set(tag, [asset]);
      else others.push(asset);
    }
    return assets;
  }

  /**
   * Checks whether a release accepts a file, before its client sends a long one in vain.
   *
   * @returns the file with that name, which the new one would replace
   * @throws NotFound; Conflict if the release has too many files
   */
  async requireRoom(project: Project, tag: string, name: string): Promise<Asset | null> {
    await findRow(this.#database, project, tag);
    const assets = await this.#of(project, tag);
    const known = assets.find((asset) => asset.name === name) ?? null;
    if (known === null && assets.length >= MAX_FILES) {
      throw new Conflict(`A release has at most ${MAX_FILES} files`);
    }
    return known;
  }

  /**
   * Adds a file to a release, or replaces the one with the same name. The same content is not
   * written again.
   *
   * @returns the file, and whether the name is new
   * @throws NotFound, TooLarge; Conflict if the release has too many files
   */
  async put(
    project: Project,
    tag: string,
    { name, source, contentType }: NewAsset,
    { caller, actor }: ReleaseRequest,
  ): Promise<{ readonly asset: Asset; readonly isNew: boolean }> {
    const row = await findRow(this.#database, project, tag);
    const known = await this.requireRoom(project, tag, name);
    const content_type = contentType ?? OTHER_TYPE;
    const uuid = await this.#repositories.read(
      project,
      (repository) => repository.nameOfFile(source),
    );
    if (known?.uuid === uuid && known.content_type === content_type) {
      return { asset: known, isNew: false };
    }
    const { size: coming } = await Deno.stat(source);
    await this.#repositories.longFiles.inTurn(coming, () =>
      this.#repositories.write(project, {
        caller,
        user: actor.name,
        intention: { kind: this.#adding, body: { row, name, content_type, uuid } },
        coming,
        write: async (repository, stamp) => {
          await this.requireRoom(project, tag, name);
          await repository.putUnversioned({ ...stamp, name: fileOf(tag, name), source, uuid });
        },
      }));
    const asset = (await this.#of(project, tag)).find((one) => one.name === name);
    if (asset === undefined) throw noSuchAsset(name);
    return { asset, isNew: known === null };
  }

  /** @throws NotFound */
  async remove(
    project: Project,
    tag: string,
    name: string,
    request: ReleaseRequest,
  ): Promise<void> {
    const row = await findRow(this.#database, project, tag);
    const assets = await this.#of(project, tag);
    if (!assets.some((asset) => asset.name === name)) throw noSuchAsset(name);
    await this.#drop(project, { row, names: [name], isWhole: false }, request);
  }

  /** Removes a release with all of its files. */
  async removeRelease(project: Project, row: Row, request: ReleaseRequest): Promise<void> {
    const names = (await this.#of(project, row.tag_name)).map(({ name }) => name);
    const removal: Removal = { row, names, isWhole: true };
    if (names.length > 0) return await this.#drop(project, removal, request);
    const by = { origin: originOf(request.caller), time: this.#clock() };
    await this.#database.commit(this.#dropped(project, removal, by));
  }

  /** Counts a download of a file. */
  async noteDownload(project: Project, tag: string, name: string): Promise<void> {
    const update = this.#database.tables.updateTable("release_assets")
      .set(({ eb }) => ({ download_count: eb("download_count", "+", 1) }))
      .where("project_id", "=", project.id).where("tag_name", "=", tag).where("name", "=", name);
    await this.#database.commit({ statements: [statement(update)] });
  }

  async #of(project: Project, tag: string): Promise<readonly Asset[]> {
    return (await this.all(project)).get(tag) ?? [];
  }

  async #drop(
    project: Project,
    removal: Removal,
    { caller, actor }: ReleaseRequest,
  ): Promise<void> {
    const names = removal.names.map((name) => fileOf(removal.row.tag_name, name));
    await this.#repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#dropping, body: removal },
      coming: null,
      write: (repository, stamp) => repository.dropUnversioned({ ...stamp, names }),
    });
  }

  #added(project: Project, { row, name, content_type }: Addition, by: By): Change {
    const { tag_name } = row;
    const insertion = this.#database.tables.insertInto("release_assets")
      .values({ project_id: project.id, tag_name, name, content_type, download_count: 0 })
      .onConflict((conflict) =>
        conflict.columns(["project_id", "tag_name", "name"]).doUpdateSet({ content_type })
      );
    return { statements: [statement(insertion)], events: eventsOf(project, row, "asset", by) };
  }

  #dropped(project: Project, { row, names, isWhole }: Removal, by: By): Change {
    const { tables } = this.#database;
    const { tag_name } = row;
    const files = tables.deleteFrom("release_assets").where("project_id", "=", project.id)
      .where("tag_name", "=", tag_name);
    const release = tables.deleteFrom("releases").where("project_id", "=", project.id)
      .where("tag_name", "=", tag_name);
    return {
      statements: isWhole
        ? [statement(files), statement(release)]
        : [statement(files.where("name", "in", names))],
      events: eventsOf(project, row, isWhole ? "deleted" : "asset", by),
    };
  }
}

function assetOf(
  { size, uuid }: { readonly size: number; readonly uuid: string },
  name: string,
  row: Selectable<Tables["release_assets"]> | undefined,
): Asset {
  return {
    name,
    file_size_bytes: size,
    content_type: row?.content_type ?? OTHER_TYPE,
    download_count: row?.download_count ?? 0,
    uuid,
  };
}

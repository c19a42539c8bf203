import type { Selectable } from "kysely";
import {
  type Change,
  type Database,
  type Statement,
  statement,
  type Tables,
} from "../database/mod.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Origin } from "../events/mod.ts";
import type { PooledRepository, UnversionedRef } from "../fossil/mod.ts";
import { type Caller, originOf } from "../identity/mod.ts";
import {
  type Actor,
  type Project,
  projectEvent,
  type ProjectRepositories,
  type RegisteredKind,
} from "../projects/mod.ts";
import type { NewRelease, ReleaseChange } from "./schemas.ts";

type Row = Selectable<Tables["releases"]>;

/** A file of a release as the API shows it. */
export interface Asset {
  readonly name: string;
  readonly file_size_bytes: number;
  readonly content_type: string;
  readonly download_count: number;
  /** The hash of the content. */
  readonly uuid: string;
}

/** A release as the API shows it. */
export interface Release {
  readonly tag_name: string;
  readonly name: string;
  readonly body: string;
  readonly is_prerelease: boolean;
  readonly is_draft: boolean;
  readonly author: string;
  readonly created_at: string;
  readonly published_at: string | null;
  readonly checkin_uuid: string;
  readonly assets: readonly Asset[];
}

export interface ReleasesOptions {
  readonly database: Database;
  readonly repositories: Pick<ProjectRepositories, "read" | "write" | "intentions">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Who asks for a change. */
export interface ReleaseRequest {
  readonly caller: Caller;
  readonly actor: Actor;
}

const MAX_RELEASES = 1000;
const MAX_ASSETS = 100;
const OTHER_TYPE = "application/octet-stream";

/** The releases of projects. */
export class Releases {
  readonly #database: Database;
  readonly #repositories: ReleasesOptions["repositories"];
  readonly #clock: () => number;
  readonly #publishing: RegisteredKind<Row>;

  constructor(options: ReleasesOptions) {
    this.#database = options.database;
    this.#repositories = options.repositories;
    this.#clock = options.clock;
    this.#publishing = options.repositories.intentions.register<Row>({
      name: "release.publish",
      settle: ({ project, body, origin, now }) => ({
        statements: [this.#keeping(body)],
        events: [this.#event(project, body, "published", { origin, time: now })],
      }),
    });
  }

  /** The releases of a project: drafts first, then the newest. */
  async list(project: Project, { withDrafts }: { withDrafts: boolean }): Promise<Release[]> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("releases").selectAll()
      .where("project_id", "=", project.id).execute();
    const assets = await this.#assets(project);
    return rows.filter((row) => withDrafts || row.is_draft === 0)
      .sort((one, other) =>
        (other.published_at ?? Infinity) - (one.published_at ?? Infinity) ||
        other.created_at - one.created_at
      )
      .map((row) => viewOf(row, assets.get(row.tag_name) ?? []));
  }

  /** @throws NotFound if there is no such release, or it is a draft that the caller may not see */
  async find(
    project: Project,
    tag: string,
    { withDrafts }: { withDrafts: boolean },
  ): Promise<Release> {
    const row = await this.#row(project, tag);
    if (row.is_draft === 1 && !withDrafts) throw noSuchRelease(tag);
    return viewOf(row, (await this.#assets(project)).get(tag) ?? []);
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
    const row = await this.#row(project, tag);
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
    const row = await this.#row(project, tag);
    const assets = (await this.#assets(project)).get(tag) ?? [];
    await this.#drop(project, tag, assets.map(({ name }) => name), request);
    const { tables } = this.#database;
    await this.#commit(project, row, "deleted", request, [
      statement(
        tables.deleteFrom("release_assets").where("project_id", "=", project.id)
          .where("tag_name", "=", tag),
      ),
      statement(
        tables.deleteFrom("releases").where("project_id", "=", project.id)
          .where("tag_name", "=", tag),
      ),
    ]);
  }

  /**
   * Adds a file to a release, or replaces the one with the same name.
   *
   * @param source path of a file with the content
   * @returns the file, and whether the name is new
   */
  async putAsset(
    project: Project,
    tag: string,
    { name, source, contentType }: { name: string; source: string; contentType: string | null },
    request: ReleaseRequest,
  ): Promise<{ readonly asset: Asset; readonly isNew: boolean }> {
    const row = await this.#row(project, tag);
    const before = (await this.#assets(project)).get(tag) ?? [];
    const isNew = !before.some((asset) => asset.name === name);
    if (isNew && before.length >= MAX_ASSETS) {
      throw new Conflict(`A release has at most ${MAX_ASSETS} files`);
    }
    await this.#repositories.write(project, {
      caller: request.caller,
      user: request.actor.name,
      write: (repository, stamp) =>
        repository.putUnversioned({ ...stamp, name: fileOf(tag, name), source }),
    });
    const content_type = contentType ?? OTHER_TYPE;
    const key = { project_id: project.id, tag_name: tag, name };
    const insertion = this.#database.tables.insertInto("release_assets")
      .values({ ...key, content_type, download_count: 0 })
      .onConflict((conflict) =>
        conflict.columns(["project_id", "tag_name", "name"]).doUpdateSet({ content_type })
      );
    await this.#commit(project, row, "asset", request, [statement(insertion)]);
    const assets = (await this.#assets(project)).get(tag) ?? [];
    const asset = assets.find((one) => one.name === name);
    if (asset === undefined) throw noSuchAsset(name);
    return { asset, isNew };
  }

  /** @throws NotFound */
  async removeAsset(
    project: Project,
    tag: string,
    name: string,
    request: ReleaseRequest,
  ): Promise<void> {
    const row = await this.#row(project, tag);
    if (await this.#drop(project, tag, [name], request) === 0) throw noSuchAsset(name);
    const removal = this.#database.tables.deleteFrom("release_assets")
      .where("project_id", "=", project.id).where("tag_name", "=", tag).where("name", "=", name);
    await this.#commit(project, row, "asset", request, [statement(removal)]);
  }

  /** Counts a download of a file. */
  async noteDownload(project: Project, tag: string, name: string): Promise<void> {
    const update = this.#database.tables.updateTable("release_assets")
      .set(({ eb }) => ({ download_count: eb("download_count", "+", 1) }))
      .where("project_id", "=", project.id).where("tag_name", "=", tag).where("name", "=", name);
    await this.#database.commit({ statements: [statement(update)] });
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

  async #drop(
    project: Project,
    tag: string,
    names: readonly string[],
    { caller, actor }: ReleaseRequest,
  ): Promise<number> {
    if (names.length === 0) return 0;
    return await this.#repositories.write(project, {
      caller,
      user: actor.name,
      write: (repository, stamp) =>
        repository.dropUnversioned({ ...stamp, names: names.map((name) => fileOf(tag, name)) }),
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
    // Every reader sees events, but must not see drafts.
    const events: Change["events"] = row.is_draft === 1
      ? []
      : [this.#event(project, row, status, by)];
    await this.#database.commit({ statements, events });
  }

  #event(project: Project, row: Row, status: string, by: { origin: Origin; time: number }) {
    const { tag_name, name } = row;
    return projectEvent(project, "project.release", { tag_name, name, status }, by);
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

  async #row(project: Pick<Project, "id">, tag: string): Promise<Row> {
    const row = await this.#database.tables.selectFrom("releases").selectAll()
      .where("project_id", "=", project.id).where("tag_name", "=", tag).executeTakeFirst();
    if (row === undefined) throw noSuchRelease(tag);
    return row;
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
      if (checkin !== undefined) return (await repository.resolveCheckin(checkin)).uuid;
      const tagged = (await repository.tags()).find(({ name }) => name === tag_name);
      return tagged?.uuid ?? (await repository.checkin("trunk")).uuid;
    });
  }

  /** The files of every release, by its tag. */
  async #assets(project: Project): Promise<ReadonlyMap<string, readonly Asset[]>> {
    const files = await this.#repositories.read(
      project,
      (repository) => repository.unversionedFiles(),
    );
    const rows = await this.#database.tables.selectFrom("release_assets").selectAll()
      .where("project_id", "=", project.id).execute();
    const known = new Map(rows.map((row) => [fileOf(row.tag_name, row.name), row]));
    const assets = new Map<string, Asset[]>();
    for (const file of files) {
      const [, tag, name] = /^releases\/([^/]+)\/([^/]+)$/.exec(file.name) ?? [];
      if (tag === undefined || name === undefined) continue;
      assets.set(tag, [...assets.get(tag) ?? [], assetOf(file, name, known.get(file.name))]);
    }
    return assets;
  }
}

function assetOf(
  { size, uuid }: UnversionedRef,
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

function viewOf(row: Row, assets: readonly Asset[]): Release {
  const { tag_name, name, body, checkin, author_name, created_at, published_at } = row;
  return {
    tag_name,
    name,
    body,
    is_prerelease: row.is_prerelease === 1,
    is_draft: row.is_draft === 1,
    author: author_name,
    created_at: new Date(created_at).toISOString(),
    published_at: published_at === null ? null : new Date(published_at).toISOString(),
    checkin_uuid: checkin,
    assets,
  };
}

/** The name of the unversioned file that holds a release's file. */
export function fileOf(tag: string, name: string): string {
  return `releases/${tag}/${name}`;
}

function noSuchRelease(tag: string): NotFound {
  return new NotFound(`There is no release "${tag}"`);
}

function noSuchAsset(name: string): NotFound {
  return new NotFound(`The release has no file "${name}"`);
}

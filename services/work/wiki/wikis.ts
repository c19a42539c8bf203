import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { WikiPage, WikiPageRef, WikiVersion } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { WikiEditRequest } from "./schemas.ts";

/** Who writes to a wiki. */
export interface WikiWriter {
  readonly caller: Caller;
  readonly actor: Actor;
}

/** The content of a new version of a page. */
export type WikiEdit = Omit<WikiEditRequest, "agent_id">;

/** A version of a page in its history. */
export type PageVersion = WikiVersion & { readonly is_deletion: boolean };

/** A saved page. */
export interface SavedPage {
  readonly page: WikiPage;
  /** Whether the page is new. */
  readonly isNew: boolean;
}

const DEFAULT_MIMETYPE = "text/x-markdown";

/** The wikis of projects. Pages are in the repositories. */
export class Wikis {
  readonly #repositories: ProjectRepositories;

  constructor(options: { readonly repositories: ProjectRepositories }) {
    this.#repositories = options.repositories;
  }

  /** Every page, the latest change first. */
  list(project: Project): Promise<WikiPageRef[]> {
    return this.#repositories.read(project, (repository) => repository.wikiPages({}));
  }

  /**
   * A page.
   *
   * @param version the id of one of its versions; absent for the newest
   * @throws NotFound
   */
  page(project: Project, name: string, version?: string): Promise<WikiPage> {
    return this.#repositories.read(
      project,
      (repository) => repository.wikiPage({ name, ...(version === undefined ? {} : { version }) }),
    );
  }

  /**
   * Every version of a page, newest first, also of a deleted page.
   *
   * @throws NotFound
   */
  async history(project: Project, name: string): Promise<PageVersion[]> {
    const versions = await this.#repositories.read(
      project,
      (repository) => repository.wikiHistory(name),
    );
    return versions.map((version) => ({ ...version, is_deletion: version.size === 0 }));
  }

  /**
   * Writes a version of a page, unless its content is the same.
   *
   * @throws Conflict if `parent` is not the newest version
   */
  save(
    project: Project,
    name: string,
    { content: text, parent, mimetype, comment }: WikiEdit,
    { caller, actor }: WikiWriter,
  ): Promise<SavedPage> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: `wiki ${name}`,
      write: async (repository, stamp) => {
        const saved = await repository.saveWiki({
          ...stamp,
          title: name,
          text,
          newMimetype: DEFAULT_MIMETYPE,
          ...(parent === undefined ? {} : { parent }),
          ...(mimetype === undefined ? {} : { mimetype }),
          ...(comment === undefined ? {} : { comment }),
        });
        if (saved.kind === "stale") throw changed(name, saved.latest);
        return saved;
      },
    });
  }

  /**
   * Deletes a page as Fossil does: an empty version follows the newest, and the older ones stay.
   *
   * @param parent the version that the caller knows; absent for any
   * @throws NotFound; Conflict if `parent` is not the newest version
   */
  async remove(
    project: Project,
    name: string,
    parent: string | undefined,
    { caller, actor }: WikiWriter,
  ): Promise<void> {
    await this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: `wiki ${name}`,
      write: async (repository, stamp) => {
        const latest = await repository.latestWikiVersion(name);
        if (latest === null || latest.size === 0) {
          throw new NotFound(`There is no wiki page "${name}"`);
        }
        requireParent(name, parent, latest);
        const { mimetype } = await repository.wikiPage({ name });
        const basedOn = latest.uuid;
        await repository.changeWiki({ ...stamp, title: name, text: "", mimetype, basedOn });
      },
    });
  }
}

function requireParent(name: string, parent: string | undefined, latest: WikiVersion): void {
  if (parent === undefined || latest.uuid.startsWith(parent.toLowerCase())) return;
  throw changed(name, latest);
}

function changed(name: string, latest: WikiVersion | null): Conflict {
  return new Conflict(`The wiki page "${name}" has changed`, {
    uuid: latest?.uuid ?? null,
    user: latest?.user ?? null,
    last_modified: latest?.timestamp ?? null,
  });
}

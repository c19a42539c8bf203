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
    edit: WikiEdit,
    { caller, actor }: WikiWriter,
  ): Promise<SavedPage> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      write: async (repository, stamp) => {
        const latest = await repository.latestWikiVersion(name);
        const isThere = latest !== null && latest.size > 0;
        requireParent(name, edit.parent, isThere ? latest : null);
        const now = isThere ? await repository.wikiPage({ name }) : null;
        const mimetype = edit.mimetype ?? now?.mimetype ?? DEFAULT_MIMETYPE;
        if (now?.content === edit.content && now.mimetype === mimetype) {
          return { page: now, isNew: false };
        }
        await repository.changeWiki({
          ...stamp,
          title: name,
          text: edit.content,
          mimetype,
          basedOn: latest?.uuid ?? null,
          ...(edit.comment === undefined ? {} : { comment: edit.comment }),
        });
        return { page: await repository.wikiPage({ name }), isNew: now === null };
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

function requireParent(
  name: string,
  parent: string | null | undefined,
  latest: WikiVersion | null,
): void {
  const fits = parent === undefined ||
    (parent === null ? latest === null : latest?.uuid.startsWith(parent.toLowerCase()));
  if (fits) return;
  throw new Conflict(`The wiki page "${name}" has changed`, {
    uuid: latest?.uuid ?? null,
    user: latest?.user ?? null,
    last_modified: latest?.timestamp ?? null,
  });
}

import { ServiceError } from "../../kernel/errors.ts";
import type { SyncCodes } from "../../engines/fossil/mod.ts";
import type { TokenKey } from "../../people/identity/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";

/** Slugs whose codes are kept in memory. */
const MAX_KEPT = 20_000;
/** The least time that the first look at a slug takes, in milliseconds: an open file may be slow. */
const FIRST_LOOK_MS = 25;
const PURPOSE = "muster sync codes ";

export interface CodesOptions {
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly key: Pick<TokenKey, "mac">;
}

interface Kept {
  /** Null for the codes of a slug that no project has. */
  readonly projectId: string | null;
  readonly codes: Promise<SyncCodes>;
}

/**
 * The codes that a clone asks for before it logs in. A slug without a project has codes too, always
 * the same ones, and they take as long: so nobody learns which private projects exist.
 */
export class Codes {
  readonly #options: CodesOptions;
  readonly #kept = new BoundedMap<string, Kept>(MAX_KEPT);

  constructor(options: CodesOptions) {
    this.#options = options;
  }

  /** The codes of a project, or those that a slug without a project pretends to have. */
  of(slug: string, project: Project | null): Promise<SyncCodes> {
    const projectId = project?.id ?? null;
    const known = this.#kept.get(slug);
    if (known !== undefined && known.projectId === projectId) return known.codes;
    const codes = this.#firstLook(slug, project);
    this.#kept.set(slug, { projectId, codes });
    codes.catch(() => this.#kept.delete(slug));
    return codes;
  }

  async #firstLook(slug: string, project: Project | null): Promise<SyncCodes> {
    const wait = new Promise<void>((resolve) => setTimeout(resolve, FIRST_LOOK_MS));
    const codes = project === null
      ? this.#pretend(slug)
      : this.#options.repositories.read(project, (repository) => repository.syncCodes());
    const [read] = await Promise.allSettled([codes, wait]);
    if (read.status === "fulfilled") return read.value;
    if (!(read.reason instanceof ServiceError)) throw read.reason;
    // The reason would tell strangers that there is such a project. Nobody can clone it now.
    this.#kept.delete(slug);
    return await this.#pretend(slug);
  }

  async #pretend(slug: string): Promise<SyncCodes> {
    const { key } = this.#options;
    const [serverCode, projectCode] = await Promise.all([
      key.mac(PURPOSE, `server ${slug}`),
      key.mac(PURPOSE, `project ${slug}`),
    ]);
    return { serverCode: serverCode.slice(0, 40), projectCode: projectCode.slice(0, 40) };
  }
}

import { join } from "node:path";
import type { Advertisement, FetchRequest } from "../../engines/git/mod.ts";
import type { NegotiationAnswer, PooledRepository } from "../../engines/fossil/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { CallerQuota, type Holder } from "../../people/identity/mod.ts";
import { MAX_KEPT_PACK, type Project, type ProjectRepositories } from "../projects/mod.ts";
import { GrowingFile } from "./growing_file.ts";

/** Packs that may be made or read at the same time. */
const MAX_PACKS = 32;
const WORDS = { things: "fetches", state: "running", retrySeconds: 10 } as const;
/** How long a client waits for the objects of a long history, in milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_SECONDS = 10;
/** Branches that are fetched by hash alone. */
const HIDDEN = "refs/heads/landing/";

export interface GitDoorOptions {
  readonly repositories: ProjectRepositories;
  readonly log: Log;
}

/** Answers `git clone` and `git fetch` of projects. */
export class GitDoor {
  readonly #repositories: ProjectRepositories;
  readonly #log: Log;
  readonly #quota = new CallerQuota(MAX_PACKS, WORDS);
  /** References by the kept answers that have them. */
  readonly #parsed = new WeakMap<object, Advertisement>();
  /** Projects whose objects are being updated, by id. */
  readonly #updates = new Map<string, Promise<void>>();

  constructor(options: GitDoorOptions) {
    this.#repositories = options.repositories;
    this.#log = options.log;
  }

  /**
   * The references of a project.
   *
   * @throws Unavailable if its objects take longer to make than a client waits
   */
  async refs(project: Project): Promise<Advertisement> {
    const answer = await this.#repositories.answers.get(
      project,
      "git refs",
      async (repository) => {
        const refs = await this.#current(project, repository);
        const shown = refs.refs.filter(({ ref }) => !ref.startsWith(HIDDEN));
        return { bytes: new TextEncoder().encode(JSON.stringify({ ...refs, refs: shown })) };
      },
      "history",
    );
    const known = this.#parsed.get(answer);
    if (known !== undefined) return known;
    const refs: Advertisement = JSON.parse(new TextDecoder().decode(answer.content.bytes));
    this.#parsed.set(answer, refs);
    return refs;
  }

  /**
   * What a client and a project have in common.
   *
   * @throws NotFound if the client wants what is not here
   */
  negotiate(
    project: Project,
    request: FetchRequest,
    signal: AbortSignal,
  ): Promise<NegotiationAnswer> {
    return this.#repositories.read(
      project,
      (repository) => repository.gitNegotiation(request, { signal }),
    );
  }

  /** Bytes of objects by their names; null for one that is not here. */
  sizes(
    project: Project,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<(number | null)[]> {
    return this.#repositories.read(project, (repository) => repository.gitSizes(names, { signal }));
  }

  /**
   * The pack that a client asks for, while it is written: to a file, so that a slow client costs no
   * memory.
   *
   * @param call.caller whose it is; it counts until all is read
   * @throws TooMany
   */
  async pack(
    project: Project,
    request: FetchRequest,
    { caller, signal }: { readonly caller: Holder; readonly signal: AbortSignal },
  ): Promise<GrowingFile> {
    const held = this.#quota.take(caller);
    const ended = new AbortController();
    const abort = AbortSignal.any([signal, ended.signal]);
    const { files } = this.#repositories;
    const remove = async (folder: string) => {
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    };
    let folder = "";
    try {
      folder = await Deno.makeTempDir({ dir: files.folder, prefix: ".pack-" });
      const target = join(folder, "pack");
      const pack = await this.#repositories.read(project, async (repository) => {
        const kept = await repository.keptGitPack({ target, request }, { signal: abort });
        if (kept !== null) return await GrowingFile.open(target, () => Promise.resolve(kept));
        await Deno.create(target).then((file) => file.close());
        const where = { target, request, maxKept: MAX_KEPT_PACK };
        return await GrowingFile.open(
          target,
          (onProgress) =>
            this.#repositories.read(
              project,
              (opened) => opened.gitPack(where, { signal: abort, onProgress }),
            ),
        );
      });
      pack.onClosed(() => {
        held[Symbol.dispose]();
        ended.abort();
      });
      // A file that is open can be read on.
      pack.onWritten(() => remove(folder));
      return pack;
    } catch (error) {
      held[Symbol.dispose]();
      if (folder !== "") await remove(folder);
      throw error;
    }
  }

  async #current(project: Project, repository: PooledRepository): Promise<Advertisement> {
    const known = await repository.gitRefs();
    if (known !== null) return known;
    const update = this.#update(project, repository);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const text = "The Git objects of this project are being made: try again in a moment";
        reject(new Unavailable(text, { retryAfterSeconds: RETRY_SECONDS }));
      }, PATIENCE_MS);
    });
    try {
      await Promise.race([update, late]);
    } finally {
      clearTimeout(timer);
    }
    const made = await repository.gitRefs();
    if (made !== null) return made;
    throw new Unavailable("The project is changing quickly: try again", {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** Makes the objects of a project; callers share one update. */
  #update(project: Project, repository: PooledRepository): Promise<void> {
    const running = this.#updates.get(project.id);
    if (running !== undefined) return running;
    const update = repository.updateObjects().finally(() => this.#updates.delete(project.id));
    this.#updates.set(project.id, update);
    // It goes on when nobody waits any more.
    update.catch((error) =>
      this.#log.warn("The Git objects of a project cannot be made", { slug: project.slug, error })
    );
    return update;
  }
}

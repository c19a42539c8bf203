import { join } from "node:path";
import type { AdvertisedRef, Advertisement, FetchRequest } from "../../engines/git/mod.ts";
import type { NegotiationAnswer } from "../../engines/fossil/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { CallerQuota, type Holder } from "../../people/identity/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { ReviewStore } from "../reviews/mod.ts";
import { GrowingFile } from "./growing_file.ts";

/** Packs that may be made or read at the same time. */
const MAX_PACKS = 32;
const WORDS = { things: "fetches", state: "running", retrySeconds: 10 } as const;
/** How long a client waits for the objects of a long history, in milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_SECONDS = 10;
/** How long a client may read nothing of its pack, in milliseconds. */
const STALL_MILLISECONDS = 5 * 60_000;
/** Branches that are fetched by hash alone. */
const HIDDEN = "refs/heads/landing/";
/** Where the rounds of reviews are, for those who ask for them. */
const REVIEWS = "refs/reviews/";
/** Most rounds that an answer has, and most reviews that are looked up alone. */
const [MAX_ROUNDS, MAX_LOOKED_UP] = [10_000, 100];

export interface GitDoorOptions {
  readonly repositories: ProjectRepositories;
  readonly reviews: Pick<ReviewStore, "roundTips">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Answers `git clone` and `git fetch` of projects. */
export class GitDoor {
  readonly #repositories: ProjectRepositories;
  readonly #reviews: Pick<ReviewStore, "roundTips">;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #quota = new CallerQuota(MAX_PACKS, WORDS);
  /** References by the kept answers that have them. */
  readonly #parsed = new WeakMap<object, Advertisement>();
  /** Projects whose objects are being updated, by id. */
  readonly #updates = new Map<string, Promise<void>>();

  constructor(options: GitDoorOptions) {
    this.#repositories = options.repositories;
    this.#reviews = options.reviews;
    this.#scheduler = options.scheduler;
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
        const refs = await this.#ready(project, () => repository.gitRefs());
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
   * The references of the rounds of reviews: `refs/reviews/NUMBER/ROUND`. They are there for those who
   * ask for them.
   *
   * @param prefixes beginnings of the names that a client wants
   */
  async roundRefs(
    project: Project,
    prefixes: readonly string[],
  ): Promise<readonly AdvertisedRef[]> {
    const wanted = prefixes.filter((prefix) => prefix.startsWith(REVIEWS));
    if (wanted.length === 0) return [];
    const numbers = new Set(
      wanted.map((prefix) =>
        Number(/^([1-9][0-9]{0,6})\//.exec(prefix.slice(REVIEWS.length))?.[1])
      ),
    );
    const reviews = numbers.has(NaN) || numbers.size > MAX_LOOKED_UP ? null : [...numbers];
    const rounds = await this.#reviews.roundTips(project, { reviews, limit: MAX_ROUNDS });
    const commits = await this.#repositories.read(
      project,
      (repository) =>
        this.#ready(project, () => repository.gitCommits(rounds.map(({ tip }) => tip))),
    );
    return rounds.flatMap(({ review, round }, place): AdvertisedRef | [] => {
      const object = commits[place] ?? null;
      return object === null ? [] : { ref: `${REVIEWS}${review}/${round}`, object, peeled: null };
    });
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
      (repository) => this.#ready(project, () => repository.gitNegotiation(request, { signal })),
    );
  }

  /** Bytes of objects by their names; null for one that is not here. */
  sizes(
    project: Project,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<(number | null)[]> {
    return this.#repositories.read(
      project,
      (repository) => this.#ready(project, () => repository.gitSizes(names, { signal })),
    );
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
        const maxKept = await this.#repositories.roomForPack(project);
        const where = { target, request, maxKept };
        return await GrowingFile.open(
          target,
          (onProgress) =>
            this.#repositories.read(
              project,
              (opened) => opened.gitPack(where, { signal: abort, onProgress }),
            ),
        );
      });
      pack.closeIfStalled(this.#scheduler, STALL_MILLISECONDS);
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

  /**
   * An answer from a project's objects; where it is null, they are made first.
   *
   * @throws Unavailable if that takes longer than a client waits
   */
  async #ready<T>(
    project: Project,
    ask: () => Promise<T | null>,
  ): Promise<T> {
    const known = await ask();
    if (known !== null) return known;
    const update = this.#update(project);
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
    const made = await ask();
    if (made !== null) return made;
    throw new Unavailable("The project is changing quickly: try again", {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** Makes the objects of a project; callers share one update. */
  #update(project: Project): Promise<void> {
    const running = this.#updates.get(project.id);
    if (running !== undefined) return running;
    const update = this.#repositories.prepareClones(project)
      .finally(() => this.#updates.delete(project.id));
    this.#updates.set(project.id, update);
    // It goes on when nobody waits any more.
    update.catch((error) =>
      this.#log.warn("The Git objects of a project cannot be made", { slug: project.slug, error })
    );
    return update;
  }
}

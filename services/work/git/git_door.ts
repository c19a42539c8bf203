import { join } from "node:path";
import {
  type AdvertisedRef,
  type Advertisement,
  type FetchRequest,
  hexOf,
} from "../../engines/git/mod.ts";
import { packPath } from "../../engines/fossil/front/mod.ts";
import type { KeptFile, NegotiationAnswer, PackTime } from "../../engines/fossil/mod.ts";
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

/** Who fetches. */
interface FetchCall {
  /** Whose the pack is; it counts until all is read. */
  readonly caller: Holder;
  readonly signal: AbortSignal;
}

/** What a client learns of its request, and the pack that it gets now; null for none. */
export interface FetchAnswer {
  readonly answer: NegotiationAnswer;
  /** A short pack is in memory. */
  readonly pack: Uint8Array | GrowingFile | null;
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
    const commits = await this.commitsOf(project, rounds.map(({ tip }) => tip));
    return rounds.flatMap(({ review, round }, place): AdvertisedRef | [] => {
      const object = commits[place] ?? null;
      return object === null ? [] : { ref: `${REVIEWS}${review}/${round}`, object, peeled: null };
    });
  }

  /** The names of check-ins in Git; null for one that is not here. */
  commitsOf(project: Project, checkins: readonly string[]): Promise<(string | null)[]> {
    return this.#repositories.read(
      project,
      (repository) => this.#ready(project, () => repository.gitCommits(checkins)),
    );
  }

  /**
   * Answers a fetch.
   *
   * @param call.pack when the client gets its pack
   * @throws NotFound if the client wants what is not here
   * @throws TooMany
   */
  async fetch(
    project: Project,
    request: FetchRequest,
    { pack, ...call }: FetchCall & { readonly pack: PackTime },
  ): Promise<FetchAnswer> {
    const { signal } = call;
    const asked = { request, pack };
    const { isPackDue, short, kept, ...answer } = await this.#repositories.read(
      project,
      (repository) => this.#ready(project, () => repository.gitFetch(asked, { signal })),
    );
    if (!isPackDue) return { answer, pack: null };
    return { answer, pack: short ?? await this.#pack(project, request, { ...call, kept }) };
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

  /** The pack that is kept, or the one that is written for a client: in files, which it reads slowly. */
  async #pack(
    project: Project,
    request: FetchRequest,
    { kept, caller, signal }: FetchCall & { readonly kept: KeptFile | null },
  ): Promise<GrowingFile> {
    const held = this.#quota.take(caller);
    const ended = new AbortController();
    try {
      const abort = AbortSignal.any([signal, ended.signal]);
      const pack = kept !== null && await this.#openKept(project, kept) ||
        await this.#write(project, request, abort);
      pack.closeIfStalled(this.#scheduler, STALL_MILLISECONDS);
      pack.onClosed(() => {
        held[Symbol.dispose]();
        ended.abort();
      });
      return pack;
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  }

  /** Null if another pack has taken its place. */
  async #openKept(project: Project, { checksum, bytes }: KeptFile): Promise<GrowingFile | null> {
    const path = packPath(this.#repositories.files.pathOf(project));
    const file = await Deno.open(path).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    });
    if (file === null) return null;
    try {
      const found = new Uint8Array(checksum.length / 2);
      await file.seek(-found.length, Deno.SeekMode.End);
      const end = await file.seek(0, Deno.SeekMode.Current) + found.length;
      await file.read(found);
      await file.seek(0, Deno.SeekMode.Start);
      if (end === bytes && hexOf(found) === checksum) return GrowingFile.whole(file, bytes);
      file.close();
      return null;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** A pack while it is written: to a file, so that a slow client costs no memory. */
  async #write(
    project: Project,
    request: FetchRequest,
    signal: AbortSignal,
  ): Promise<GrowingFile> {
    const { files } = this.#repositories;
    const folder = await Deno.makeTempDir({ dir: files.folder, prefix: ".pack-" });
    const remove = () => Deno.remove(folder, { recursive: true }).catch(() => {});
    try {
      const target = join(folder, "pack");
      await Deno.create(target).then((file) => file.close());
      const maxKept = await this.#repositories.roomForPack(project);
      const where = { target, request, maxKept };
      const pack = await GrowingFile.open(
        target,
        (onProgress) =>
          this.#repositories.read(
            project,
            (repository) => repository.gitPack(where, { signal, onProgress }),
          ),
      );
      // A file that is open can be read on.
      pack.onWritten(remove);
      return pack;
    } catch (error) {
      await remove();
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

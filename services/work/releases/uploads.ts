import { join } from "node:path";
import type { Selectable } from "kysely";
import { type Database, statement, type Tables } from "../../engines/database/mod.ts";
import { Conflict, NotFound, TooLarge, TooMany, Unavailable } from "../../kernel/errors.ts";
import { type FreeSpace, renameSynced } from "../../kernel/files.ts";
import { MAX_ARTIFACT_BYTES } from "../../engines/fossil/front/mod.ts";
import type { Log } from "../../kernel/log.ts";
import {
  type Actor,
  appendParts,
  type Project,
  type ProjectRepositories,
} from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { ReleaseRequest } from "./records.ts";
import type { Releases } from "./releases.ts";
import type { UploadView } from "./schemas.ts";

type Row = Selectable<Tables["uploads"]>;

/** Time from an upload's last part to its expiry, in milliseconds. */
const LIFETIME = 24 * 60 * 60 * 1000;
/** How long a finished upload can still be read, in milliseconds. */
const FINISHED_LIFETIME = 60 * 60 * 1000;
/** Pause between two removals of expired uploads, in milliseconds. */
const SWEEP_INTERVAL = 60 * 60 * 1000;
/** Most unfinished uploads of one project, and of one uploader in it. */
const [MAX_UPLOADS, MAX_UPLOADS_OF_ONE] = [100, 20];
/** Finished uploads kept for one project. */
const MAX_FINISHED = 1000;

export interface UploadsOptions {
  /** The folder for the bytes of unfinished uploads. */
  readonly folder: string;
  readonly database: Database;
  readonly repositories: Pick<ProjectRepositories, "exclusively" | "homes" | "requireRoom">;
  readonly releases: Releases;
  /** Says when the disk has no room for more. */
  readonly space: Pick<FreeSpace, "require">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Most bytes of one upload, and of all unfinished ones of a project together. */
  readonly maxBytes: number;
}

/** A new upload. */
export interface NewUpload {
  /** The release, and the name of its file. */
  readonly tag: string;
  readonly name: string;
  readonly contentType: string;
  /** Bytes. */
  readonly length: number;
}

/** A part of an upload. */
export interface SentPart {
  /** The position of its first byte. */
  readonly offset: number;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Longest wait for the next bytes, in milliseconds. */
  readonly stallMs: number;
}

/** The reader of an upload: its uploader, or an admin of the project. */
export interface UploadViewer {
  readonly actor: Actor;
  readonly isAdmin: boolean;
}

/** A request that works on an upload. */
interface RunningRequest {
  readonly ending: AbortController;
  readonly done: Promise<unknown>;
}

/** Resumable uploads of releases' files. */
export class Uploads {
  readonly #options: UploadsOptions;
  /** The last request of each upload. */
  readonly #turns = new Map<string, RunningRequest>();
  /** Projects that are moving to another node, by id. */
  readonly #held = new Set<string>();
  #cancelSweep: () => void = () => {};

  private constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Makes the folder if it is missing, and removes expired uploads. */
  static async open(options: UploadsOptions): Promise<Uploads> {
    await Deno.mkdir(options.folder, { recursive: true, mode: 0o700 });
    const uploads = new Uploads(options);
    await uploads.#sweepAndRepeat();
    return uploads;
  }

  /** The longest file that can be uploaded, in bytes. */
  get maxBytes(): number {
    return Math.min(this.#options.maxBytes, MAX_ARTIFACT_BYTES);
  }

  /** The files of a project's unfinished uploads, by the upload's id. */
  async filesOf(project: Project): Promise<ReadonlyMap<string, string>> {
    const rows = (await this.#rows(project)).filter((row) => row.finished_at === null);
    const files = new Map<string, string>();
    for (const row of rows) {
      if (await this.#offsetOf(row) > 0) files.set(row.id, this.#pathOf(row));
    }
    return files;
  }

  /** Puts the file of an upload that another node has begun in its place. */
  async place(id: string, source: string): Promise<void> {
    await renameSynced(source, this.#pathOf({ id }));
  }

  /**
   * Ends the requests that work on a project's uploads, and refuses others until the returned
   * function is called. The received bytes stay.
   */
  async hold(project: Project): Promise<() => void> {
    this.#held.add(project.id);
    const rows = await this.#rows(project);
    const turns = rows.flatMap(({ id }) => this.#turns.get(id) ?? []);
    for (const { ending } of turns) ending.abort(moving());
    await Promise.allSettled(turns.map(({ done }) => done));
    return () => this.#held.delete(project.id);
  }

  /** Ends every request that works on an upload, and keeps the received bytes. */
  async close(): Promise<void> {
    this.#cancelSweep();
    const turns = [...this.#turns.values()];
    for (const { ending } of turns) ending.abort(new Conflict("muster is shutting down"));
    await Promise.allSettled(turns.map(({ done }) => done));
  }

  /**
   * Begins an upload.
   *
   * @throws NotFound if there is no such release; Conflict, TooLarge
   * @throws TooMany if the unfinished uploads of the actor or the project exceed a bound
   */
  async create(
    project: Project,
    asked: NewUpload,
    { caller, actor }: Pick<ReleaseRequest, "caller"> & Pick<UploadViewer, "actor">,
  ): Promise<UploadView> {
    const { tag, name, contentType, length } = asked;
    if (length > this.maxBytes) {
      throw new TooLarge(`The file is larger than ${this.maxBytes} bytes`);
    }
    await this.#options.releases.files.requireRoom(project, tag, name);
    await this.#options.repositories.requireRoom(project, null, length);
    return await this.#options.repositories.exclusively(project, caller, async () => {
      await this.#makeRoom(project, length, actor);
      const now = this.#options.scheduler.now();
      const row: Row = {
        id: newUlid(now),
        project_id: project.id,
        uploader_key: actor.key,
        target: JSON.stringify({ tag, name }),
        content_type: contentType,
        total_bytes: length,
        created_at: now,
        expires_at: now + LIFETIME,
        finished_at: null,
      };
      const insertion = this.#options.database.tables.insertInto("uploads").values(row);
      await this.#options.database.commit({ statements: [statement(insertion)] });
      return await this.#viewOf(row);
    });
  }

  /** The uploads of a project that the caller may see, oldest first. */
  async list(project: Project, viewer: UploadViewer): Promise<UploadView[]> {
    const rows = await this.#rows(project);
    const shown = rows.filter((row) => this.#isCurrent(row) && mayUse(row, viewer));
    return await Promise.all(shown.map((row) => this.#viewOf(row)));
  }

  /** @throws NotFound if there is none, it has expired, or it belongs to somebody else */
  async find(project: Project, id: string, viewer: UploadViewer): Promise<UploadView> {
    return await this.#viewOf(await this.#require(project, id, viewer));
  }

  /**
   * The state of an upload, for a client that is about to continue it: ends the request that works
   * on it, and stores the file if it is complete.
   */
  async resume(
    project: Project,
    id: string,
    request: ReleaseRequest & UploadViewer,
  ): Promise<UploadView> {
    await this.#require(project, id, request);
    return await this.#alone(id, async () => {
      const row = await this.#require(project, id, request);
      return await this.#settle(project, row, () => Promise.resolve(request));
    });
  }

  /**
   * Appends a part to an upload. With the last one, the release gets its file.
   *
   * @param confirm returns the request after the part has arrived; throws if its credential has
   * ended
   * @throws Conflict if the part does not begin at the upload's offset, or another request
   * continues the upload; TooLarge if it exceeds the length
   */
  async append(
    project: Project,
    id: string,
    part: SentPart,
    viewer: UploadViewer,
    confirm: () => Promise<ReleaseRequest>,
  ): Promise<UploadView> {
    await this.#require(project, id, viewer);
    return await this.#alone(id, async (signal) => {
      const row = await this.#require(project, id, viewer);
      const offset = await this.#offsetOf(row);
      if (part.offset !== offset) {
        throw new Conflict(`The upload continues at byte ${offset}`);
      }
      if (row.finished_at === null && part.body !== null) {
        const { stallMs } = part;
        const maxBytes = row.total_bytes - offset;
        const check = () => this.#options.space.require();
        const options = { stallMs, maxBytes, check, signal, isDurable: true };
        await appendParts(this.#pathOf(row), part.body, options);
      }
      return await this.#settle(project, row, confirm);
    });
  }

  /** Ends an upload, and removes its bytes. */
  async remove(project: Project, id: string, viewer: UploadViewer): Promise<void> {
    await this.#require(project, id, viewer);
    await this.#alone(id, async () => {
      await this.#drop([await this.#require(project, id, viewer)]);
    });
  }

  /** Stores the file if it is complete; otherwise keeps the upload for another day. */
  async #settle(
    project: Project,
    row: Row,
    confirm: () => Promise<ReleaseRequest>,
  ): Promise<UploadView> {
    if (row.finished_at !== null) return await this.#viewOf(row);
    const isComplete = await this.#offsetOf(row) === row.total_bytes;
    if (isComplete) await this.#store(project, row, await confirm());
    const now = this.#options.scheduler.now();
    const settled: Row = {
      ...row,
      expires_at: now + (isComplete ? FINISHED_LIFETIME : LIFETIME),
      finished_at: isComplete ? now : null,
    };
    const { expires_at, finished_at } = settled;
    const update = this.#options.database.tables.updateTable("uploads")
      .set({ expires_at, finished_at }).where("id", "=", row.id);
    await this.#options.database.commit({ statements: [statement(update)] });
    if (isComplete) await removeFile(this.#pathOf(row));
    return await this.#viewOf(settled);
  }

  async #store(project: Project, row: Row, request: ReleaseRequest): Promise<void> {
    const { tag, name } = targetOf(row);
    const source = this.#pathOf(row);
    // An empty file has no part that would have made it.
    if (row.total_bytes === 0) await Deno.writeFile(source, new Uint8Array());
    const contentType = row.content_type;
    await this.#options.releases.files.put(project, tag, { name, source, contentType }, request);
  }

  /** Ends the request that works on the upload, then runs a task alone. */
  async #alone<T>(id: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const before = this.#turns.get(id);
    before?.ending.abort(new Conflict("Another request continues this upload"));
    const ending = new AbortController();
    const done = (before?.done ?? Promise.resolve()).catch(() => {}).then(() => {
      ending.signal.throwIfAborted();
      return task(ending.signal);
    });
    const turn = { ending, done };
    this.#turns.set(id, turn);
    try {
      return await done;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  /** Removes expired uploads, and files without an upload. */
  async sweep(): Promise<void> {
    // A row is made before its file, so a file that is listed first and has no row afterwards is an
    // orphan.
    const { database: { tables }, folder } = this.#options;
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
    const { repositories: { homes } } = this.#options;
    const rows = (await tables.selectFrom("uploads").selectAll().execute())
      .filter(({ project_id: id }) => homes.isHere({ id }));
    const isIdle = (id: string) => !this.#turns.has(id);
    await this.#drop(rows.filter((row) => !this.#isCurrent(row) && isIdle(row.id)));
    const open = new Set(rows.filter((row) => row.finished_at === null).map(({ id }) => id));
    for (const name of names) {
      if (!open.has(name) && isIdle(name)) await removeFile(join(folder, name));
    }
  }

  async #makeRoom(project: Project, length: number, { key }: Actor): Promise<void> {
    const rows = await this.#rows(project);
    const open = rows.filter((row) => row.finished_at === null && this.#isCurrent(row));
    requireRoom(open, { length, key, maxBytes: this.#options.maxBytes });
    const finished = rows.filter((row) => row.finished_at !== null);
    await this.#drop(finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)));
  }

  async #require(project: Project, id: string, viewer: UploadViewer): Promise<Row> {
    if (this.#held.has(project.id)) throw moving();
    const row = await this.#options.database.tables.selectFrom("uploads").selectAll()
      .where("project_id", "=", project.id).where("id", "=", id).executeTakeFirst();
    if (row === undefined || !this.#isCurrent(row) || !mayUse(row, viewer)) {
      throw new NotFound("There is no such upload, or it has expired");
    }
    return row;
  }

  #rows(project: Project): Promise<Row[]> {
    return this.#options.database.tables.selectFrom("uploads").selectAll()
      .where("project_id", "=", project.id).orderBy("id").execute();
  }

  #isCurrent({ expires_at }: Row): boolean {
    return expires_at > this.#options.scheduler.now();
  }

  async #offsetOf(row: Row): Promise<number> {
    if (row.finished_at !== null) return row.total_bytes;
    try {
      return (await Deno.stat(this.#pathOf(row))).size;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  }

  async #viewOf(row: Row): Promise<UploadView> {
    const { id, content_type, total_bytes, created_at, expires_at, finished_at } = row;
    const { tag, name } = targetOf(row);
    return {
      id,
      tag_name: tag,
      name,
      content_type,
      offset: await this.#offsetOf(row),
      length: total_bytes,
      is_finished: finished_at !== null,
      created_at: new Date(created_at).toISOString(),
      expires_at: new Date(expires_at).toISOString(),
    };
  }

  #pathOf({ id }: Pick<Row, "id">): string {
    return join(this.#options.folder, id);
  }

  async #drop(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    const removal = this.#options.database.tables.deleteFrom("uploads").where("id", "in", ids);
    await this.#options.database.commit({ statements: [statement(removal)] });
    for (const row of rows) await removeFile(this.#pathOf(row));
  }

  async #sweepAndRepeat(): Promise<void> {
    const { scheduler, log } = this.#options;
    await this.sweep().catch((error) => log.error("Expired uploads cannot be removed", { error }));
    this.#cancelSweep = scheduler.after(SWEEP_INTERVAL, () => void this.#sweepAndRepeat());
  }
}

function moving(): Unavailable {
  return new Unavailable("The project is moving to another node; continue in a moment", {
    retryAfterSeconds: 2,
  });
}

function mayUse({ uploader_key }: Row, { actor, isAdmin }: UploadViewer): boolean {
  return isAdmin || uploader_key === actor.key;
}

async function removeFile(path: string): Promise<void> {
  await Deno.remove(path).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/**
 * Checks that a project has room for one more upload.
 *
 * @param open its unfinished uploads
 * @param asked bytes of the new one, the key of its uploader, and most bytes of all together
 * @throws TooMany if those of the uploader or of the project would exceed a bound
 */
function requireRoom(
  open: readonly Row[],
  { length, key, maxBytes }: {
    readonly length: number;
    readonly key: string;
    readonly maxBytes: number;
  },
): void {
  const own = open.filter(({ uploader_key }) => uploader_key === key);
  if (own.length >= MAX_UPLOADS_OF_ONE) {
    throw new TooMany(
      `You have ${MAX_UPLOADS_OF_ONE} unfinished uploads in this project; end one of them`,
    );
  }
  if (own.length > 0 && bytesOf(own) + length > maxBytes / 2) {
    throw new TooMany(
      `Your unfinished uploads would take more than half of the project's ${maxBytes} bytes; ` +
        "end one of them",
    );
  }
  if (open.length >= MAX_UPLOADS) {
    throw new TooMany(`The project has ${MAX_UPLOADS} unfinished uploads; end one of them`);
  }
  if (bytesOf(open) + length > maxBytes) {
    throw new TooMany(
      `The project's unfinished uploads would take more than ${maxBytes} bytes together; end one ` +
        "of them",
    );
  }
}

/** Bytes of uploads once they are complete. */
function bytesOf(uploads: readonly Row[]): number {
  return uploads.reduce((sum, { total_bytes }) => sum + total_bytes, 0);
}

/** The release of an upload, and the name of its file. */
function targetOf({ target }: Row): { readonly tag: string; readonly name: string } {
  return JSON.parse(target);
}

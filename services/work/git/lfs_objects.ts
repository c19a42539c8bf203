import { createHash } from "node:crypto";
import { LFS_FOLDER, lfsFileOf, MAX_ARTIFACT_BYTES } from "../../engines/fossil/front/mod.ts";
import {
  Conflict,
  Invalid,
  NotFound,
  ServiceError,
  TooLarge,
  TooMany,
} from "../../kernel/errors.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type {
  OpenFile,
  Project,
  ProjectRepositories,
  Upload,
  UploadLimits,
} from "../projects/mod.ts";

/** Objects of one caller that are received at once. */
const BODIES = {
  permitsPerKey: 8,
  maxWaitingPerKey: 100,
  refusal: () => new TooMany("Too many of your objects wait to be received; try again later"),
};

export interface LfsObjectsOptions {
  readonly repositories: Pick<
    ProjectRepositories,
    "downloads" | "longFiles" | "read" | "requireRoom" | "write"
  >;
  /** Most bytes of an uploaded file. */
  readonly maxBytes: number;
}

/** An object, as a pointer in a commit names it. */
export interface LfsObject {
  /** The SHA-256 of its content, in hexadecimal. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** What becomes of an object that somebody wants to upload. */
export interface JudgedObject extends LfsObject {
  /** Whether its content is here. */
  readonly isHere: boolean;
  /** Why it cannot come; null if it can. */
  readonly refusal: ServiceError | null;
}

/** An object that arrives. */
export interface ArrivingObject {
  readonly oid: string;
  readonly caller: Caller;
  /** Bytes that its sender declares; null if it declares none. */
  readonly length: number | null;
  readonly signal: AbortSignal;
  /** Receives the body into a file. */
  receive(limits: {
    readonly maxBytes: number;
    readonly check: UploadLimits["check"];
  }): Promise<Upload>;
}

/** An object that is here, with the hash by which the repository knows it. */
export interface StoredObject extends LfsObject {
  readonly uuid: string;
}

/**
 * The content of Git LFS: unversioned files of the repository, named by their SHA-256. Nobody but
 * this class writes them.
 */
export class LfsObjects {
  readonly #options: LfsObjectsOptions;
  readonly #bodies = new Semaphore(BODIES);

  constructor(options: LfsObjectsOptions) {
    this.#options = options;
  }

  /** The objects that are here, by their oid. */
  async find(
    project: Project,
    oids: readonly string[],
  ): Promise<ReadonlyMap<string, StoredObject>> {
    const names = oids.map(lfsFileOf);
    const files = await this.#options.repositories.read(
      project,
      (repository) => repository.findUnversioned(names),
    );
    return new Map(files.map(({ name, size, uuid }) => {
      const oid = name.slice(LFS_FOLDER.length);
      return [oid, { oid, size, uuid }];
    }));
  }

  /** @throws NotFound */
  async require(project: Project, oid: string): Promise<StoredObject> {
    const object = (await this.find(project, [oid])).get(oid);
    if (object !== undefined) return object;
    throw new NotFound(`The content of the Git LFS object ${oid} is not on this server`);
  }

  /** Opens the content of an object; the caller closes it. */
  async open(project: Project, { oid, uuid }: StoredObject): Promise<OpenFile> {
    return await this.#options.repositories.downloads.open(project, { name: lfsFileOf(oid), uuid });
  }

  /** Judges which objects of a push may come, by their sizes and what the quotas leave. */
  async judge(
    project: Project,
    caller: Caller,
    objects: readonly LfsObject[],
  ): Promise<JudgedObject[]> {
    const stored = await this.find(project, objects.map(({ oid }) => oid));
    const judged: JudgedObject[] = [];
    let coming = 0;
    for (const { oid, size } of objects) {
      const known = stored.get(oid);
      const isHere = known !== undefined;
      let refusal: ServiceError | null = null;
      if (isHere) {
        if (known.size !== size) refusal = new Conflict(`The object has ${known.size} bytes`);
      } else {
        refusal = await this.#refusalOf(project, caller, { size, coming });
        if (refusal === null) coming += size;
      }
      judged.push({ oid, size, isHere, refusal });
    }
    return judged;
  }

  /**
   * Receives an object; what is here already is not written again.
   *
   * @throws Invalid if the content is cut, or has another hash; InsufficientStorage, TooLarge,
   * TooMany, TooSlow, Unavailable
   */
  async put(project: Project, arriving: ArrivingObject): Promise<void> {
    const { repositories } = this.#options;
    const { oid, caller, length, signal } = arriving;
    const { kind, id, project: of } = caller.principal;
    using _body = await this.#bodies.acquire(`${kind} ${id ?? of}`, { signal });
    const refusal = await this.#refusalOf(project, caller, { size: length ?? 0, coming: 0 });
    if (refusal !== null) throw refusal;
    const hash = createHash("sha256");
    const check = (_bytes: number, part: Uint8Array) => void hash.update(part);
    await using upload = await arriving.receive({ maxBytes: this.#maxBytes, check });
    if (hash.digest("hex") !== oid) throw new Invalid(`The content's SHA-256 is not ${oid}`);
    const [name, source, coming] = [lfsFileOf(oid), upload.path, upload.bytes];
    const uuid = await repositories.read(
      project,
      (repository) => repository.nameOfFile(source),
    );
    await repositories.longFiles.inTurn(coming, () =>
      repositories.write(project, {
        caller,
        coming,
        write: async (repository, stamp) => {
          if ((await repository.findUnversioned([name])).length > 0) return;
          await repository.putUnversioned({ ...stamp, name, source, uuid });
        },
      }));
  }

  get #maxBytes(): number {
    return Math.min(this.#options.maxBytes, MAX_ARTIFACT_BYTES);
  }

  async #refusalOf(
    project: Project,
    caller: Caller,
    { size, coming }: { readonly size: number; readonly coming: number },
  ): Promise<ServiceError | null> {
    if (size > this.#maxBytes) {
      return new TooLarge(`An object has at most ${this.#maxBytes} bytes (limits.upload_bytes)`);
    }
    try {
      await this.#options.repositories.requireRoom(project, caller, coming + size);
      return null;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }
}

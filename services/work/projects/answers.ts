import { createHash } from "node:crypto";
import type { PooledRepository, Versions } from "../../engines/fossil/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { HeldBytes } from "../../kernel/held_bytes.ts";
import { nextTurn } from "../../kernel/pieces.ts";
import { stateOfFileNow } from "./file_states.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Bytes of all kept answers together. */
const MAX_BYTES = 32 * 1024 * 1024;
/**
 * Bytes that are hashed without a pause, which takes a millisecond, as much as a pause does at
 * least. `crypto.subtle` would copy the whole answer first, and such copies make V8 collect garbage
 * on the main thread.
 */
const HASH_STEP = 1024 * 1024;
/** A longer answer is not kept. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Memory that an answer takes beside its key and its bytes, in bytes. */
const ENTRY_BYTES = 1000;
/** Hexadecimal digits of an entity tag. */
const TAG_DIGITS = 32;

/** The result of a read of a repository. */
export interface Answer {
  /** A caller uses them, or holds them, before the next turn of the event loop. */
  readonly content: HeldBytes;
  /** Strong entity tag (RFC 9110, 8.8.3), with its quotes. */
  readonly etag: string;
  /** Further headers of the response, such as the content type. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A new answer. Without `etag`, its tag is a hash of its bytes. */
export interface NewAnswer extends Partial<Omit<Answer, "content">> {
  /** Nobody else uses their buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The answer may change although the repository does not, so it is not kept. */
  readonly isProvisional?: boolean;
}

/** What an answer depends on: all of the repository, or check-ins, their tags and settings alone. */
export type Dependence = keyof Versions;

interface KeptAnswer {
  /** The state of the file before the read began; null if it was not certain. */
  state: string | null;
  /** The state of the repository before the read began; null if the file's is enough until now. */
  readonly versions: Promise<Versions> | null;
  readonly answer: Promise<Answer>;
  /** 0 while it is made. */
  readonly size: number;
}

/**
 * Keeps answers to reads of repositories until any program changes what they depend on. Each request
 * checks the file first, and if that has changed or may have, the repository: so an answer is never
 * older than its request.
 */
export class RepositoryAnswers {
  readonly #files: RepositoryFiles;
  readonly #kept = new BoundedMap<string, KeptAnswer>({
    most: MAX_BYTES,
    mostOfOne: MAX_ANSWER_BYTES,
    weigh: ({ size }) => size,
    onForgotten: letGo,
  });
  /** Which projects' repositories are asked for their state. */
  readonly #asked = new Map<Project["id"], AskedState>();

  constructor(files: RepositoryFiles) {
    this.#files = files;
  }

  /**
   * Answers a read, from memory if what it depends on has not changed.
   *
   * @param key the request; whatever changes the answer must change the key
   * @param make reads the repository; its answer may depend only on the repository and the key
   * @throws ServiceError in place of the engine's errors
   */
  async get(
    project: Project,
    key: string,
    make: (repository: PooledRepository) => Promise<NewAnswer>,
    dependence: Dependence = "all",
  ): Promise<Answer> {
    const whole = `${project.id} ${key}`;
    const state = stateOfFileNow(this.#files.pathOf(project));
    let known = this.#kept.get(whole);
    if (known !== undefined && known.state === state && state !== null) return await known.answer;
    const versions = state === null || known !== undefined ? this.#versions(project) : null;
    while (known !== undefined && known.versions !== null && versions !== null) {
      const [before, now] = await Promise.all([known.versions, versions]);
      // Another request may have begun a new answer meanwhile, or this one may be forgotten.
      const newest = this.#kept.peek(whole);
      if (newest === known && before[dependence] === now[dependence]) {
        known.state = state;
        return await known.answer;
      }
      known = newest === known ? undefined : newest;
    }
    const making = this.#files.use(project, make);
    const answer = making.then(tagged);
    // Further requests with this key wait for the same answer.
    this.#kept.set(whole, { state, versions, answer, size: 0 });
    try {
      const [made] = await Promise.all([answer, versions]);
      const { isProvisional = false } = await making;
      const size = whole.length + made.content.length + ENTRY_BYTES;
      const entry = { state, versions, answer, size };
      const isNewest = this.#kept.peek(whole)?.answer === answer;
      if (isNewest && !isProvisional) this.#kept.set(whole, entry);
      else {
        if (isNewest) this.#kept.delete(whole);
        letGo(entry);
      }
      return made;
    } catch (error) {
      if (this.#kept.peek(whole)?.answer === answer) this.#kept.delete(whole);
      throw error;
    }
  }

  /** Like {@link get}, for an answer in JSON (UTF-8): its value. */
  async value<Value>(...read: Parameters<RepositoryAnswers["get"]>): Promise<Value> {
    const { content } = await this.get(...read);
    return JSON.parse(new TextDecoder().decode(content.bytes));
  }

  /**
   * The state of a repository, with everything that was written before the call. Calls that come
   * while it is asked share the next answer.
   */
  #versions(project: Project): Promise<Versions> {
    const { id } = project;
    const ask = () => {
      const current = this.#files.use(project, (repository) => repository.versions())
        .finally(() => {
          if (this.#asked.get(id)?.next === null) this.#asked.delete(id);
        });
      this.#asked.set(id, { current, next: null });
      return current;
    };
    const asked = this.#asked.get(id);
    return asked === undefined ? ask() : asked.next ??= asked.current.then(ask, ask);
  }
}

/** A repository that is asked for its state now, and maybe once more after that. */
interface AskedState {
  readonly current: Promise<Versions>;
  next: Promise<Versions> | null;
}

/**
 * Gives back the memory of an answer that is not kept, once those have it who wait for it. One that is
 * forgotten while it is made is left to the collection of garbage.
 */
function letGo({ answer, size }: KeptAnswer): void {
  if (size === 0) return;
  // They go on in this turn, and those who send it hold it longer.
  answer.then(async ({ content }) => {
    await nextTurn();
    content.letGo();
  });
}

async function tagged({ bytes, etag, headers = {} }: NewAnswer): Promise<Answer> {
  const content = new HeldBytes(bytes);
  if (etag !== undefined) return { content, etag, headers };
  const hash = createHash("sha256");
  for (let start = 0; start < bytes.length; start += HASH_STEP) {
    if (start > 0) await nextTurn();
    hash.update(bytes.subarray(start, start + HASH_STEP));
  }
  return { content, etag: `"${hash.digest("hex").slice(0, TAG_DIGITS)}"`, headers };
}

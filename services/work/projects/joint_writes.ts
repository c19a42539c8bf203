import { errorOf, WRITE_NAMES, type WriteName } from "../../engines/fossil/front/mod.ts";
import type {
  CallOptions,
  JoinedWrite,
  PooledRepository,
  Received,
  ReceivedOptions,
} from "../../engines/fossil/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { furtherStamp } from "./intentions.ts";

/** Most writes of one group. */
const MAX_GROUP = 64;
/** Most writes of one project that wait. */
export const MAX_WAITING = 1000;
/** Bytes that the engine gets at once, unless one write alone has more. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What a write is about: writes about different things may be one group. */
export interface Subject {
  /** Null for anything at all; undefined for everything: such a write is a group of its own. */
  readonly subject?: string | null | undefined;
}

/** Writes that are made together. */
export interface WriteGroup<Write> {
  readonly writes: Write[];
  readonly subjects: Set<string>;
}

/**
 * The writes of each project that wait for its turn. Those that come one after the other are a group
 * if they have different subjects, so that none changes what another one has checked.
 */
export class WaitingWrites<Write extends Subject> {
  /** The last group of a project, if others may still join, by the project's id. */
  readonly #open = new Map<string, WriteGroup<Write>>();
  readonly #counts = new Map<string, number>();

  /**
   * Adds a write to the last group of a project, or to a new one.
   *
   * @returns the group if it is new: the caller takes it when its turn has come; else null
   * @throws Unavailable if too many wait
   */
  add(project: string, write: Write): WriteGroup<Write> | null {
    const count = this.#counts.get(project) ?? 0;
    if (count >= MAX_WAITING) {
      throw tooManyWait();
    }
    this.#counts.set(project, count + 1);
    const { subject } = write;
    const open = subject === undefined ? undefined : this.#open.get(project);
    const isFree = typeof subject !== "string" || open?.subjects.has(subject) === false;
    if (open !== undefined && isFree && open.writes.length < MAX_GROUP) {
      open.writes.push(write);
      if (typeof subject === "string") open.subjects.add(subject);
      return null;
    }
    const subjects = new Set(typeof subject === "string" ? [subject] : []);
    const group = { writes: [write], subjects };
    if (subject === undefined) this.close(project);
    else this.#open.set(project, group);
    return group;
  }

  /** Lets nobody join the last group of a project: something else waits after it. */
  close(project: string): void {
    this.#open.delete(project);
  }

  /** Ends the wait of a group. */
  take(project: string, group: WriteGroup<Write>): readonly Write[] {
    if (this.#open.get(project) === group) this.#open.delete(project);
    const left = (this.#counts.get(project) ?? 0) - group.writes.length;
    if (left > 0) this.#counts.set(project, left);
    else this.#counts.delete(project);
    return group.writes;
  }
}

export function tooManyWait(): Unavailable {
  return new Unavailable("Too many changes are waiting for this project");
}

/** A write of a group that waits for the others. */
interface HeldWrite extends JoinedWrite {
  /** Its place in the group. */
  readonly index: number;
  readonly bytes: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * A repository as a group of writes sees it. The first write of each member waits until every other
 * one has made its first, or has ended. Then the engine gets them all as one message.
 */
export class JointRepository {
  readonly #repository: PooledRepository;
  readonly #after: ReceivedOptions["after"];
  readonly #sent: number[];
  #missing: number;
  #held: HeldWrite[] = [];
  #received: Received | null = null;
  /** Whether more may have been received. */
  #isStale = false;
  #hasWritten = false;

  /**
   * @param members how many members the group has
   * @param after from where on to tell what the repository has received
   */
  constructor(
    repository: PooledRepository,
    members: number,
    after: ReceivedOptions["after"],
  ) {
    this.#repository = repository;
    this.#missing = members;
    this.#after = after;
    this.#sent = Array.from({ length: members }, () => 0);
  }

  /** Whether the repository may have changed. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** What the repository has received since; null if that is not known. */
  get received(): Received | null {
    return this.#isStale ? null : this.#received;
  }

  /** The bytes that each member has sent to the engine. */
  get sent(): readonly number[] {
    return this.#sent;
  }

  /**
   * Lets a member read and write.
   *
   * @param index its place in the group
   */
  async use<T>(index: number, work: (repository: PooledRepository) => Promise<T>): Promise<T> {
    let isFirst = true;
    let count = 0;
    const leave = () => {
      if (!isFirst) return;
      isFirst = false;
      if (--this.#missing === 0) this.#send();
    };
    const write = (operation: WriteName) => (input: unknown, options?: CallOptions) => {
      count++;
      const bytes = bytesIn(input);
      this.#sent[index] = (this.#sent[index] ?? 0) + bytes;
      if (!isFirst) return this.#writeAlone(operation, further(input, count), options);
      return new Promise((resolve, reject) => {
        this.#held.push({ index, operation, input, bytes, resolve, reject });
        leave();
      });
    };
    const writes = Object.fromEntries(WRITE_NAMES.map((name) => [name, write(name)]));
    try {
      return await work({ ...this.#repository, ...writes });
    } finally {
      leave();
    }
  }

  #writeAlone(operation: WriteName, input: unknown, options?: CallOptions): Promise<unknown> {
    this.#isStale = true;
    this.#hasWritten = true;
    const call = this.#repository[operation] as (
      input: unknown,
      options?: CallOptions,
    ) => Promise<unknown>;
    return call(input, options);
  }

  #send(): void {
    const held = this.#held.sort((a, b) => a.index - b.index);
    this.#held = [];
    let batch: HeldWrite[] = [];
    let bytes = 0;
    for (const write of held) {
      if (batch.length > 0 && bytes + write.bytes > MAX_BYTES) {
        void this.#sendBatch(batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(write);
      bytes += write.bytes;
    }
    if (batch.length > 0) void this.#sendBatch(batch);
  }

  async #sendBatch(batch: readonly HeldWrite[]): Promise<void> {
    this.#hasWritten = true;
    try {
      const writes = batch.map(({ operation, input }) => ({ operation, input }));
      const { outcomes, received } = await this.#repository.writeTogether({
        writes,
        after: this.#after,
      });
      this.#received = received;
      for (const [at, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[at];
        if (outcome?.kind === "done") resolve(outcome.value);
        else reject(outcome === undefined ? new Error("A write has no outcome") : errorOf(outcome));
      }
    } catch (error) {
      this.#isStale = true;
      for (const { reject } of batch) reject(error);
    }
  }
}

/** The input of a further write of a member, which has the member's stamp. */
function further(input: unknown, count: number): unknown {
  if (typeof input !== "object" || input === null || !("mark" in input)) return input;
  const { mark } = input;
  return typeof mark === "string" ? furtherStamp({ ...input, mark }, count) : input;
}

/** Bytes of the texts and contents in plain data, about. */
function bytesIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += bytesIn(part);
  return sum;
}

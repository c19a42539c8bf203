import type { Compilable, Kysely } from "kysely";
import { Unavailable } from "../../kernel/errors.ts";
import type { FollowedTable, ReadOnTable } from "./followed.ts";
import type { NewEvent, Trim } from "./journal.ts";
import {
  type AppendedEvent,
  Duplicate,
  type Outcome,
  type SqlValue,
  type Statement,
  Unchanged,
  type WriteRequest,
  type WriteResponse,
} from "./protocol.ts";
import type { Tables } from "./schema.ts";
import type { Peers, Store, StoreWriter, Told } from "./store.ts";

/** Most transactions that wait for the writer; one more is refused. */
const MAX_PENDING = 10_000;

/** How often a transaction is tried again that a lost connection undid. */
const MAX_TRIES = 10;

/** Most transactions that the writer puts on disk in one step. */
const MAX_GROUP = 64;

/**
 * Hears that events can be read, up to a number. It must not throw.
 *
 * @param events the last of them, without a gap; null if they must be read
 */
export type AppendListener = (newest: number, events: readonly AppendedEvent[] | null) => void;

interface Pending {
  readonly statements: readonly Statement[];
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
  /** How often a lost connection undid it. */
  tries: number;
}

/**
 * The app database, in a {@linkcode Store}. Only the caller of a write waits for the disk. An
 * acknowledged write is on disk.
 */
export class Database {
  readonly #store: Store;
  readonly #appendListeners = new Set<AppendListener>();
  readonly #peerListeners = new Set<() => void>();
  readonly #wroteListeners = new Set<(table: ReadOnTable) => void>();
  readonly #toldListeners = new Set<(told: Told | null) => Promise<void>>();
  readonly #directories = new Set<Directory>();
  readonly #pending = new Map<number, Pending>();
  /** Transactions that the writer does not have yet. */
  #queue: WriteRequest[] = [];
  /** Whether nobody waits for any of them. */
  #isPatient = false;
  /** How many transactions the writer has not answered yet. */
  #running = 0;
  #writer: StoreWriter | null = null;
  #nextId = 1;
  #trouble: string | null = null;
  #settled = 0;
  /**
   * Whether a writer has failed since the directories were loaded: it may have committed without
   * reporting it.
   */
  #directoriesStale = false;
  #reloading: Promise<void> | null = null;
  /** How many loads of directories wait or are under way; no transaction begins meanwhile. */
  #loads = 0;
  #loading: Promise<void> = Promise.resolve();
  /** What the writer was given last. */
  #group: readonly WriteRequest[] = [];
  /** Called once the writer has answered what it has. */
  #onIdle: (() => void)[] = [];
  #closed = false;

  constructor(store: Store) {
    this.#store = store;
    store.peers?.listen({
      changed: (tables) => this.#takeChanges(tables),
      told: async (told) => {
        await Promise.all(Array.from(this.#toldListeners, (listener) => listener(told)));
      },
      appended: (newest, events) => this.#announce(newest, events),
      wrote: (table) => {
        for (const listener of this.#wroteListeners) listener(table);
      },
      looked: () => {
        for (const listener of this.#peerListeners) listener();
      },
    });
  }

  /** Builds queries of every kind and executes those that read. */
  get tables(): Kysely<Tables> {
    return this.#store.tables;
  }

  /**
   * Whether the directories hold what other programs have committed. If not, nobody may be let in by
   * them.
   */
  get isCurrent(): boolean {
    return this.#store.peers?.isCurrent ?? true;
  }

  /** The other programs that write this database; null if there can be none. */
  get peers(): Omit<Peers, "listen"> | null {
    return this.#store.peers;
  }

  /**
   * Calls a listener each second or so, when {@link peers} has looked at the others.
   *
   * @param listener must not throw
   * @returns a function that ends the subscription
   */
  onPeersLooked(listener: () => void): () => void {
    this.#peerListeners.add(listener);
    return () => this.#peerListeners.delete(listener);
  }

  /**
   * Calls a listener when another program has written rows that no directory holds. A call can get
   * lost: look again with {@link onPeersLooked}.
   *
   * @param listener must not throw
   * @returns a function that ends the subscription
   */
  onPeerWrote(listener: (table: ReadOnTable) => void): () => void {
    this.#wroteListeners.add(listener);
    return () => this.#wroteListeners.delete(listener);
  }

  /**
   * Calls a listener when a program, this one too, has added rows to the table that programs tell
   * each other. They wait for it.
   *
   * @param listener gets the rows, or null if it must read them; if it rejects, it is called again
   * after a moment
   * @returns a function that ends the subscription
   */
  onTold(listener: (told: Told | null) => Promise<void>): () => void {
    this.#toldListeners.add(listener);
    return () => this.#toldListeners.delete(listener);
  }

  /**
   * How many transactions of this program have ended. What a reader remembers holds until it grows,
   * as far as no other program writes: see {@link peers}.
   */
  get settled(): number {
    return this.#settled;
  }

  /** Why the last write failed because storage ran out, or null while all is well. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Writes a transaction: all of its statements and events, or nothing.
   *
   * @throws Duplicate, Unchanged as a statement's outcome
   * @throws Unavailable if the disk refuses or too many transactions wait
   */
  async commit({ statements = [], events = [] }: Change): Promise<Committed> {
    const written = this.#write({ statements, events, trim: null });
    this.flush();
    const { changes, sequence } = await written;
    return { changes, sequence };
  }

  /**
   * Like {@link commit}, for a change that nobody waits for: it is written with the next
   * transaction, or by {@link flush}.
   *
   * @throws like {@link commit}
   */
  async commitLater({ statements = [], events = [] }: Change): Promise<Committed> {
    if (this.#queue.length === 0) this.#isPatient = true;
    const { changes, sequence } = await this.#write({ statements, events, trim: null });
    return { changes, sequence };
  }

  /** Writes what {@link commitLater} has left. */
  flush(): void {
    this.#isPatient = false;
    this.#advance();
  }

  /**
   * Removes what retention does not keep from the beginning of the event log.
   *
   * @returns the number of removed rows
   * @throws Unavailable like {@link commit}
   */
  async trimEvents(trim: Trim): Promise<number> {
    if (!await this.#mayTrim(trim)) return 0;
    const written = this.#write({ statements: [], events: [], trim });
    this.flush();
    return (await written).trimmed;
  }

  /**
   * Loads a directory, now and whenever it may have missed a change. Load a directory after those
   * that it depends on.
   *
   * @throws what its `load` throws
   */
  async keepCurrent(directory: Directory): Promise<void> {
    await this.#load(async () => {
      await directory.load();
      this.#directories.add(directory);
    });
  }

  /**
   * Calls a listener when appended events can be read.
   *
   * @returns a function that ends the subscription
   */
  onAppended(listener: AppendListener): () => void {
    this.#appendListeners.add(listener);
    return () => this.#appendListeners.delete(listener);
  }

  /** Checks whether the disk accepts writes again after it refused one. */
  async probe(): Promise<void> {
    if (this.#trouble === null) return;
    await this.#reloadDirectories();
    if (this.#directoriesStale) return;
    const value = String(this.#nextId);
    const probe = this.tables.insertInto("settings").values({ key: "storage_probe", value })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }));
    await this.commit({ statements: [statement(probe, { mustChange: true })] }).catch(() => {});
  }

  /** The transactions that the writer has, and that wait for it. */
  get load(): { readonly running: number; readonly queued: number } {
    return { running: this.#running, queued: this.#queue.length };
  }

  /** Finishes the pending writes and closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#reloading;
    if (this.#queue.length > 0) this.#openWriter().write(this.#group = this.#queue);
    this.#queue = [];
    await this.#writer?.close();
    await this.#store.close();
  }

  /** Looks first: a write would start a thread, which a server without work does without. */
  async #mayTrim({ keep, before }: Trim): Promise<boolean> {
    const events = this.tables.selectFrom("events").select(["seq", "time"]).limit(1);
    const oldest = await events.orderBy("seq").executeTakeFirst();
    const newest = await events.orderBy("seq", "desc").executeTakeFirst();
    if (oldest === undefined || newest === undefined || oldest.seq === newest.seq) return false;
    return oldest.seq <= newest.seq - keep || oldest.time < before;
  }

  #write(
    request: Omit<WriteRequest, "id" | "statements"> & Required<Pick<Change, "statements">>,
  ): Promise<Outcome> {
    if (this.#closed || this.#pending.size >= MAX_PENDING) {
      return Promise.reject(this.#takesNoWrites());
    }
    const id = this.#nextId++;
    const { statements, ...rest } = request;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { statements, resolve, reject, tries: 0 });
      const wired = statements.map(({ sql, parameters, mustChange }) => (
        { sql, parameters, mustChange }
      ));
      this.#queue.push({ id, statements: wired, ...rest });
    });
  }

  /**
   * Gives the writer what waits, once it has answered what it had: transactions that come in while
   * it waits for the disk share the next wait. They also wait until the directories are current.
   */
  #advance(): void {
    if (this.#running > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
    if (this.#queue.length === 0 || this.#isPatient || this.#loads > 0) return;
    if (this.#directoriesStale) return void this.#reloadDirectories();
    this.#group = this.#queue.splice(0, MAX_GROUP);
    this.#running = this.#group.length;
    this.#openWriter().write(this.#group);
  }

  #openWriter(): StoreWriter {
    return this.#writer ??= this.#store.openWriter({
      onResponse: (response, confirmed) => {
        this.#running--;
        this.#advance();
        this.#settle(response, confirmed);
      },
      onBroken: (reason, isUndone = false) => this.#fail(reason, isUndone),
    });
  }

  #settle(response: WriteResponse, confirmed: Promise<void> | undefined): void {
    this.#settled++;
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.kind === "failed" && response.storage) this.#trouble = response.message;
    else if (response.kind === "committed") this.#trouble = null;
    if (pending === undefined) return;
    switch (response.kind) {
      case "committed": {
        const { changes, sequence, trimmed, appended = null } = response;
        for (const [index, { committed }] of pending.statements.entries()) {
          committed?.(changes[index] ?? 0);
        }
        const resolve = () => pending.resolve({ changes, sequence, trimmed });
        if (confirmed === undefined) resolve();
        else confirmed.then(resolve, pending.reject);
        const newest = sequence.at(-1);
        if (newest !== undefined) this.#announce(newest, appended);
        return;
      }
      case "unchanged":
        return pending.reject(new Unchanged(response.statement));
      case "duplicate":
        return pending.reject(new Duplicate(response.message));
      case "failed":
        return pending.reject(
          response.storage
            ? this.#takesNoWrites()
            : new Error(`Cannot write to the database: ${response.message}`),
        );
    }
  }

  #announce(newest: number, events: readonly AppendedEvent[] | null): void {
    for (const listener of this.#appendListeners) listener(newest, events);
  }

  /** Loads the directories of tables that other programs have changed. */
  async #takeChanges(tables: ReadonlySet<FollowedTable>): Promise<void> {
    const isStale = (directory: Directory) => directory.tables.some((table) => tables.has(table));
    // One that is loading for the first time may have read its rows before this change.
    if (this.#loads === 0 && ![...this.#directories].some(isStale)) return;
    await this.#load(() => this.#loadAgain(isStale));
  }

  /**
   * Loads directories while no transaction of this program is under way: what is read would
   * otherwise hide its change, or be hidden by it.
   */
  async #load(load: () => Promise<void>): Promise<void> {
    this.#loads++;
    const before = this.#loading;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loading = promise;
    try {
      await before;
      if (this.#running > 0) await new Promise<void>((idle) => this.#onIdle.push(idle));
      await load();
    } finally {
      resolve();
      this.#loads--;
      this.#advance();
    }
  }

  /**
   * Handles a failed writer: rejects the writes that it had, unless it wrote nothing. The others go
   * to a new one, once the directories are loaded.
   */
  #fail(message: string, isUndone: boolean): void {
    this.#trouble = message;
    this.#writer = null;
    const had = this.#group.filter(({ id }) => this.#pending.has(id));
    const again = had.filter(({ id }) => isUndone && this.#mayTryAgain(id));
    for (const request of had) if (!again.includes(request)) this.#reject(request.id);
    this.#queue.unshift(...again);
    this.#group = [];
    this.#running = 0;
    this.#directoriesStale = true;
    void this.#reloadDirectories();
  }

  /** A transaction that ends each connection must not be tried forever. */
  #mayTryAgain(id: number): boolean {
    const pending = this.#pending.get(id);
    return pending !== undefined && pending.tries++ < MAX_TRIES;
  }

  #rejectAll(): void {
    for (const id of [...this.#pending.keys()]) this.#reject(id);
    this.#queue = [];
  }

  #reject(id: number): void {
    this.#pending.get(id)?.reject(this.#takesNoWrites());
    this.#pending.delete(id);
  }

  #takesNoWrites(): Unavailable {
    return new Unavailable(`${this.#store.title} cannot be written at the moment`);
  }

  /** Loads directories in their order, and lets them tell of it. */
  async #loadAgain(isStale: (directory: Directory) => boolean): Promise<void> {
    const loaded: Directory[] = [];
    try {
      for (const directory of this.#directories) {
        if (!isStale(directory)) continue;
        await directory.load();
        loaded.push(directory);
      }
    } finally {
      for (const directory of loaded) directory.announce?.();
    }
  }

  /** If this fails, the next {@link probe} or transaction tries again. */
  #reloadDirectories(): Promise<void> {
    return this.#reloading ??= this.#load(() => this.#reload()).finally(() => {
      this.#reloading = null;
      this.#advance();
    });
  }

  async #reload(): Promise<void> {
    while (this.#directoriesStale) {
      this.#directoriesStale = false;
      try {
        await this.#store.settle();
        await this.#loadAgain(() => true);
      } catch (error) {
        this.#directoriesStale = true;
        this.#trouble = error instanceof Error ? error.message : String(error);
        this.#rejectAll();
        return;
      }
    }
  }
}

/** What one transaction writes. */
export interface Change {
  readonly statements?: readonly Statement[];
  readonly events?: readonly NewEvent[];
}

/** What a committed transaction did; see {@linkcode Outcome}. */
export type Committed = Pick<Outcome, "changes" | "sequence">;

/**
 * Turns a query into a statement of a transaction.
 *
 * @param query an insert, update or delete, built with {@link Database.tables}
 * @param options `mustChange` rolls back the transaction if the statement changes no row;
 * `committed` is called once the transaction is on disk
 */
export function statement(
  query: Compilable,
  options: { mustChange?: boolean; committed?: (changes: number) => void } = {},
): Statement {
  const { sql, parameters } = query.compile();
  return {
    sql,
    parameters: parameters as readonly SqlValue[],
    mustChange: options.mustChange ?? false,
    ...(options.committed === undefined ? {} : { committed: options.committed }),
  };
}

/**
 * Rows held in memory, for code that cannot wait for a read. The statements that change these rows
 * keep them current: see {@linkcode Statement.committed}.
 */
export interface Directory {
  /** The tables whose rows it holds. */
  readonly tables: readonly FollowedTable[];
  /** Reads all of its rows and replaces the earlier ones. */
  load(): Promise<void>;
  /**
   * Tells its listeners what the last load has changed. Every directory is loaded by then, but the
   * first load is not announced. It must not throw.
   */
  announce?(): void;
}

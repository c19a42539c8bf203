import { setImmediate } from "node:timers";
import type { StoredEnd } from "../journal.ts";
import {
  type AppendedEvent,
  Undone,
  type WireStatement,
  type WriteRequest,
  type WriteResponse,
} from "../protocol.ts";
import type { StoreWriter, WriterListener } from "../store.ts";
import { isRefusal, type Query, type QueryOutcome, reasonOf } from "./connection.ts";
import { endOf, LOG_LOCK, type PostgresJournal, READ_END } from "./postgres_journal.ts";
import { COMMIT, Ended, outcomeOf, type WritingSession } from "./session.ts";

/** PostgreSQL's code for a broken UNIQUE or PRIMARY KEY constraint. */
const UNIQUE_VIOLATION = "23505";

/**
 * PostgreSQL's codes that say that it cannot write: no resources, a database to read only, or
 * another node that does not end its transaction.
 */
const STORAGE_CODES = /^(?:53|58|25006|55P03)/;

export interface PostgresWriterOptions {
  readonly journal: PostgresJournal;
  /** Connects, if the writer has no session yet. */
  readonly open: () => Promise<WritingSession>;
  readonly listener: WriterListener;
  /** Null if no other program writes. */
  readonly cluster: WriterCluster | null;
}

/** What a writer must know of other nodes. */
export interface WriterCluster {
  /**
   * The query before the end of a transaction.
   *
   * @param appended the events that it appends
   */
  closing(appended: readonly AppendedEvent[]): Query;
  /**
   * Called once what that query found is committed. Settles when other nodes have seen it; null if they
   * need not see it.
   */
  confirmed(closing: QueryOutcome): Promise<void> | null;
}

/** What became of transactions, and what the query before their end found. */
interface Executed {
  readonly responses: readonly WriteResponse[];
  readonly closing: QueryOutcome | null;
}

/** Executes transactions in turn in a {@linkcode WritingSession}. */
export class PostgresWriter implements StoreWriter {
  readonly #options: PostgresWriterOptions;
  #session: Promise<WritingSession> | null = null;
  #last: Promise<void> = Promise.resolve();
  #isBroken = false;
  /** Whether transactions are under way: they find out themselves that the connection is lost. */
  #isWriting = false;

  constructor(options: PostgresWriterOptions) {
    this.#options = options;
  }

  write(group: readonly WriteRequest[]): void {
    this.#last = this.#last.then(() => this.#respond(group));
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#closeSession();
  }

  async #respond(group: readonly WriteRequest[]): Promise<void> {
    if (this.#isBroken) return;
    let session: WritingSession;
    try {
      session = await this.#open();
    } catch (error) {
      return this.#break(reasonOf(error), true);
    }
    if (this.#isBroken) return;
    this.#isWriting = true;
    try {
      for await (const executed of this.#execute(session, group)) await this.#answer(executed);
      if (session.isOver) this.#break("The connection to PostgreSQL was closed", true);
    } catch (error) {
      this.#break(reasonOf(error), error instanceof Ended);
    } finally {
      this.#isWriting = false;
    }
  }

  #open(): Promise<WritingSession> {
    return this.#session ??= this.#options.open().then((session) => {
      session.onOver = (reason) => {
        if (!this.#isWriting) this.#break(reason, true);
      };
      return session;
    });
  }

  /** @param isUndone whether nothing is written that was not answered; otherwise it is unknown */
  #break(reason: string, isUndone = false): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    void this.#closeSession();
    this.#options.listener.onBroken(reason, isUndone);
  }

  async #closeSession(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    await session?.close();
  }

  /** Executes transactions in turn, with one wait for the disk. Each does everything or nothing. */
  async *#execute(
    session: WritingSession,
    requests: readonly WriteRequest[],
  ): AsyncGenerator<Executed> {
    if (requests.length > 1) {
      try {
        return yield await this.#together(session, requests);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // One of them fails on its own.
        await session.run([["ROLLBACK"]]);
      }
    }
    for (const request of requests) yield await this.#alone(session, request);
  }

  async #alone(session: WritingSession, request: WriteRequest): Promise<Executed> {
    try {
      const transaction = new Transaction(session, this.#options.journal);
      const response = await transaction.perform(
        request,
        this.#beginning([request]),
        () => this.#ending(transaction),
      );
      return { responses: [response], closing: this.#closingOf(transaction.ended) };
    } catch (error) {
      const response = refusal(request, error);
      await session.run([["ROLLBACK"]]);
      return { responses: [response], closing: null };
    }
  }

  /** @throws what is wrong with more than the rows that one of them meets */
  async #together(
    session: WritingSession,
    requests: readonly WriteRequest[],
  ): Promise<Executed> {
    await session.run(this.#beginning(requests));
    const transaction = new Transaction(session, this.#options.journal);
    const responses: WriteResponse[] = [];
    for (const request of requests) responses.push(await inGroup(session, transaction, request));
    const ended = await session.run(this.#ending(transaction));
    return { responses, closing: this.#closingOf(ended) };
  }

  async #answer({ responses, closing }: Executed): Promise<void> {
    const { cluster, listener } = this.#options;
    const confirmed = closing === null ? null : cluster?.confirmed(closing) ?? null;
    // If nobody waits for it any more, its failure must not end the program.
    confirmed?.catch(() => {});
    for (const response of responses) {
      if (this.#isBroken) return;
      listener.onResponse(response, confirmed ?? undefined);
      // Its caller continues before the next one's change shows in memory. In a cluster it waits for
      // other nodes, and what they commit meanwhile must find all of these changes there.
      if (cluster === null) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** The queries that begin a transaction. Those of several nodes happen one after another. */
  #beginning(requests: readonly WriteRequest[]): Query[] {
    return this.#options.cluster !== null || requests.some(appends)
      ? [["BEGIN"], LOG_LOCK]
      : [["BEGIN"]];
  }

  /** The queries that end a transaction. */
  #ending({ appended }: Transaction): Query[] {
    const { cluster } = this.#options;
    return cluster === null ? [COMMIT] : [cluster.closing(appended), COMMIT];
  }

  #closingOf(ended: readonly QueryOutcome[]): QueryOutcome | null {
    return this.#options.cluster === null ? null : ended[0] ?? null;
  }
}

/** Whether a transaction changes the event log. */
function appends({ events, trim }: WriteRequest): boolean {
  return events.length > 0 || trim !== null;
}

async function inGroup(
  session: WritingSession,
  transaction: Transaction,
  request: WriteRequest,
): Promise<WriteResponse> {
  const { end, appended } = transaction;
  try {
    return await transaction.perform(request, [["SAVEPOINT request"]], () => [
      ["RELEASE SAVEPOINT request"],
    ]);
  } catch (error) {
    const response = refusal(request, error);
    if (response.kind === "failed") throw error;
    await session.run([["ROLLBACK TO SAVEPOINT request"], ["RELEASE SAVEPOINT request"]]);
    Object.assign(transaction, { end, appended });
    return response;
  }
}

/** A transaction that is open in a session. */
class Transaction {
  readonly #session: WritingSession;
  readonly #journal: PostgresJournal;
  /** The end of the log, as this transaction leaves it; null before it was read. */
  end: StoredEnd | null = null;
  /** The events that it appends. */
  appended: readonly AppendedEvent[] = [];
  /** What the queries that ended it found. */
  ended: readonly QueryOutcome[] = [];

  constructor(session: WritingSession, journal: PostgresJournal) {
    this.#session = session;
    this.#journal = journal;
  }

  /**
   * Executes what a request asks for, in two round trips, or one if nothing depends on another.
   *
   * @param before the queries that begin it
   * @param after the queries that end it
   */
  async perform(
    { id, statements, events, trim }: WriteRequest,
    before: readonly Query[],
    after: () => readonly Query[],
  ): Promise<WriteResponse> {
    const [first, ...others] = events;
    const isSure = first === undefined && trim === null &&
      statements.every(({ mustChange }) => !mustChange);
    const reads = first !== undefined && this.end === null ? [READ_END] : [];
    const settled = await this.#session.send([
      ...before,
      ...statements.map(({ sql, parameters }): Query => [sql, parameters]),
      ...reads,
      ...isSure ? after() : [],
    ]);
    settled.slice(0, before.length).forEach(outcomeOf);
    const rest = settled.slice(before.length);
    const changes = changesOf(statements, rest);
    const ended = rest.slice(statements.length).map(outcomeOf);
    const done = { id, kind: "committed", changes } as const;
    if (isSure) {
      this.ended = ended;
      return { ...done, sequence: [], trimmed: 0 };
    }
    const extension = first === undefined
      ? null
      : this.#journal.append(this.end ?? endOf(ended[0]), [first, ...others]);
    const { sequence = [], appended = [], queries: writes = [] } = extension ?? {};
    this.end = extension?.end ?? this.end;
    this.appended = [...this.appended, ...appended];
    if (trim === null) {
      this.ended = (await this.#session.run([...writes, ...after()])).slice(writes.length);
      return { ...done, sequence, appended, trimmed: 0 };
    }
    await this.#session.run(writes);
    const trimmed = await this.#journal.trim(this.#session, trim);
    this.ended = await this.#session.run(after());
    return { ...done, sequence, appended, trimmed };
  }
}

/** @throws the first error, or Undone for the first statement that had to change a row */
function changesOf(
  statements: readonly WireStatement[],
  settled: readonly PromiseSettledResult<QueryOutcome>[],
): number[] {
  return statements.map(({ mustChange }, index) => {
    const found = settled[index];
    const changed = found === undefined ? 0 : outcomeOf(found).changed;
    if (changed === 0 && mustChange) throw new Undone(index);
    return changed;
  });
}

/**
 * Why nothing of a transaction was written.
 *
 * @throws an error of the connection
 */
function refusal({ id }: WriteRequest, error: unknown): WriteResponse {
  if (error instanceof Undone) return { id, kind: "unchanged", statement: error.statement };
  if (!isRefusal(error)) throw error;
  const { message, code = "" } = error;
  if (code === UNIQUE_VIOLATION) return { id, kind: "duplicate", message };
  return { id, kind: "failed", message, storage: STORAGE_CODES.test(code) };
}

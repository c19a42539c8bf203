// @ts-types="./pg.d.ts"
import pg, { type Client } from "pg";
import { DatabaseError } from "../migrate.ts";
import {
  clientOptions,
  isEnd,
  isRefusal,
  type Query,
  QUERY_MILLISECONDS,
  type QueryOutcome,
  reasonOf,
  requireServing,
  shownUrl,
  StatementNames,
  STAY,
  storable,
} from "./connection.ts";
import { naming } from "./lease.ts";
import type { PostgresSettings } from "./settings.ts";

/**
 * How long to wait for another program to end: PostgreSQL learns after a moment that a killed one
 * is gone.
 */
const PATIENCE_MILLISECONDS = 10_000;

/** How long a node may hang in a transaction, for which other nodes wait, in milliseconds. */
const HANG_MILLISECONDS = 5_000;

/** PostgreSQL's code for a lock that was not available in time. */
const LOCK_NOT_AVAILABLE = "55P03";

/** Most statements kept prepared. */
const PREPARED_STATEMENTS = 200;

/** How a lock of the connection is taken, and its name. */
type Lock = readonly [take: "pg_advisory_lock" | "pg_advisory_lock_shared", name: string];

const ALONE: Lock = ["pg_advisory_lock", "muster "];
const TOGETHER: Lock = ["pg_advisory_lock_shared", "muster "];
/** Nodes that want to be alone wait in line for it, and let go of {@linkcode TOGETHER} meanwhile. */
const NEXT: Lock = ["pg_advisory_lock", "muster next "];

/** A lock was not available in time; the message says who holds it. */
class InUse extends Error {
  override readonly name = "InUse";
}

/** PostgreSQL ended the connection before it came to the end of the transaction, which it undid. */
export class Ended extends Error {
  override readonly name = "Ended";
}

/** Writes what a transaction did. */
export const COMMIT: Query = ["COMMIT"];

/**
 * The only connection of this program that writes. It holds locks, so that a program without the
 * name of a node is alone with the database, and each node's name is in use once.
 */
export class WritingSession {
  readonly #client: Client;
  readonly #names = new StatementNames(PREPARED_STATEMENTS);
  #isOver = false;
  #onOver: (reason: string) => void = () => {};

  private constructor(client: Client) {
    this.#client = client;
    client.on("error", (error) => this.#end(reasonOf(error)));
    client.on("end", () => this.#end("The connection to PostgreSQL was closed"));
  }

  /**
   * Connects and takes the locks.
   *
   * @param node the name of this node; null for a program that is alone
   * @param patience how long to wait for another program to end, in milliseconds
   * @throws DatabaseError if PostgreSQL cannot be reached, does not serve, or is in use
   */
  static async open(
    settings: PostgresSettings,
    node: string | null,
    patience = PATIENCE_MILLISECONDS,
  ): Promise<WritingSession> {
    const client = new pg.Client({
      ...clientOptions(settings),
      pipeline: true,
      lock_timeout: patience,
      // A program that hangs in a transaction does not hold its locks for long.
      idle_in_transaction_session_timeout: node === null ? QUERY_MILLISECONDS : HANG_MILLISECONDS,
    });
    const session = new WritingSession(client);
    try {
      await client.connect();
      await client.query(STAY);
      await requireServing(client, settings.url);
      if (node === null) await session.#lock(ALONE, "another muster");
      else await session.#enter(node);
      return session;
    } catch (error) {
      await session.close();
      const shown = `The database "${shownUrl(settings.url)}"`;
      if (error instanceof InUse) throw new DatabaseError(`${shown} is in use by ${error.message}`);
      if (error instanceof DatabaseError) throw error;
      throw new DatabaseError(`${shown} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
  }

  /**
   * Works alone in the database of several nodes, unless another node has done the work meanwhile.
   *
   * @throws DatabaseError if another node goes on using it
   */
  async alone(isDone: () => Promise<boolean>, work: () => Promise<void>): Promise<void> {
    try {
      await this.#unlock(TOGETHER);
      await this.#lock(NEXT, "a node that brings it up to date");
      if (await isDone()) await this.#lock(TOGETHER, "another muster");
      else {
        await this.#lock(ALONE, "nodes of an older version: stop all of them first");
        await work();
        await this.#lock(TOGETHER, "another muster");
        await this.#unlock(ALONE);
      }
      await this.#unlock(NEXT);
    } catch (error) {
      if (!(error instanceof InUse)) throw error;
      throw new DatabaseError(`The database is in use by ${error.message}`);
    }
  }

  /** Calls a listener when the connection is lost. */
  set onOver(listener: (reason: string) => void) {
    this.#onOver = listener;
  }

  /** Whether the connection is lost or closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Executes statements without parameters, however long they take. */
  async execute(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  /**
   * Sends queries at once, and waits for all of them. In a transaction, those after a failed one
   * fail too. If PostgreSQL ended the connection before {@link COMMIT}, the first error is
   * {@link Ended}.
   */
  async send(queries: readonly Query[]): Promise<PromiseSettledResult<QueryOutcome>[]> {
    const { stream } = this.#client.connection;
    const late = setTimeout(() => stream.destroy(), QUERY_MILLISECONDS);
    // They go out in one packet.
    stream.cork();
    const outcomes = queries.map((query) => this.#query(query));
    stream.uncork();
    try {
      const settled = await Promise.allSettled(outcomes);
      const first = settled.findIndex(({ status }) => status === "rejected");
      const failed = settled[first];
      if (failed?.status === "rejected" && isEnd(failed.reason) && queries[first] !== COMMIT) {
        failed.reason = new Ended(reasonOf(failed.reason));
      }
      return settled;
    } finally {
      clearTimeout(late);
    }
  }

  /**
   * Sends queries at once.
   *
   * @throws the error of the first one that failed
   */
  async run(queries: readonly Query[]): Promise<QueryOutcome[]> {
    return (await this.send(queries)).map(outcomeOf);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#client.end().catch(() => {});
  }

  async #query([text, parameters = []]: Query): Promise<QueryOutcome> {
    const { rows, rowCount } = await this.#client.query({
      text,
      values: parameters.map(storable),
      ...this.#names.of(text),
    });
    return { rows, changed: rowCount ?? 0 };
  }

  /** Takes the locks of a node. */
  async #enter(node: string): Promise<void> {
    await this.#lock(TOGETHER, "a muster that has no node.name");
    await this.#lock(["pg_advisory_lock", `muster node ${node} `], `another node "${node}"`);
    await this.run([naming(node)]);
  }

  /** @throws InUse if another program has it and does not end in time */
  async #lock([take, name]: Lock, holder: string): Promise<void> {
    try {
      await this.#client.query(
        `SELECT ${take}(hashtextextended($1 || current_schema(), 0))`,
        [name],
      );
    } catch (error) {
      if (isRefusal(error) && error.code === LOCK_NOT_AVAILABLE) throw new InUse(holder);
      throw error;
    }
  }

  async #unlock([take, name]: Lock): Promise<void> {
    const release = take.replace("_lock", "_unlock");
    await this.#client.query(
      `SELECT ${release}(hashtextextended($1 || current_schema(), 0))`,
      [name],
    );
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver(reason);
  }
}

/** @throws the error of a failed query */
export function outcomeOf(settled: PromiseSettledResult<QueryOutcome>): QueryOutcome {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
// @ts-types="./pg.d.ts"
import pg, { type ClientBase, type Pool, type PoolClient } from "pg";
import { Unavailable } from "../../../kernel/errors.ts";
import type { SqlValue } from "../protocol.ts";
import {
  clientOptions,
  isCut,
  isRefusal,
  QUERY_MILLISECONDS,
  StatementNames,
  STAY,
  storable,
} from "./connection.ts";
import type { PostgresSettings } from "./settings.ts";

/** Most connections that read. */
const CONNECTIONS = 8;

/** How long an idle connection is kept, in milliseconds. */
const IDLE_MILLISECONDS = 60_000;

/** Most statements that each connection keeps prepared. */
const PREPARED_STATEMENTS = 200;

/** What reads begin with. */
const READING = /^[\s(]*(?:select|with)\b/i;

/** Connections that read. They refuse all other queries, which go to the writer. */
export class ReadingPool implements PostgresPool {
  readonly options: object = {};
  readonly #pool: Pool;
  readonly #names = new StatementNames(PREPARED_STATEMENTS);

  constructor(settings: PostgresSettings) {
    this.#pool = new pg.Pool({
      ...clientOptions(settings),
      max: CONNECTIONS,
      idleTimeoutMillis: IDLE_MILLISECONDS,
      query_timeout: QUERY_MILLISECONDS,
      statement_timeout: QUERY_MILLISECONDS,
      onConnect: async (client: ClientBase) => {
        // The query that a lost connection had meets the error too; unheard, it ends the program.
        client.on("error", () => {});
        await client.query(`SET default_transaction_read_only = on; ${STAY}`);
      },
    });
    // An idle connection that is lost is replaced; a query that needs one meets the error.
    this.#pool.on("error", () => {});
  }

  async connect(): Promise<PostgresPoolClient> {
    return new ReadingClient(this.#pool, await connected(this.#pool), this.#names);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** @throws Unavailable */
async function connected(pool: Pool): Promise<PoolClient> {
  for (let tries = 0;; tries++) {
    try {
      return await pool.connect();
    } catch (error) {
      if (tries > CONNECTIONS || !isCut(error)) throw cannotRead(error);
    }
  }
}

function cannotRead(cause: unknown): Unavailable {
  return new Unavailable("PostgreSQL cannot be read at the moment", { cause });
}

class ReadingClient implements PostgresPoolClient {
  readonly #pool: Pool;
  /** Null while a lost one is not replaced. */
  #client: PoolClient | null;
  readonly #names: StatementNames;
  #isLost = false;

  constructor(pool: Pool, client: PoolClient, names: StatementNames) {
    this.#pool = pool;
    this.#client = client;
    this.#names = names;
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query(): never;
  async query<Row>(
    sql = "",
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> {
    if (!READING.test(sql)) {
      throw new TypeError("Cannot execute a query that writes on a reading connection");
    }
    const values = (parameters as SqlValue[]).map(storable);
    const query = { text: sql, values, ...this.#names.of(sql) };
    const read = async (client: PoolClient) => (
      await client.query(query) as unknown as PostgresQueryResult<Row>
    );
    for (let tries = 0;; tries++) {
      try {
        return await read(this.#client ??= await connected(this.#pool));
      } catch (error) {
        if (isRefusal(error) || error instanceof Unavailable) throw error;
        if (isTimeout(error) || tries > CONNECTIONS) return this.#lose(error);
        // The connection was closed, perhaps long ago, and others too. What reads may be asked for
        // again.
        this.#client?.release(true);
        this.#client = null;
      }
    }
  }

  #lose(error: unknown): never {
    this.#isLost = true;
    throw cannotRead(error);
  }

  release(): void {
    this.#client?.release(this.#isLost);
  }
}

/** Whether a query took too long. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

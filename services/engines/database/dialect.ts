import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Unavailable } from "../../kernel/errors.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { SqlValue } from "./protocol.ts";
import { isTrouble } from "./sqlite/mod.ts";

/** Most prepared statements kept. */
const CACHED_STATEMENTS = 200;

/**
 * The Kysely dialect of the reading connection. It executes queries that read and refuses all
 * others, which go to the writer as compiled statements.
 */
export function readingDialect(database: DatabaseSync): Dialect {
  const connection = new ReadingConnection(database);
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ReadingDriver(connection),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class ReadingConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new BoundedMap<string, StatementSync>(CACHED_STATEMENTS);

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    if (query.kind !== "SelectQueryNode") {
      return Promise.reject(
        new TypeError(`Cannot execute a ${query.kind} on the reading connection`),
      );
    }
    try {
      const rows = this.#prepared(sql).all(...parameters as SqlValue[]) as Row[];
      return Promise.resolve({ rows });
    } catch (error) {
      if (!isTrouble(error)) throw error;
      const message = "The database cannot be read at the moment";
      return Promise.reject(new Unavailable(message, { cause: error }));
    }
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError("Cannot stream from the reading connection");
  }
}

class ReadingDriver implements Driver {
  readonly #connection: ReadingConnection;

  constructor(connection: ReadingConnection) {
    this.#connection = connection;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }

  beginTransaction(): Promise<void> {
    return Promise.reject(new TypeError("Cannot begin a transaction on the reading connection"));
  }

  commitTransaction(): Promise<void> {
    return this.beginTransaction();
  }

  rollbackTransaction(): Promise<void> {
    return this.beginTransaction();
  }

  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

/** The parts of `pg` that muster uses. Its own types would replace those of Node in the whole tree. */

/** A query with parameters; a name keeps it prepared. */
export interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
  /** Milliseconds. */
  readonly query_timeout?: number;
}

export interface QueryResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number | null;
  readonly command: string;
}

/** Options of a connection; times are milliseconds. */
export interface ClientConfig {
  readonly connectionString?: string;
  readonly application_name?: string;
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive?: boolean;
  readonly pipeline?: boolean;
  readonly lock_timeout?: number;
  readonly idle_in_transaction_session_timeout?: number;
  readonly query_timeout?: number;
  readonly statement_timeout?: number;
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown };
}

export interface PoolConfig extends ClientConfig {
  readonly max?: number;
  readonly idleTimeoutMillis?: number;
  readonly onConnect?: (client: ClientBase) => Promise<void>;
}

export interface ClientBase {
  on(event: "error", listener: (error: Error) => void): this;
  query<Row = Record<string, unknown>>(
    query: string | QueryConfig,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}

export interface PoolClient extends ClientBase {
  /** @param destroy whether the connection is of no use any more */
  release(destroy?: boolean): void;
}

declare class Client implements ClientBase {
  constructor(config: ClientConfig);
  /** Its stream holds back what is written between `cork` and `uncork`. */
  readonly connection: {
    readonly stream: { cork(): void; uncork(): void; destroy(): void };
  };
  connect(): Promise<void>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: "end", listener: () => void): this;
  on(event: "notification", listener: (message: { readonly payload?: string }) => void): this;
  query<Row = Record<string, unknown>>(
    query: string | QueryConfig,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}

declare class Pool {
  constructor(config: PoolConfig);
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): this;
}

/** An error that PostgreSQL reports. */
declare class DatabaseError extends Error {
  readonly severity: string | undefined;
  /** SQLSTATE. */
  readonly code: string | undefined;
}

declare const pg: {
  readonly Client: typeof Client;
  readonly Pool: typeof Pool;
  readonly DatabaseError: typeof DatabaseError;
  readonly types: { getTypeParser(oid: number, format?: string): (text: string) => unknown };
};

export type { Client, DatabaseError, Pool };
export default pg;

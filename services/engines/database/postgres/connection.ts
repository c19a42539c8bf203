// @ts-types="./pg.d.ts"
import pg, { type Client, type ClientConfig, type DatabaseError as RefusedQuery } from "pg";
import { DatabaseError } from "../migrate.ts";
import type { SqlValue } from "../protocol.ts";
import type { PostgresSettings } from "./settings.ts";

/** A query and its parameters. */
export type Query = readonly [sql: string, parameters?: readonly SqlValue[]];

/** What a query did. */
export interface QueryOutcome {
  readonly rows: readonly Record<string, unknown>[];
  readonly changed: number;
}

/** The oldest version that serves, as PostgreSQL numbers them. */
const OLDEST_VERSION = 150_000;

const CONNECT_MILLISECONDS = 10_000;

/** How long a query may take, in milliseconds. */
export const QUERY_MILLISECONDS = 60_000;

const [BOOLEAN, BIGINT, NUMERIC] = [16, 20, 1700];

/** Types that come as the same JavaScript values as from SQLite. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [BOOLEAN, (text: string): unknown => text === "t" ? 1 : 0],
  [BIGINT, Number],
  [NUMERIC, Number],
]);

/**
 * The first query of a connection that stays open while it has nothing to do, which an operator may
 * otherwise limit.
 */
export const STAY = "SET idle_session_timeout = 0";

/** The options of every connection. */
export function clientOptions({ url, password }: PostgresSettings): ClientConfig {
  return {
    connectionString: withPassword(url, password),
    application_name: "muster",
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    keepAlive: true,
    types: {
      getTypeParser: (oid: number, format?: string) =>
        (format !== "binary" ? PARSERS.get(oid) : undefined) ??
          pg.types.getTypeParser(oid, format),
    },
  };
}

function withPassword(url: string, password: string | null): string {
  if (password === null) return url;
  const parsed = new URL(url);
  parsed.password = encodeURIComponent(password);
  return parsed.href;
}

/** The URL without a password, for messages. */
export function shownUrl(url: string): string {
  const parsed = new URL(url);
  parsed.password = "";
  parsed.search = "";
  return parsed.href;
}

/** Whether PostgreSQL refused a statement; otherwise, the connection is of no use any more. */
export function isRefusal(error: unknown): error is RefusedQuery {
  return error instanceof pg.DatabaseError && error.severity === "ERROR";
}

/**
 * Whether PostgreSQL itself ended the connection, and so the transaction of the query that met this
 * (ErrorResponse of severity FATAL), or had ended it before it took all of what was sent.
 */
export function isEnd(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.severity === "FATAL";
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** PostgreSQL's codes for a connection that it ends on somebody's word, or because it was idle. */
const ENDINGS = ["57P01", "57P05"];

/**
 * Whether a connection was closed before it was ready. Nothing was written in it, so another one may
 * take its place at once. It is none that PostgreSQL refuses, as it does while it starts.
 *
 * @param error also one that has it as its cause
 */
export function isCut(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return ENDINGS.includes(error.code ?? "");
  const isBroken = "code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET");
  return isBroken || error.message === "Connection terminated unexpectedly" || isCut(error.cause);
}

export function reasonOf(error: unknown): string {
  // Deno reports a refused connection to several addresses as an error without a message.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** A parameter that PostgreSQL takes: its texts have no NUL, and no half of a character. */
export function storable(value: SqlValue): SqlValue {
  return typeof value === "string" ? value.replaceAll("\0", "\ufffd").toWellFormed() : value;
}

/** What a database says of itself. */
interface Served {
  readonly version: number;
  readonly name: string;
  readonly encoding: string;
  readonly schema: string | null;
}

/**
 * Checks whether a database is one that serves.
 *
 * @throws DatabaseError if it is too old, has another encoding, or no schema
 */
export async function requireServing(client: Client, url: string): Promise<void> {
  const { rows: [found] } = await client.query<Served>(
    `SELECT current_setting('server_version_num')::bigint AS version,
       current_setting('server_version') AS name,
       current_setting('server_encoding') AS encoding, current_schema() AS schema`,
  );
  const refuse = (message: string) => {
    throw new DatabaseError(`The database "${shownUrl(url)}" ${message}`);
  };
  if (found === undefined) return refuse("does not say what it is");
  if (found.version < OLDEST_VERSION) {
    refuse(`runs PostgreSQL ${found.name}: muster needs version 15 or newer`);
  }
  if (found.encoding !== "UTF8") refuse(`has the encoding ${found.encoding}: muster needs UTF8`);
  if (found.schema === null) refuse("has no schema in its search_path: create one");
}

/** Names statements, so that PostgreSQL keeps them prepared. */
export class StatementNames {
  readonly #most: number;
  readonly #names = new Map<string, string>();

  /** @param most how many get a name: the first ones */
  constructor(most: number) {
    this.#most = most;
  }

  /** The name of a statement, as a field of its query; no field if it has none. */
  of(sql: string): { readonly name?: string } {
    const known = this.#names.get(sql);
    if (known !== undefined) return { name: known };
    if (this.#names.size >= this.#most) return {};
    const name = `muster_${this.#names.size}`;
    this.#names.set(sql, name);
    return { name };
  }
}

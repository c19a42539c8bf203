import type { CompiledQuery, Selectable } from "kysely";
import type { Database, Tables } from "../database/mod.ts";

type EventRow = Selectable<Tables["events"]>;

/** An event as it is read from the log. */
export interface LoggedEvent {
  /** Its number, by which a reader takes up where it was. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly type: string;
  /** Kind and name of the actor, such as `operator` or `agent:coder-1`. */
  readonly actor: string;
  /** The actor's internal id, which its name may outlive. */
  readonly actor_id: string | null;
  /** The client's IP address. */
  readonly address: string | null;
  /** The id of the request that caused it. */
  readonly cause: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** SHA-256 over this row and the hash of the row before it. */
  readonly hash: string;
}

/** What one look into the log asks for. */
export interface Span {
  /** Rows after this number ... */
  readonly after: number;
  /** ... up to this one. */
  readonly until: number;
  /** Names of types, each whole or with `*` for its end. */
  readonly types: readonly string[];
  readonly limit: number;
}

/** Reads rows of the log. */
export class EventRows {
  readonly #database: Database;
  readonly #next: CompiledQuery<EventRow>;

  constructor(database: Database) {
    this.#database = database;
    this.#next = database.tables.selectFrom("events").selectAll()
      .where("seq", ">", 0).orderBy("seq").limit(0).compile();
  }

  /** The numbers of the oldest and the newest row; 0 where there is none. */
  async ends(): Promise<{ oldest: number; newest: number }> {
    const row = await this.#database.tables.selectNoFrom((builder) => [
      builder.selectFrom("events").select(({ fn }) => fn.min("seq").as("seq")).as("oldest"),
      builder.selectFrom("events").select(({ fn }) => fn.max("seq").as("seq")).as("newest"),
    ]).executeTakeFirst();
    return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
  }

  /** The first rows after a number, of every type. The query is compiled once: each commit asks. */
  async next(after: number, limit: number): Promise<LoggedEvent[]> {
    const query: CompiledQuery<EventRow> = { ...this.#next, parameters: [after, limit] };
    const { rows } = await this.#database.tables.executeQuery(query);
    return rows.map(readRow);
  }

  /** The first rows of a span, oldest first. */
  async first(span: Span): Promise<LoggedEvent[]> {
    const rows = await this.#matching(span).orderBy("seq").execute();
    return rows.map(readRow);
  }

  /** The last rows of a span, oldest first. */
  async last(span: Span): Promise<LoggedEvent[]> {
    const rows = await this.#matching(span).orderBy("seq", "desc").execute();
    return rows.map(readRow).reverse();
  }

  #matching({ after, until, types, limit }: Span) {
    const query = this.#database.tables.selectFrom("events").selectAll()
      .where("seq", ">", after).where("seq", "<=", until).limit(limit);
    if (types.includes("*")) return query;
    return query.where(({ or, eb, fn, val }) =>
      or(types.map((type) => {
        if (!type.endsWith("*")) return eb("type", "=", type);
        const prefix = type.slice(0, -1);
        return eb(fn<string>("substr", ["type", val(1), val(prefix.length)]), "=", prefix);
      }))
    );
  }
}

/** Whether a type is one of those that a span asks for. */
export function matches(type: string, types: readonly string[]): boolean {
  return types.some((pattern) =>
    pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern
  );
}

function readRow({ time, data, ...row }: EventRow): LoggedEvent {
  const { seq, type, actor, actor_id, address, cause, hash } = row;
  const iso = new Date(time).toISOString();
  return { seq, time: iso, type, actor, actor_id, address, cause, data: readData(data), hash };
}

/** The data of a row. Verification reports data that somebody has spoilt. */
function readData(text: string): LoggedEvent["data"] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

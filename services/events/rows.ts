// deno-lint-ignore boundaries/sqlite -- still reads without waiting; see issue 10
import type { StatementSync } from "node:sqlite";
import type { Database } from "../database/mod.ts";

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

const MATCHING = `FROM events WHERE seq > ? AND seq <= ?
  AND EXISTS (SELECT 1 FROM json_each(?) AS pattern WHERE events.type GLOB pattern.value)`;

/** Reads rows of the log. */
export class EventRows {
  readonly #first: StatementSync;
  readonly #last: StatementSync;
  readonly #ends: StatementSync;

  constructor(database: Database) {
    this.#first = database.prepare(`SELECT * ${MATCHING} ORDER BY seq LIMIT ?`);
    this.#last = database.prepare(`SELECT * ${MATCHING} ORDER BY seq DESC LIMIT ?`);
    this.#ends = database.prepare(
      "SELECT (SELECT min(seq) FROM events) AS oldest, (SELECT max(seq) FROM events) AS newest",
    );
  }

  /** The numbers of the oldest and the newest row; 0 where there is none. */
  ends(): { oldest: number; newest: number } {
    const row = this.#ends.get();
    return { oldest: Number(row?.["oldest"] ?? 0), newest: Number(row?.["newest"] ?? 0) };
  }

  /** The first rows of a span, oldest first. */
  first(span: Span): LoggedEvent[] {
    return this.#first.all(...parameters(span)).map(readRow);
  }

  /** The last rows of a span, oldest first. */
  last(span: Span): LoggedEvent[] {
    return this.#last.all(...parameters(span)).map(readRow).reverse();
  }
}

function parameters({ after, until, types, limit }: Span): (number | string)[] {
  return [after, until, JSON.stringify(types), limit];
}

/** Whether a type is one of those that a span asks for. */
export function matches(type: string, types: readonly string[]): boolean {
  return types.some((pattern) =>
    pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern
  );
}

function readRow(row: Record<string, unknown>): LoggedEvent {
  const text = (column: string) => row[column] === null ? null : String(row[column]);
  return {
    seq: Number(row["seq"]),
    time: new Date(Number(row["time"])).toISOString(),
    type: String(row["type"]),
    actor: String(row["actor"]),
    actor_id: text("actor_id"),
    address: text("address"),
    cause: text("cause"),
    data: readData(String(row["data"])),
    hash: String(row["hash"]),
  };
}

/** The data of a row; that somebody has spoilt it is for the verification to say. */
function readData(text: string): LoggedEvent["data"] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

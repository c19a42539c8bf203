import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ChainedRow, eventHash, GENESIS, Seal } from "./chain.ts";
import { DAMAGED } from "./journal.ts";
import { DatabaseError } from "./migrate.ts";
import { openToRead } from "./sqlite/mod.ts";

/** Rows that are read at once. */
const PAGE = 1000;

/** Most findings reported one by one; further ones are only counted. */
const MAX_FINDINGS = 100;

/** What the verification of an event log found. */
export interface LogReport {
  /** How many rows there are. */
  readonly events: number;
  /** The number of the first row and of the last one; 0 if there is none. */
  readonly first: number;
  readonly last: number;
  /**
   * The hash of the last row: stored elsewhere, it later proves that the log up to it is unchanged.
   */
  readonly hash: string;
  /** What is wrong, as sentences, the first hundred. */
  readonly findings: readonly string[];
  /** How many findings there are in all. */
  readonly found: number;
}

/**
 * Verifies the event log in a database: every row is as written, none is missing between the two
 * sealed ends, and none was added. It reads one snapshot of the log and writes nothing, so a server
 * may run meanwhile.
 *
 * @param path the database
 * @param key the key of the seals, or null if it is lost
 * @throws DatabaseError if the file cannot be read or has no event log
 */
export function verifyLog(path: string, key: string | null): LogReport {
  let database: DatabaseSync | null = null;
  try {
    database = openToRead(path);
    database.exec("BEGIN");
    return new Verification(database, key === null ? null : new Seal(key)).run();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new DatabaseError(`There is no database at "${path}"`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseError(`The event log in "${path}" cannot be read: ${reason}`);
  } finally {
    database?.close();
  }
}

/** A raw row: numbers as texts, texts as bytes, so that nothing is converted. */
interface RawRow {
  readonly number: bigint;
  readonly row: ChainedRow;
  readonly hash: string;
}

interface Checkpoint {
  readonly seq: number;
  readonly hash: string;
}

class Verification {
  readonly #database: DatabaseSync;
  readonly #seal: Seal | null;
  readonly #findings: string[] = [];
  #found = 0;
  #events = 0;
  #first = 0;

  constructor(database: DatabaseSync, seal: Seal | null) {
    this.#database = database;
    this.#seal = seal;
  }

  run(): LogReport {
    const base = this.#checkpoint("base");
    const head = this.#checkpoint("head");
    if (this.#seal === null) this.#report("The key of the seals is missing, so they prove nothing");
    let last: Checkpoint = base ?? { seq: 0, hash: GENESIS };
    for (const raw of this.#rows()) last = this.#verify(raw, last);
    if (head === null) {
      if (this.#events > 0 || this.#seal !== null) this.#report("The end of the log is not sealed");
    } else if (head.seq > last.seq) {
      this.#report(`${missing(last.seq + 1, head.seq)} at the end of the log`);
    } else if (head.seq < last.seq) {
      this.#report(`The rows after ${head.seq} were not written by muster`);
    } else if (head.hash !== last.hash) {
      this.#report(`Row ${last.seq} is not the one that was sealed as the last`);
    }
    return {
      events: this.#events,
      first: this.#first,
      last: last.seq,
      hash: last.hash,
      findings: this.#findings,
      found: this.#found,
    };
  }

  /** Compares a row with the one before it. */
  #verify({ number, row, hash }: RawRow, previous: Checkpoint): Checkpoint {
    if (this.#events === 0) this.#first = row.seq;
    this.#events += 1;
    if (number <= BigInt(previous.seq)) {
      this.#report(`Row ${number} stands before the beginning of the log`);
      return previous;
    }
    if (row.seq > previous.seq + 1) this.#report(missing(previous.seq + 1, row.seq - 1));
    else if (eventHash(previous.hash, row) !== hash) {
      this.#report(`Row ${number} is not as it was written`);
    }
    if (row.type === DAMAGED) {
      this.#report(`At row ${number} muster found the log damaged: ${row.data}`);
    }
    return { seq: row.seq, hash };
  }

  *#rows(): Generator<RawRow> {
    const statement = this.#database.prepare(
      `SELECT CAST(seq AS TEXT) AS number, CAST(time AS TEXT) AS time, CAST(type AS BLOB) AS type,
         CAST(actor AS BLOB) AS actor, CAST(actor_id AS BLOB) AS actor_id,
         CAST(address AS BLOB) AS address, CAST(cause AS BLOB) AS cause,
         CAST(data AS BLOB) AS data, CAST(hash AS BLOB) AS hash
       FROM events WHERE seq > ? ORDER BY events.seq LIMIT ${PAGE}`,
    );
    let rows = page(statement, -(2n ** 63n));
    while (rows.length > 0) {
      yield* rows;
      const last = rows.at(-1);
      rows = last === undefined || rows.length < PAGE ? [] : page(statement, last.number);
    }
  }

  #checkpoint(name: "base" | "head"): Checkpoint | null {
    const row = this.#database.prepare(
      "SELECT seq, CAST(hash AS BLOB) AS hash, CAST(seal AS BLOB) AS seal FROM checkpoints WHERE name = ?",
    ).get(name);
    if (row === undefined) return null;
    const checkpoint = { seq: Number(row["seq"]), hash: text(row["hash"]) ?? "" };
    if (
      this.#seal?.holds(name, { ...checkpoint, seal: text(row["seal"]) ?? "" }) === false
    ) {
      const end = name === "base" ? "beginning" : "end";
      this.#report(`The seal at the ${end} of the log is not of its key`);
    }
    return checkpoint;
  }

  #report(finding: string): void {
    this.#found += 1;
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
  }
}

function page(statement: StatementSync, after: bigint): RawRow[] {
  return statement.all(after).map((columns) => ({
    number: BigInt(String(columns["number"])),
    row: {
      seq: Number(columns["number"]),
      time: Number(columns["time"]),
      type: text(columns["type"]) ?? "",
      actor: text(columns["actor"]) ?? "",
      actorId: text(columns["actor_id"]),
      address: text(columns["address"]),
      cause: text(columns["cause"]),
      data: text(columns["data"]) ?? "",
    },
    hash: text(columns["hash"]) ?? "",
  }));
}

/** A text column read as bytes; read as text, it would end at its first NUL. */
function text(column: unknown): string | null {
  if (!(column instanceof Uint8Array)) return null;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(column);
}

function missing(from: number, to: number): string {
  return from === to ? `Row ${from} is missing` : `The rows ${from} to ${to} are missing`;
}

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Seal } from "./chain.ts";
import type { Checkpoint, CheckpointName } from "./journal.ts";
import { DatabaseError } from "./migrate.ts";
import { openToRead } from "./sqlite/mod.ts";
import { type LogReport, PAGE, type RawRow, Verification } from "./verification.ts";

/**
 * Verifies the event log in a SQLite file; see {@linkcode Verification}. It reads one snapshot of the
 * log and writes nothing, so a server may run meanwhile.
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
    const seal = key === null ? null : new Seal(key);
    const ends = [checkpoint(database, "base"), checkpoint(database, "head")] as const;
    const verification = new Verification(seal, ...ends);
    for (const raw of rows(database)) verification.take(raw);
    return verification.finish();
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

/** The rows: numbers are read as texts, texts as bytes, so that nothing is converted. */
function* rows(database: DatabaseSync): Generator<RawRow> {
  const statement = database.prepare(
    `SELECT CAST(seq AS TEXT) AS number, CAST(time AS TEXT) AS time, CAST(type AS BLOB) AS type,
       CAST(actor AS BLOB) AS actor, CAST(actor_id AS BLOB) AS actor_id,
       CAST(address AS BLOB) AS address, CAST(cause AS BLOB) AS cause,
       CAST(data AS BLOB) AS data, CAST(hash AS BLOB) AS hash
     FROM events WHERE seq > ? ORDER BY events.seq LIMIT ${PAGE}`,
  );
  let found = page(statement, -(2n ** 63n));
  while (found.length > 0) {
    yield* found;
    const last = found.at(-1);
    found = last === undefined || found.length < PAGE ? [] : page(statement, last.number);
  }
}

function checkpoint(database: DatabaseSync, name: CheckpointName): Checkpoint | null {
  const row = database.prepare(
    `SELECT seq, CAST(hash AS BLOB) AS hash, CAST(seal AS BLOB) AS seal
     FROM checkpoints WHERE name = ?`,
  ).get(name);
  if (row === undefined) return null;
  const [hash, seal] = [text(row["hash"]) ?? "", text(row["seal"]) ?? ""];
  return { seq: Number(row["seq"]), hash, seal };
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

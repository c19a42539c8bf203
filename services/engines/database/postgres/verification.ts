// @ts-types="./pg.d.ts"
import pg, { type Client } from "pg";
import { type ChainedRow, Seal } from "../chain.ts";
import type { Checkpoint, CheckpointName } from "../journal.ts";
import { DatabaseError } from "../migrate.ts";
import { type LogReport, PAGE, type RawRow, Verification } from "../verification.ts";
import { clientOptions, reasonOf, shownUrl } from "./connection.ts";
import { projectOf } from "./postgres_journal.ts";
import type { PostgresSettings } from "./settings.ts";

/**
 * Verifies the event log in PostgreSQL; see {@linkcode Verification}. It reads one snapshot of the log
 * and writes nothing, so a server may run meanwhile.
 *
 * @param key the key of the seals, or null if it is lost
 * @throws DatabaseError if the database cannot be read or has no event log
 */
export async function verifyPostgresLog(
  settings: PostgresSettings,
  key: string | null,
): Promise<LogReport> {
  const client = new pg.Client(clientOptions(settings));
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    const seal = key === null ? null : new Seal(key);
    const base = await readCheckpoint(client, "base");
    const verification = new Verification(seal, base, await readCheckpoint(client, "head"));
    for await (const [raw, project] of readRows(client)) {
      verification.take(raw);
      if (project === projectIn(raw)) continue;
      verification.report(`Row ${raw.number} is listed for another project than its own`);
    }
    return verification.finish();
  } catch (error) {
    const reason = reasonOf(error);
    throw new DatabaseError(
      `The event log in "${shownUrl(settings.url)}" cannot be read: ${reason}`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** A row as it is read; its number is exact as a text. */
interface StoredRow extends Omit<ChainedRow, "seq" | "actorId"> {
  readonly number: string;
  readonly actor_id: string | null;
  readonly hash: string;
  readonly project_id: string | null;
}

async function* readRows(
  client: Client,
): AsyncGenerator<readonly [raw: RawRow, project: string | null]> {
  let after = -(2n ** 63n);
  for (;;) {
    const { rows } = await client.query<StoredRow>(
      `SELECT seq::text AS number, time, type, actor, actor_id, address, cause, data, hash,
         project_id
       FROM events WHERE seq > $1 ORDER BY seq LIMIT ${PAGE}`,
      [String(after)],
    );
    for (
      const { number, time, type, actor, actor_id, address, cause, data, hash, ...row } of rows
    ) {
      after = BigInt(number);
      const chained = { seq: Number(number), time, type, actor, address, cause, data };
      yield [{ number: after, row: { ...chained, actorId: actor_id }, hash }, row["project_id"]];
    }
    if (rows.length < PAGE) return;
  }
}

async function readCheckpoint(client: Client, name: CheckpointName): Promise<Checkpoint | null> {
  const { rows: [row] } = await client.query<Checkpoint>(
    "SELECT seq, hash, seal FROM checkpoints WHERE name = $1",
    [name],
  );
  return row === undefined ? null : { seq: row.seq, hash: row.hash, seal: row.seal };
}

/** The project that the data of a row names; null if they were changed and are no JSON. */
function projectIn({ row }: RawRow): string | null {
  try {
    return projectOf(row);
  } catch {
    return null;
  }
}

import { DatabaseError, requireKnown } from "../migrate.ts";
import { postgresSql } from "../migration.ts";
import { MIGRATIONS } from "../migrations.ts";
import { isRefusal, shownUrl } from "./connection.ts";
import type { WritingSession } from "./session.ts";

/**
 * Migrates a database to the current schema, in one transaction.
 *
 * @param fill writes into new tables, in the transaction that makes them
 * @throws DatabaseError if its version is not known, or if its user may not create tables
 */
export async function migratePostgres(
  session: WritingSession,
  url: string,
  fill: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const shown = `The database "${shownUrl(url)}"`;
  try {
    if (await isCurrent(session, url)) return;
    const version = await versionOf(session);
    await session.execute(
      "BEGIN; CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)",
    );
    for (const step of MIGRATIONS.slice(version)) await session.execute(postgresSql(step));
    if (version === 0) await fill();
    await session.execute(
      `DELETE FROM schema_version; INSERT INTO schema_version VALUES (${MIGRATIONS.length});
       COMMIT`,
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new DatabaseError(`${shown} cannot be brought up to date: ${error.message}`);
  }
}

/**
 * Whether a database has the current schema.
 *
 * @throws DatabaseError if its version is not known
 */
export async function isCurrent(session: WritingSession, url: string): Promise<boolean> {
  const version = await versionOf(session);
  requireKnown(version, `The database "${shownUrl(url)}"`);
  return version === MIGRATIONS.length;
}

async function versionOf(session: WritingSession): Promise<number> {
  // Nodes that start at once must not make the table at once.
  const [made] = await session.run([["SELECT to_regclass('schema_version')::text AS name"]]);
  if ((made?.rows[0]?.["name"] ?? null) === null) return 0;
  const [found] = await session.run([["SELECT version FROM schema_version"]]);
  return Number(found?.rows[0]?.["version"] ?? 0);
}

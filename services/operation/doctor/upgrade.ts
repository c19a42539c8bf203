import { amount } from "../../kernel/words.ts";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { type Folders, SqliteSnapshot } from "../backup/mod.ts";
import { DatabaseError, migrate, SCHEMA_VERSION } from "../../engines/database/mod.ts";
import { readDatabase } from "../../engines/database/sqlite/mod.ts";
import { integrityOf } from "./databases.ts";

/** What a start of this program would do to the data of an earlier one. */
export interface UpgradeReport {
  /** The version of the database, and the one that this program uses. */
  readonly from: number;
  readonly to: number;
  /** Why a start would fail; null if it would not. */
  readonly problem: string | null;
  /** Bytes of the copy that the start keeps of the database; 0 if it changes nothing. */
  readonly bytes: number;
  /** How long the migration of a copy took, in milliseconds. */
  readonly milliseconds: number;
}

/**
 * Migrates a copy of the database in the temporary folder, and checks the result. Changes nothing
 * else.
 *
 * @throws BackupError if the database cannot be read
 */
export async function rehearseUpgrade({ data }: Folders): Promise<UpgradeReport> {
  const folder = await Deno.makeTempDir({ prefix: "muster-upgrade-" });
  try {
    const copy = join(folder, "muster.db");
    const { from, bytes } = copyDatabase(join(data, "muster.db"), copy);
    const began = performance.now();
    const problem = from === SCHEMA_VERSION ? null : problemOf(copy) ?? spaceProblem(data, bytes);
    return {
      from,
      to: SCHEMA_VERSION,
      problem,
      bytes: from < SCHEMA_VERSION ? bytes : 0,
      milliseconds: performance.now() - began,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function copyDatabase(path: string, target: string): { from: number; bytes: number } {
  using snapshot = SqliteSnapshot.open(path);
  snapshot.take();
  snapshot.copyTo(target);
  const { user_version: from } = snapshot.row("PRAGMA user_version") ?? {};
  return { from: Number(from), bytes: snapshot.parts.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Why the copy cannot be migrated; null if it was, and is whole. */
function problemOf(copy: string): string | null {
  try {
    migrate(copy);
  } catch (error) {
    if (error instanceof DatabaseError) return error.message.replace(`"${copy}" `, "");
    return `The migration fails: ${error instanceof Error ? error.message : String(error)}`;
  }
  const [damage] = integrityOf(copy, "database");
  if (damage !== undefined) return damage.message;
  const lost = readDatabase(
    copy,
    (database) => database.prepare("PRAGMA foreign_key_check").all(),
  );
  return lost.length === 0
    ? null
    : `${amount(lost.length, "row")} ${
      lost.length === 1 ? "names" : "name"
    } others that do not exist`;
}

/** The start keeps a copy of the old database, and the log of the migration may be as long. */
function spaceProblem(data: string, bytes: number): string | null {
  const { bavail, bsize } = statfsSync(data);
  const free = Number(bavail) * Number(bsize);
  if (free >= 2 * bytes) return null;
  return `The disk of "${data}" has ${free} bytes free, and the upgrade needs ${2 * bytes}`;
}

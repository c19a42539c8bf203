import type { DataFolder } from "../config/mod.ts";
import { syncFolder, writeSynced } from "../../kernel/files.ts";

/** Names the database of PostgreSQL that belongs to the data folder, by its instance. */
const PAIRING_FILE = "postgres";

/** The instance of the database that belongs to a data folder; null if that is a SQLite file. */
export function readPairing(folder: DataFolder): string | null {
  try {
    return Deno.readTextFileSync(folder.file(PAIRING_FILE)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Ties a data folder to a database of PostgreSQL, on disk. */
export async function writePairing(folder: DataFolder, instance: string): Promise<void> {
  await writeSynced(folder.file(PAIRING_FILE), `${instance}\n`);
  await syncFolder(folder.path);
}

/** Lets the database of a data folder be a SQLite file again. */
export function removePairing(folder: DataFolder): void {
  Deno.removeSync(folder.file(PAIRING_FILE));
}

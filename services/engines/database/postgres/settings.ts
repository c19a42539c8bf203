import { DatabaseError } from "../migrate.ts";

/** How to reach a database of PostgreSQL. */
export interface PostgresSettings {
  /** `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?PARAMETER=VALUE]` */
  readonly url: string;
  /** The password, if the URL has none. */
  readonly password: string | null;
}

/**
 * Reads what the configuration says about PostgreSQL, and the file that holds the password.
 *
 * @returns null if the app database is a SQLite file
 * @throws DatabaseError if the file cannot be read
 */
export async function readPostgresSettings(
  { url, password_file: file }: { readonly url: string; readonly password_file: string },
): Promise<PostgresSettings | null> {
  if (url === "") return null;
  return { url, password: file === "" ? null : await readPassword(file) };
}

async function readPassword(path: string): Promise<string> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseError(`The file "${path}" cannot be read: ${reason}`);
  }
  if (text.trim() === "") throw new DatabaseError(`The file "${path}" holds no password`);
  return text.trim();
}

import { join } from "node:path";
import { dropDatabasesOf } from "./postgres.ts";

/** Runs a test with a new folder, which is removed afterwards, with its databases. */
export async function withFolder(run: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "muster-test-" });
  try {
    await run(folder);
  } finally {
    await dropDatabasesOf(folder);
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes a file into a folder and returns its path. */
export async function writeFile(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await Deno.writeTextFile(path, text);
  return path;
}

/** How a client starts muster. */
import { join } from "node:path";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");

/**
 * The words that run this muster: the executable, or Deno with the tree. A project's file is read on
 * other machines, so there it is just the name.
 */
export function musterWords(isShared: boolean): readonly [string, ...string[]] {
  if (isShared) return ["muster"];
  if (Deno.build.standalone) return [Deno.execPath()];
  const config = `--config=${join(ROOT, "deno.json")}`;
  const deno = denoWords(Deno.execPath());
  return [...deno, "run", "--quiet", config, "--permission-set", join(ROOT, "main.ts")];
}

/**
 * The words that run this Deno in a year, too: npx keeps its programs in a cache that `npm` may empty,
 * so npx gets the version to run.
 *
 * @param executable the path of Deno's file
 */
export function denoWords(executable: string): readonly [string, ...string[]] {
  const isCached = executable.split(/[/\\]/).includes("_npx");
  return isCached ? ["npx", "--yes", `deno@${Deno.version.deno}`] : [executable];
}

/** A command line for a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  ).join(" ");
}

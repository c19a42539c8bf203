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
  return [Deno.execPath(), "run", "--quiet", config, "--permission-set", join(ROOT, "main.ts")];
}

/** A command line for a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  ).join(" ");
}

/** Which files of tests have which statements of SQL run; see `tests/support/note_statements.ts`. */
import { join } from "node:path";

/** Statements of SQL, by the file of tests that has them run. */
export type StatementsByFile = ReadonlyMap<string, ReadonlySet<string>>;

/** What runs of tests noted in a folder. */
export function readNotes(folder: string): StatementsByFile {
  const noted = new Map<string, Set<string>>();
  for (const { name } of Deno.readDirSync(folder)) {
    const notes: [string, string[]][] = JSON.parse(Deno.readTextFileSync(join(folder, name)));
    for (const [file, statements] of notes) {
      noted.set(file, (noted.get(file) ?? new Set()).union(new Set(statements)));
    }
  }
  return noted;
}

/**
 * Few files that together have every statement run: each is the one with most statements that the
 * files before it lack.
 */
export function coveringFiles(noted: StatementsByFile): readonly string[] {
  const left = new Map([...noted].sort().map(([file, own]) => [file, new Set(own)]));
  const chosen: string[] = [];
  for (;;) {
    let most: [string, ReadonlySet<string>] = ["", new Set()];
    for (const one of left) if (one[1].size > most[1].size) most = one;
    const [file, covered] = most;
    if (covered.size === 0) return chosen.sort();
    chosen.push(file);
    for (const own of left.values()) for (const statement of covered) own.delete(statement);
  }
}

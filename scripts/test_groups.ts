/** The files of tests, in groups that share an isolate. */
import { join, relative } from "node:path";

/**
 * Most files in one isolate: few enough for all cores to have work. To load the services, and to run
 * them until they are compiled, takes an isolate three seconds. Quick tests compute all the time;
 * others also wait, so more of them run at once.
 */
export const GROUP_SIZE = { quick: 128, all: 16 } as const;

/** The folder of the tests with which `deno task test` tries the real program. */
const SMOKE = "smoke";

/** The folder of what takes minutes: a run of other tests leaves it out. */
const LONG = "long";

/** The folders whose tests start the program or those of others, and often wait for them. */
const STARTING: ReadonlySet<string> = new Set([
  "contract",
  "deploy",
  "docs",
  "end_to_end",
  "fuzz",
  LONG,
  SMOKE,
]);

/** What `deno test` takes for a file of tests. */
const TEST_FILE = /(?:^|[._])test\.[cm]?[jt]sx?$/;

/** The files of tests in a folder and below it, sorted. */
export function findTests(folder: string): string[] {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return findTests(path);
    return TEST_FILE.test(name) ? [path] : [];
  });
}

/** Whether a quick run includes a file of tests below their folder. */
export function isQuick(folder: string, file: string): boolean {
  return partOf(folder, file) === SMOKE || !startsPrograms(folder, file);
}

/** Whether a file of tests below their folder starts muster or other programs. */
export function startsPrograms(folder: string, file: string): boolean {
  return STARTING.has(partOf(folder, file));
}

/** Whether a file of tests below their folder runs only if a path names it or its folder. */
export function isLong(folder: string, file: string): boolean {
  return partOf(folder, file) === LONG;
}

/**
 * One of several parts of some files, which a number chooses, such as the hash of a commit. Each file
 * is in one part, so each number chooses about as many.
 */
export function sampleOf(
  files: readonly string[],
  { number, parts }: { readonly number: number; readonly parts: number },
): readonly string[] {
  return files.filter((_, index) => index % parts === number % parts);
}

/**
 * Divides files below a folder into groups of at most `most`, each within one of the folders in it;
 * gives the groups by name, in the order in which they start. A file whose tests start programs is alone, and comes first:
 * it loads little, and waits much. Of the others, those with more text come first, because a long group
 * at the end would run alone.
 */
export function groupFiles(
  folder: string,
  files: readonly string[],
  most: number,
): ReadonlyMap<string, readonly string[]> {
  const parts = Map.groupBy(files, (file) => partOf(folder, file));
  const groups = [...parts].flatMap(([part, members]) => {
    const count = STARTING.has(part) ? members.length : Math.ceil(members.length / most);
    const size = Math.ceil(members.length / count);
    return Array.from({ length: count }, (_, index) => {
      const group = members.slice(index * size, (index + 1) * size);
      return {
        name: `${part}-${index + 1}`,
        group,
        starts: STARTING.has(part),
        bytes: sizeOf(group),
      };
    });
  });
  groups.sort((a, b) => Number(b.starts) - Number(a.starts) || b.bytes - a.bytes);
  return new Map(groups.map(({ name, group }) => [name, group]));
}

/** The folder below that of the tests in which a file is. */
function partOf(folder: string, file: string): string {
  return relative(folder, file).split("/")[0] ?? "";
}

function sizeOf(files: readonly string[]): number {
  return files.reduce((bytes, file) => bytes + Deno.statSync(file).size, 0);
}

/** The files of tests, in groups that share an isolate. */
import { join, relative } from "node:path";

/** Most files in one isolate: enough to share, and few enough for all cores to have work. */
export const GROUP_SIZE = 16;

/** The same for tests that start the program: they take longer, and load little themselves. */
export const END_TO_END_SIZE = 8;

/** The folders whose tests start the program, and often wait for it. */
const WAITING: ReadonlySet<string> = new Set([
  "contract",
  "deploy",
  "docs",
  "end_to_end",
  "fuzz",
  "soak",
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

/**
 * Divides files below a folder into groups of about the same size, each within one of the folders
 * in it; gives the groups by name.
 */
export function groupFiles(
  folder: string,
  files: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  const parts = Map.groupBy(files, (file) => relative(folder, file).split("/")[0] ?? "");
  for (const [part, members] of parts) {
    const most = part === "end_to_end" ? END_TO_END_SIZE : GROUP_SIZE;
    const count = Math.ceil(members.length / most);
    const size = Math.ceil(members.length / count);
    for (let index = 0; index < count; index++) {
      groups.set(`${part}-${index + 1}`, members.slice(index * size, (index + 1) * size));
    }
  }
  return groups;
}

/**
 * The order in which groups start, by name: in turns one whose tests wait and one whose tests
 * compute, so that no core idles. Those that compute come by the size of their files, because a long
 * one at the end would run alone.
 */
export function orderGroups(
  groups: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const sizes = new Map([...groups].map(([name, files]) => [
    name,
    files.reduce((bytes, file) => bytes + Deno.statSync(file).size, 0),
  ]));
  const waits = (name: string) => WAITING.has(name.replace(/-\d+$/, ""));
  const waiting = [...groups.keys()].filter(waits);
  const computing = [...groups.keys()].filter((name) => !waits(name))
    .sort((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0));
  const turns = Math.max(waiting.length, computing.length);
  return Array.from({ length: turns }, (_, turn) => [waiting[turn], computing[turn]])
    .flat().filter((name) => name !== undefined);
}

/** The files of tests, in groups that share an isolate. */
import { join, relative } from "node:path";

/** Most files in one isolate: enough to share, and few enough for all cores to have work. */
export const GROUP_SIZE = 32;

/** The same for tests that start the program: they take longer. */
export const END_TO_END_SIZE = 8;

/**
 * The files that take longer than half a minute on a quiet machine, in the order in which they start.
 * Each has an isolate of its own, and starts before all others: at the end, it would run alone. Those
 * that compute stand between those that wait.
 */
export const LONGEST: readonly string[] = [
  "end_to_end/web_tour_test.ts",
  "end_to_end/team_test.ts",
  "soak/cluster/chaos_test.ts",
  "end_to_end/cluster_nodes_test.ts",
  "end_to_end/mcp_stdio_test.ts",
  "services/sync/program_test.ts",
  "end_to_end/external_services_test.ts",
  "end_to_end/web_hostile_test.ts",
];

/** The folders whose tests start the program or those of others, and often wait for them. */
const STARTING: ReadonlySet<string> = new Set([
  "contract",
  "deploy",
  "docs",
  "end_to_end",
  "fuzz",
  "soak",
]);

/** The names of groups of one of the {@linkcode LONGEST} begin with this. */
const LONG = "long";

/** What `deno test` takes for a file of tests. */
const TEST_FILE = /(?:^|[._])test\.[cm]?[jt]sx?$/;

/** Whether a file of tests, below their folder, starts programs. */
export function startsProgram(folder: string, file: string): boolean {
  return STARTING.has(relative(folder, file).split("/")[0] ?? "");
}

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
 * in it, and the {@linkcode LONGEST}, which come first; gives the groups by name.
 */
export function groupFiles(
  folder: string,
  files: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const long = LONGEST.map((name) => join(folder, name)).filter((file) => files.includes(file));
  const groups = new Map<string, readonly string[]>(
    long.map((file, index) => [`${LONG}-${index + 1}`, [file]]),
  );
  const others = files.filter((file) => !long.includes(file));
  const parts = Map.groupBy(others, (file) => relative(folder, file).split("/")[0] ?? "");
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
 * The order in which groups start, by name: the longest, then in turns one whose tests wait and one
 * whose tests compute, so that no core idles. Those that compute come by the size of their files,
 * because a long one at the end would run alone.
 */
export function orderGroups(
  groups: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const sizes = new Map([...groups].map(([name, files]) => [
    name,
    files.reduce((bytes, file) => bytes + Deno.statSync(file).size, 0),
  ]));
  const part = (name: string) => name.replace(/-\d+$/, "");
  const long = [...groups.keys()].filter((name) => part(name) === LONG);
  const waiting = [...groups.keys()].filter((name) => STARTING.has(part(name)));
  const computing = [...groups.keys()]
    .filter((name) => !long.includes(name) && !waiting.includes(name))
    .sort((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0));
  const turns = Math.max(waiting.length, computing.length);
  const inTurns = Array.from({ length: turns }, (_, turn) => [waiting[turn], computing[turn]]);
  return [...long, ...inTurns.flat().filter((name) => name !== undefined)];
}

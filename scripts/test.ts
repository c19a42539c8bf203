/**
 * `deno task test [FOLDER|FILE] … [OPTION] …`: runs the tests below `tests/`, or some of them.
 *
 * `deno test` gives each file an isolate, which loads and compiles the services anew. Here, several
 * files of a folder share an isolate: a module that imports them. Options are those of
 * `deno test`; one with a value is written `--filter=WORD`. Workers share threads, too; see
 * `tests/support/borrowed_workers.ts`.
 *
 * Where root on Linux may mount one, the tests keep their files on a disk in memory: they make
 * thousands of databases, each of which waits for its disk dozens of times.
 *
 * With `MUSTER_EXECUTABLE`, a folder's files exclude those that `tests/support/tree_only.ts` names.
 * If no test finishes for a quarter of an hour, the run ends and names the tests that hang.
 */
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { namedExecutable } from "../tests/support/executable.ts";
import { TREE_ONLY } from "../tests/support/tree_only.ts";
import { ROOT } from "./bundle.ts";
import { memoryDiskOn } from "./memory_disk.ts";
import { findTests, groupFiles, orderGroups } from "./test_groups.ts";
import { runWatched } from "./watched_run.ts";

const TESTS = join(ROOT, "tests");

/** How long no test may finish, in milliseconds; on a busy machine, one may take eight minutes. */
const SILENCE_MS = 15 * 60_000;

async function main(args: readonly string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith("-"));
  const paths = args.filter((arg) => !arg.startsWith("-")).map((path) => resolve(path));
  const isCovered = (file: string) =>
    namedExecutable() !== undefined && !paths.includes(file) && TREE_ONLY.has(basename(file));
  const tests = findTests(TESTS);
  const isBelow = (path: string) => (file: string) => `${file}/`.startsWith(`${path}/`);
  const empty = paths.filter((path) => !tests.some(isBelow(path)));
  const files = tests.filter((file) =>
    paths.length === 0 || paths.some((path) => isBelow(path)(file))
  ).filter((file) => !isCovered(file));
  if (empty.length > 0 || files.length === 0) {
    const where = (empty.length > 0 ? empty : paths).join(" ");
    Deno.stderr.writeSync(new TextEncoder().encode(`There are no tests in ${where}\n`));
    return 1;
  }
  const folder = await Deno.makeTempDir({ prefix: "muster-tests-" });
  try {
    const groups = groupFiles(TESTS, files);
    const modules = orderGroups(groups).map((name) =>
      writeModule(join(folder, `${name}.ts`), groups.get(name) ?? [])
    );
    return await runTests(modules, options, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Makes the folder for a disk with the files of tests; servers without rights read theirs there. */
function makePlace(folder: string): string {
  const place = join(folder, "files");
  Deno.mkdirSync(place);
  for (const path of [folder, place]) if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o755);
  return place;
}

/** Makes the folder in which tests note their ports; see `tests/support/free_port.ts`. */
function makePorts(folder: string): string {
  const ports = join(folder, "ports");
  Deno.mkdirSync(ports);
  return ports;
}

/** Writes the module of a group; returns its path. */
function writeModule(path: string, group: readonly string[]): string {
  const imports = group.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
  Deno.writeTextFileSync(path, imports.join(""));
  return path;
}

/** Runs modules of tests; returns the exit code. Four jobs more than cores: many tests wait. */
async function runTests(
  modules: readonly string[],
  options: readonly string[],
  folder: string,
): Promise<number> {
  const place = makePlace(folder);
  const jobs = Deno.env.get("DENO_JOBS") ?? String(navigator.hardwareConcurrency + 4);
  const hasColors = Deno.stdout.isTerminal() && !Deno.noColor;
  const disk = memoryDiskOn(place);
  const [program = "", ...args] = [...disk, Deno.execPath()];
  return await runWatched({
    program,
    args: [
      ...args,
      "test",
      "--no-check",
      "--parallel",
      `--config=${join(ROOT, "deno.json")}`,
      "--permission-set=test",
      `--preload=${join(TESTS, "support", "share_threads.ts")}`,
      ...options,
      ...modules,
    ],
    folder: ROOT,
    environment: {
      DENO_JOBS: jobs,
      MUSTER_TEST_PORTS: makePorts(folder),
      ...disk.length > 0 ? { TMPDIR: place } : {},
      ...hasColors ? { FORCE_COLOR: "1" } : {},
    },
    limitMs: SILENCE_MS,
    write: writeAll,
  });
}

/** Writes all of a report: one call may write a part. */
function writeAll(bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length;) {
    start += Deno.stdout.writeSync(bytes.subarray(start));
  }
}

Deno.exit(await main(Deno.args));

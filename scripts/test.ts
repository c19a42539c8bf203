/**
 * `deno task test [FOLDER|FILE] … [OPTION] …`: runs tests below `tests/`. Without a folder or file, it
 * runs those that start no program of their own, so that neither luck nor load decides.
 *
 * `deno test` gives each file an isolate, which loads and compiles the services anew. Here, several
 * files of a folder share an isolate: a module that imports them. Options are those of
 * `deno test`; one with a value is written `--filter=WORD`. Workers share threads, too; see
 * `tests/support/borrowed_workers.ts`. With `--retry`, a file in which a test failed runs once more,
 * alone; if its tests pass then, the run passes, and prints them under "flaky".
 *
 * Where root on Linux may mount one, the tests keep their files on a disk in memory: they make
 * thousands of databases, each of which waits for its disk dozens of times.
 *
 * With `MUSTER_EXECUTABLE`, a folder's files exclude those that `tests/support/tree_only.ts` names.
 * If no test finishes for a quarter of an hour, the run ends and names the tests that hang.
 *
 * The run holds the ports that muster takes by default. So a test that wants one of them always fails,
 * and not just while muster runs.
 */
import { basename, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { namedExecutable } from "../tests/support/executable.ts";
import { TREE_ONLY } from "../tests/support/tree_only.ts";
import { ROOT } from "./bundle.ts";
import { errorsOf, failedFiles } from "./failed_tests.ts";
import { memoryDiskOn } from "./memory_disk.ts";
import { findTests, groupFiles, orderGroups, startsProgram } from "./test_groups.ts";
import { type RunEnd, runWatched } from "./watched_run.ts";

const TESTS = join(ROOT, "tests");

/** The ports of the default configuration. */
const DEFAULT_PORTS = [6667, 8080, 8081];

/** How long no test may finish, in milliseconds; on a busy machine, one may take eight minutes. */
const SILENCE_MS = 15 * 60_000;

async function main(args: readonly string[]): Promise<number> {
  const isRetried = args.includes("--retry");
  const options = args.filter((arg) => arg.startsWith("-") && arg !== "--retry");
  const paths = args.filter((arg) => !arg.startsWith("-")).map((path) => resolve(path));
  const isCovered = (file: string) =>
    namedExecutable() !== undefined && !paths.includes(file) && TREE_ONLY.has(basename(file));
  const tests = findTests(TESTS);
  const isBelow = (path: string) => (file: string) => `${file}/`.startsWith(`${path}/`);
  const empty = paths.filter((path) => !tests.some(isBelow(path)));
  const files = tests.filter((file) =>
    paths.length === 0 ? !startsProgram(TESTS, file) : paths.some((path) => isBelow(path)(file))
  ).filter((file) => !isCovered(file));
  if (empty.length > 0 || files.length === 0) {
    const where = (empty.length > 0 ? empty : paths).join(" ");
    writeAll(new TextEncoder().encode(`There are no tests in ${where}\n`), Deno.stderr);
    return 1;
  }
  const folder = await Deno.makeTempDir({ prefix: "muster-tests-" });
  const held = holdDefaultPorts();
  try {
    const groups = groupFiles(TESTS, files);
    const modules = new Map(
      orderGroups(groups).map((name) => {
        const group = groups.get(name) ?? [];
        return [writeModule(join(folder, `${name}.ts`), group), group];
      }),
    );
    const surroundings = { options, ports: makePorts(folder), place: makePlace(folder) };
    const report = join(folder, "report.xml");
    const first = await runTests([...modules.keys()], { ...surroundings, report });
    if (first.code === 0 || !isRetried || first.hasHung) return first.code;
    const failed = failedFiles({ ...first, report: await readReport(report), modules, root: ROOT });
    return await retry(failed, first.output, (file) => runTests([file], surroundings));
  } finally {
    for (const listener of held) listener.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Takes the default ports that nobody has. */
function holdDefaultPorts(): readonly Deno.Listener[] {
  return DEFAULT_PORTS.flatMap((port) => {
    try {
      return [Deno.listen({ hostname: "127.0.0.1", port })];
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return [];
      throw error;
    }
  });
}

async function readReport(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
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

interface Surroundings {
  /** Options for `deno test`. */
  readonly options: readonly string[];
  /** The folder of {@linkcode makePorts}. */
  readonly ports: string;
  /** The folder of {@linkcode makePlace}. */
  readonly place: string;
  /** Where to write a report in JUnit's format. */
  readonly report?: string;
}

/** Runs modules of tests. Four jobs more than cores: many tests wait. */
async function runTests(
  modules: readonly string[],
  { options, ports, place, report }: Surroundings,
): Promise<RunEnd> {
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
      ...report === undefined ? [] : [`--junit-path=${report}`],
      ...options,
      ...modules,
    ],
    folder: ROOT,
    environment: {
      DENO_JOBS: jobs,
      MUSTER_TEST_PORTS: ports,
      ...disk.length > 0 ? { TMPDIR: place } : {},
      ...hasColors ? { FORCE_COLOR: "1" } : {},
    },
    limitMs: SILENCE_MS,
    write: (bytes) => writeAll(bytes, Deno.stdout),
  });
}

/** Writes all of a text: one call may write a part. */
function writeAll(bytes: Uint8Array, to: { writeSync(bytes: Uint8Array): number }): void {
  for (let start = 0; start < bytes.length;) start += to.writeSync(bytes.subarray(start));
}

/**
 * Runs each of the files in which a test failed once more, alone.
 *
 * @returns 0 if there are such files and the tests of all of them pass now; otherwise 1
 */
async function retry(
  failed: readonly string[],
  output: string,
  runAlone: (file: string) => Promise<RunEnd>,
): Promise<number> {
  const say = (text: string) => writeAll(new TextEncoder().encode(text), Deno.stdout);
  const flaky: string[] = [];
  for (const file of failed) {
    say(`\nOnce more, alone: ${relative(ROOT, file)}\n`);
    if ((await runAlone(file)).code === 0) flaky.push(relative(ROOT, file));
  }
  if (flaky.length > 0) {
    say(`\n== flaky: failed at first, then passed alone\n${flaky.map((f) => `${f}\n`).join("")}`);
    say(`\nWhat failed at first:\n${errorsOf(output)}\n`);
  }
  return failed.length > 0 && flaky.length === failed.length ? 0 : 1;
}

Deno.exit(await main(Deno.args));

/**
 * `deno task test [FOLDER|FILE] … [OPTION] …`: runs tests below `tests/`.
 *
 * - Without a folder or file, the run is quick: what needs no other program and does not take long by
 *   nature, and `tests/smoke`, which tries the real program. `--quick` says so of named folders.
 * - `tests/long` runs only if it, or what is in it, is named. `--sample=COMMIT` takes a third of the
 *   files, which changes with the commit.
 * - `--left=PATH` writes which tests were ignored into a file. `--only=PATH` of a later run, which is
 *   not quick, runs those.
 * - `--retry`: a file in which a test failed runs once more, alone; if its tests pass then, the run
 *   passes, and prints them under "flaky".
 * - `--statements=FOLDER` notes in a folder which statements of SQL each file has an app database run.
 *   `--covering=FOLDER` of a later run runs few files that together have all of them run.
 * - Other options are those of `deno test`; one with a value is written `--filter=WORD`.
 *
 * `deno test` gives each file an isolate, which loads and compiles the services anew. Here, several
 * files of a folder share an isolate: a module that imports them.
 *
 * Where root on Linux may mount one, the tests keep their files on a disk in memory: they make
 * thousands of databases, each of which waits for its disk dozens of times.
 *
 * If no test finishes for a quarter of an hour, the run ends and names the tests that hang.
 *
 * The run holds the ports that muster takes by default. So a test that wants one of them always fails,
 * and not just while muster runs.
 */
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bundledTree } from "../tests/support/bundled_tree.ts";
import { namedExecutable } from "../tests/support/executable.ts";
import { ROOT } from "./bundle.ts";
import {
  errorsOf,
  failedFiles,
  filterOf,
  type IgnoredTests,
  ignoredTests,
} from "./failed_tests.ts";
import { memoryDiskOn } from "./memory_disk.ts";
import { coveringFiles, readNotes } from "./test_statements.ts";
import {
  findTests,
  GROUP_SIZE,
  groupFiles,
  isLong,
  isQuick,
  sampleOf,
  startsPrograms,
} from "./test_groups.ts";
import { type RunEnd, runWatched } from "./watched_run.ts";

const TESTS = join(ROOT, "tests");

/** The ports of the default configuration. */
const DEFAULT_PORTS = [6667, 8080, 8081];

/** How long no test may finish, in milliseconds; on a busy machine, one may take eight minutes. */
const SILENCE_MS = 15 * 60_000;

/** A sample is one of so many parts. Ten commits in a row miss a given part once in sixty times. */
const SAMPLE_PARTS = 3;

/** What the words after `deno task test` ask for. */
interface Request {
  /** The named folders and files, absolute. */
  readonly paths: readonly string[];
  readonly isQuick: boolean;
  readonly isRetried: boolean;
  /** The commit that chooses a sample, in hexadecimal digits; "" for all. */
  readonly commit: string;
  /** Where to write the tests that were ignored; "" for nowhere. */
  readonly left: string;
  /** Where to note the statements of SQL; "" for nowhere. */
  readonly statements: string;
  /** The tests that an earlier run ignored, if this one runs no others. */
  readonly only: IgnoredTests | null;
  /** Whether nobody named the files. */
  readonly isChosen: boolean;
  /** Options of `deno test`. */
  readonly options: readonly string[];
}

function readRequest(args: readonly string[]): Request {
  const valueOf = (name: string) =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "";
  const only = readIgnored(valueOf("only"));
  const covering = valueOf("covering");
  const named = args.filter((arg) => !arg.startsWith("-")).map((path) => resolve(path));
  const covered = covering === "" ? named : coveringFiles(readNotes(covering));
  const paths = only === null ? covered : only.files;
  return {
    paths,
    isQuick: paths.length === 0 || args.includes("--quick"),
    isRetried: args.includes("--retry"),
    commit: valueOf("sample"),
    left: valueOf("left"),
    statements: valueOf("statements"),
    only,
    isChosen: valueOf("sample") + covering !== "",
    options: [
      ...args.filter((arg) =>
        arg.startsWith("-") &&
        !/^--(?:quick|retry|(?:sample|left|only|statements|covering)=.*)$/.test(arg)
      ),
      ...only === null ? [] : [filterOf(only.names)],
    ],
  };
}

/** The tests of a file that `--left` wrote; null for none. */
function readIgnored(path: string): IgnoredTests | null {
  return path === "" ? null : JSON.parse(Deno.readTextFileSync(path)) as IgnoredTests;
}

/** The files of tests that a request means; none of them if a path has none. */
function chooseFiles({ paths, isQuick: quick, commit }: Request): readonly string[] {
  const tests = findTests(TESTS);
  const isBelow = (path: string) => (file: string) => `${file}/`.startsWith(`${path}/`);
  if (paths.some((path) => !tests.some(isBelow(path)))) return [];
  const chosen = tests.filter((file) => {
    const naming = paths.filter((path) => isBelow(path)(file));
    if (paths.length > 0 && naming.length === 0) return false;
    if (isLong(TESTS, file)) return naming.some((path) => path !== TESTS);
    return !quick || isQuick(TESTS, file);
  });
  if (commit === "") return chosen;
  return sampleOf(chosen, { number: parseInt(commit.slice(0, 8), 16), parts: SAMPLE_PARTS });
}

async function main(args: readonly string[]): Promise<number> {
  const request = readRequest(args);
  if (request.only?.files.length === 0) return 0;
  const files = chooseFiles(request);
  if (files.length === 0) {
    writeAll(encode(`There are no tests in ${request.paths.join(" ")}\n`), Deno.stderr);
    return 1;
  }
  if (request.isChosen) say(`The files:\n${files.map((file) => `${nameOf(file)}\n`).join("")}`);
  const folder = await Deno.makeTempDir({ prefix: "muster-tests-" });
  const held = holdDefaultPorts();
  try {
    const modules = writeModules(folder, files, GROUP_SIZE[request.isQuick ? "quick" : "all"]);
    const surroundings = {
      options: request.options,
      environment: {
        MUSTER_TESTS: request.isQuick ? "quick" : "all",
        MUSTER_TEST_PORTS: Deno.env.get("MUSTER_TEST_PORTS") ?? makePorts(folder),
        ...request.statements === "" ? {} : { MUSTER_TEST_STATEMENTS: request.statements },
        ...startsTree(files) ? { MUSTER_TEST_TREE: bundledTree() } : {},
      },
      place: makePlace(folder),
    };
    if (request.statements !== "") Deno.mkdirSync(request.statements, { recursive: true });
    const path = join(folder, "report.xml");
    const first = await runTests([...modules.keys()], { ...surroundings, report: path });
    const report = await readReport(path);
    const finished = { ...first, report, modules, root: ROOT };
    if (request.left !== "") {
      Deno.writeTextFileSync(request.left, JSON.stringify(ignoredTests(finished)));
    }
    if (first.code === 0 || !request.isRetried || first.hasHung) return first.code;
    return await retry(
      failedFiles(finished),
      errorsOf(first.output),
      (file) => runTests([file], surroundings),
    );
  } finally {
    for (const listener of held) listener.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether some of the tests start the program from the tree. */
function startsTree(files: readonly string[]): boolean {
  return namedExecutable() === undefined && files.some((file) => startsPrograms(TESTS, file));
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

/** Writes a module for each group of at most `most` files; gives the path of each, with the files it imports. */
function writeModules(
  folder: string,
  files: readonly string[],
  most: number,
): ReadonlyMap<string, readonly string[]> {
  const modules = [...groupFiles(TESTS, files, most)].map(([name, group]) => {
    const path = join(folder, `${name}.ts`);
    const imports = group.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
    Deno.writeTextFileSync(path, imports.join(""));
    return [path, group] as const;
  });
  return new Map(modules);
}

interface Surroundings {
  /** Options for `deno test`. */
  readonly options: readonly string[];
  /** What the tests read of this run. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of {@linkcode makePlace}. */
  readonly place: string;
  /** Where to write a report in JUnit's format. */
  readonly report?: string;
}

/** Runs modules of tests. Quick ones compute, others wait for programs. */
async function runTests(
  modules: readonly string[],
  { options, environment, place, report }: Surroundings,
): Promise<RunEnd> {
  const more = environment["MUSTER_TESTS"] === "quick" ? 1 : 4;
  const jobs = Deno.env.get("DENO_JOBS") ?? String(navigator.hardwareConcurrency + more);
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
      ...environment["MUSTER_TEST_STATEMENTS"] === undefined
        ? []
        : [`--preload=${join(TESTS, "support", "note_statements.ts")}`],
      ...report === undefined ? [] : [`--junit-path=${report}`],
      ...options,
      ...modules,
    ],
    folder: ROOT,
    environment: {
      DENO_JOBS: jobs,
      ...environment,
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

function say(text: string): void {
  writeAll(encode(text), Deno.stdout);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The name of a file, from the root of the tree. */
function nameOf(file: string): string {
  return relative(ROOT, file);
}

/**
 * Runs each of the files in which a test failed once more, alone.
 *
 * @param errors what the first run wrote of its failures
 * @returns 0 if there are such files and the tests of all of them pass now; otherwise 1
 */
async function retry(
  failed: readonly string[],
  errors: string,
  runAlone: (file: string) => Promise<RunEnd>,
): Promise<number> {
  const flaky: string[] = [];
  const outputs: string[] = [];
  for (const file of failed) {
    say(`\nOnce more, alone: ${nameOf(file)}\n`);
    const { code, output } = await runAlone(file);
    if (code !== 0) continue;
    flaky.push(file);
    outputs.push(output);
  }
  if (flaky.length > 0) {
    say(`\n== flaky: failed at first, then passed alone; an entry for tests/flaky.md\n`);
    say(flaky.map((file) => `${nameOf(file)}\n`).join(""));
    say(`\n-- at first:\n${errors}\n\n-- alone:\n${outputs.join("\n")}\n`);
  }
  return failed.length > 0 && flaky.length === failed.length ? 0 : 1;
}

Deno.exit(await main(Deno.args));

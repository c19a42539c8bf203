/** Which files failed in a run of `deno test`, and why; and which have tests that were ignored. */
import { basename, resolve } from "node:path";
import { withoutColors } from "./watched_run.ts";

/** A test in a report in JUnit's format, with the file that declares it, and a failure or an error. */
const FAILED_CASE = /<testcase [^>]*classname="([^"]*)"[^>]*>\s*<(?:failure|error)/g;

/** A test in such a report that was ignored, with the file that declares it. */
const IGNORED_CASE = /<testcase [^>]*classname="([^"]*)"[^>]*>\s*<skipped/g;

/** The name of a test that was ignored, as XML writes it. */
const IGNORED_NAME = /<testcase (?:[^>]*? )?name="([^"]*)"[^>]*>\s*<skipped/g;

/** The references to characters in such a report. */
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#(\d+)|#x([\da-f]+));/gi;

const NAMED = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" } as const;

/** A module of several in which a test failed. */
const FAILED_MODULE = /^(\S+) => .* \.\.\. FAILED/gm;

/** A module whose error no test caught. */
const UNCAUGHT = /^(\S+) \(uncaught error\)$/gm;

/** A finished run of `deno test`. */
export interface FinishedRun {
  /** What it wrote. */
  readonly output: string;
  /** Its report in JUnit's format; empty if it wrote none. */
  readonly report: string;
  /** Its modules, with the files of tests that each imports. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
  /** The folder in which it ran. */
  readonly root: string;
}

/**
 * The files in which a test failed. An error that no test caught ends a module, so all files of that
 * module count.
 */
export function failedFiles({ output, report, modules, root }: FinishedRun): readonly string[] {
  const plain = withoutColors(output);
  const membersOf = (pattern: RegExp) =>
    [...plain.matchAll(pattern)].flatMap(([, module = ""]) =>
      modules.get(resolve(root, module)) ?? []
    );
  const files = membersOf(FAILED_MODULE);
  const searched = files.length > 0 ? files : [...modules.values()].flat();
  const failed = declaringFiles(report, FAILED_CASE, { files: searched, root });
  return [...new Set([...failed, ...membersOf(UNCAUGHT)])].sort();
}

/** Tests that a run ignored. */
export interface IgnoredTests {
  /** The files that have them. */
  readonly files: readonly string[];
  /** Their names. */
  readonly names: readonly string[];
}

/** The tests that were ignored. */
export function ignoredTests(
  { report, modules, root }: Pick<FinishedRun, "report" | "modules" | "root">,
): IgnoredTests {
  const files = [...modules.values()].flat();
  const names = [...report.matchAll(IGNORED_NAME)].map(([, name = ""]) => readXml(name));
  return {
    files: [...new Set(declaringFiles(report, IGNORED_CASE, { files, root }))].sort(),
    names: [...new Set(names)].sort(),
  };
}

/** The option of `deno test` that runs no tests but those with some names. */
export function filterOf(names: readonly string[]): string {
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return `--filter=/^(?:${escaped.join("|")})$/`;
}

function readXml(text: string): string {
  return text.replace(REFERENCE, (_, name: keyof typeof NAMED | undefined, decimal, hex) => {
    if (name !== undefined) return NAMED[name];
    return String.fromCodePoint(decimal === undefined ? parseInt(hex, 16) : Number(decimal));
  });
}

/**
 * The files of tests in which the tests of a report are that match. Those that a helper declares are
 * in the files that name it.
 */
function declaringFiles(
  report: string,
  cases: RegExp,
  { files, root }: { readonly files: readonly string[]; readonly root: string },
): string[] {
  const declaring = new Set(
    [...report.matchAll(cases)].map(([, file = ""]) => resolve(root, file)),
  );
  return [...declaring].flatMap((file) =>
    files.includes(file)
      ? [file]
      : files.filter((one) => Deno.readTextFileSync(one).includes(basename(file)))
  );
}

/** The part of a run's output that describes its failures. */
export function errorsOf(output: string): string {
  const plain = withoutColors(output);
  return plain.slice(Math.max(0, plain.lastIndexOf("\n ERRORS \n"))).trim();
}

/** Which files failed in a run of `deno test`, and why; and which have tests that were ignored. */
import { resolve } from "node:path";
import { withoutColors } from "./watched_run.ts";

/** A test in a report in JUnit's format, with the file that declares it, and a failure or an error. */
const FAILED_CASE = /<testcase [^>]*classname="([^"]*)"[^>]*>\s*<(?:failure|error)/g;

/** A test in such a report that was ignored, with the file that declares it. */
const IGNORED_CASE = /<testcase [^>]*classname="([^"]*)"[^>]*>\s*<skipped/g;

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
  const failed = filesOf(report, FAILED_CASE, root);
  const uncaught = [...withoutColors(output).matchAll(UNCAUGHT)]
    .flatMap(([, module = ""]) => modules.get(resolve(root, module)) ?? []);
  const files = new Set([...modules.values()].flat());
  return [...new Set([...failed, ...uncaught])].filter((file) => files.has(file)).sort();
}

/** The files with tests that were ignored. */
export function ignoredFiles(
  { report, modules, root }: Pick<FinishedRun, "report" | "modules" | "root">,
): readonly string[] {
  const files = new Set([...modules.values()].flat());
  return [...new Set(filesOf(report, IGNORED_CASE, root))].filter((file) => files.has(file)).sort();
}

/** The files that declare the tests of a report which match. */
function filesOf(report: string, cases: RegExp, root: string): string[] {
  return [...report.matchAll(cases)].map(([, file = ""]) => resolve(root, file));
}

/** The part of a run's output that describes its failures. */
export function errorsOf(output: string): string {
  const plain = withoutColors(output);
  return plain.slice(Math.max(0, plain.lastIndexOf("\n ERRORS \n"))).trim();
}

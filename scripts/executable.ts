/** Compiles the bundle of muster to an executable of a platform. */
import { join } from "node:path";
import config from "../deno.json" with { type: "json" };
import { bundleProgram, ROOT, runDeno } from "./bundle.ts";
import {
  addTrial,
  makeScripts,
  packCaches,
  packSeldom,
  runTrial,
  SCRIPTS,
  TRIAL,
} from "./embedding/mod.ts";
import { describeLicenses, findPackages } from "./licenses/mod.ts";
import { minifyBundle } from "./minify.ts";
import { executableName, hostTarget, type Platform, readPlatform, type Target } from "./targets.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** The time of every embedded file, in Unix seconds: the first that zip archives know. */
export const FIXED_SECONDS = Date.UTC(1980, 0, 1) / 1000;

/** The runtime of a target could not be had; the message says what to do. */
export class NoRuntime extends Error {
  override readonly name = "NoRuntime";
}

/**
 * Bundles muster to a folder of `dist/`, and returns the folder.
 *
 * @throws {Error} Deno could not bundle it, or licenses.txt lacks what the bundle embeds.
 */
export async function makeBundle(): Promise<string> {
  const folder = join(ROOT, "dist", "build");
  removeFolder(folder);
  bundleProgram(folder);
  const licenses = Deno.readTextFileSync(join(ROOT, "licenses.txt"));
  if (licenses !== describeLicenses(findPackages(folder))) {
    throw new Error('licenses.txt is out of date: run "deno task licenses"');
  }
  await minifyBundle(folder);
  await packSeldom(folder);
  fixTimes(folder);
  return folder;
}

/** What an executable is compiled for, where it goes, and with what. */
export interface CompileOptions {
  readonly target: Target;
  readonly output: string;
  /** The program that compiles; this Deno, if absent. */
  readonly compiler?: string | undefined;
  /** The runtime to embed; if absent, the compiler downloads that of its own version. */
  readonly runtime?: string | undefined;
  /** V8's code of the start from an earlier compilation; if absent, a trial makes it. */
  readonly startCache?: string | undefined;
}

/**
 * Compiles a bundle. For the platform of this machine, the executable gets V8's code of
 * its start and its engine.
 *
 * @returns a file with that code, for {@linkcode CompileOptions.startCache}; null without it.
 * @throws {NoRuntime} The runtime could not be had.
 * @throws {Error} The executable is not one of the target, or the trial failed.
 */
export async function compileBundle(
  bundle: string,
  options: CompileOptions,
): Promise<string | null> {
  const { target, output, runtime } = options;
  if (runtime !== undefined) requirePlatform(runtime, target);
  const isOfHost = isSame(hostTarget(), target);
  const folder = isOfHost ? await addStart(bundle, options) : bundle;
  compile([...permissionFlags(target), ...fileArguments(folder, "main.js", output)], options);
  const made = readPlatform(output);
  if (!isSame(made, target)) throw new Error(`${output} is not an executable of ${target.name}`);
  return isOfHost ? cachesOf(folder) : null;
}

/** Where the caches of a bundle's scripts lie in one file. */
function cachesOf(folder: string): string {
  return `${folder}.cache`;
}

/** Makes a copy of a bundle with scripts, and with V8's code of them; returns its folder. */
async function addStart(bundle: string, options: CompileOptions): Promise<string> {
  const folder = `${bundle}-start`;
  removeFolder(folder);
  copyFolder(bundle, folder);
  await makeScripts(folder);
  await addTrial(folder);
  const trial = join(folder, executableName(options.target.os));
  compile(["--allow-all", ...fileArguments(folder, TRIAL, trial)], options);
  const { startCache } = options;
  const known = startCache === undefined ? undefined : Deno.readFileSync(startCache);
  const caches = await runTrial(trial, known);
  for (const name of [trial, join(folder, TRIAL)]) Deno.removeSync(name);
  for (const [at, cache] of caches.entries()) {
    Deno.writeFileSync(join(folder, `${SCRIPTS[at]}.cache`), cache);
  }
  Deno.writeFileSync(cachesOf(folder), packCaches(caches));
  fixTimes(folder);
  return folder;
}

/** Runs the compiler with these arguments beside those that are always the same. */
function compile(args: readonly string[], { target, compiler }: CompileOptions): void {
  try {
    runDeno(["compile", ...COMMON_ARGUMENTS, `--target=${target.name}`, ...args], compiler);
  } catch {
    throw new NoRuntime(
      `There is no executable for ${target.name}. If Deno could not download the runtime from ` +
        "dl.deno.land, name a file with that runtime (denort, of the compiler's version) in " +
        "DENORT_BIN.",
    );
  }
}

const COMMON_ARGUMENTS: readonly string[] = [
  "--quiet",
  "--no-check",
  "--no-config",
  "--no-lock",
  "--no-prompt",
  // A certificate is replaced by listening on the same address twice (reusePort).
  "--unstable-net",
  // The worker of a process gets fewer rights than the process.
  "--unstable-worker-options",
  // The runtime would trust compiled code in a file of a known name in the folder for temporary
  // files, which anybody on the machine could have put there.
  "--no-code-cache",
  V8_FLAGS,
];

function fileArguments(folder: string, module: string, output: string): string[] {
  return [`--include=${folder}`, `--output=${output}`, join(folder, module)];
}

/**
 * The set of permissions in `deno.json` as flags. On Linux the program may start itself and Git.
 * Elsewhere nothing names the program itself wherever it is, so it may start any program.
 */
export function permissionFlags({ os }: Platform): string[] {
  return Object.entries(config.permissions.default).map(([name, allowed]) =>
    Array.isArray(allowed) && os === "linux"
      ? `--allow-${name}=${allowed.join()}`
      : `--allow-${name}`
  );
}

/**
 * The compiler would embed the runtime of any platform without a word.
 *
 * @throws {NoRuntime} The file is not a runtime of the platform.
 */
function requirePlatform(runtime: string, target: Target): void {
  let found: Platform | null;
  try {
    found = readPlatform(runtime);
  } catch {
    throw new NoRuntime(`The runtime in DENORT_BIN cannot be read: ${runtime}`);
  }
  if (isSame(found, target)) return;
  const what = found === null ? "no known executable" : `for ${found.os} on ${found.arch}`;
  throw new NoRuntime(
    `The runtime in DENORT_BIN is ${what}; ${target.name} needs its own. Unset DENORT_BIN to let ` +
      "Deno download it.",
  );
}

function isSame(one: Platform | null, other: Platform): boolean {
  return one?.os === other.os && one.arch === other.arch;
}

/** The executable embeds the times of its files: the same sources shall give the same bytes. */
function fixTimes(folder: string): void {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    if (isDirectory) fixTimes(path);
    else Deno.utimeSync(path, FIXED_SECONDS, FIXED_SECONDS);
  }
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(join(from, name), join(to, name));
    else Deno.copyFileSync(join(from, name), join(to, name));
  }
}

function removeFolder(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

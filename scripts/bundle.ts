/** Bundles muster: fewer and larger modules start faster than the tree. */
import { createHash } from "node:crypto";
import { basename, join, relative, resolve } from "node:path";

/** The folder of the tree. */
export const ROOT: string = resolve(import.meta.dirname ?? ".", "..");

/** How the bundler gives `require` to CommonJS packages. */
const EAGER_REQUIRE = `import { createRequire as __deno_internal_createRequire } from "node:module";
var __require = __deno_internal_createRequire(import.meta.url);
`;

const LAZY_REQUIRE = `var __required;
var __require = (id) => (__required ??=
  process.getBuiltinModule("node:module").createRequire(import.meta.url))(id);
`;

/**
 * Bundles the program, its workers and what runs in the browser into a folder. There, the program
 * is `main.js`.
 *
 * @throws {Error} Deno could not bundle it; it has printed the reason to standard error.
 */
export function bundleProgram(folder: string): void {
  const workers = findWorkers(join(ROOT, "services"));
  bundle(["main.ts", ...workers], folder);
  for (const worker of workers) placeWorker(worker, folder);
  bundleElements(join(folder, "elements.js"));
  writeBuildId(folder);
}

/** What `services/kernel/version.ts` has in place of the hash of the bundle. */
const BUILD = "@muster-build@";

/** Names a bundle by the hash of its files, so that equal trees have equal names. */
function writeBuildId(folder: string): void {
  const hash = createHash("sha256");
  const named: string[] = [];
  for (const name of Array.from(Deno.readDirSync(folder), ({ name }) => name).sort()) {
    const path = join(folder, name);
    if (!Deno.statSync(path).isFile) continue;
    const bytes = Deno.readFileSync(path);
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    if (name.endsWith(".js") && new TextDecoder().decode(bytes).includes(BUILD)) named.push(path);
  }
  const id = hash.digest("hex").slice(0, 12);
  for (const path of named) {
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replaceAll(BUILD, id));
  }
}

/**
 * Bundles modules and what they import into a folder. There they lie as they do in the nearest
 * folder of the tree that holds them all.
 *
 * @param entries are paths from the root of the tree.
 * @throws {Error} Deno could not bundle them; it has printed the reason to standard error.
 */
export function bundle(entries: readonly string[], folder: string): void {
  runDeno([
    "bundle",
    "--quiet",
    "--platform=deno",
    "--code-splitting",
    `--outdir=${folder}`,
    ...entries,
  ]);
  for (const { name } of Deno.readDirSync(folder)) requireLater(join(folder, name));
}

/**
 * Runs a command of Deno in the tree, with its output on that of this process.
 *
 * @param deno the program; this one, if absent.
 * @throws {Error} It failed.
 */
export function runDeno(args: readonly string[], deno: string = Deno.execPath()): void {
  const { success, code } = new Deno.Command(deno, {
    args: [...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).outputSync();
  if (!success) throw new Error(`deno ${args[0]} ended with code ${code}`);
}

/**
 * Loads `node:module` when a CommonJS package first calls `require`: the bundler lets every module
 * load it, and with it much of Node's library, which a command seldom needs.
 */
function requireLater(path: string): void {
  if (!path.endsWith(".js")) return;
  const text = Deno.readTextFileSync(path);
  const later = text.replace(EAGER_REQUIRE, LAZY_REQUIRE);
  if (later !== text) Deno.writeTextFileSync(path, later);
}

/** Every module that runs as a worker; by convention, its name ends in `_worker.ts`. */
function findWorkers(folder: string): string[] {
  const found: string[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) found.push(...findWorkers(path));
    else if (path.endsWith("_worker.ts")) found.push(relative(ROOT, path));
  }
  return found.sort();
}

/**
 * Puts a worker's module where the bundle looks for it: code names a worker relative to itself, and
 * in the bundle all code is in one folder.
 */
function placeWorker(worker: string, folder: string): void {
  const bundled = worker.replace(/\.ts$/, ".js");
  Deno.writeTextFileSync(join(folder, basename(worker)), `import "./${bundled}";\n`);
}

/** Bundles what runs in the browser to the file where `web/assets.ts` looks for it. */
function bundleElements(file: string): void {
  runDeno([
    "bundle",
    "--quiet",
    "--platform=browser",
    "--minify",
    `--output=${file}`,
    "web/elements/mod.ts",
  ]);
}

/**
 * `deno task compile`: bundles muster and compiles the bundle to dist/muster, one executable.
 *
 * The bundle is smaller and starts faster than the tree would. The compiler is this Deno, or the
 * one in DENO_COMPILER; DENORT_BIN may name the runtime to embed.
 */
import { basename, join, relative } from "node:path";
import config from "../deno.json" with { type: "json" };
import { V8_FLAGS } from "./v8_flags.ts";

const ROOT = join(import.meta.dirname ?? ".", "..");
const BUILD = join(ROOT, "dist", "build");
const OUTPUT = join(ROOT, "dist", Deno.build.os === "windows" ? "muster.exe" : "muster");

async function main(): Promise<void> {
  await Deno.remove(BUILD, { recursive: true }).catch(() => {});
  const workers = await findWorkers(join(ROOT, "services"));
  await bundle(["main.ts", ...workers]);
  await Promise.all(workers.map(placeWorker));
  await compile(join(BUILD, "main.js"));
}

/** Every module that runs as a worker; by convention, its name ends in `_worker.ts`. */
async function findWorkers(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) found.push(...await findWorkers(path));
    else if (entry.name.endsWith("_worker.ts")) found.push(relative(ROOT, path));
  }
  return found.sort();
}

async function bundle(entries: readonly string[]): Promise<void> {
  await execute(Deno.execPath(), [
    "bundle",
    "--quiet",
    "--platform=deno",
    "--code-splitting",
    `--outdir=${BUILD}`,
    ...entries,
  ]);
}

/**
 * Puts a worker's module where the bundle looks for it: code names a worker relative to itself, and
 * in the bundle all code is in one folder.
 */
async function placeWorker(worker: string): Promise<void> {
  const bundled = worker.replace(/\.ts$/, ".js");
  await Deno.writeTextFile(join(BUILD, basename(worker)), `import "./${bundled}";\n`);
}

async function compile(entry: string): Promise<void> {
  const permissions = Object.keys(config.permissions.default).map((name) => `--allow-${name}`);
  await execute(Deno.env.get("DENO_COMPILER") ?? Deno.execPath(), [
    "compile",
    "--quiet",
    "--no-check",
    "--no-config",
    "--no-lock",
    "--no-prompt",
    // A certificate is replaced by listening on the same address twice (reusePort).
    "--unstable-net",
    V8_FLAGS,
    ...permissions,
    `--include=${BUILD}`,
    `--output=${OUTPUT}`,
    entry,
  ]);
}

async function execute(command: string, args: string[]): Promise<void> {
  const { success, code } = await new Deno.Command(command, { args, cwd: ROOT }).spawn().status;
  if (!success) {
    // The compiler has printed the reason to standard error.
    Deno.exit(code);
  }
}

await main();

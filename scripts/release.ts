/**
 * `deno task release [--target TARGET] …`: compiles muster and packs it to
 * dist/release/muster-VERSION-TARGET.tar.gz, with its license, configuration, service file, manual
 * page and completion, and lists the checksums in dist/release/SHA256SUMS.
 *
 * The same sources, compiler and runtime give the same bytes, with one exception: V8's code of the
 * start, which a trial makes. It lies beside the archive, and MUSTER_START_CACHE names it for another
 * build. Every file has the time of the commit, or that of SOURCE_DATE_EPOCH
 * (https://reproducible-builds.org/specs/source-date-epoch/).
 */
import { join } from "node:path";
import { VERSION } from "../services/kernel/version.ts";
import { ROOT } from "./bundle.ts";
import { compileBundle, FIXED_SECONDS, makeBundle, NoRuntime } from "./executable.ts";
import { archiveName, CHECKSUMS, checksums, packRelease, releaseFiles } from "./release/mod.ts";
import { executableName, hostTarget, readTargets, type Target } from "./targets.ts";

const FOLDER = join(ROOT, "dist", "release");

async function main(args: string[]): Promise<number> {
  const targets = readTargets(args);
  if (typeof targets === "string") {
    printError(targets);
    return 2;
  }
  await Deno.mkdir(FOLDER, { recursive: true });
  const bundle = await makeBundle();
  const date = releaseDate();
  let code = 0;
  for (const target of targets.length === 0 ? [hostTarget()] : targets) {
    try {
      await release(bundle, target, date);
    } catch (error) {
      if (!(error instanceof NoRuntime)) throw error;
      printError(error.message);
      code = 1;
    }
  }
  await writeChecksums();
  return code;
}

async function release(bundle: string, target: Target, date: number): Promise<void> {
  const output = join(ROOT, "dist", target.name, executableName(target.os));
  const startCache = await compileBundle(bundle, {
    target,
    output,
    compiler: Deno.env.get("DENO_COMPILER"),
    runtime: Deno.env.get("DENORT_BIN"),
    startCache: Deno.env.get("MUSTER_START_CACHE"),
  });
  const files = releaseFiles(output, target, (words) => runBundle(bundle, words));
  const path = join(FOLDER, archiveName(VERSION, target));
  await packRelease(path, files, date);
  if (startCache !== null) await Deno.copyFile(startCache, `${path}.start-cache`);
  printError(path);
}

/** Runs a command of the bundle: this machine may not run the target's executable. */
function runBundle(bundle: string, words: readonly string[]): Uint8Array {
  const { stdout, success } = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--allow-all", join(bundle, "main.js"), ...words],
    stderr: "inherit",
  }).outputSync();
  if (!success) throw new Error(`muster ${words.join(" ")} failed`);
  return stdout;
}

/** The time of every file in an archive, in Unix milliseconds. */
function releaseDate(): number {
  const given = Deno.env.get("SOURCE_DATE_EPOCH");
  if (given !== undefined) return Number(given) * 1000;
  const { stdout, success } = new Deno.Command("git", {
    args: ["log", "-1", "--format=%ct"],
    cwd: ROOT,
    stderr: "null",
  }).outputSync();
  return (success ? Number(new TextDecoder().decode(stdout)) : FIXED_SECONDS) * 1000;
}

/** Lists the checksums of all archives of this version. */
async function writeChecksums(): Promise<void> {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
    .filter((name) => name.startsWith(`muster-${VERSION}-`));
  const files = names.map((path) => ({ path, content: Deno.readFileSync(join(FOLDER, path)) }));
  await Deno.writeTextFile(join(FOLDER, CHECKSUMS), checksums(files));
}

function printError(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

Deno.exit(await main(Deno.args));

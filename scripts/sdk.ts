/**
 * `deno task sdk`: builds the clients of clients/ for npm and PyPI to dist/sdk. What follows from
 * the API is generated from the document of the program itself. The task fetches what it needs with
 * `scripts/sdk_tools`.
 */
import { join } from "node:path";
import { VERSION } from "../services/kernel/version.ts";
import { sdkTools } from "../tests/support/peers.ts";
import { startProgram } from "../tests/support/program.ts";
import { ROOT } from "./bundle.ts";

/** Where a client is built. */
export interface SdkBuild {
  /** The API's document. */
  readonly document: string;
  /** An empty folder. */
  readonly folder: string;
}

/**
 * Writes and compiles the client in TypeScript.
 *
 * @returns the package as a file
 */
export async function buildTypescript({ document, folder }: SdkBuild): Promise<string> {
  await copySources("typescript", folder);
  await run(folder, "cp", ["-r", join(sdkTools(), "node_modules"), "."]);
  await run(folder, "node_modules/.bin/openapi-ts", [], { MUSTER_OPENAPI: document });
  await run(folder, "node_modules/.bin/tsc", []);
  await run(folder, "npm", ["pack", "--silent"]);
  return join(folder, `muster-client-${VERSION}.tgz`);
}

/**
 * Writes the client in Python.
 *
 * @returns the wheel
 */
export async function buildPython({ document, folder }: SdkBuild): Promise<string> {
  const bin = join(sdkTools(), "bin");
  await copySources("python", folder);
  await run(folder, join(bin, "openapi-python-client"), [
    ...["generate", "--path", document, "--output-path", "generated", "--meta", "none"],
    ...["--config", "generator.yaml", "--custom-template-path", "templates"],
    ...["--fail-on-warning"],
  ]);
  await run(folder, "cp", ["-r", "generated/.", "muster_client"]);
  await run(folder, join(bin, "python"), [
    ...["-m", "build", "--wheel", "--no-isolation", "--outdir", "."],
  ]);
  return join(folder, `muster_client-${VERSION}-py3-none-any.whl`);
}

async function copySources(language: string, folder: string): Promise<void> {
  await run(folder, "cp", ["-r", `${join(ROOT, "clients", language)}/.`, "."]);
}

/** @throws Error with what the program wrote, if it fails */
async function run(
  cwd: string,
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd, env })
    .output();
  if (success) return;
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  throw new Error(`${program} ${args.join(" ")}\n${out}${error}`);
}

async function main(): Promise<void> {
  const packages = join(ROOT, "dist", "sdk");
  await Deno.mkdir(packages, { recursive: true });
  const work = await Deno.makeTempDir();
  try {
    await using program = await startProgram();
    const document = join(work, "openapi.json");
    const response = await fetch(`${program.api}/openapi.json`);
    await Deno.writeTextFile(document, await response.text());
    for (const build of [buildTypescript, buildPython]) {
      const built = await build({ document, folder: await Deno.makeTempDir({ dir: work }) });
      const path = join(packages, built.slice(built.lastIndexOf("/") + 1));
      await Deno.copyFile(built, path);
      Deno.stderr.writeSync(new TextEncoder().encode(`${path}\n`));
    }
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

if (import.meta.main) await main();

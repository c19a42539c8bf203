/**
 * `deno task compile [--target TARGET] …`: bundles muster and compiles the bundle to an executable:
 * dist/muster for this machine, or dist/TARGET/muster for each target. `--target all` means each.
 *
 * The bundle is smaller and starts faster than the tree would. The compiler is this Deno, or the
 * one in DENO_COMPILER; DENORT_BIN may name the runtime to embed.
 */
import { join } from "node:path";
import { ROOT } from "./bundle.ts";
import { compileBundle, makeBundle, NoRuntime } from "./executable.ts";
import { executableName, hostTarget, readTargets, type Target } from "./targets.ts";

/** Compiles what the arguments name; returns the exit code. */
async function main(args: string[]): Promise<number> {
  const targets = readTargets(args);
  if (typeof targets === "string") {
    printError(targets);
    return 2;
  }
  const folder = await makeBundle();
  if (targets.length === 0) return await compile(folder, null);
  // A target that fails leaves the others alone.
  let code = 0;
  for (const target of targets) code = Math.max(code, await compile(folder, target));
  return code;
}

async function compile(folder: string, target: Target | null): Promise<number> {
  const name = executableName(target?.os ?? Deno.build.os);
  const output = join(ROOT, "dist", target?.name ?? "", name);
  try {
    await compileBundle(folder, {
      target: target ?? hostTarget(),
      output,
      compiler: Deno.env.get("DENO_COMPILER"),
      runtime: Deno.env.get("DENORT_BIN"),
      startCache: Deno.env.get("MUSTER_START_CACHE"),
    });
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error;
    printError(error.message);
    return 1;
  }
  return 0;
}

function printError(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

Deno.exit(await main(Deno.args));

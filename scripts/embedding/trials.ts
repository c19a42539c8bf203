import { stop, transform } from "esbuild";
import { join } from "node:path";

/** The module of a bundle that runs its server to find what a start compiles. */
export const TRIAL = "trial.js";

/** How long a trial may take, in milliseconds. */
const TRIAL_LIMIT = 60_000;

/** Adds {@linkcode TRIAL} to a bundle with a start script. */
export async function addTrial(folder: string): Promise<void> {
  const source = await Deno.readTextFile(join(import.meta.dirname ?? ".", "trial.ts"));
  const { code } = await transform(source, { loader: "ts", target: "esnext" });
  await stop();
  await Deno.writeTextFile(join(folder, TRIAL), code);
}

/**
 * Runs an executable of {@linkcode TRIAL} on this machine.
 *
 * @param known a file with the result of an earlier trial, in place of another.
 * @returns what the executable shall embed as `start.cache`: what V8 compiled by the second start
 * in a data folder. The first one makes the data.
 * @throws {Error} The server did not start, an export of the start script changed, or V8 does not
 * take the result.
 */
export async function runTrial(executable: string, known?: string): Promise<Uint8Array> {
  const folder = await Deno.makeTempDir({ prefix: "muster-trial-" });
  try {
    const output = known ?? join(folder, "output");
    for (let start = 0; start < 2 && known === undefined; start++) {
      await run(executable, folder, {
        MUSTER_API_ADDR: "127.0.0.1:0",
        MUSTER_DATA_DIR: join(folder, "data"),
        MUSTER_IRC_LISTEN: "127.0.0.1:0",
        MUSTER_MCP_ADDR: "127.0.0.1:0",
        MUSTER_TRIAL_OUTPUT: output,
      });
    }
    await run(executable, folder, { MUSTER_TRIAL_INPUT: output });
    return await Deno.readFile(output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(executable: string, cwd: string, env: Record<string, string>): Promise<void> {
  const { success, stderr } = await new Deno.Command(executable, {
    clearEnv: true,
    cwd,
    env,
    signal: AbortSignal.timeout(TRIAL_LIMIT),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`The trial failed: ${new TextDecoder().decode(stderr)}`);
}

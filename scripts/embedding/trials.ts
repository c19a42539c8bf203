import { stop, transform } from "esbuild";
import { join } from "node:path";
import { SCRIPTS } from "./scripts.ts";

/** The module of a bundle that runs it to find what V8 compiles. */
export const TRIAL = "trial.js";

/** How long a trial may take, in milliseconds. */
const TRIAL_LIMIT = 60_000;

/** Adds {@linkcode TRIAL} to a bundle with scripts. */
export async function addTrial(folder: string): Promise<void> {
  const source = await Deno.readTextFile(join(import.meta.dirname ?? ".", "trial.ts"));
  const { code } = await transform(source, { loader: "ts", target: "esnext" });
  await stop();
  await Deno.writeTextFile(join(folder, TRIAL), code);
}

/**
 * Runs an executable of {@linkcode TRIAL} on this machine.
 *
 * @param known what {@linkcode packCaches} made of an earlier trial's result, in place of another.
 * @returns what the executable shall embed as NAME.cache, in the order of {@linkcode SCRIPTS}: what
 * V8 compiled by the second start in a data folder. The first one makes the data.
 * @throws {Error} The server did not start, an export of a script changed, or V8 does not take the
 * result.
 */
export async function runTrial(executable: string, known?: Uint8Array): Promise<Uint8Array[]> {
  const folder = await Deno.makeTempDir({ prefix: "muster-trial-" });
  const fileOf = (name: string) => join(folder, `${name}.cache`);
  try {
    for (let start = 0; start < 2 && known === undefined; start++) {
      await run(executable, folder, {
        MUSTER_API_ADDR: "127.0.0.1:0",
        MUSTER_DATA_DIR: join(folder, "data"),
        MUSTER_IRC_LISTEN: "127.0.0.1:0",
        MUSTER_MCP_ADDR: "127.0.0.1:0",
        MUSTER_TRIAL_OUTPUT: folder,
      });
    }
    for (const [at, cache] of (known === undefined ? [] : unpackCaches(known)).entries()) {
      await Deno.writeFile(fileOf(SCRIPTS[at] ?? ""), cache);
    }
    await run(executable, folder, { MUSTER_TRIAL_INPUT: folder });
    return await Promise.all(SCRIPTS.map((name) => Deno.readFile(fileOf(name))));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const LENGTH_BYTES = 4;

/** Makes one file of the caches of all scripts: the first, after its length, and the second. */
export function packCaches(
  [first = new Uint8Array(), second = new Uint8Array()]: readonly Uint8Array[],
): Uint8Array {
  const packed = new Uint8Array(LENGTH_BYTES + first.length + second.length);
  new DataView(packed.buffer).setUint32(0, first.length);
  packed.set(first, LENGTH_BYTES);
  packed.set(second, LENGTH_BYTES + first.length);
  return packed;
}

/** Takes apart what {@linkcode packCaches} made. */
export function unpackCaches(packed: Uint8Array): Uint8Array[] {
  const end = LENGTH_BYTES +
    new DataView(packed.buffer, packed.byteOffset, packed.length).getUint32(0);
  return [packed.subarray(LENGTH_BYTES, end), packed.subarray(end)];
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

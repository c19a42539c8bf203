/** Runs commands with a read-only folder, on any machine. */
import { peer } from "./peers.ts";
import type { Finished } from "./program.ts";

/** The superuser can write everywhere unless it drops these capabilities. */
const OVERRIDES = "-dac_override,-dac_read_search";

/** Options for `Deno.test` of a test that needs such a folder. */
export function readOnlyFolders(): { ignore: boolean } {
  return Deno.uid() === 0 ? peer("setpriv") : { ignore: Deno.build.os === "windows" };
}

/**
 * Makes a folder read-only and runs a command, which cannot write it even as the superuser.
 *
 * @throws {Error} if the folder is writable nevertheless
 */
export async function runReadOnly(
  folder: string,
  words: readonly [string, ...string[]],
): Promise<Finished> {
  const restrict = ["setpriv", `--bounding-set=${OVERRIDES}`, `--inh-caps=${OVERRIDES}`];
  const prefix = Deno.uid() === 0 ? restrict : [];
  Deno.chmodSync(folder, 0o555);
  try {
    const probe = await execute([...prefix, "touch", `${folder}/probe`]);
    if (probe.code === 0) throw new Error(`"${folder}" can be written all the same`);
    return await execute([...prefix, ...words]);
  } finally {
    Deno.chmodSync(folder, 0o755);
  }
}

async function execute([program = "", ...args]: readonly string[]): Promise<Finished> {
  const output = await new Deno.Command(program, { args, stdin: "null" }).output();
  const decoder = new TextDecoder();
  const [stdout, stderr] = [decoder.decode(output.stdout), decoder.decode(output.stderr)];
  return { code: output.code, stdout, stderr };
}

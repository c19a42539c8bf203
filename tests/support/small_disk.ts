/** A disk of a few megabytes that tests can fill. */

/** Mounts a file system in memory, which only the shell's own processes see. */
const MOUNTED = ["unshare", "--user", "--map-root-user", "--mount"] as const;

/** Options for `Deno.test` of a test that needs a small disk; not every container allows one. */
export function smallDisk(): { ignore: boolean } {
  return { ignore: !canMount() };
}

function canMount(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return runOn("/tmp", 1, "true").code === 0;
  } catch {
    return false;
  }
}

/**
 * Runs a shell script with a small disk mounted on a folder.
 *
 * @param folder the mount point; the script starts in the folder above
 * @param megabytes size of the disk.
 * @param script for `sh`; its arguments are `$1`, `$2`, ….
 */
export function runOn(
  folder: string,
  megabytes: number,
  script: string,
  args: readonly string[] = [],
): { code: number; stdout: string; stderr: string } {
  const mount = `mount -t tmpfs -o size=${megabytes}m none "$0" && { ${script}\n}`;
  const [program, ...options] = MOUNTED;
  const output = new Deno.Command(program, {
    args: [...options, "sh", "-c", mount, folder, ...args],
    cwd: `${folder}/..`,
    stdin: "null",
  }).outputSync();
  const [stdout, stderr] = [output.stdout, output.stderr].map((text) =>
    new TextDecoder().decode(text)
  );
  return { code: output.code, stdout: stdout ?? "", stderr: stderr ?? "" };
}

/** A disk of a few megabytes that tests can fill. */

import { musterWords } from "./program.ts";

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

/** A small disk on which programs run while the test fills and empties it. */
export interface HeldDisk extends AsyncDisposable {
  /** The disk, as programs on it see it. */
  readonly folder: string;
  /** The words that run muster on it. */
  readonly words: readonly string[];
  /** Reads a file on it, with a program: Deno reads nothing of another name space. */
  readFile(path: string): Promise<string>;
  /** Fills it, but for so many bytes. */
  fill(left?: number): void;
  /** Removes what {@link HeldDisk.fill} has written. */
  empty(): void;
}

/**
 * Mounts a small disk until the end of a block.
 *
 * @param folder gets the mount point
 */
export async function holdDisk(folder: string, megabytes: number): Promise<HeldDisk> {
  const disk = `${folder}/disk`;
  await Deno.mkdir(disk);
  const [program, ...options] = MOUNTED;
  const mount =
    `mount -t tmpfs -o size=${megabytes}m none "$0" && echo mounted && exec sleep 99999`;
  const holder = new Deno.Command(program, {
    args: [...options, "sh", "-c", mount, disk],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = holder.stdout.getReader();
  await reader.read();
  const inside = [
    ...["nsenter", "--target", `${holder.pid}`, "--user", "--mount", "--preserve-credentials"],
    ...["sh", "-c", 'cd "$0" && exec "$@"', disk],
  ];
  const run = (script: string, ...args: string[]) => {
    const [enter = "", ...words] = [...inside, "sh", "-c", script, ...args];
    new Deno.Command(enter, { args: words, stdin: "null", stderr: "null" }).outputSync();
  };
  return {
    folder: disk,
    async readFile(path) {
      const [enter = "", ...words] = [...inside, "cat", path];
      const { success, stdout } = await new Deno.Command(enter, { args: words }).output();
      if (!success) throw new Error(`${path} cannot be read`);
      return new TextDecoder().decode(stdout);
    },
    words: [...inside, ...musterWords()],
    fill(left = 0) {
      if (left === 0) return run("cat /dev/zero > filler");
      run('head -c "$0" /dev/zero > kept; cat /dev/zero > filler; rm kept', `${left}`);
    },
    empty: () => run("rm -f filler"),
    async [Symbol.asyncDispose]() {
      await reader.cancel();
      holder.kill("SIGKILL");
      await holder.status;
    },
  };
}

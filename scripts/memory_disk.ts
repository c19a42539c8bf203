/** A file system in memory for the files of tests. */

/** How much memory must be available, in bytes: the file system takes at most a half of it. */
const ROOM = 8 * 2 ** 30;

const MOUNT = 'mount -t tmpfs -o "size=$1,mode=755" muster-tests "$0" && shift && exec "$@"';

/**
 * The words before a command that give it a file system in memory on a folder, which nobody else
 * sees, and which goes away with the last process of the command.
 *
 * @param folder an empty folder
 * @returns no words if the system, the rights or the memory for it are missing
 */
export function memoryDiskOn(folder: string): readonly string[] {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return [];
  const { available } = Deno.systemMemoryInfo();
  if (available < ROOM) return [];
  const size = String(Math.floor(available / 2));
  const words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, folder, size];
  return canRun([...words, "true"]) ? words : [];
}

function canRun([program = "", ...args]: readonly string[]): boolean {
  try {
    return new Deno.Command(program, { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

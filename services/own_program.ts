/**
 * The program that runs. On Linux the permission to start processes is for this path alone: it
 * always names the program itself, wherever it is and also after its file was replaced.
 */
export function ownProgram(): string {
  return Deno.build.os === "linux" ? "/proc/self/exe" : Deno.execPath();
}

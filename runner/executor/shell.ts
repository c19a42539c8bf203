/** Programs of the machine, all started by the one shell that a runner may start. */

const SHELL = "/bin/sh";

/** Where programs are; nothing of the runner's own environment reaches them. */
export const PROGRAM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Starts a program in a process group of its own, with three pipes. */
export function spawnApart(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Deno.ChildProcess {
  return new Deno.Command(SHELL, {
    args: ["-c", 'exec "$@"', "sh", ...command],
    clearEnv: true,
    env: { PATH: PROGRAM_PATH, ...environment },
    cwd: "/",
    detached: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** What a program answers, if it succeeds. */
export interface Answer {
  readonly success: boolean;
  readonly output: string;
  readonly error: string;
}

/**
 * Runs a program to its end, without input.
 *
 * @param input what it reads
 */
export async function run(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { success, stdout, stderr } = await new Deno.Command(SHELL, {
    args: ["-c", 'exec "$@"', "sh", ...command],
    clearEnv: true,
    env: { PATH: PROGRAM_PATH, ...environment },
    cwd: "/",
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  return { success, output: text(stdout), error: text(stderr) };
}

/** Runs a script of the shell, with arguments. */
export function runScript(script: string, ...args: readonly string[]): Promise<Answer> {
  return run([SHELL, "-c", script, "sh", ...args]);
}

/** The path of a program, or null if there is none. */
export async function whichProgram(name: string): Promise<string | null> {
  const { success, output } = await runScript('command -v "$1"', name);
  return success && output.startsWith("/") ? output : null;
}

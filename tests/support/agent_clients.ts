/** Commands that set up agents' clients, in a home folder of their own. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Finished, type Program, runMuster } from "./program.ts";

/** Runs `muster` as a person whose home folder is `home` in the program's folder. */
export async function runAtHome(
  program: Program,
  args: readonly string[],
  options: { environment?: Readonly<Record<string, string>>; stdin?: string } = {},
): Promise<Finished> {
  const home = homeOf(program);
  await Deno.mkdir(home, { recursive: true });
  return await runMuster(args, {
    folder: program.folder,
    environment: {
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_STATE_HOME: join(home, ".local", "state"),
      CODEX_HOME: join(home, ".codex"),
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      MUSTER_URL: program.api,
      ...options.environment,
    },
    stdin: options.stdin ?? "",
  });
}

/** Runs a command that must succeed, and returns its output. */
export async function atHome(program: Program, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAtHome(program, args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The home folder of {@linkcode runAtHome}. */
export function homeOf({ folder }: Program): string {
  return join(folder, "home");
}

/** The file with an agent's token. */
export function tokenFileOf(program: Program, nick: string): string {
  const name = `${nick}@${new URL(program.api).host.replace(":", "_")}`;
  return join(homeOf(program), ".config", "muster", "tokens", name);
}

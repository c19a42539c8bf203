import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { ExaminationProcess } from "../services/operations/mod.ts";
import { ownProgram } from "../services/own_program.ts";
import { settingsEnvironment, type SettingsOptions } from "./settings.ts";

/** The niceness of the process: it gets what the server leaves over. */
const NICENESS = 10;

/** Most bytes of a report. */
const MAX_REPORT = 16 * 1024 * 1024;

/**
 * Starts this program again, as `muster doctor --quick --json` with the settings of this one.
 *
 * @throws {Deno.errors.NotCapable} This process may not start others.
 */
export function startExamination(options: SettingsOptions): ExaminationProcess {
  const { config } = options;
  const process = new Deno.Command(ownProgram(), {
    args: [
      ...Deno.build.standalone ? [] : treeArguments(),
      ...["doctor", "check", "--quick", "--json"],
      ...config === undefined ? [] : ["--config", config],
    ],
    env: settingsEnvironment(options),
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  try {
    setPriority(process.pid, NICENESS);
  } catch {
    // Not permitted here, or it has ended.
  }
  const kill = () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  return { output: reportOf(process, kill), kill };
}

/** How Deno runs the tree. */
function treeArguments(): string[] {
  const main = fileURLToPath(Deno.mainModule);
  return ["run", "--quiet", "--no-prompt", "--permission-set", main];
}

/** What the process prints until it ends; nothing if that is too much. */
async function reportOf({ stdout, status }: Deno.ChildProcess, kill: () => void): Promise<string> {
  let text = "";
  for await (const part of stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.length <= MAX_REPORT) continue;
    kill();
    text = "";
    break;
  }
  await status;
  return text;
}

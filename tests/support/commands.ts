import assert from "node:assert/strict";
import { type Finished, type Program, runMuster } from "./program.ts";

/** Runs a command against a started program, in its folder, as a person would. */
export function run(program: Program, ...args: string[]): Promise<Finished> {
  return runMuster(args, { folder: program.folder, environment: { MUSTER_URL: program.api } });
}

/** Runs a command that must succeed, and returns its output. */
export async function succeed(program: Program, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(program, ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** `muster check`: the definition of checks, in a folder. */
import { dirname, join, resolve } from "node:path";
import {
  findBwrap,
  findPlain,
  Interruption,
  type LogLine,
  type Sandbox,
} from "../runner/executor/mod.ts";
import { inOrder, runLocally } from "../runner/local.ts";
import { hintFor } from "../services/kernel/validation/schemas.ts";
import {
  type CheckDefinition,
  type Definition,
  DEFINITION_PATH,
  DefinitionInvalid,
  parseDefinition,
} from "../services/work/definitions/mod.ts";
import type { Group } from "./command_line/mod.ts";
import type { CommandOptions } from "./options.ts";
import { bold, CommandFailed, print, printError, printText, visible } from "./output.ts";
import { amount } from "../services/kernel/words.ts";

interface RunOptions extends CommandOptions {
  readonly plain?: boolean;
}

/** `muster check lint [file]`. */
async function lint(file: string | undefined): Promise<void> {
  const path = file ?? join(await findFolder(), DEFINITION_PATH);
  const { checks } = await readDefinition(path);
  print(`${visible(path)} defines ${amount(checks.length, "check")}:`);
  for (const check of checks) print(`  ${check.name} (${occasionsOf(check)})`);
}

function occasionsOf({ on: { review, landing, push, cron } }: CheckDefinition): string {
  return [
    ...review ? ["review"] : [],
    ...landing ? ["landing"] : [],
    ...push === null ? [] : [push.length === 0 ? "push" : `push to ${push.join(", ")}`],
    ...cron.map((time) => `cron ${time}`),
  ].join(", ");
}

/** The nearest folder upwards with a definition. */
async function findFolder(): Promise<string> {
  let folder = resolve(Deno.cwd());
  for (;;) {
    try {
      await Deno.stat(join(folder, DEFINITION_PATH));
      return folder;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const parent = dirname(folder);
    if (parent === folder) {
      throw new CommandFailed(`There is no ${DEFINITION_PATH} in this folder or above it`);
    }
    folder = parent;
  }
}

async function readDefinition(path: string): Promise<Definition> {
  try {
    return parseDefinition(await Deno.readTextFile(path), path);
  } catch (error) {
    if (error instanceof DefinitionInvalid) throw new CommandFailed(error.message);
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CommandFailed(`There is no file ${path}`);
  }
}

/** `muster check run [name]`. */
async function run(name: string | undefined, options: RunOptions): Promise<void> {
  const folder = await findFolder();
  const { checks } = await readDefinition(join(folder, DEFINITION_PATH));
  const asked = inOrder(checks, name ?? null);
  if (asked.length === 0) {
    const hint = hintFor(name ?? "", checks.map((check) => check.name));
    throw new CommandFailed(`${DEFINITION_PATH} has no check "${name}"${hint}`);
  }
  const sandbox = await sandboxFor(options);
  printError(`Isolation: ${sandbox.about}`);
  const stopped = new AbortController();
  const onSignal = () => stopped.abort(new Interruption("It was interrupted"));
  for (const signal of ENDS) Deno.addSignalListener(signal, onSignal);
  try {
    const failed = await runAll(asked, { folder, sandbox, signal: stopped.signal });
    if (failed.length > 0) throw new CommandFailed(`Failed: ${failed.join(", ")}`);
  } finally {
    for (const signal of ENDS) Deno.removeSignalListener(signal, onSignal);
  }
}

const ENDS = ["SIGINT", ...Deno.build.os === "windows" ? [] : ["SIGTERM" as const]] as const;

async function sandboxFor({ plain }: RunOptions): Promise<Sandbox> {
  const found = plain === true
    ? await findPlain(null)
    : await findBwrap({ account: null, shared: [] });
  if (!("why" in found)) return found;
  const fix = plain === true ? "" : "; --plain runs the check without isolation";
  throw new CommandFailed(`No isolation: ${found.why}${fix}`);
}

/** Runs checks one after the other; returns the names of those that did not succeed. */
async function runAll(
  checks: readonly CheckDefinition[],
  surroundings: {
    readonly folder: string;
    readonly sandbox: Sandbox;
    readonly signal: AbortSignal;
  },
): Promise<string[]> {
  const failed: string[] = [];
  for (const check of checks) {
    if (surroundings.signal.aborted) break;
    print(bold(`== ${check.name}`, Deno.stdout));
    const missing = check.needs.filter((need) => failed.includes(need));
    if (missing.length > 0) {
      printError(`It needs ${missing.join(", ")}`);
      failed.push(check.name);
      continue;
    }
    const { outcome } = await runLocally({
      ...surroundings,
      check,
      secrets: secretsOf(check),
      write: show,
    });
    if (outcome !== "success") failed.push(check.name);
  }
  return failed;
}

/** The check's secrets, as far as variables of the same name are set here. */
function secretsOf({ secrets }: CheckDefinition): Record<string, string> {
  return Object.fromEntries(secrets.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

function show({ stream, text }: LogLine): void {
  if (stream === "out") printText(`${text}\n`);
  else if (stream === "command") print(bold(`$ ${visible(text)}`, Deno.stdout));
  else printError(text);
}

export const CHECK: Group = {
  commands: [
    {
      name: "lint",
      summary: "say what is wrong with a definition of checks, and where",
      parameters: [{ usage: "[file]", completes: "file" }],
      run: lint,
      notes: [`The file is ${DEFINITION_PATH} of this folder, or of the nearest one above it.`],
    },
    {
      name: "run",
      summary: "run a check, or all, in this folder, as a runner would",
      parameters: [{ usage: "[name]" }],
      options: [{ flags: "--plain", summary: "run without isolation, as this account" }],
      run,
      notes: [
        "A check runs after those that it needs. What it writes stays in the folder. Its secrets " +
        "are the variables of the same name.",
      ],
    },
  ],
  examples: [
    { line: "check lint", purpose: "Judge .muster/checks.yaml before it is pushed" },
    { line: "check run tests", purpose: "Run one check here" },
  ],
};

/** Starts the real program in a separate process, and talks to it from outside. */
import { join } from "node:path";
import { V8_FLAGS } from "../../scripts/v8_flags.ts";
import { bundledTree } from "./bundled_tree.ts";
import { namedExecutable } from "./executable.ts";
import { WAIT_LIMIT, within } from "./until.ts";

/** Options of a start. */
export interface ProgramOptions {
  /** The folder in which it starts, with its data in `data`; by default, a new folder. */
  readonly folder?: string;
  /** More configuration keys, as environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Most files that it may have open; by default, as many as the test. */
  readonly openFiles?: number;
  /** The text of `config.yaml`. */
  readonly config?: string;
  /** How long it may take to listen, in milliseconds; three minutes if absent. */
  readonly startLimit?: number;
  /** The words that run another muster than {@linkcode musterWords}. */
  readonly words?: readonly string[];
  /** Reads a file in its folder, if the test does not see that itself. */
  readonly readFile?: (path: string) => Promise<string>;
  /** The port of the inspector; none by default. The executable has no inspector. */
  readonly inspector?: number;
}

/** A program that listens. */
export interface Program extends AsyncDisposable {
  /** The base URL of the API. */
  readonly api: string;
  /** The base URL of the web pages, for browsers. */
  readonly pages: string;
  /** The URL of the MCP endpoint. */
  readonly mcp: string;
  /** Port 0 if it runs no IRC server. */
  readonly irc: { readonly hostname: string; readonly port: number };
  /** The URL of IRC over TLS, if it listens. */
  readonly ircs: string | null;
  readonly folder: string;
  /** The API token. */
  readonly token: string;
  readonly pid: number;
  /** Resolves with its exit code once it has ended. */
  readonly ended: Promise<number>;
  /** The lines that it has written to standard error so far. */
  readonly log: readonly string[];
  /** Resolves with the next line of the log that matches, from now on. */
  logged(pattern: RegExp): Promise<string>;
  /** Resolves with the first line of the log that matches, written already or still to come. */
  inLog(pattern: RegExp): Promise<string>;
  /** Ends it with a signal, waits, and returns its exit code. */
  stop(signal?: Deno.Signal): Promise<number>;
}

/** The result of a finished command. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The words that run muster: the executable that `MUSTER_EXECUTABLE` names, or a bundled tree.
 *
 * @param inspector its port, if it shall have one
 */
export function musterWords(inspector?: number): [string, ...string[]] {
  const executable = namedExecutable();
  if (executable !== undefined) {
    if (inspector !== undefined) throw new Error("The executable has no inspector");
    return [executable];
  }
  bundled ??= Deno.env.get("MUSTER_TEST_TREE") ?? bundledTree();
  return [
    Deno.execPath(),
    "run",
    "--quiet",
    ...inspector === undefined ? [] : [`--inspect=127.0.0.1:${inspector}`],
    V8_FLAGS,
    `--config=${join(bundled, "deno.json")}`,
    "--permission-set",
    join(bundled, "main.ts"),
  ];
}

/** The bundle that this file of tests runs. */
let bundled: string | undefined;

/** A command of muster that is not started yet. */
export function musterCommand(
  args: readonly string[],
  options: Deno.CommandOptions,
  inspector?: number,
): Deno.Command {
  const [program, ...first] = musterWords(inspector);
  return new Deno.Command(program, { ...options, args: [...first, ...args] });
}

/** `muster serve` with a limit on open files. */
export function limitedCommand(
  openFiles: number | undefined,
  options: Deno.CommandOptions,
  inspector?: number,
): Deno.Command {
  if (openFiles === undefined) return musterCommand(["serve"], options, inspector);
  const script = `ulimit -n ${openFiles}; exec "$0" "$@"`;
  return new Deno.Command("bash", { ...options, args: ["-c", script, ...musterWords(), "serve"] });
}

/** The environment of a started program: for the executable, nothing but what is given. */
export function cleanEnvironment(more: Readonly<Record<string, string>>): Record<string, string> {
  return namedExecutable() !== undefined ? { ...more } : treeEnvironment(more);
}

/**
 * The environment in which Deno runs the tree: the test's, without variables that would configure
 * muster.
 */
export function treeEnvironment(more: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(Deno.env.toObject()).filter(([key]) =>
    !key.startsWith("MUSTER_")
  );
  return { ...Object.fromEntries(inherited), NO_COLOR: "1", ...more };
}

/** How long a start may take, in milliseconds: all cores may be busy with others. */
const START_LIMIT = 3 * WAIT_LIMIT;

/** How long a command may take, in milliseconds; some write a hundred megabytes. */
const COMMAND_LIMIT = 5 * WAIT_LIMIT;

/**
 * Runs a command of muster to its end.
 *
 * @throws Error with what it wrote, if it does not end in time
 */
export async function runMuster(
  args: readonly string[],
  options: { folder: string; environment?: Readonly<Record<string, string>>; stdin?: string },
): Promise<Finished> {
  const process = musterCommand(args, {
    cwd: options.folder,
    clearEnv: true,
    env: cleanEnvironment(options.environment ?? {}),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(options.stdin ?? "")).catch(() => {});
  await writer.close().catch(() => {});
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill(process, "SIGKILL");
  }, COMMAND_LIMIT);
  const { code, stdout, stderr } = await process.output().finally(() => clearTimeout(timer));
  const decoder = new TextDecoder();
  const finished = { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  if (isLate) throw new Error(`muster ${args.join(" ")} did not end: ${JSON.stringify(finished)}`);
  return finished;
}

/** Starts `muster serve` on free ports and waits until it listens. */
export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "muster-" });
  if (options.config !== undefined) {
    await Deno.writeTextFile(join(folder, "config.yaml"), options.config);
  }
  const command = {
    cwd: folder,
    clearEnv: true,
    env: cleanEnvironment({
      MUSTER_API_ADDR: "127.0.0.1:0",
      MUSTER_MCP_ADDR: "127.0.0.1:0",
      MUSTER_IRC_LISTEN: "127.0.0.1:0",
      ...options.environment,
    }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  } as const;
  const [program, ...first] = options.words ?? [];
  const process = program === undefined
    ? limitedCommand(options.openFiles, command, options.inspector).spawn()
    : new Deno.Command(program, { ...command, args: [...first, "serve"] }).spawn();
  const log = new ProgramLog();
  const listening = Promise.withResolvers<void>();
  const reading = readLines(process.stderr, (line) => {
    log.add(line);
    if (parseRecord(line)?.["message"] === "Listening") listening.resolve();
  });
  const timer = setTimeout(() => {
    listening.reject(new Error(`It does not listen:\n${log.lines.join("\n")}`));
  }, options.startLimit ?? START_LIMIT);
  const ended = process.status.then(({ code }) => {
    listening.reject(new Error(`It ended with code ${code}:\n${log.lines.join("\n")}`));
    return code;
  });
  const stop = async (signal: Deno.Signal = "SIGTERM"): Promise<number> => {
    kill(process, signal);
    const code = await within(ended, () => `${log.last()}\nThe end after ${signal}`);
    await reading;
    return code;
  };
  const dispose = async () => {
    await stop("SIGKILL");
    if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
  };
  await listening.promise.finally(() => clearTimeout(timer))
    .catch(async (error) => {
      await dispose();
      throw error;
    });
  return {
    ...await readEndpoints(folder, options.readFile),
    folder,
    pid: process.pid,
    ended,
    log: log.lines,
    logged: (pattern) => log.next(pattern, ended),
    inLog: (pattern) => log.first(pattern, ended),
    stop,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Sends a signal, unless the process has ended. */
function kill(process: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    process.kill(signal);
  } catch {
    // It has ended already.
  }
}

/** The lines that a program writes to standard error. */
class ProgramLog {
  readonly lines: string[] = [];
  readonly #waiting = new Set<(line: string) => void>();

  /** The last lines. */
  last(): string {
    return this.lines.slice(-5).join("\n");
  }

  add(line: string): void {
    this.lines.push(line);
    for (const take of this.#waiting) take(line);
  }

  /** Resolves with the first line that matches, of those written and those still to come. */
  first(pattern: RegExp, ended: Promise<unknown>): Promise<string> {
    const written = this.lines.find((line) => pattern.test(line));
    return written === undefined ? this.next(pattern, ended) : Promise.resolve(written);
  }

  /**
   * Resolves with the next line that matches. Rejects if the program ends first, or is late; a test
   * that has failed before it awaits this shows its own error, and leaves the other tests alone.
   */
  next(pattern: RegExp, ended: Promise<unknown>): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const take = (line: string) => {
      if (pattern.test(line)) resolve(line);
    };
    const fail = (reason: string) => {
      reject(new Error(`${reason} ${pattern} was logged:\n${this.last()}`));
    };
    const timer = setTimeout(() => fail(`${WAIT_LIMIT} ms passed before`), WAIT_LIMIT);
    this.#waiting.add(take);
    ended.then(() => fail("It ended before"));
    const found = promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(take);
    });
    found.catch(() => {});
    return found;
  }
}

/** Reads a program's addresses and API token from its data folder. */
export async function readEndpoints(
  folder: string,
  readFile: (path: string) => Promise<string> = (path) => Deno.readTextFile(path),
): Promise<Pick<Program, "api" | "pages" | "mcp" | "irc" | "ircs" | "token">> {
  const endpoints = JSON.parse(await readFile(join(folder, "data", "endpoints.json")));
  const irc = new URL(endpoints.irc ?? "irc://127.0.0.1:0");
  return {
    api: endpoints.api,
    pages: endpoints.pages,
    mcp: endpoints.mcp,
    irc: { hostname: irc.hostname, port: Number(irc.port) },
    ircs: endpoints.ircs ?? null,
    token: (await readFile(join(folder, "data", "api_token"))).trim(),
  };
}

/**
 * Counts the open files of a program (Linux), with a command: Deno reads nothing of another process
 * without all permissions.
 */
export async function countOpenFiles({ pid }: Pick<Program, "pid">): Promise<number> {
  const command = new Deno.Command("ls", { args: [`/proc/${pid}/fd`] });
  const { stdout } = await command.output();
  return new TextDecoder().decode(stdout).trim().split("\n").length;
}

/** Counts the workers of a program (Linux), with a command, as {@linkcode countOpenFiles} does. */
export async function countWorkers({ pid }: Pick<Program, "pid">): Promise<number> {
  const command = new Deno.Command("sh", { args: ["-c", `cat /proc/${pid}/task/*/comm`] });
  const { stdout } = await command.output();
  const names = new TextDecoder().decode(stdout).split("\n");
  return names.filter((name) => name.startsWith("worker-")).length;
}

async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
  if (rest !== "") take(rest);
}

function parseRecord(line: string): Record<string, string> | null {
  try {
    return JSON.parse(line) as Record<string, string>;
  } catch {
    return null;
  }
}

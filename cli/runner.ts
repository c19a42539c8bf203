/** `muster runner`: runs the checks of a server, on this machine. */
import { join, resolve } from "node:path";
import { Refused, serveJobs, Server } from "../runner/client/mod.ts";
import type { Sandbox } from "../runner/executor/mod.ts";
import { FolderLock, FolderLockError } from "../services/engines/database/sqlite/mod.ts";
import { amount } from "../services/kernel/words.ts";
import { VERSION } from "../services/kernel/version.ts";
import { type Group, InvalidValue } from "./command_line/mod.ts";
import { APART, findIsolation, type Kind, KINDS } from "./isolation.ts";
import { type CommandOptions, URL_OPTION } from "./options.ts";
import { CommandFailed, printError } from "./output.ts";

interface RunnerCommandOptions extends CommandOptions {
  readonly tokenFile?: string;
  readonly jobs?: number;
  readonly workDir?: string;
  readonly share?: readonly string[];
  readonly isolation?: readonly Kind[];
  readonly grace?: number;
  readonly allowUnisolated?: boolean;
  readonly supervised?: boolean;
}

/** The variable that has the runner's token. */
const TOKEN_VARIABLE = "MUSTER_RUNNER_TOKEN";
/** The variable of systemd that has the folder of the service's own data. */
const STATE_VARIABLE = "STATE_DIRECTORY";
const ROOT_FOLDER = "/var/lib/muster-runner";

const MAX_JOBS = 64;
const MAX_GRACE = 86_400;
const DEFAULT_GRACE = 60;

async function start(options: RunnerCommandOptions): Promise<void> {
  const url = options.url ?? Deno.env.get("MUSTER_URL");
  if (url === undefined || !URL.canParse(url)) {
    throw new CommandFailed("Name the server: --url https://muster.example.com", 2);
  }
  const token = await readToken(options);
  const sandboxes = await findSandboxes(options);
  const workFolder = await makeWorkFolder(options);
  using _lock = lock(workFolder);
  const stop = new AbortController();
  const giveBack = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) return giveBack.abort();
    stop.abort();
    const seconds = options.grace ?? DEFAULT_GRACE;
    say(`It ends: jobs that run have ${amount(seconds, "second")}, and are then given back`);
    setTimeout(() => giveBack.abort(), seconds * 1000);
  };
  for (const signal of ENDS) Deno.addSignalListener(signal, onSignal);
  if (options.supervised === true) {
    void untilInputEnds().then(() => {
      stop.abort();
      giveBack.abort();
    });
  }
  const jobs = options.jobs ?? 1;
  for (const { about } of sandboxes) say(`Isolation: ${about}`);
  say(`Waiting for jobs of ${new URL(url).origin}, ${jobs} at a time, in ${workFolder}`);
  try {
    await serveJobs({
      server: new Server(new URL(url), token),
      sandboxes,
      workFolder,
      jobs,
      version: VERSION,
      say,
      stop: stop.signal,
      giveBack: giveBack.signal,
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new CommandFailed(`The server refuses this runner: ${error.message}`);
  }
  // A timer may still wait for jobs, of which there are none.
  Deno.exit(0);
}

/** The server that started this runner holds its input open as long as it runs. */
async function untilInputEnds(): Promise<void> {
  for await (const _ of Deno.stdin.readable);
}

const ENDS = ["SIGINT", ...Deno.build.os === "windows" ? [] : ["SIGTERM" as const]] as const;

function say(line: string): void {
  printError(`${new Date().toISOString()} ${line}`);
}

async function readToken({ tokenFile }: RunnerCommandOptions): Promise<string> {
  const text = tokenFile === undefined
    ? Deno.env.get(TOKEN_VARIABLE)
    : await readTokenFile(tokenFile);
  const token = text?.trim() ?? "";
  if (/^[\x21-\x7e]{8,200}$/.test(token)) return token;
  const where = tokenFile ?? TOKEN_VARIABLE;
  throw new CommandFailed(
    text === undefined
      ? `Set ${TOKEN_VARIABLE} or --token-file: muster runner create NAME prints a token`
      : `${where} holds no token of a runner`,
    2,
  );
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new CommandFailed(
      `Cannot read ${path}: ${error instanceof Error ? error.message : ""}`,
      2,
    );
  }
}

/** What keeps jobs apart here. @throws {CommandFailed} What was asked for does not work. */
async function findSandboxes(options: RunnerCommandOptions): Promise<readonly Sandbox[]> {
  const { isolation, share, allowUnisolated = false, supervised = false } = options;
  if (isolation?.includes("none") === true && !allowUnisolated) {
    throw new CommandFailed("--isolation none needs --allow-unisolated, too", 2);
  }
  const { there, missing: [first] } = await findIsolation(isolation ?? APART, share);
  if (isolation !== undefined && first !== undefined) {
    throw new CommandFailed(`--isolation ${first.kind} does not work here: ${first.why}`);
  }
  if (there.some(({ kind }) => kind === "bwrap" || kind === "none")) return there;
  if (allowUnisolated) {
    const plain = await findIsolation(["none"]);
    if (plain.there.length > 0) return [...there, ...plain.there];
  }
  const allow = supervised ? "runner.allow_unisolated: true" : "--allow-unisolated";
  const why = `${first?.why ?? ""}. ${allow} runs them as this account, which can be right for ` +
    "a machine that does nothing else";
  if (there.length === 0) {
    throw new CommandFailed(`Nothing keeps checks apart from this machine: ${why}`);
  }
  if (isolation === undefined) say(`Checks that name no image do not run here: ${why}`);
  return there;
}

/** The folder of this runner's jobs, which the account of jobs may enter. */
async function makeWorkFolder({ workDir }: RunnerCommandOptions): Promise<string> {
  const folder = resolve(workDir ?? defaultWorkFolder());
  await Deno.mkdir(folder, { recursive: true });
  const { uid } = await Deno.lstat(folder);
  if (uid !== null && uid !== Deno.uid()) {
    throw new CommandFailed(`${folder} belongs to another account: name a folder by --work-dir`);
  }
  if (uid !== null) await Deno.chmod(folder, 0o711);
  return await Deno.realPath(folder);
}

/** Two runners would remove each other's jobs. */
function lock(workFolder: string): Disposable {
  try {
    const held = FolderLock.take(join(workFolder, "lock"));
    return { [Symbol.dispose]: () => held.close() };
  } catch (error) {
    if (!(error instanceof FolderLockError)) throw error;
    throw new CommandFailed(
      `The folder ${workFolder} ${error.message}: name another by --work-dir`,
    );
  }
}

function defaultWorkFolder(): string {
  const state = Deno.env.get(STATE_VARIABLE);
  if (state !== undefined && state !== "") return state;
  // The home of root is closed to the account that runs its jobs.
  if (Deno.uid() === 0) return ROOT_FOLDER;
  const home = Deno.env.get("HOME") ?? "";
  return join(Deno.env.get("XDG_CACHE_HOME") ?? join(home, ".cache"), "muster-runner");
}

function within(least: number, most: number, unit: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,6}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidValue(`be a number of ${unit}, ${least} to ${most}`);
  };
}

export const RUNNER: Group = {
  default: "start",
  commands: [
    {
      name: "start",
      summary: "run the checks of a server, on this machine (the default)",
      options: [
        URL_OPTION,
        {
          flags: "--token-file <file>",
          summary: `file with the runner's token (default: ${TOKEN_VARIABLE})`,
          completes: "file",
        },
        {
          flags: "--jobs <count>",
          summary: "how many jobs run at a time (default: 1)",
          parse: within(1, MAX_JOBS, "jobs"),
        },
        {
          flags: "--work-dir <folder>",
          summary: "folder of the jobs' files (default: of the account's cache)",
          completes: "folder",
        },
        {
          flags: "--share <folder>",
          summary: "a folder that jobs may read, such as one with tools",
          repeatable: true,
          completes: "folder",
        },
        {
          flags: "--isolation <kind>",
          summary: "only this way to keep jobs apart (default: all that work here)",
          choices: KINDS,
          repeatable: true,
        },
        {
          flags: "--grace <seconds>",
          summary: `how long jobs may go on after SIGTERM (default: ${DEFAULT_GRACE})`,
          parse: within(0, MAX_GRACE, "seconds"),
        },
        {
          flags: "--allow-unisolated",
          summary: "run checks as this account if nothing keeps them apart",
        },
        {
          flags: "--supervised",
          summary: "end with the input, which the server holds that started this",
          hidden: true,
        },
      ],
      run: start,
    },
  ],
  examples: [
    { line: "runner create east-1", purpose: "Make a runner, and print its token once" },
    { line: "runner --url https://muster.example.com", purpose: "Run its checks" },
  ],
  notes: [
    "A runner needs no configuration and no data folder. It asks for work by one waiting request. " +
    "SIGTERM lets jobs end, within --grace; a second one gives them back to the server.",
  ],
};

/**
 * The session of an agent's client, in a file of the person's state folder, so that hooks and commands
 * that the client runs act in the session of its `muster mcp`. A hook runs at every step of an agent,
 * so this imports next to nothing.
 */
import { join } from "node:path";
import { SESSION_ID } from "../services/kernel/session_header.ts";

/** Most files that are read. */
const MAX_FILES = 64;

/** Most processes from a hook to its client: shells stand between them. */
const MAX_ANCESTORS = 4;

/** Reads files in `/proc`: Deno itself may not. */
const CAT = "/usr/bin/cat";

/** Old files of processes that were killed are removed after this time, in milliseconds. */
const MAX_AGE = 7 * 24 * 60 * 60_000;

/** What the file says. */
interface SessionState {
  readonly session: string;
  /** The process of `muster mcp`. */
  readonly pid: number;
  /** The process that started it: the agent's client. */
  readonly client: number;
  /** The folder in which it was started. */
  readonly folder: string;
  /** The URL of the server's tools, or the path of its data folder. */
  readonly server: string;
  /** ISO 8601. */
  readonly started: string;
}

/**
 * Writes the file of this process. Without a home folder, hooks do not find the session.
 *
 * @returns a function that removes it
 */
export async function writeSession(session: string, server: string): Promise<() => Promise<void>> {
  const folder = stateFolder();
  if (folder === null) return () => Promise.resolve();
  const state: SessionState = {
    session,
    pid: Deno.pid,
    client: Deno.ppid,
    folder: Deno.cwd(),
    server,
    started: new Date().toISOString(),
  };
  const path = join(folder, `${Deno.pid}.json`);
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await removeOld(folder);
    await Deno.remove(path).catch(() => {});
    await Deno.writeTextFile(path, JSON.stringify(state), { mode: 0o600, createNew: true });
  } catch {
    // Hooks then act as the agent itself.
  }
  return () => Deno.remove(path).catch(() => {});
}

/**
 * The session in which this process shall act: what `MUSTER_SESSION` says, or that of the `muster mcp`
 * whose client started this process too, or else of the only one in this folder.
 *
 * @returns null if there is none
 */
export async function findSession(): Promise<string | null> {
  const named = Deno.env.get("MUSTER_SESSION");
  if (named !== undefined) return SESSION_ID.test(named) ? named : null;
  const folder = stateFolder();
  const states = folder === null ? [] : await readStates(folder);
  if (states.length === 0) return null;
  for (
    let pid: number | undefined = Deno.ppid, steps = 0;
    pid !== undefined && steps < MAX_ANCESTORS;
    steps++
  ) {
    const own = states.find(({ client }) => client === pid);
    if (own !== undefined) return own.session;
    pid = (await parentsOf([pid]))?.get(pid);
  }
  const here = states.filter((state) => state.folder === Deno.cwd());
  const running = await parentsOf(here.map(({ pid }) => pid));
  const left = here.filter(({ pid }) => running?.has(pid) !== false);
  return left.length === 1 ? left[0]?.session ?? null : null;
}

/** Null without a home folder. */
function stateFolder(): string | null {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const state = Deno.env.get("XDG_STATE_HOME") ??
    (home === undefined ? undefined : join(home, ".local", "state"));
  return state === undefined ? null : join(state, "muster", "sessions");
}

/** The newest first; those of processes that were killed, too. */
async function readStates(folder: string): Promise<readonly SessionState[]> {
  const pids: number[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      const pid = /^(\d{1,10})\.json$/.exec(name)?.[1];
      if (pid !== undefined) pids.push(Number(pid));
    }
  } catch {
    return [];
  }
  const read = pids.slice(-MAX_FILES).map((pid) => readState(join(folder, `${pid}.json`)));
  return (await Promise.all(read)).filter((state) => state !== null)
    .sort((one, other) => one.started < other.started ? 1 : -1);
}

async function readState(path: string): Promise<SessionState | null> {
  try {
    const state: Partial<SessionState> = JSON.parse(await Deno.readTextFile(path));
    const { session, pid, client } = state;
    const isWhole = typeof session === "string" && SESSION_ID.test(session) &&
      Number.isSafeInteger(pid) && Number.isSafeInteger(client);
    return isWhole ? { folder: "", server: "", started: "", ...state } as SessionState : null;
  } catch {
    return null;
  }
}

/**
 * The parents of processes that run, by their numbers.
 *
 * @returns null if the system does not tell
 */
async function parentsOf(pids: readonly number[]): Promise<ReadonlyMap<number, number> | null> {
  if (Deno.build.os !== "linux" || pids.length === 0) return null;
  try {
    const command = new Deno.Command(CAT, {
      args: pids.map((pid) => `/proc/${pid}/stat`),
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    });
    const text = new TextDecoder().decode((await command.output()).stdout);
    // The name of a program, in parentheses, may contain both them and spaces (proc(5)). Z has ended.
    const lines = text.matchAll(/^(\d+) \(.*\) [^Z] (\d+) /gm);
    return new Map(Array.from(lines, ([, pid, parent]) => [Number(pid), Number(parent)]));
  } catch {
    return null;
  }
}

async function removeOld(folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const { mtime } = await Deno.stat(path);
    if (mtime !== null && Date.now() - mtime.getTime() > MAX_AGE) await Deno.remove(path);
  }
}

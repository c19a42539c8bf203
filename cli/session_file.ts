/**
 * The session of an agent's client, in a file of the person's state folder, so that hooks and commands
 * that the client runs act in the session of its `muster mcp`. A hook runs at every step of an agent,
 * so this imports next to nothing.
 */
import { join } from "node:path";

/** Most files that are read, the newest first. */
const MAX_FILES = 64;

/** Most processes between a hook and its client. */
const MAX_ANCESTORS = 16;

/** Old files of processes that were killed are removed after this time, in milliseconds. */
const MAX_AGE = 7 * 24 * 60 * 60_000;

const ID = /^[\x21-\x7e]{8,128}$/;

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
  if (named !== undefined) return ID.test(named) ? named : null;
  const folder = stateFolder();
  const states = folder === null ? [] : await readStates(folder);
  if (states.length === 0) return null;
  for (
    let pid: number | null = Deno.ppid, steps = 0;
    pid !== null && steps < MAX_ANCESTORS;
    steps++
  ) {
    const own = states.find(({ client }) => client === pid);
    if (own !== undefined) return own.session;
    pid = await parentOf(pid);
  }
  const here = states.filter((state) => state.folder === Deno.cwd());
  return here.length === 1 ? here[0]?.session ?? null : null;
}

/** Null without a home folder. */
function stateFolder(): string | null {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const state = Deno.env.get("XDG_STATE_HOME") ??
    (home === undefined ? undefined : join(home, ".local", "state"));
  return state === undefined ? null : join(state, "muster", "sessions");
}

/** The sessions of processes that run. */
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
  const states = (await Promise.all(read)).filter((state) => state !== null);
  return states.filter(({ pid }) => isRunning(pid))
    .sort((one, other) => one.started < other.started ? 1 : -1);
}

async function readState(path: string): Promise<SessionState | null> {
  try {
    const state: Partial<SessionState> = JSON.parse(await Deno.readTextFile(path));
    const { session, pid, client } = state;
    const isWhole = typeof session === "string" && ID.test(session) &&
      Number.isSafeInteger(pid) && Number.isSafeInteger(client);
    return isWhole ? { folder: "", server: "", started: "", ...state } as SessionState : null;
  } catch {
    return null;
  }
}

/** Whether a process runs; where the system does not tell, it counts as one that does. */
function isRunning(pid: number): boolean {
  if (Deno.build.os !== "linux") return true;
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}

/** The parent of a process; null if the system does not tell. */
async function parentOf(pid: number): Promise<number | null> {
  if (Deno.build.os !== "linux" || pid <= 1) return null;
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    // The name of the program, in parentheses, may have spaces.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return parent > 1 ? parent : null;
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

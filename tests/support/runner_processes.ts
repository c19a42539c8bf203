/** Runners that are processes, with a server that is one, and what came of their jobs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { succeed } from "./commands.ts";
import { cleanEnvironment, musterWords, type Program, startProgram } from "./program.ts";
import { withFolder } from "./temporary.ts";
import { asked, within } from "./until.ts";

/** A runner that is a process. */
export interface RunnerProcess extends AsyncDisposable {
  readonly token: string;
  readonly pid: number;
  readonly lines: readonly string[];
  readonly ended: Promise<number>;
  kill(signal: Deno.Signal): void;
}

export async function startRunner(
  program: Program,
  { name, folder, api = program.api }: { name: string; folder: string; api?: string },
): Promise<RunnerProcess> {
  const token = (await succeed(program, "runner", "create", name)).trim().split("\n").at(-1) ?? "";
  const [words, ...args] = musterWords();
  const work = join(folder, name);
  await Deno.chmod(folder, 0o711);
  const process = new Deno.Command(words, {
    args: [...args, "runner", "--url", api, "--work-dir", work, "--grace", "0"],
    clearEnv: true,
    env: cleanEnvironment({ MUSTER_RUNNER_TOKEN: token }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const lines: string[] = [];
  const ready = Promise.withResolvers<void>();
  const reading = (async () => {
    let rest = "";
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      const all = (rest + text).split("\n");
      rest = all.pop() ?? "";
      lines.push(...all);
      if (lines.some((line) => line.includes("Waiting for jobs"))) ready.resolve();
    }
    ready.reject(new Error(lines.join("\n")));
  })();
  const ended = process.status.then(({ code }) => code);
  const kill = (signal: Deno.Signal) => {
    try {
      process.kill(signal);
    } catch {
      // It has ended.
    }
  };
  await within(ready.promise, () => lines.join("\n"));
  return {
    token,
    pid: process.pid,
    lines,
    ended,
    kill,
    async [Symbol.asyncDispose]() {
      kill("SIGKILL");
      await ended;
      await reading;
    },
  };
}

/** Talks to the API of the project `demo` as the operator. */
export function apiOf(program: Program) {
  const send = async (request: string, body?: unknown) => {
    const [method = "", path = ""] = request.split(" ");
    const response = await fetch(`${program.api}/projects/demo/fossil${path}`, {
      method,
      headers: { Authorization: `Bearer ${program.token}`, "Content-Type": "application/json" },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
    const text = await response.text();
    assert.ok(response.ok, `${request}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  return {
    send,
    /** Commits files to a workspace; gives the check-in. */
    async commit(name: string, files: Readonly<Record<string, string>>): Promise<string> {
      const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
      const body = { message: name, changes };
      return (await send(`POST /api/workspaces/${name}/commit`, body)).uuid;
    },
  };
}

const PATIENT = 120_000;

/** A server with a project that defines checks, and a folder for runners. */
export async function withChecks(
  checks: string,
  run: (program: Program, api: ReturnType<typeof apiOf>, folder: string) => Promise<void>,
): Promise<void> {
  await using program = await startProgram();
  await succeed(program, "project", "create", "demo");
  const api = apiOf(program);
  await api.send("POST /api/workspaces/create", { name: "begin" });
  await api.commit("begin", { ".muster/checks.yaml": checks, "lock": "1\n" });
  await api.send("POST /api/workspaces/begin/merge", {});
  await withFolder((folder) => run(program, api, folder));
}

/** Opens a review of a workspace with files; gives the check-in. */
export async function review(
  api: ReturnType<typeof apiOf>,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  await api.send("POST /api/workspaces/create", { name });
  const tip = await api.commit(name, files);
  await api.send("POST /api/reviews/create", { title: name, workspace: name });
  return tip;
}

/** The job of a check-in, when it has come so far. */
export function job(
  api: ReturnType<typeof apiOf>,
  checkin: string,
  isSo: (state: string) => boolean,
) {
  return asked(
    async () => {
      const { runs } = await api.send(`GET /api/runs?checkin=${checkin}`);
      return runs[0]?.jobs[0] ?? null;
    },
    (found) => found !== null && isSo(found.state),
    PATIENT,
  );
}

/** The lines of a job's log. */
export async function logOf(api: ReturnType<typeof apiOf>, id: string): Promise<string[]> {
  const { lines } = await api.send(`GET /api/jobs/${id}/log?from=1&count=1000`);
  return lines.map(({ text }: { text: string }) => text);
}

export const isOver = (state: string) =>
  ["success", "failure", "error", "cancelled"].includes(state);
export const isRunning = (state: string) => state === "running";

/** A port that nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/** Whether a process sleeps for so many seconds. */
export async function sleeps(seconds: string): Promise<boolean> {
  const script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '";
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout).includes(`sleep ${seconds}`);
}

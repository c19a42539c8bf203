import assert from "node:assert/strict";
import { join } from "node:path";
import { succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import { cleanEnvironment, musterWords, type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked, within } from "../support/until.ts";

/** A runner that is a process. */
interface RunnerProcess extends AsyncDisposable {
  readonly token: string;
  readonly pid: number;
  readonly lines: readonly string[];
  readonly ended: Promise<number>;
  kill(signal: Deno.Signal): void;
}

async function startRunner(
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
function apiOf(program: Program) {
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

async function withProject(
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
async function review(
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
function job(api: ReturnType<typeof apiOf>, checkin: string, isSo: (state: string) => boolean) {
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
async function logOf(api: ReturnType<typeof apiOf>, id: string): Promise<string[]> {
  const { lines } = await api.send(`GET /api/jobs/${id}/log?from=1&count=1000`);
  return lines.map(({ text }: { text: string }) => text);
}

const isOver = (state: string) => ["success", "failure", "error", "cancelled"].includes(state);
const isRunning = (state: string) => state === "running";

const CHECKS = `checks:
  tests:
    run: sh test.sh
    artifacts: [out/**]
    cache: { key: "c-\${hash:lock}", paths: [kept] }
`;

Deno.test("a runner runs the checks of reviews: red, green, artifacts and caches", {
  ...peer("bwrap"),
}, async () => {
  await withProject(CHECKS, async (program, api, folder) => {
    await using runner = await startRunner(program, { name: "east-1", folder });
    const test = [
      "mkdir -p out kept",
      "cat kept/file 2>/dev/null || echo no cache",
      "echo kept > kept/file",
      "echo report > out/report.txt",
      "ln -s /etc/hostname out/link; ln -s /etc out/folder",
      "cat /proc/*/environ /work/*/* 2>/dev/null | tr '\\0' '\\n' | grep -c '[T]OKEN'",
      "ls /var/lib /root /tmp /home 2>/dev/null",
    ];
    const first = await review(api, "first", { "test.sh": [...test, "exit 0\n"].join("\n") });
    const green = await job(api, first, isOver);
    const lines = await logOf(api, green.id);
    assert.equal(green.state, "success", lines.join("\n"));
    assert.ok(lines.includes("no cache") && lines.includes("0"), lines.join("\n"));
    assert.ok(!lines.some((line) => line.includes(runner.token)));
    const { artifacts } = await api.send(`GET /api/jobs/${green.id}`);
    assert.deepEqual(artifacts.map(({ path }: { path: string }) => path), ["out/report.txt"]);
    const second = await api.commit("first", { "test.sh": [...test, "exit 3\n"].join("\n") });
    const red = await job(api, second, isOver);
    assert.equal(red.state, "failure");
    const after = await logOf(api, red.id);
    assert.ok(after.includes("kept"), after.join("\n"));
    assert.match(after.at(-1) ?? "", /^The command failed with exit code 3: sh test.sh$/);
    const { checks } = await api.send(`GET /api/status?checkin=${second}`);
    assert.equal(checks[0].reporter, "runner east-1");
  });
});

Deno.test("a new round ends the job of the earlier one, and a killed runner's processes end", {
  ...peer("bwrap"),
}, async () => {
  await withProject("checks:\n  tests:\n    run: sh test.sh\n", async (program, api, folder) => {
    await using runner = await startRunner(program, { name: "east-1", folder });
    const seconds = `${100_000 + crypto.getRandomValues(new Uint16Array(1))[0]!}.5`;
    const stubborn = `trap '' TERM; setsid sleep ${seconds} & sleep ${seconds}\n`;
    const first = await review(api, "first", { "test.sh": stubborn });
    const sleeping = await job(api, first, isRunning);
    await asked(() => sleeps(seconds), (isThere) => isThere);
    const second = await api.commit("first", { "test.sh": `sleep ${seconds}\n` });
    assert.equal((await job(api, first, isOver)).state, "cancelled");
    await job(api, second, isRunning);
    assert.ok((await logOf(api, sleeping.id)).length > 0);
    await asked(() => sleeps(seconds), (isThere) => isThere);
    runner.kill("SIGKILL");
    await asked(() => sleeps(seconds), (isThere) => !isThere);
  });
});

Deno.test(
  "a job survives a restart of the server, with each line once",
  peer("bwrap"),
  async () => {
    await withFolder(async (place) => {
      const port = freePort();
      const environment = { MUSTER_API_ADDR: `127.0.0.1:${port}` };
      const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
      const test = `for i in $(seq 0 39); do echo "line $i"; sleep 0.1; done\n`;
      let tip = "";
      let runner: RunnerProcess;
      {
        await using program = await startProgram({ folder: place, environment });
        await succeed(program, "project", "create", "demo");
        const api = apiOf(program);
        await api.send("POST /api/workspaces/create", { name: "begin" });
        const checks = "checks:\n  tests:\n    run: sh test.sh\n";
        await api.commit("begin", { ".muster/checks.yaml": checks });
        await api.send("POST /api/workspaces/begin/merge", {});
        runner = await startRunner(program, { name: "east-1", folder: place });
        tip = await review(api, "first", { "test.sh": test });
        const { id } = await job(api, tip, isRunning);
        await asked(() => logOf(api, id), (log) => log.includes("line 3"));
        await program.stop("SIGKILL");
      }
      await using _runner = runner;
      await using program = await startProgram({ folder: place, environment });
      const api = apiOf(program);
      const done = await job(api, tip, isOver);
      assert.equal(done.state, "success");
      const log = await logOf(api, done.id);
      assert.deepEqual(log.filter((line) => line.startsWith("line ")), lines);
      runner.kill("SIGTERM");
      assert.equal(await runner.ended, 0);
    });
  },
);

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/** Whether a process sleeps for so many seconds. */
async function sleeps(seconds: string): Promise<boolean> {
  const script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '";
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout).includes(`sleep ${seconds}`);
}

Deno.test("a server with runner.enabled runs checks itself, and its runner ends with it", {
  ...peer("bwrap"),
}, async () => {
  await withFolder(async (folder) => {
    await using program = await startProgram({
      folder,
      config: "runner: { enabled: true, jobs: 2 }\n",
    });
    await succeed(program, "project", "create", "demo");
    const api = apiOf(program);
    await api.send("POST /api/workspaces/create", { name: "begin" });
    await api.commit("begin", {
      ".muster/checks.yaml": "checks:\n  tests: { run: sleep 54321.5 }\n",
    });
    await api.send("POST /api/workspaces/begin/merge", {});
    const tip = await review(api, "first", { "a.txt": "a\n" });
    await job(api, tip, isRunning);
    await asked(() => sleeps("54321.5"), (isThere) => isThere);
    await program.stop("SIGKILL");
    await asked(() => sleeps("54321.5"), (isThere) => !isThere);
  });
});

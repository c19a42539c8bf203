import assert from "node:assert/strict";
import { succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import { cleanEnvironment, musterWords, startProgram } from "../support/program.ts";
import {
  apiOf,
  freePort,
  isOver,
  isRunning,
  job,
  logOf,
  review,
  type RunnerProcess,
  sleeps,
  startRunner,
  withChecks,
} from "../support/runner_processes.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const CHECKS = `checks:
  tests:
    run: sh test.sh
    artifacts: [out/**]
    cache: { key: "c-\${hash:lock}", paths: [kept] }
`;

Deno.test("a runner runs the checks of reviews: red, green, artifacts and caches", {
  ...peer("bwrap"),
}, async () => {
  await withChecks(CHECKS, async (program, api, folder) => {
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
  await withChecks("checks:\n  tests:\n    run: sh test.sh\n", async (program, api, folder) => {
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

/** Where this machine's bubblewrap cannot be started. */
const WITHOUT_BWRAP = 'mount --bind /dev/null "$(command -v bwrap)" && exec "$@"';

Deno.test("without bubblewrap, a server says what is missing, and runs checks only if it is let", {
  ignore: peer("bwrap").ignore || Deno.uid() !== 0,
}, async () => {
  await withFolder(async (folder) => {
    const words = ["unshare", "--mount", "sh", "-c", WITHOUT_BWRAP, "sh", ...musterWords()];
    const start = (runner: string) =>
      startProgram({ folder, words, config: `runner: { enabled: true, ${runner} }\n` });
    const because =
      /there is no bwrap: .* runner\.allow_unisolated: true runs them as this account/;
    {
      await using program = await start("jobs: 1");
      await succeed(program, "project", "create", "demo");
      await program.inLog(because);
    }
    await using program = await start("allow_unisolated: true");
    const api = apiOf(program);
    await api.send("POST /api/workspaces/create", { name: "begin" });
    await api.commit("begin", { ".muster/checks.yaml": "checks:\n  tests: { run: 'true' }\n" });
    await api.send("POST /api/workspaces/begin/merge", {});
    const tip = await review(api, "first", { "a.txt": "a\n" });
    assert.equal((await job(api, tip, isOver)).state, "success");
    await program.inLog(/Isolation: none/);
  });
});

Deno.test("muster init --runner says what keeps checks apart, or which line to set", {
  ignore: peer("bwrap").ignore || Deno.uid() !== 0,
}, async () => {
  await withFolder(async (folder) => {
    const init = (script: string, file: string) =>
      new Deno.Command("unshare", {
        args: [
          ...["--mount", "sh", "-c", script, "sh", ...musterWords()],
          ...["init", "--yes", "--runner", "--config", file, "--data-dir", `${file}.data`],
        ],
        cwd: folder,
        clearEnv: true,
        env: cleanEnvironment({}),
      }).output().then(({ stdout }) => new TextDecoder().decode(stdout));
    assert.match(await init('exec "$@"', "one.yaml"), /apart from this machine: bubblewrap/);
    const without = await init(WITHOUT_BWRAP, "two.yaml");
    assert.match(without, /there is no bwrap: install the package bubblewrap\./);
    assert.match(without, /set this below "runner:" in two\.yaml:\n\n {2}allow_unisolated: true\n/);
  });
});

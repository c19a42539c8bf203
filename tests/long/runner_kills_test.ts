/** Runners and their server are killed again and again while jobs run. */
import assert from "node:assert/strict";
import { succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import {
  apiOf,
  freePort,
  isOver,
  job,
  logOf,
  review,
  type RunnerProcess,
  startRunner,
} from "../support/runner_processes.ts";
import { withFolder } from "../support/temporary.ts";

/** How often something is killed, and how many jobs run meanwhile. */
const KILLS = 24;
const JOBS = 12;
const PAUSE_MS = 1500;
/** Every so many kills, it is the server's turn. */
const SERVER_EACH = 4;

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}`);
const TEST = `for i in $(seq 0 29); do echo "line $i"; sleep 0.1; done\n`;

Deno.test("over kills of runners and server, each job ends once, with each line once", {
  ...peer("bwrap"),
}, async () => {
  await withFolder(async (folder) => {
    const environment = { MUSTER_API_ADDR: `127.0.0.1:${freePort()}` };
    const start = () => startProgram({ folder, environment });
    let program: Program = await start();
    const runners: RunnerProcess[] = [];
    try {
      await succeed(program, "project", "create", "demo");
      let api = apiOf(program);
      await api.send("POST /api/workspaces/create", { name: "begin" });
      const checks = "checks:\n  tests:\n    run: sh test.sh\n";
      await api.commit("begin", { ".muster/checks.yaml": checks, "test.sh": TEST });
      await api.send("POST /api/workspaces/begin/merge", {});
      for (const name of ["one", "two", "three"]) {
        runners.push(await startRunner(program, { name, folder }));
      }
      const tips: string[] = [];
      for (let index = 0; index < JOBS; index++) {
        tips.push(await review(api, `work-${index}`, { [`${index}.txt`]: `${index}\n` }));
      }
      for (let kill = 1; kill <= KILLS; kill++) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        if (kill % SERVER_EACH === 0) {
          await program.stop("SIGKILL");
          program = await start();
          api = apiOf(program);
        } else {
          const index = kill % runners.length;
          await runners[index]?.[Symbol.asyncDispose]();
          const name = `again-${kill}`;
          runners[index] = await startRunner(program, { name, folder });
        }
      }
      for (const tip of tips) {
        const done = await job(api, tip, isOver);
        const log = await logOf(api, done.id);
        // Three lost runners are an error, which is told; nothing else but success is right.
        assert.ok(["success", "error"].includes(done.state), JSON.stringify(done));
        if (done.state === "success") {
          assert.deepEqual(log.filter((line) => line.startsWith("line ")), LINES);
        }
        const { entries, reports } = await api.send(`GET /api/status/${tip}/history`);
        const ends = (entries ?? reports).filter(({ state }: { state: string }) =>
          state !== "pending"
        );
        assert.equal(ends.length, 1, JSON.stringify(ends));
      }
    } finally {
      for (const runner of runners) await runner[Symbol.asyncDispose]();
      await program[Symbol.asyncDispose]();
    }
  });
});

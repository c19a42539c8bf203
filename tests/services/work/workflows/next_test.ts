import assert from "node:assert/strict";
import {
  type JobProgress,
  nextOf,
  type RunContexts,
} from "../../../../services/work/workflows/mod.ts";

const CONTEXTS: RunContexts = { github: { event_name: "push" }, inputs: {}, vars: {} };

function job(key: string, own: Partial<JobProgress> = {}): JobProgress {
  return {
    key,
    id: key,
    needs: [],
    condition: null,
    failsFast: true,
    maxParallel: null,
    refusal: null,
    state: "waiting",
    outputs: {},
    ...own,
  };
}

function next(jobs: readonly JobProgress[], isCancelled = false) {
  const { skip, ...others } = nextOf(jobs, CONTEXTS, isCancelled);
  return { ...others, skip: skip.map(({ key }) => key) };
}

Deno.test("a job starts when all that it needs have succeeded", () => {
  const test = job("test", { needs: ["build", "lint"] });
  const build = job("build", { state: "success" });
  assert.deepEqual(next([build, job("lint", { state: "running" }), test]).start, []);
  assert.deepEqual(next([build, job("lint", { state: "success" }), test]).start, ["test"]);
  assert.deepEqual(next([build, job("lint", { state: "failure" }), test]).skip, ["test"]);
  assert.deepEqual(next([build, job("lint", { state: "skipped" }), test]).skip, ["test"]);
});

Deno.test("a job that does not run was kept from it, or is not due", () => {
  const skipped = (state: JobProgress["state"], condition: string | null = null) =>
    nextOf([job("build", { state }), job("test", { needs: ["build"], condition })], CONTEXTS, false)
      .skip.map(({ blockedBy }) => blockedBy);
  assert.deepEqual(skipped("failure"), ["build"]);
  assert.deepEqual(skipped("cancelled"), ["build"]);
  assert.deepEqual(skipped("skipped"), [null]);
  assert.deepEqual(skipped("success", "failure()"), [null]);
});

Deno.test("a condition reads the results and outputs of what is needed", async (test) => {
  const cases: readonly (readonly [string, JobProgress["state"], "start" | "skip"])[] = [
    ["always()", "failure", "start"],
    ["failure()", "failure", "start"],
    ["failure()", "success", "skip"],
    ["${{ needs.build.outputs.v == '1' }}", "success", "start"],
    ["needs.build.outputs.v == '1'", "failure", "skip"],
    ["always() && needs.build.result == 'failure'", "failure", "start"],
    ["github.event_name == 'schedule'", "success", "skip"],
    ["!cancelled()", "failure", "start"],
  ];
  for (const [condition, state, verdict] of cases) {
    await test.step(`${condition} after ${state}`, () => {
      const build = job("build", { state, outputs: { v: "1" } });
      const found = next([build, job("test", { needs: ["build"], condition })]);
      assert.deepEqual(found[verdict], ["test"]);
    });
  }
});

Deno.test("a condition that means nothing ends its job with the reason", () => {
  const { refuse } = next([job("test", { condition: "nope.x" })]);
  assert.equal(refuse[0]?.key, "test");
  assert.match(refuse[0]?.why ?? "", /nope/);
});

Deno.test("in a run that was cancelled, only what runs always starts", () => {
  const jobs = [
    job("a"),
    job("b", { condition: "always()" }),
    job("c", { condition: "cancelled()" }),
  ];
  assert.deepEqual(next(jobs, true), { start: ["b", "c"], skip: ["a"], cancel: [], refuse: [] });
});

Deno.test("a failure cancels the others of its matrix", () => {
  const first = job("x1", { id: "x", state: "failure" });
  const second = job("x2", { id: "x", state: "running" });
  assert.deepEqual(next([first, second]).cancel, ["x2"]);
  assert.deepEqual(next([{ ...first, failsFast: false }, second]).cancel, []);
});

Deno.test("a matrix runs no more jobs at a time than it says", () => {
  const jobs = ["1", "2", "3"].map((key) => job(key, { id: "x", maxParallel: 2 }));
  assert.deepEqual(next(jobs).start, ["1", "2"]);
  const [first, ...others] = jobs;
  assert.ok(first !== undefined);
  assert.deepEqual(next([{ ...first, state: "running" }, ...others]).start, ["2"]);
});

import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { aReview, aRunner, defineChecks } from "../../support/runners.ts";

Deno.test("a review's check runs on a runner, and its report alone lets the review merge", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    await defineChecks(test, "  tests:\n    run: deno task test\n");
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["tests"] }] });
    const runner = await aRunner(test);
    const waiting = runner.lease();
    const { tip } = await aReview(test);
    const job = await waiting;
    assert.ok(job !== null);
    assert.deepEqual(
      [job.name, job.commands, job.checkin, job.generation, job.cause],
      ["tests", ["deno task test"], tip, 1, "review"],
    );
    const state = async () =>
      (await answer(`GET /api/status?checkin=${tip}`)).checks.map((
        check: { context: string; state: string; reporter: string },
      ) => [check.context, check.state, check.reporter]);
    assert.deepEqual(await state(), [["tests", "pending", "muster"]]);
    const merge = () => send("POST /api/workspaces/work/merge", { as: caller, body: {} });
    assert.equal((await merge()).status, 403);
    const archive = await test.api.send({
      who: "guest",
      request: `GET ${job.archive}`,
      headers: { authorization: `Bearer ${job.token}` },
    });
    assert.equal(archive.status, 200);
    await archive.body?.cancel();

    const { generation } = job;
    await runner.tell(job, "finish", { generation, outcome: "failure", exit_code: 2 });
    assert.deepEqual(await state(), [["tests", "failure", "runner east-1"]]);
    assert.equal((await merge()).status, 403);
    const ended = await test.api.send({
      who: "guest",
      request: `GET ${job.archive}`,
      headers: { authorization: `Bearer ${job.token}` },
    });
    assert.equal(ended.status, 401);
    await ended.body?.cancel();
  });
});

Deno.test("what people and agents read of runs and logs", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await defineChecks(
      test,
      "  build:\n    run: make\n  tests:\n    run: make test\n    needs: [build]\n",
    );
    const runner = await aRunner(test);
    const { id, tip } = await aReview(test);
    await runner.run("success");
    const job = await runner.lease();
    assert.equal(job?.name, "tests");
    assert.ok(job !== null);
    const { generation } = job;
    const lines = [
      { at: 0, stream: "command", text: "make test" },
      { at: 5, stream: "out", text: "compiling" },
      { at: 9, stream: "err", text: "\u001b[31merror\u001b[0m: 3 tests failed" },
    ];
    assert.deepEqual(await runner.tell(job, "log", { generation, from: 1, lines }), { next: 4 });
    assert.deepEqual(await runner.tell(job, "log", { generation, from: 2, lines }), { next: 5 });
    const gap = await runner.send(job, "log", { generation, from: 9, lines });
    assert.deepEqual([gap.status, (await gap.json()).next], [409, 5]);
    await runner.tell(job, "finish", { generation, outcome: "failure", exit_code: 2 });

    const { runs } = await answer(`GET /api/runs?review=${id}`, { as: caller });
    assert.deepEqual(
      runs.map((run: { state: string; jobs: { check: string; state: string }[] }) => [
        run.state,
        run.jobs.map(({ check, state }) => `${check}: ${state}`),
      ]),
      [["failure", ["build: success", "tests: failure"]]],
    );
    const log = await answer(`GET /api/jobs/${job.id}/log?tail=2`, { as: caller });
    assert.deepEqual(log.lines.map(({ number }: { number: number }) => number), [3, 4]);
    const found = await answer(`GET /api/jobs/${job.id}/log?search=compiling`, { as: caller });
    assert.deepEqual(found.lines.map(({ number }: { number: number }) => number), [2]);
    const excerpt = await answer(`GET /api/check-log?review=${id}`, { as: caller });
    assert.deepEqual(
      [excerpt.check, excerpt.checkin, excerpt.failing_command],
      ["tests", tip, "make test"],
    );
    assert.match(excerpt.log, /^1: \$ make test\n2: compiling\n3: error: 3 tests failed\n/);

    await answer("POST /api/check-rerun", { as: caller, body: { review: id } });
    await runner.run("success");
    const again = await answer(`GET /api/runs/${runs[0].id}`, { as: caller });
    assert.deepEqual([again.state, again.earlier.length], ["success", 1]);
    const [, figures] = await answer("GET /api/check-figures", { as: caller });
    assert.deepEqual([figures.check, figures.flaky, figures.success_rate], ["tests", 1, 0.5]);
  });
});

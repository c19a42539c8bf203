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

import assert from "node:assert/strict";
import { parse } from "yaml";
import {
  FetchTaskRequestSchema,
  RegisterRequestSchema,
  Result,
  type Task,
  UpdateTaskRequestSchema,
} from "../../../routes/actions/proto/runner_pb.ts";
import { ForgeRunner } from "../../support/forge_runner.ts";
import { type GitTest, withGit } from "../../support/git_door.ts";
import { commitFiles } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { aReview } from "../../support/runners.ts";

const FILE = ".forgejo/workflows/ci.yml";
const STEPS = "steps: [{ run: 'true' }]";

/** Puts a workflow into trunk. */
function define(test: GitTest, text: string, path = FILE): Promise<string> {
  return commitFiles(test, { [path]: text });
}

function workflow(jobs: string, on = "pull_request"): string {
  return `name: CI\non: ${on}\njobs:\n${jobs}`;
}

function idOf({ context }: Pick<Task, "context">): unknown {
  return context?.["job"];
}

/** The checks of a check-in: context, state and reporter. */
async function checksOf({ answer }: GitTest, tip: string): Promise<string[]> {
  const { checks } = await answer(`GET /api/status?checkin=${tip}`);
  return checks.map((
    { context, state, description }: Record<string, string>,
  ) => `${context}: ${state}: ${description}`);
}

Deno.test("a workflow's jobs run on a runner of Forgejo in the order of their needs", async () => {
  await withGit(async (test) => {
    await define(
      test,
      workflow(`  build:
    runs-on: linux
    outputs: { v: "\${{ steps.x.outputs.v }}" }
    ${STEPS}
  test:
    needs: build
    runs-on: linux
    strategy: { matrix: { a: [1, 2] } }
    ${STEPS}
  never: { needs: build, if: needs.build.outputs.v == '2', runs-on: linux, ${STEPS} }
`),
    );
    const runner = await ForgeRunner.make(test);
    const { tip } = await aReview(test);
    const build = await runner.fetch(20_000);
    assert.ok(build !== undefined);
    const { context, secrets } = build;
    assert.ok(context !== undefined);
    assert.equal(context["event_name"], "pull_request");
    assert.equal(context["ref"], "refs/pull/1/head");
    assert.equal(context["repository"], "projects/demo");
    assert.equal(context["server_url"], test.origin);
    assert.match(String(context["sha"]), /^[0-9a-f]{40}$/);
    assert.equal(context["token"], secrets["GITHUB_TOKEN"]);
    assert.deepEqual(Object.keys(secrets), ["GITHUB_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN"]);
    const payload = parse(new TextDecoder().decode(build.workflowPayload));
    assert.deepEqual(Object.keys(payload.jobs), ["build"]);
    assert.equal(await runner.fetch(), undefined);

    assert.equal(await runner.log(build, 0, ["⭐ Run Main true", "one"]), 2);
    assert.equal((await runner.update(build, Result.UNSPECIFIED, { steps: [[0, 2]] })).result, 0);
    assert.equal(await runner.log(build, 1, ["one", "two"], true), 3);
    const outputs = { v: "1" };
    const steps = [[Result.SUCCESS, 3]] as const;
    const ended = await runner.update(build, Result.SUCCESS, { steps, outputs });
    assert.deepEqual(ended, { result: Result.SUCCESS, sent: ["v"] });

    for (const result of [Result.SUCCESS, Result.FAILURE]) {
      const { needs, ...task } = await runner.run(result);
      assert.equal(idOf(task), "test");
      assert.deepEqual(needs["build"]?.outputs, { v: "1" });
      assert.equal(needs["build"]?.result, Result.SUCCESS);
    }
    assert.equal(await runner.fetch(), undefined);
    assert.deepEqual(await checksOf(test, tip), [
      "CI / build: success: Passed",
      "CI / never: success: Skipped: its condition does not hold",
      "CI / test (1): success: Passed",
      'CI / test (2): failure: Failed in the step "true"',
    ]);
    const { leases, jobLogs, runs } = test.api.services.hosting;
    assert.equal(leases.numbered(Number(build.id)), null);
    const [job] = await runs.store.jobsOn(test.project.id, tip, "CI / build");
    assert.ok(job !== undefined);
    const key = { projectId: test.project.id, jobId: job.id, generation: 1 };
    const { lines } = await jobLogs.read(key, 1, 100);
    assert.deepEqual(lines.map(({ number, stream, text }) => [number, stream, text]), [
      [1, "command", "Main true"],
      [2, "out", "one"],
      [3, "out", "two"],
    ]);
    assert.deepEqual(job.steps, [{ name: "true", result: "success", line: 1, lines: 3 }]);
  });
});

Deno.test("a result is taken once the log is whole", async () => {
  await withGit(async (test) => {
    await define(test, workflow(`  build: { runs-on: linux, ${STEPS} }\n`));
    const runner = await ForgeRunner.make(test);
    const { tip } = await aReview(test);
    const task = await runner.fetch(20_000);
    assert.ok(task !== undefined);
    const request = { state: { id: task.id, result: Result.SUCCESS } };
    const early = await runner.send("UpdateTask", UpdateTaskRequestSchema, request);
    assert.equal(early.status, 503);
    assert.equal((await early.json()).code, "unavailable");
    await runner.log(task, 0, ["a"], true);
    assert.equal((await runner.update(task, Result.SUCCESS)).result, Result.SUCCESS);
    assert.deepEqual(await checksOf(test, tip), ["CI / build: success: Passed"]);
  });
});

Deno.test("a runner whose task was cancelled or lost is told to end it, and changes nothing", async () => {
  await withGit(async (test) => {
    await define(
      test,
      workflow(`  a: { runs-on: linux, strategy: { matrix: { x: [1, 2, 3] } }, ${STEPS} }\n`),
    );
    const runner = await ForgeRunner.make(test);
    const stranger = await ForgeRunner.make(test, ["mac"], "forge-2");
    const { tip } = await aReview(test);
    const [first, second] = [await runner.fetch(20_000), await runner.fetch(20_000)];
    assert.ok(first !== undefined && second !== undefined);
    await stranger.log(second, 0, ["forged"], true);
    assert.equal((await stranger.update(second, Result.SUCCESS)).result, Result.CANCELLED);

    await runner.log(first, 0, ["a"], true);
    await runner.update(first, Result.FAILURE);
    assert.equal((await runner.update(second, Result.UNSPECIFIED)).result, Result.CANCELLED);
    assert.equal(await runner.fetch(), undefined);
    await runner.log(second, 0, ["context canceled"], true);
    assert.equal((await runner.update(second, Result.FAILURE)).result, Result.FAILURE);
    assert.equal((await runner.update(second, Result.SUCCESS)).result, Result.CANCELLED);
    assert.deepEqual(await checksOf(test, tip), [
      "CI / a (1): failure: Failed",
      "CI / a (2): error: Another job of its matrix has failed",
      "CI / a (3): error: Another job of its matrix has failed",
    ]);
  });
});

Deno.test("labels choose the runner, and those of the operator count", async () => {
  await withGit(async (test) => {
    await define(test, workflow(`  a: { runs-on: [linux, big], ${STEPS} }\n`));
    const small = await ForgeRunner.make(test);
    const { token } = await test.api.answer("POST /v1/runners", {
      name: "held",
      labels: ["linux"],
    }) as { token: string };
    const held = new ForgeRunner(test.origin, token);
    const response = await held.send("Register", RegisterRequestSchema, {
      token,
      labels: ["linux", "big"],
    });
    assert.equal(response.status, 200);
    await response.body?.cancel();
    const big = await ForgeRunner.make(test, ["linux", "big"], "forge-2");
    await aReview(test);
    assert.equal(idOf(await big.run()), "a");
    assert.equal(await small.fetch(), undefined);
    assert.equal(await held.fetch(), undefined);
  });
});

Deno.test("only a runner's token opens the service", async () => {
  await withGit(async (test) => {
    const statuses: Record<string, number> = {};
    const agent = test.caller.slice("Bearer ".length);
    for (const [name, token] of Object.entries({ none: "", wrong: "x".repeat(40), agent })) {
      const runner = new ForgeRunner(test.origin, token);
      for (
        const response of [
          await runner.send("FetchTask", FetchTaskRequestSchema, {}),
          await runner.send("Register", RegisterRequestSchema, { token }),
        ]
      ) {
        statuses[name] = response.status;
        assert.match((await response.json()).code, /^unauthenticated$|^permission_denied$/);
      }
    }
    assert.deepEqual(statuses, { none: 401, wrong: 401, agent: 403 });
    const runner = await ForgeRunner.make(test);
    const unknown = await runner.send("Nothing", FetchTaskRequestSchema, {});
    assert.equal(unknown.status, 404);
    await unknown.body?.cancel();
  });
});

Deno.test("only jobs of a protected branch get the project's secrets that they name", async () => {
  await withGit(async (test) => {
    const { checkSecrets } = test.api.services.hosting;
    for (const name of ["DEPLOY", "OTHER"]) {
      await checkSecrets.set(test.project, { name, check: null, value: `of ${name}` }, BY_OPERATOR);
    }
    await test.answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "nobody" }] });
    const runner = await ForgeRunner.make(test);
    const steps = `steps: [{ run: "echo \${{ secrets.DEPLOY }}" }]`;
    await define(test, workflow(`  a: { runs-on: linux, ${steps} }\n`, "[push, pull_request]"));
    const pushed = await runner.run();
    assert.equal(pushed.context?.["event_name"], "push");
    assert.equal(pushed.secrets["DEPLOY"], "of DEPLOY");
    assert.equal(pushed.secrets["OTHER"], undefined);
    await aReview(test);
    const reviewed = await runner.run();
    assert.equal(reviewed.context?.["event_name"], "pull_request");
    assert.equal(reviewed.secrets["DEPLOY"], undefined);
  });
});

Deno.test("a workflow that a review changes runs as it was, and beside it as changed", async () => {
  await withGit(async (test) => {
    await define(test, workflow(`  a: { runs-on: linux, ${STEPS} }\n`));
    const runner = await ForgeRunner.make(test);
    const changed = workflow(`  a: { runs-on: linux, steps: [{ run: "false" }] }\n`);
    const { tip } = await aReview(test, "work", { [FILE]: changed });
    await runner.run();
    await runner.run();
    assert.deepEqual(await checksOf(test, tip), [
      "CI / a: success: Passed",
      "CI / a (as changed): success: Passed",
    ]);
  });
});

Deno.test("a workflow that is wrong is a check with an error that names the line", async () => {
  await withGit(async (test) => {
    await define(test, "on: pull_request\njobs: { a: { steps: [] } }\n");
    await define(
      test,
      workflow(`  a: { runs-on: linux, ${STEPS} }\n`),
      ".forgejo/workflows/ok.yml",
    );
    const runner = await ForgeRunner.make(test);
    const { tip } = await aReview(test);
    await runner.run();
    const [, check] = await checksOf(test, tip);
    assert.match(check ?? "", /^ci\.yml: error: \.forgejo\/workflows\/ci\.yml:2:9: jobs\.a: lacks/);
  });
});

Deno.test("workflows of GitHub run where the project says so", async () => {
  await withGit(async (test) => {
    const path = ".github/workflows/ci.yml";
    await define(test, workflow(`  a: { runs-on: linux, ${STEPS} }\n`), path);
    const runner = await ForgeRunner.make(test);
    const first = await aReview(test, "one");
    assert.deepEqual(await checksOf(test, first.tip), []);
    await define(test, "github_workflows: true\nchecks: {}\n", ".muster/checks.yaml");
    await aReview(test, "two");
    assert.equal(idOf(await runner.run()), "a");
  });
});

Deno.test("a task whose runner is lost runs again, and the first runner changes nothing", async () => {
  await withGit(async (test) => {
    await define(test, workflow(`  a: { runs-on: linux, ${STEPS} }\n`));
    const [lost, other] = [
      await ForgeRunner.make(test),
      await ForgeRunner.make(test, ["linux"], "forge-2"),
    ];
    const { tip } = await aReview(test);
    const first = await lost.fetch(20_000);
    assert.ok(first !== undefined);
    await lost.log(first, 0, ["of the first"]);
    const second = other.fetch(20_000);
    test.api.services.clock.advance(31_000);
    const again = await second;
    assert.ok(again !== undefined && again.id !== first.id);
    await lost.log(first, 1, ["late"], true);
    assert.equal((await lost.update(first, Result.FAILURE)).result, Result.CANCELLED);
    await other.log(again, 0, ["of the second"], true);
    await other.update(again, Result.SUCCESS);
    assert.deepEqual(await checksOf(test, tip), ["CI / a: success: Passed"]);
    const [job] = await test.api.services.hosting.runs.store.jobsOn(test.project.id, tip);
    assert.ok(job !== undefined);
    const logs = await Promise.all([1, 2].map(async (generation) => {
      const key = { projectId: test.project.id, jobId: job.id, generation };
      const { lines } = await test.api.services.hosting.jobLogs.read(key, 1, 10);
      return lines.map(({ text }) => text);
    }));
    assert.deepEqual(logs, [["of the first"], ["of the second"]]);
  });
});

Deno.test("what a runner tells keeps its lease, and a task that is out of time is ended", async () => {
  await withGit(async (test) => {
    await define(test, workflow(`  a: { runs-on: linux, timeout-minutes: 1, ${STEPS} }\n`));
    const runner = await ForgeRunner.make(test);
    const { tip } = await aReview(test);
    const task = await runner.fetch(20_000);
    assert.ok(task !== undefined);
    for (const result of [Result.UNSPECIFIED, Result.UNSPECIFIED, Result.CANCELLED]) {
      test.api.services.clock.advance(20_000);
      assert.equal((await runner.update(task, Result.UNSPECIFIED)).result, result);
    }
    await runner.log(task, 0, ["context canceled"], true);
    await runner.update(task, Result.FAILURE);
    assert.deepEqual(await checksOf(test, tip), [
      "CI / a: error: Ended after 60 seconds, which is its limit",
    ]);
  });
});

Deno.test("somebody starts a workflow by its file's name, with inputs", async () => {
  await withGit(async (test) => {
    const inputs =
      "{ level: { type: choice, options: [a, b], default: a }, dry: { type: boolean } }";
    const on = `{ workflow_dispatch: { inputs: ${inputs} } }`;
    const job = `  a: { runs-on: "\${{ inputs.level }}", if: inputs.dry, ${STEPS} }\n`;
    await define(test, workflow(job, on));
    const runner = await ForgeRunner.make(test, ["b"]);
    const body = { checks: ["ci.yml"], inputs: { level: "b", dry: "true" } };
    await test.answer("POST /api/runs", { as: test.caller, body });
    const { context } = await runner.run();
    assert.equal(context?.["event_name"], "workflow_dispatch");
    assert.deepEqual((context?.["event"] as { inputs: unknown }).inputs, { level: "b", dry: true });
    const wrong = { checks: ["ci.yml"], inputs: { level: "c" } };
    const { fault } = await test.answer("POST /api/runs", { as: test.caller, body: wrong });
    assert.equal(fault, `${FILE}: inputs.level: must be one of: a, b`);
  });
});

Deno.test("a workflow runs at the times that it names", async () => {
  await withGit(async (test) => {
    await define(
      test,
      workflow(`  a: { runs-on: linux, ${STEPS} }\n`, '{ schedule: [{ cron: "0 3 * * *" }] }'),
    );
    const runner = await ForgeRunner.make(test);
    await aReview(test);
    const next = runner.run();
    test.api.services.clock.advance(24 * 3_600_000);
    const { context } = await next;
    assert.equal(context?.["event_name"], "schedule");
    assert.equal((context?.["event"] as { schedule: unknown }).schedule, "0 3 * * *");
  });
});

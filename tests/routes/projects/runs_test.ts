import assert from "node:assert/strict";
import type { Assignment } from "../../../services/work/runs/assignment.ts";
import { commitFiles, withProject } from "../../support/projects.ts";
import { aReview, aRunner, commitTo, defineChecks, jobOf } from "../../support/runners.ts";
import { BY_OPERATOR } from "../../support/services.ts";

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

Deno.test("a check runs after those that it needs, and is skipped if one fails", async () => {
  await withProject(async (test) => {
    await defineChecks(
      test,
      "  build:\n    run: make\n  tests:\n    run: make test\n    needs: [build]\n" +
        "  deploy:\n    run: make deploy\n    needs: [tests]\n",
    );
    const runner = await aRunner(test);
    const { id } = await aReview(test);
    const build = await runner.lease();
    assert.equal(build?.name, "build");
    assert.equal(await runner.lease(0), null);
    assert.ok(build !== null);
    await runner.tell(build, "finish", { generation: 1, outcome: "failure", exit_code: 1 });
    const deploy = await jobOf(test, `review=${id}`, "deploy", ({ state }) => state === "skipped");
    assert.equal(deploy.summary, "Skipped: the check tests has not passed");
    const { checks } = await test.answer(`GET /api/status?checkin=${deploy.checkin}`);
    assert.deepEqual(
      checks.map(({ context, state }: Record<string, string>) => `${context}: ${state}`),
      ["build: failure", "deploy: error", "tests: error"],
    );
    // All three run again, in their order.
    await test.answer(`POST /api/runs/${deploy.run}/rerun`);
    for (const name of ["build", "tests", "deploy"]) {
      assert.equal((await runner.run("success")).name, name);
    }
    const [{ state }] = (await test.answer(`GET /api/runs?review=${id}`)).runs;
    assert.equal(state, "success");
  });
});

Deno.test("a runner takes only jobs of its projects and with its labels, and none while it is paused", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  gpu:\n    run: make gpu\n    labels: [gpu, linux]\n");
    await test.api.services.hosting.projects.create({
      slug: "elsewhere",
      name: "Elsewhere",
      description: "",
      visibility: "private",
    }, BY_OPERATOR);
    const plain = await aRunner(test, "plain", { labels: ["linux"] });
    const others = await aRunner(test, "others", {
      labels: ["gpu", "linux"],
      projects: ["elsewhere"],
    });
    const { id } = await aReview(test);
    const job = await jobOf(test, `review=${id}`, "gpu", ({ state }) => state === "queued");
    assert.equal(
      job.waits_for,
      "a runner with the labels gpu, linux for this project: there is none, or it is paused",
    );
    assert.deepEqual([await plain.lease(0), await others.lease(0)], [null, null]);
    const able = await aRunner(test, "able", { labels: ["linux", "gpu", "fast"] });
    await test.api.answer("PATCH /v1/runners/able", { paused: true });
    assert.equal(await able.lease(0), null);
    const waiting = able.lease();
    await test.api.answer("PATCH /v1/runners/able", { paused: false });
    assert.equal((await waiting)?.name, "gpu");
  });
});

Deno.test("the job of a lost runner runs again elsewhere, and nothing of the old lease counts", async () => {
  await withProject(async (test) => {
    const { api: { services: { clock } }, answer } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    const first = await aRunner(test, "first");
    const second = await aRunner(test, "second");
    const { id, tip } = await aReview(test);
    const lost = await first.lease();
    assert.ok(lost !== null);
    const again = second.lease();
    await first.tell(lost, "renew", { generation: 1 });
    clock.advance(31_000);
    const job = await again;
    assert.ok(job !== null);
    assert.deepEqual([job.id, job.generation, job.attempt], [lost.id, 2, 1]);
    const line = { at: 0, stream: "out", text: "late" };
    const late = [
      ["renew", { generation: 1 }],
      ["log", { generation: 1, from: 1, lines: [line] }],
      ["finish", { generation: 1, outcome: "success", exit_code: 0 }],
      ["finish", { generation: 2, outcome: "success", exit_code: 0 }],
    ] as const;
    for (const [what, body] of late) {
      const refused = await first.send(lost, what, body);
      assert.deepEqual([what, refused.status], [what, 409]);
      await refused.body?.cancel();
    }
    await second.tell(job, "finish", { generation: 2, outcome: "failure", exit_code: 1 });
    // It may be told twice, and only its first result counts.
    const twice = await second.tell(job, "finish", { generation: 2, outcome: "success" });
    assert.equal(twice.outcome, "failure");
    const history = await answer(`GET /api/status/${tip}/history?context=tests`);
    assert.deepEqual(
      history.reports.map(({ state, reporter }: Record<string, string>) => [state, reporter]),
      [["failure", "runner second"], ["pending", "muster"]],
    );
    const shown = await jobOf(test, `review=${id}`, "tests", ({ state }) => state === "failure");
    assert.equal(shown.runner, "second");
  });
});

Deno.test("a job that loses three runners ends with an error", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    const { id } = await aReview(test);
    for (const generation of [1, 2, 3]) {
      assert.equal((await runner.lease())?.generation, generation);
      test.api.services.clock.advance(61_000);
    }
    const job = await jobOf(test, `review=${id}`, "tests", ({ state }) => state === "error");
    assert.equal(job.summary, "No runner finished it: 3 were lost, the last one was east-1");
  });
});

Deno.test("a newer round ends the jobs of the older one, and a runner learns of it at once", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  one:\n    run: make one\n  two:\n    run: make two\n");
    const runner = await aRunner(test);
    const { id, tip } = await aReview(test);
    const job = await runner.lease();
    assert.ok(job !== null);
    const renewal = runner.tell(job, "renew", { generation: 1, wait_seconds: 20 });
    const newer = await commitTo(test, "work", { "a.txt": "b\n" });
    const reason = "Superseded by a newer round";
    const { cancelled, reason: told } = await renewal;
    assert.deepEqual([cancelled, told], [true, reason]);
    await runner.tell(job, "finish", { generation: 1, outcome: "success", exit_code: 0 });
    const { checks } = await test.answer(`GET /api/status?checkin=${tip}`);
    assert.deepEqual(
      checks.map(({ state, description }: Record<string, string>) => [state, description]),
      [["error", reason], ["error", reason]],
    );
    assert.equal((await runner.run("success")).checkin, newer);
    assert.equal((await runner.run("success")).checkin, newer);
    await jobOf(test, `review=${id}`, "two", ({ state }) => state === "success");
  });
});

Deno.test("no change weakens its own test: its definition runs beside, and never counts", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["tests"] }] });
    const runner = await aRunner(test);
    const { id } = await aReview(test, "work", {
      ".muster/checks.yaml": "checks:\n  tests:\n    run: 'true'\n",
    });
    const jobs = [await runner.run("failure"), await runner.run("success")];
    assert.deepEqual(
      jobs.map(({ name, commands }) => [name, commands]),
      [["tests", ["make test"]], ["tests (as changed)", ["true"]]],
    );
    await answer(`POST /api/reviews/${id}/approve`);
    const merge = await send("POST /api/workspaces/work/merge", { as: caller, body: {} });
    assert.match(
      (await merge.json()).error,
      /'tests' has not passed: runner east-1 reported failure/,
    );
    // Nor does it count for a rule that names it.
    const contexts = ["tests (as changed)"];
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts }] });
    const again = await send("POST /api/workspaces/work/merge", { as: caller, body: {} });
    assert.equal(again.status, 403);
    assert.match((await again.json()).error, /what runner east-1 .*does not count/);
  });
});

Deno.test("a branch that its author defines makes no check green for another branch", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["tests"] }] });
    const runner = await aRunner(test);
    const { id, tip } = await aReview(test, "work", {
      ".muster/checks.yaml": "checks:\n  tests:\n    run: 'true'\n",
    });
    await runner.run("failure");
    await runner.run("success");
    await answer("POST /api/runs", { as: caller, body: { branch: "workspace/work" } });
    const forged = await runner.run("success");
    assert.deepEqual([forged.name, forged.checkin, forged.commands], ["tests", tip, ["true"]]);
    const [required] = (await answer(`GET /api/reviews/${id}`)).required_checks;
    assert.deepEqual([required.context, required.state], ["tests", "failure"]);
  });
});

Deno.test("a rule that lets writers push protects no secrets", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    const runner = await aRunner(test);
    await answer("PUT /api/check-secrets/TOKEN", { body: { value: "for all checks" } });
    await answer("PUT /api/protection", { body: [{ pattern: "*", merge: "admin" }] });
    const secrets = "  deploy:\n    run: make\n    on: [push]\n    secrets: [TOKEN]\n";
    await defineChecks(test, secrets);
    assert.deepEqual((await runner.run("success")).secrets, {});
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "admin" }] });
    await answer("POST /api/runs", { body: {} });
    assert.deepEqual((await runner.run("success")).secrets, { TOKEN: "for all checks" });
  });
});

Deno.test("only what is on a protected branch gets secrets", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    const runner = await aRunner(test);
    await answer("PUT /api/check-secrets/TOKEN", { body: { value: "for all checks" } });
    const short = await send("PUT /api/check-secrets/TOKEN", { body: { value: "own" } });
    assert.equal(short.status, 400);
    await short.body?.cancel();
    await answer("PUT /api/check-secrets/TOKEN", { body: { value: "its own", check: "deploy" } });
    await answer("PUT /api/check-secrets/OTHER", { body: { value: "unasked" } });
    const listed = await answer("GET /api/check-secrets");
    assert.deepEqual(
      listed.map(({ name, check }: Record<string, string>) => [name, check]),
      [["OTHER", null], ["TOKEN", null], ["TOKEN", "deploy"]],
    );
    assert.ok(!JSON.stringify(listed).includes("for all"));
    const yaml = "  deploy:\n    run: make deploy\n    on: [review, push]\n    secrets: [TOKEN]\n" +
      "  tests:\n    run: make test\n    on: [review, push]\n    secrets: [TOKEN]\n";
    await defineChecks(test, yaml);
    const secretsOf = async () => [
      (await runner.run("success")).secrets,
      (await runner.run("success")).secrets,
    ];
    // The branch is not protected yet.
    assert.deepEqual(await secretsOf(), [{}, {}]);
    const { id } = await aReview(test);
    assert.deepEqual(await secretsOf(), [{}, {}]);
    await answer(`POST /api/reviews/${id}/approve`);
    const approvals = { any: 1, people: 0 };
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", approvals }] });
    await answer("POST /api/workspaces/work/merge", { as: caller, body: {} });
    assert.deepEqual(await secretsOf(), [{ TOKEN: "its own" }, { TOKEN: "for all checks" }]);
  });
});

Deno.test("a candidate of the landing queue lands once its checks have passed on a runner", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    await defineChecks(test, "  tests:\n    run: make test\n    on: [landing]\n");
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: ["tests"], landing: "required" }],
    });
    const runner = await aRunner(test);
    const { id } = await aReview(test);
    await answer(`POST /api/reviews/${id}/approve`, { as: other });
    await answer(`POST /api/reviews/${id}/land`, { as: caller });
    const job = await runner.run("success");
    assert.equal(job.cause, "landing");
    const landed = Promise.withResolvers<void>();
    const look = async () => {
      const { status } = await answer(`GET /api/reviews/${id}`);
      if (status === "merged") landed.resolve();
    };
    const stop = test.api.services.database.onAppended(() => void look());
    await look();
    await landed.promise;
    stop();
    const [tip] = (await answer("GET /api/timeline?branch=trunk")).checkins;
    assert.equal(tip.uuid, job.checkin);
  });
});

Deno.test("jobs of a group run one at a time, and a later one may end the earlier", async () => {
  await withProject(async (test) => {
    const yaml = "  deploy:\n    run: make\n    on: [push]\n    concurrency: prod\n" +
      "  preview:\n    run: make\n    on: [push]\n    concurrency: { group: preview, cancel: true }\n";
    await defineChecks(test, yaml);
    const runner = await aRunner(test);
    const leased = [await runner.lease(), await runner.lease()];
    assert.deepEqual(leased.map((job) => job?.name), ["deploy", "preview"]);
    const [deploy, preview] = leased;
    assert.ok(deploy && preview);
    const renewal = runner.tell(preview, "renew", { generation: 1, wait_seconds: 20 });
    await commitFiles(test, { "b.txt": "b" });
    await test.catchUp();
    assert.equal((await renewal).reason, "Superseded in the group preview");
    assert.equal(await runner.lease(0), null);
    await runner.tell(preview, "finish", { generation: 1, outcome: "cancelled" });
    const next = await runner.lease();
    assert.equal(next?.name, "preview");
    await runner.tell(deploy, "finish", { generation: 1, outcome: "success" });
    assert.equal((await runner.lease())?.name, "deploy");
  });
});

Deno.test("an operator, a halt or a member ends a job", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, outsider } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    const { id } = await aReview(test);
    const job = await runner.lease();
    assert.ok(job !== null);
    assert.equal((await send(`POST /api/jobs/${job.id}/cancel`, { as: outsider })).status, 404);
    const renewal = runner.tell(job, "renew", { generation: 1, wait_seconds: 20 });
    await answer(`POST /api/jobs/${job.id}/cancel`, { as: caller });
    assert.equal((await renewal).reason, "Cancelled by caller");
    await runner.tell(job, "finish", { generation: 1, outcome: "cancelled" });
    await jobOf(test, `review=${id}`, "tests", ({ state }) => state === "cancelled");
    await answer(`POST /api/runs/1/rerun`);
    const again = await runner.lease();
    assert.ok(again !== null);
    const halted = runner.tell(again, "renew", { generation: 1, wait_seconds: 20 });
    await test.api.answer("POST /v1/halt", { agents: ["caller"], reason: "look" });
    assert.equal((await halted).reason, "caller is halted");
    // A runner that does not end it is not waited for.
    await runner.tell(again, "renew", { generation: 1 });
    test.api.services.clock.advance(25_000);
    await runner.tell(again, "renew", { generation: 1 });
    test.api.services.clock.advance(36_000);
    await jobOf(test, `review=${id}`, "tests", ({ state }) => state === "cancelled");
  });
});

Deno.test("jobs that nobody can take keep none waiting, and projects take turns", async () => {
  await withProject(async (test) => {
    const { api, answer } = test;
    const names = Array.from({ length: 49 }, (_, at) => `gpu-${at}`);
    const gpu = names.map((name) => `  ${name}:\n    run: make\n    labels: [gpu]\n`);
    await defineChecks(test, `  tests:\n    run: make\n${gpu.join("")}`);
    const elsewhere = { slug: "elsewhere", name: "Elsewhere", description: "" };
    const { project } = await api.services.hosting.projects.create(
      { ...elsewhere, visibility: "private" },
      BY_OPERATOR,
    );
    await defineChecks({ ...test, project }, "  other:\n    run: make\n");
    for (let round = 0; round < 5; round++) {
      await answer("POST /api/runs", { body: { checks: names } });
    }
    for (let round = 0; round < 3; round++) {
      await answer("POST /api/runs", { body: { checks: ["tests"] } });
    }
    await api.answer("POST /projects/elsewhere/fossil/api/runs", {});
    const runner = await aRunner(test);
    const ran: string[] = [];
    for (let count = 0; count < 4; count++) ran.push((await runner.run("success")).name);
    assert.deepEqual(ran, ["tests", "other", "tests", "tests"]);
    assert.equal(await runner.lease(0), null);
  });
});

Deno.test("a runner gets the job that it is given when its time is up", async () => {
  await withProject(async (test) => {
    const { api: { services: { database, clock } } } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    const { id } = await aReview(test);
    await jobOf(test, `review=${id}`, "tests", ({ state }) => state === "queued");
    const stop = database.onAppended(() => clock.advance(2000));
    const job = await runner.lease(1);
    stop();
    assert.equal(job?.generation, 1);
  });
});

Deno.test("a runner that is stopped gives its job back", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    await aReview(test);
    const job = await runner.lease();
    assert.ok(job !== null);
    await runner.tell(job, "finish", { generation: 1, outcome: "cancelled" });
    assert.equal((await runner.lease())?.generation, 2);
    await test.api.send({ who: "operator", request: "DELETE /v1/runners/east-1" });
    const gone = await runner.send(job, "renew", { generation: 2 });
    assert.equal(gone.status, 401);
    await gone.body?.cancel();
    assert.equal((await (await aRunner(test, "next")).lease())?.generation, 3);
  });
});

Deno.test("files that a job keeps can be read, and caches stay with the code that wrote them", async () => {
  await withProject(async (test) => {
    const { api, send, answer, caller } = test;
    await defineChecks(test, "  tests:\n    run: make test\n    on: [review, push]\n");
    const runner = await aRunner(test);
    const file = (job: Assignment, request: string, more: Record<string, string>, body?: string) =>
      api.send({
        who: "guest",
        request: request.replace("{id}", job.id),
        headers: {
          authorization: runner.as,
          "muster-generation": String(job.generation),
          "content-type": "application/octet-stream",
          ...more,
        },
        ...body === undefined ? {} : { body },
      });
    const cached = { "muster-cache-key": "deps-1" };
    const pushed = await runner.lease();
    assert.ok(pushed !== null);
    const put = (job: Assignment, text: string) =>
      file(job, "PUT /v1/runner/jobs/{id}/cache", cached, text);
    const get = async (job: Assignment) => {
      const response = await file(job, "GET /v1/runner/jobs/{id}/cache", cached);
      return response.status === 200 ? await response.text() : response.status;
    };
    assert.equal(await get(pushed), 404);
    assert.equal((await put(pushed, "unprotected")).status, 204);
    const stored = await file(
      pushed,
      "PUT /v1/runner/jobs/{id}/artifacts?path=coverage/index.html",
      {},
      "<p>97%</p>",
    );
    assert.deepEqual([stored.status, (await stored.json()).bytes], [200, 10]);
    const bad = await file(pushed, "PUT /v1/runner/jobs/{id}/artifacts?path=../x", {}, "x");
    assert.equal(bad.status, 400);
    await bad.body?.cancel();
    await runner.tell(pushed, "finish", { generation: 1, outcome: "success" });
    const late = await put(pushed, "late");
    assert.equal(late.status, 409);
    await late.body?.cancel();
    const read = await send(`GET /api/jobs/${pushed.id}/artifact?path=coverage/index.html`, {
      as: caller,
    });
    assert.deepEqual([read.status, await read.text()], [200, "<p>97%</p>"]);
    const { artifacts } = await answer(`GET /api/jobs/${pushed.id}`, { as: caller });
    assert.equal(artifacts[0].path, "coverage/index.html");

    await answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "admin" }] });
    await answer("POST /api/runs", { body: {} });
    const safe = await runner.lease();
    assert.ok(safe !== null);
    assert.equal(await get(safe), 404);
    assert.equal((await put(safe, "protected")).status, 204);
    await runner.tell(safe, "finish", { generation: 1, outcome: "success" });
    await aReview(test, "one");
    const one = await runner.lease();
    await aReview(test, "two", { "b.txt": "b\n" });
    const two = await runner.lease();
    assert.ok(one !== null && two !== null);
    assert.deepEqual([await get(one), await get(two)], ["protected", "protected"]);
    assert.equal((await put(one, "poisoned")).status, 204);
    assert.deepEqual([await get(one), await get(two)], ["poisoned", "protected"]);
  });
});

Deno.test("a reader follows the log of a job to its end, with every line once", async () => {
  await withProject(async (test) => {
    const { send, caller } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    await aReview(test);
    const job = await runner.lease();
    assert.ok(job !== null);
    const tell = (from: number, ...texts: string[]) =>
      runner.tell(job, "log", {
        generation: 1,
        from,
        lines: texts.map((text) => ({ at: from, stream: "out", text })),
      });
    await tell(1, "one", "two");
    const streams = await Promise.all(
      [0, 1].map((after) =>
        send(`GET /api/jobs/${job.id}/log/stream?after=${after}`, { as: caller })
      ),
    );
    await tell(3, "three");
    await tell(4, "four\nwith a second line");
    await runner.tell(job, "finish", { generation: 1, outcome: "success" });
    const texts = await Promise.all(streams.map((stream) => stream.text()));
    const told = texts.map((text) =>
      [...text.matchAll(/event: lines\ndata: (.*)/g)].flatMap(([, data = ""]) =>
        JSON.parse(data).map(({ number, text }: { number: number; text: string }) =>
          `${number} ${text}`
        )
      )
    );
    const all = ["1 one", "2 two", "3 three", "4 four with a second line"];
    assert.deepEqual(told, [all, all.slice(1)]);
    for (const text of texts) assert.match(text, /event: end\ndata: {"state":"success"}/);
    const raw = await send(`GET /api/jobs/${job.id}/log/raw`, { as: caller });
    assert.equal(await raw.text(), "one\ntwo\nthree\nfour with a second line\n");
  });
});

Deno.test("a reader of a long log gets the next part once it has read the last, while it may", async () => {
  await withProject(async (test) => {
    const { send, caller } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    await aReview(test);
    const job = await runner.lease();
    assert.ok(job !== null);
    for (let from = 1; from <= 3000; from += 1000) {
      const lines = Array.from({ length: 1000 }, () => ({
        at: 0,
        stream: "out",
        text: "x".repeat(300),
      }));
      await runner.tell(job, "log", { generation: 1, from, lines });
    }
    const open = () => send(`GET /api/jobs/${job.id}/log/stream`, { as: caller });
    const [whole, cut] = [await open(), await open()];
    const reader = cut.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await reader?.read())?.value ?? "", /^id: \d+\nevent: lines/);
    await runner.tell(job, "finish", { generation: 1, outcome: "success" });
    const told = await whole.text();
    const ids = [...told.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    assert.deepEqual([ids.at(-1), ids.length > 5], [3000, true]);
    assert.match(told, /event: end/);
    await test.api.services.hosting.projects.removeMember("demo", "caller", BY_OPERATOR);
    let rest = "";
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      rest += part.value;
    }
    assert.ok(!rest.includes("id: 3000\n"));
  });
});

Deno.test("a definition with a fault is an error that people see", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  tests:\n    rum: make test\n");
    const { tip } = await aReview(test);
    const seen = Promise.withResolvers<Record<string, string>>();
    const look = async () => {
      const { checks } = await test.answer(`GET /api/status?checkin=${tip}`);
      if (checks.length > 0) seen.resolve(checks[0]);
    };
    const stop = test.api.services.database.onAppended(() => void look());
    await look();
    const { context, state, description } = await seen.promise;
    stop();
    assert.deepEqual([context, state], ["definition", "error"]);
    assert.match(
      description ?? "",
      /^\.muster\/checks\.yaml:2:3: checks\.tests\.run: is required\n/,
    );
  });
});

Deno.test("a check runs at the times of cron", async () => {
  await withProject(async (test) => {
    const { api: { services: { clock } } } = test;
    const runner = await aRunner(test);
    await defineChecks(test, "  nightly:\n    run: make all\n    on: [{ cron: '0 4 * * *' }]\n");
    await test.catchUp();
    await test.api.services.hosting.checkTriggers.idle();
    clock.advance(25 * 60 * 60 * 1000);
    const job = await runner.lease();
    assert.deepEqual([job?.name, job?.cause], ["nightly", "cron"]);
  });
});

Deno.test("a change of the checks of a protected branch needs a person's approval", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    await answer("PUT /api/protection", { body: [{ pattern: "trunk" }] });
    const merge = (name: string) =>
      send(`POST /api/workspaces/${name}/merge`, { as: caller, body: {} });
    const yaml = { ".muster/checks.yaml": "checks: {}\n" };
    const { id } = await aReview(test, "one", yaml);
    await answer(`POST /api/reviews/${id}/approve`, { as: other });
    const refused = await merge("one");
    assert.equal(refused.status, 403);
    assert.match((await refused.json()).error, /0 of 1 required approvals by people: it changes/);
    await answer(`POST /api/reviews/${id}/approve`);
    assert.equal((await merge("one")).status, 200);
    // Nor can it be merged without a review, where other work can.
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "two" } });
    await commitTo(test, "two", { "c.txt": "c\n" });
    assert.equal((await merge("two")).status, 200);
  });
});

Deno.test("a change of any file that defines checks needs a person's approval", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const kept = ".gitea/workflows/ci.yml";
    await defineChecks(test, "  tests:\n    run: make test\n");
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "begin" } });
    await commitTo(test, "begin", { [kept]: "on: push\n" });
    await answer("POST /api/workspaces/begin/merge", { as: caller, body: {} });
    await answer("PUT /api/protection", { body: [{ pattern: "trunk" }] });
    const changes: readonly object[] = [
      { path: ".muster/checks.yaml", content: "checks: {}\n" },
      { path: kept, content: "on: pull_request\n" },
      { path: kept, delete: true },
      { path: ".forgejo/workflows/ci.yaml", content: "on: push\n" },
      // The folder of Forgejo would hide that of Gitea.
      { path: ".forgejo/workflows/README", content: "None.\n" },
      { path: ".github/workflows/ci.yml", content: "on: push\n" },
    ];
    for (const [index, change] of changes.entries()) {
      const name = `change-${index}`;
      await answer("POST /api/workspaces/create", { as: caller, body: { name } });
      const body = { message: name, changes: [change] };
      await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
      const merge = () => send(`POST /api/workspaces/${name}/merge`, { as: caller, body: {} });
      assert.deepEqual([change, (await merge()).status], [change, 403]);
      const asked = { workspace: name, title: name };
      const { id } = await answer("POST /api/reviews/create", { as: caller, body: asked });
      await answer(`POST /api/reviews/${id}/approve`, { as: other });
      assert.deepEqual([change, (await merge()).status], [change, 403]);
    }
  });
});

Deno.test("the author of a check that failed is told with the last lines of its log", async () => {
  await withProject(async (test) => {
    await defineChecks(test, "  tests:\n    run: make test\n");
    const runner = await aRunner(test);
    await aReview(test);
    await runner.run("failure", "expected 4, got 5");
    await test.api.services.hosting.notifier.idle();
    const inbox = await test.api.answer("GET /v1/agents/caller/messages") as {
      kind: string;
      text: string;
    }[];
    const [entry] = inbox.filter(({ kind }) => kind === "check");
    assert.match(
      entry?.text ?? "",
      /^tests: failure on .*: Failed with exit code 1\. The last lines: expected 4, got 5$/,
    );
    // So the line in the project's channel names both.
    const { events } = await test.api.services.eventLog.read({
      after: 0,
      types: ["project.status"],
      limit: 100,
    });
    const { review, job, state } = events.at(-1)?.data ?? {};
    assert.deepEqual([review, state], [1, "failure"]);
    assert.equal((await test.answer(`GET /api/jobs/${job}`)).state, "failure");
  });
});

import assert from "node:assert/strict";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { until } from "../../support/until.ts";

interface Status {
  readonly checkin: string;
  readonly state: string;
  readonly failed: readonly string[];
  readonly waiting_for: readonly string[];
}

type Waiting = Pick<TestProject, "answer" | "api" | "caller" | "send">;

/** Opens a review; gives its number and its check-in. */
async function aReview({ answer, caller }: Waiting): Promise<{ id: number; tip: string }> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name: "work" } });
  const { uuid } = await commit({ answer, caller }, "one");
  const body = { title: "Work", workspace: "work" };
  const { id } = await answer("POST /api/reviews/create", { as: caller, body });
  return { id, tip: uuid };
}

function commit({ answer, caller }: Pick<Waiting, "answer" | "caller">, content: string) {
  return answer("POST /api/workspaces/work/commit", {
    as: caller,
    body: { message: content, changes: [{ path: "a.txt", content }] },
  });
}

/** Reports a check, and waits until that is told. */
async function report({ answer }: Waiting, checkin: string, context: string, state: string) {
  await answer("POST /api/status", { body: { checkin, context, state } });
}

/** Begins to wait. */
async function waiting(
  test: Waiting,
  path: string,
  as = test.caller,
): Promise<{ response: Promise<Response> }> {
  const { feeds } = test.api.services.hosting;
  const before = feeds.readers;
  const response = test.send(`GET ${path}wait_seconds=60`, { as });
  await until(() => feeds.readers > before);
  return { response };
}

Deno.test("a request waits until no check of a check-in is pending", async () => {
  await withProject(async (test) => {
    const { tip } = await aReview(test);
    await report(test, tip, "lint", "pending");
    await report(test, tip, "build", "pending");
    const { response } = await waiting(test, `/api/status?checkin=workspace/work&`);
    await report(test, tip, "lint", "failure");
    const now: Status = await test.answer(`GET /api/status?checkin=${tip}`);
    assert.deepEqual([now.state, now.failed, now.waiting_for], ["failing", ["lint"], ["build"]]);
    await report(test, tip, "build", "success");
    const then: Status = await (await response).json();
    assert.deepEqual(
      [then.checkin, then.state, then.failed, then.waiting_for],
      [tip, "failing", ["lint"], []],
    );
    assert.equal(test.api.services.hosting.feeds.readers, 0);
  });
});

Deno.test("a wait for a review is for required checks too, and for those of a new round", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["ci"] }] });
    const [ci] = await projectToken(test.api, "status:write");
    const { id, tip } = await aReview(test);
    const path = `/api/reviews/${id}/checks`;
    const now = await answer(`GET ${path}`, { as: caller });
    assert.deepEqual([now.id, now.checkin, now.waiting_for, now.checks], [id, tip, ["ci"], []]);
    const { response } = await waiting(test, `${path}?`);
    const { uuid } = await commit(test, "two");
    const body = { checkin: tip, context: "ci", state: "failure" };
    await answer("POST /api/status", { as: ci, body });
    await answer("POST /api/status", {
      as: ci,
      body: { ...body, checkin: uuid, state: "success" },
    });
    const then = await (await response).json();
    assert.deepEqual(
      [then.checkin, then.state, then.failed, then.waiting_for],
      [uuid, "passing", [], []],
    );
  });
});

Deno.test("a wait ends with the time, with the credential and with the right to read", async () => {
  await withProject(async (test) => {
    const { services } = test.api;
    const { tip } = await aReview(test);
    await report(test, tip, "build", "pending");
    const path = `/api/status?checkin=${tip}&`;
    const late = await waiting(test, path);
    services.clock.advance(60_000);
    const status: Status = await (await late.response).json();
    assert.deepEqual(status.waiting_for, ["build"]);

    const removed = await waiting(test, path, test.other);
    await services.hosting.projects.removeMember("demo", "other", BY_OPERATOR);
    assert.equal((await removed.response).status, 404);
    const revoked = await waiting(test, path);
    await services.agents.revoke("caller", BY_OPERATOR);
    assert.equal((await revoked.response).status, 401);
    assert.equal(services.hosting.feeds.readers, 0);
  });
});

Deno.test("an item of a batch does not wait", async () => {
  await withProject(async (test) => {
    const { tip } = await aReview(test);
    await report(test, tip, "build", "pending");
    const request = { path: "/api/status", params: { checkin: tip, wait_seconds: 60 } };
    const { responses: [item] } = await test.answer("POST /api/batch", {
      body: { requests: [request] },
    });
    assert.deepEqual([item.status, item.body.waiting_for], [200, ["build"]]);
  });
});

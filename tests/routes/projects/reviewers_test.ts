/** Reviewers whom somebody asks, and the list of what waits for them. */
import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Numbers of the reviews of a list. */
async function listed({ answer }: TestProject, query: string, as?: string): Promise<number[]> {
  const { reviews } = await answer(`GET /api/reviews?${query}`, as === undefined ? {} : { as });
  return reviews.map(({ id }: { id: number }) => id);
}

/** What the events of a review tell of its reviewers. */
async function told({ api }: TestProject, id: number) {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.review"] });
  return events.filter(({ data }) => data["id"] === id)
    .map(({ data }) => [data["action"], data["reviewers"]]);
}

Deno.test("a review asks for reviewers at its creation and later, and waits for each until a verdict", async () => {
  await withProject(async (test) => {
    const { answer, caller, other, project, api } = test;
    await api.services.hosting.projects.setMember(project.slug, "stranger-1", "write", BY_OPERATOR);
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const commit = (content: string) =>
      answer("POST /api/workspaces/fix/commit", {
        as: caller,
        body: { message: "Fix", changes: [{ path: "a.txt", content }] },
      });
    await commit("one\n");
    const body = { title: "Fix", workspace: "fix", reviewers: ["OTHER", "other"] };
    const made = await answer("POST /api/reviews/create", { as: caller, body });
    assert.deepEqual(made.reviewers, ["other"]);
    await answer("POST /api/reviews/create", { as: caller, body: { title: "Alone", diff: "x" } });

    assert.deepEqual(await listed(test, "waiting_for=me", other), [1]);
    assert.deepEqual(await listed(test, "waiting_for=Other"), [1]);
    assert.deepEqual(await listed(test, "waiting_for=me", caller), []);
    assert.deepEqual(await listed(test, "waiting_for=nobody-1"), []);

    const more = { reviewers: ["stranger-1", "other"] };
    const asked = await answer("POST /api/reviews/1/reviewers", { as: caller, body: more });
    assert.deepEqual(asked.reviewers, ["other", "stranger-1"]);
    assert.deepEqual((await answer("GET /api/reviews/1")).reviewers, ["other", "stranger-1"]);

    await answer("POST /api/reviews/1/approve", { as: other });
    assert.deepEqual(await listed(test, "waiting_for=other"), []);
    assert.deepEqual(await listed(test, "waiting_for=stranger-1&status=approved"), [1]);
    await commit("two\n");
    assert.deepEqual(await listed(test, "waiting_for=other"), [1], "A new round waits again");

    const left = await answer("DELETE /api/reviews/1/reviewers/stranger-1", { as: caller });
    assert.deepEqual(left.reviewers, ["other"]);
    await answer("POST /api/reviews/1/close", { as: caller });
    assert.deepEqual(await listed(test, "waiting_for=other"), []);
    assert.deepEqual(await told(test, 1), [
      ["created", ["other"]],
      ["requested", ["stranger-1"]],
      ["approved", []],
      ["round", ["other", "stranger-1"]],
      ["request_withdrawn", ["stranger-1"]],
      ["closed", []],
    ]);
  });
});

Deno.test("only accounts that may judge a review can be asked, and never its author", async () => {
  await withProject(async ({ answer, send, caller, other, api, project }) => {
    const create = (reviewers: readonly string[]) =>
      send("POST /api/reviews/create", {
        as: caller,
        body: { title: "Fix", diff: "x", reviewers },
      });
    const refusal = async (response: Response) => [
      response.status,
      (await response.json()).error,
    ];
    assert.deepEqual(await refusal(await create(["caller"])), [
      400,
      '"caller" wrote the change and cannot review it',
    ]);
    assert.deepEqual(await refusal(await create(["nobody-1"])), [
      400,
      'There is no account "nobody-1"',
    ]);
    assert.deepEqual(await refusal(await create(["stranger-1"])), [
      400,
      '"stranger-1" must have the role write or admin in the project to review',
    ]);
    const many = Array.from({ length: 21 }, (_, index) => `name-${index}`);
    assert.equal((await create(many)).status, 400);
    assert.equal((await answer("GET /api/reviews")).total, 0);

    assert.equal((await create(["other"])).status, 201);
    const remove = (as: string, name: string) =>
      send(`DELETE /api/reviews/1/reviewers/${name}`, { as });
    assert.equal((await remove(caller, "nobody-1")).status, 404);
    assert.equal((await remove(other, "other")).status, 200, "A reviewer declines");
    assert.equal(
      (await send("POST /api/reviews/1/reviewers", { as: caller, body: {} })).status,
      400,
    );
    await answer("POST /api/reviews/1/reviewers", { as: caller, body: { reviewers: ["other"] } });
    await api.services.agents.delete("other", BY_OPERATOR);
    assert.deepEqual((await answer("GET /api/reviews/1")).reviewers, []);
    await answer("POST /api/reviews/1/close", { as: caller });
    const late = await send("POST /api/reviews/1/reviewers", {
      as: caller,
      body: { reviewers: ["stranger-1"] },
    });
    assert.equal(late.status, 409);
    assert.equal(project.slug, "demo");
  });
});

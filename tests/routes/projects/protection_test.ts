import assert from "node:assert/strict";
import type { Actor } from "../../../services/work/projects/mod.ts";
import type { Judged, ReviewStanding } from "../../../services/work/protection/mod.ts";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";

const ACTOR: Actor = { key: "1", name: "caller", kind: "agent" };

/** Judges changes of `trunk` by an agent who may write. */
function judgeOf({ api, project }: TestProject, tip: string) {
  const { protection } = api.services.hosting;
  return async (change: Partial<Judged>) => {
    const judged = { project, branch: "trunk", actor: ACTOR, isAdmin: false, tip, ...change };
    const judgement = await protection.judge({ action: "merge", ...judged });
    return judgement.isAllowed ? `allowed, ${judgement.bypassed}` : judgement.reason;
  };
}

Deno.test("the rules of a project are set and read by the operator and by the project's admins", async () => {
  await withProject(async ({ api, answer, send, caller }) => {
    const rules = await api.answer("PUT /v1/projects/demo/protection", [{ pattern: "trunk" }]);
    const whole = {
      pattern: "trunk",
      contexts: [],
      approvals: { any: 0, people: 0 },
      push: "write",
      merge: "write",
      landing: "optional",
    };
    assert.deepEqual(rules, [whole]);
    assert.deepEqual(await api.answer("GET /v1/projects/demo/protection"), [whole]);
    assert.deepEqual(await answer("GET /api/protection", { as: caller }), [whole]);
    assert.equal((await send("PUT /api/protection", { as: caller, body: [] })).status, 403);
    const strict = [{ ...whole, merge: "admin" }, { ...whole, pattern: "release/*" }];
    assert.deepEqual(await answer("PUT /api/protection", { body: strict }), strict);
    assert.deepEqual(await answer("GET /api/protection"), strict);

    for (
      const body of [
        {},
        [{}],
        [{ pattern: "" }],
        [{ pattern: "x".repeat(201) }],
        [{ pattern: "x", approvals: { any: -1 } }],
        [{ pattern: "x", push: "anybody" }],
        [{ pattern: "x", contexts: [7] }],
        Array(101).fill({ pattern: "x" }),
      ]
    ) {
      assert.equal((await send("PUT /api/protection", { body })).status, 400);
    }
    const unknown = await api.send({ request: "GET /v1/projects/nothing/protection" });
    assert.equal(unknown.status, 404);
    const { events } = await api.services.eventLog.read({
      after: 0,
      types: ["project.protection_changed"],
    });
    assert.deepEqual(events.at(-1)?.data["patterns"], ["trunk", "release/*"]);
  });
});

Deno.test("a required check must be success on exactly the merged check-in", async () => {
  await withProject(async (test) => {
    const { api, project, answer } = test;
    const [ci] = await projectToken(api, "status:write");
    const [first] = (await answer("GET /api/timeline")).checkins;
    const { repositories } = api.services.hosting;
    const date = Date.parse("2026-11-20T13:00:00Z");
    const tip = await repositories.read(project, (repository) =>
      repository.commit({
        user: "ann",
        date,
        parent: first.uuid,
        comment: "Second",
        changes: [{ kind: "write", path: "a.txt", content: new TextEncoder().encode("a\n") }],
      }));
    const judge = judgeOf(test, tip);
    await answer("PUT /api/protection", { body: [{ pattern: "tr*", contexts: ["ci/build"] }] });
    const report = (checkin: string, state: string, context = "ci/build") =>
      answer("POST /api/status", { as: ci, body: { checkin, state, context } });

    const waits = "it waits for a runner or a project token with status:write";
    const refused = `Required status check 'ci/build' has not passed: ${waits}`;
    assert.equal(await judge({}), refused);
    await report(tip, "pending");
    assert.match(await judge({}), /has not passed: token:ci reported pending$/);
    // The newest report of the context is a success, and of another check-in.
    await report(first.uuid, "success");
    await report(tip, "success", "ci/lint");
    assert.match(await judge({}), /has not passed: token:ci reported pending$/);
    await report(tip, "success");
    assert.equal(await judge({}), "allowed, null");
    await report(tip, "failure");
    assert.match(await judge({}), /has not passed: token:ci reported failure$/);
    assert.equal(await judge({ branch: "other" }), "allowed, null");
    assert.equal(await judge({ action: "queue" }), "allowed, null");
    assert.match(
      await judge({ isAdmin: true }),
      /^allowed, Required .*: token:ci reported failure$/,
    );
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: ["ci/build", "ci/lint", "ci/test"] }],
    });
    assert.equal(
      await judge({}),
      `Required status checks have not passed: 'ci/build' (token:ci reported failure), 'ci/test' (${waits})`,
    );
  });
});

Deno.test("a rule counts approvals of exactly the merged check-in, by anybody and by people", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    const judge = judgeOf(test, "a".repeat(64));
    await answer("PUT /api/protection", {
      body: [
        { pattern: "*", approvals: { any: 2 } },
        { pattern: "trunk", approvals: { people: 1 } },
      ],
    });
    const review = (...kinds: Actor["kind"][]): ReviewStanding => ({
      tip: "a".repeat(64),
      approvals: kinds.map((kind) => ({ kind })),
    });
    assert.equal(
      await judge({}),
      "No approved code review found for this workspace; submit one before merging",
    );
    assert.equal(
      await judge({ review: review("agent") }),
      "The code review has 1 of 2 required approvals",
    );
    assert.equal(
      await judge({ review: review("agent", "agent") }),
      "The code review has 0 of 1 required approvals by people",
    );
    assert.equal(await judge({ review: review("agent", "person") }), "allowed, null");
    assert.equal(
      await judge({ review: { ...review("agent", "person"), tip: "b".repeat(64) } }),
      "The code review is of another check-in than the one to merge",
    );
    assert.equal(await judge({ branch: "x", review: review("agent", "agent") }), "allowed, null");
  });
});

Deno.test("rules decide who pushes and merges, and whether changes must use the landing queue", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    const judge = judgeOf(test, "a".repeat(64));
    await answer("PUT /api/protection", {
      body: [
        { pattern: "trunk", push: "admin", merge: "admin" },
        { pattern: "release/*", push: "nobody", landing: "required" },
      ],
    });
    assert.equal(await judge({}), "Branch 'trunk' is protected: only admins can merge to it");
    assert.match(await judge({ isAdmin: true }), /^allowed, Branch/);
    const land = "commit to a workspace, have it reviewed, and land it";
    assert.equal(
      await judge({ action: "push" }),
      `Branch 'trunk' is protected: only admins can push to it: ${land}`,
    );
    const nobody = `Branch 'release/1' is protected: nobody can push to it: ${land}`;
    const release = { branch: "release/1" };
    assert.equal(await judge({ ...release, action: "push" }), nobody);
    assert.equal(await judge({ ...release, action: "push", isAdmin: true }), nobody);
    assert.equal(
      await judge(release),
      "Branch 'release/1' is protected: changes land only through its queue",
    );
    assert.equal(await judge({ branch: "workspace/x", action: "push" }), "allowed, null");
  });
});

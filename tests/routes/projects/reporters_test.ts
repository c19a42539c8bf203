/** Whose reports of a required check count. */
import assert from "node:assert/strict";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";
import { asked } from "../../support/until.ts";

interface Work {
  readonly tip: string;
  readonly review: number;
}

/** Makes a workspace of `caller` with a check-in, and its review, which `other` approves. */
async function makeWork({ answer, caller, other }: TestProject, name = "work"): Promise<Work> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const { uuid: tip } = await answer(`POST /api/workspaces/${name}/commit`, {
    as: caller,
    body: { message: name, changes: [{ path: `${name}.txt`, content: name }] },
  });
  const { id: review } = await answer("POST /api/reviews/create", {
    as: caller,
    body: { title: name, workspace: name },
  });
  await answer(`POST /api/reviews/${review}/approve`, { as: other });
  return { tip, review };
}

/** `Authorization` of a new member who may write. */
async function memberOf({ api }: TestProject, nick: string): Promise<string> {
  const { services } = api;
  await anAgent(services, nick);
  await services.hosting.projects.setMember("demo", nick, "write", BY_OPERATOR);
  const scopes = ["read" as const, "write" as const];
  const request = { owner: nick, name: "test", scopes, project: null, expires_at: null };
  return `Bearer ${(await services.tokens.create(request, BY_OPERATOR)).token}`;
}

function report({ answer }: TestProject, as: string | undefined, checkin: string, state: string) {
  return answer("POST /api/status", {
    ...as === undefined ? {} : { as },
    body: { checkin, context: "ci", state },
  });
}

/** Why the merge of a review by `other` is refused; null if it would not be. */
async function refusalOf({ answer }: TestProject, { review }: Work) {
  const { required_checks } = await answer(`GET /api/reviews/${review}`);
  return required_checks.map(({ state, reporter, uncounted }: Record<string, unknown>) => ({
    state,
    reporter,
    uncounted,
  }));
}

Deno.test("nobody but a project's token makes a required check green, unless a rule names them", async () => {
  await withProject(async (test) => {
    const { api, answer, send, caller, other } = test;
    const [ci] = await projectToken(api, "status:write");
    const tester = await memberOf(test, "tester");
    const rule = { pattern: "trunk", contexts: ["ci"] };
    await answer("PUT /api/protection", { body: [rule] });
    const work = await makeWork(test);
    const merge = () => send(`POST /api/reviews/${work.review}/merge`, { as: other });

    for (const as of [caller, other, tester, undefined]) {
      await report(test, as, work.tip, "success");
    }
    const refused = await merge();
    assert.equal(refused.status, 403);
    assert.match(
      (await refused.json()).error,
      /'ci' has not passed: what .*caller.* reported does not count, it waits for a runner or a project token/,
    );
    const [none] = await refusalOf(test, work);
    assert.deepEqual([none.state, none.reporter], ["pending", null]);
    assert.equal(none.uncounted.length, 4);

    // A report that does not count takes nothing from one that does.
    await report(test, ci, work.tip, "failure");
    await report(test, tester, work.tip, "success");
    assert.deepEqual(await refusalOf(test, work), [
      { state: "failure", reporter: "token:ci", uncounted: ["tester"] },
    ]);
    assert.equal((await merge()).status, 403);

    // The same agent's report counts once a rule names it, and the newest that counts decides.
    const named = { ...rule, contexts: [{ context: "ci", reporters: ["token:ci", "tester"] }] };
    const [shown] = await answer("PUT /api/protection", { body: [named] });
    assert.deepEqual(shown.contexts, named.contexts);
    assert.deepEqual(await refusalOf(test, work), [
      { state: "success", reporter: "tester", uncounted: [] },
    ]);
    assert.equal((await merge()).status, 200);
  });
});

Deno.test("a rule that names them does not let those report whose work is under test", async () => {
  await withProject(async (test) => {
    const { answer, send, api, project, caller, other } = test;
    const reporters = ["caller", "other", "helper"];
    const helper = await memberOf(test, "helper");
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: [{ context: "ci", reporters }] }],
    });
    const work = await makeWork(test);
    // A member helped in the workspace of another one: its check-in is under test, too.
    const { tip } = await api.services.hosting.repositories.write(project, {
      caller: BY_OPERATOR,
      user: "helper",
      write: async (repository, stamp) => ({
        tip: await repository.commit({
          ...stamp,
          parent: work.tip,
          comment: "Help",
          changes: [{ kind: "write", path: "h.txt", content: new TextEncoder().encode("h\n") }],
        }),
      }),
    });
    await test.catchUp();
    await answer(`POST /api/reviews/${work.review}/approve`, { as: other });
    for (const as of [caller, helper]) await report(test, as, tip, "success");
    const [standing] = await refusalOf(test, work);
    assert.deepEqual([standing.state, standing.uncounted.toSorted()], ["pending", [
      "caller",
      "helper",
    ]]);
    assert.equal((await send(`POST /api/reviews/${work.review}/merge`, { as: other })).status, 403);
    await report(test, other, tip, "success");
    assert.equal((await send(`POST /api/reviews/${work.review}/merge`, { as: other })).status, 200);
  });
});

Deno.test("who asks for a landing reports none of its checks", async () => {
  await withProject(async (test) => {
    const { api, answer, other } = test;
    const [ci] = await projectToken(api, "status:write");
    const reporters = ["other"];
    const contexts = [{ context: "ci", reporters }];
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts, landing: "required" }],
    });
    const work = await makeWork(test);
    await answer(`POST /api/reviews/${work.review}/land`, { as: other });
    const landing = async () => (await answer("GET /api/landing")).landing[0];
    const shown = await asked(landing, ({ status }) => status === "testing");
    await report(test, other, shown.candidate, "success");
    assert.deepEqual((await landing()).checks, [
      { context: "ci", state: "pending", reporter: null, uncounted: ["other"], reporters },
    ]);
    await report(test, ci, shown.candidate, "success");
    await asked(landing, ({ status }) => status === "landed");
  });
});

Deno.test("a rule names accounts, and the next owner of a name is not trusted", async () => {
  await withProject(async (test) => {
    const { answer, send, api } = test;
    await memberOf(test, "tester");
    const body = [{ pattern: "trunk", contexts: [{ context: "ci", reporters: ["tester"] }] }];
    await answer("PUT /api/protection", { body });
    const work = await makeWork(test);
    assert.equal((await api.send({ request: "DELETE /v1/agents/tester" })).status, 204);
    const next = await memberOf(test, "tester");
    await report(test, next, work.tip, "success");
    const [standing] = await refusalOf(test, work);
    assert.deepEqual([standing.state, standing.uncounted], ["pending", ["tester"]]);

    const nobody = [{
      pattern: "trunk",
      contexts: [{ context: "ci", reporters: ["nobody-here"] }],
    }];
    const refused = await send("PUT /api/protection", { body: nobody });
    assert.equal(refused.status, 400);
    assert.match((await refused.json()).error, /there is no account "nobody-here"/);
  });
});

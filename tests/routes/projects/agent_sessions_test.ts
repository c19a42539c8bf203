/** What is one for all sessions of an agent, over the API. */
import assert from "node:assert/strict";
import { type ProjectRequest, type TestProject, withProject } from "../../support/projects.ts";

/** A terminal of the agent `caller`, by the number of its session. */
function terminal({ caller, answer, send }: TestProject, number: number) {
  const headers = { "muster-session": `terminal-${number}` };
  const inSession = (options: ProjectRequest) => ({ as: caller, headers, ...options });
  return {
    answer: (request: string, body?: object) =>
      answer(request, inSession(body === undefined ? {} : { body })),
    send: (request: string, body?: object) =>
      send(request, inSession(body === undefined ? {} : { body })),
  };
}

async function work(one: ReturnType<typeof terminal>) {
  await one.answer("POST /api/workspaces/create", { name: "w" });
  const changes = [{ path: "a.txt", content: "A\n" }];
  const { uuid: tip } = await one.answer("POST /api/workspaces/w/commit", {
    message: "Add",
    changes,
  });
  const { id: review } = await one.answer("POST /api/reviews/create", {
    title: "Add",
    workspace: "w",
  });
  return { tip, review };
}

Deno.test("the sessions of an agent share its slots, and name themselves in what they make", async () => {
  await withProject(async (test) => {
    const [first, second] = [terminal(test, 1), terminal(test, 2)];
    const make = async (title: string) =>
      (await test.answer("POST /api/tickets", { body: { title } })).uuid;
    const [one, two] = [await make("One"), await make("Two")];
    assert.equal((await first.answer(`POST /api/tickets/${one}/claim`, {})).agent_id, "caller");
    const full = await second.send(`POST /api/tickets/${two}/claim`, {});
    assert.equal(full.status, 429);
    assert.match((await full.json()).error, /^Your slot "claims" is full with demo\//);
    const held = await second.send(`POST /api/tickets/${one}/claim`, {});
    assert.equal(held.status, 409);
    assert.equal((await held.json()).claimed_by, "caller");
    const { tip } = await work(second);
    const { user } = await test.answer(`GET /api/checkin/${tip}`);
    assert.equal(user, "caller-2");
    const [review] = (await test.answer("GET /api/reviews")).reviews;
    assert.equal(review.agent_id, "caller-2");
    // The name of the agent means the session, and that of another one is somebody else's.
    const asSelf = await second.send("POST /api/workspaces/create", {
      name: "x",
      agent_id: "caller",
    });
    assert.equal((await asSelf.json()).agent_id, "caller-2");
    const asFirst = await first.send("POST /api/workspaces/create", {
      name: "y",
      agent_id: "caller-2",
    });
    assert.equal(asFirst.status, 403);
  }, { config: { slots: { worker: { claims: 1 } } } });
});

Deno.test("a session neither approves nor checks what another of its agent made", async () => {
  await withProject(async (test) => {
    const [first, second] = [terminal(test, 1), terminal(test, 2)];
    await first.answer("GET /api/tickets");
    const rule = {
      pattern: "trunk",
      contexts: [{ context: "ci", reporters: ["caller", "other"] }],
    };
    await test.answer("PUT /api/protection", { body: [rule] });
    const { tip, review } = await work(second);
    for (const one of [first, second]) {
      assert.equal((await one.send(`POST /api/reviews/${review}/approve`, {})).status, 403);
      await one.answer("POST /api/status", { checkin: tip, context: "ci", state: "success" });
    }
    await test.answer(`POST /api/reviews/${review}/approve`, { as: test.other });
    const refused = await test.send(`POST /api/reviews/${review}/merge`, { as: test.other });
    assert.equal(refused.status, 403);
    assert.match((await refused.json()).error, /what .*caller.* reported does not count/);
  });
});

/** How questions end: at their deadline, by their asker, or with the asker. */
import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { anAgent, openServices } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";
import { ask, call, inboxOf, type ShownQuestion } from "./asked_questions.ts";

Deno.test("at the deadline the default counts, or nobody's answer", async () => {
  await withProject(async (test) => {
    const { api, caller } = test;
    const { clock, questions } = api.services;
    await ask(test, { text: "With?", default: "go on", deadline: 60 });
    await ask(test, { text: "Without?", deadline: "2026-11-20T12:02:00Z" });
    clock.advance(59_000);
    await questions.idle();
    assert.equal((await call(api, "GET /v1/questions/1", caller)).json.state, "open");
    clock.advance(1000);
    await questions.idle();
    const first = (await call(api, "GET /v1/questions/1", caller)).json;
    assert.deepEqual(
      [first.state, first.answer, first.answered_by, first.via],
      ["expired", "go on", null, "default"],
    );
    clock.advance(60_000);
    const second = (await call(api, "GET /v1/questions/2?wait_seconds=5", caller)).json;
    assert.deepEqual([second.state, second.answer, second.via], ["expired", null, null]);
    assert.deepEqual((await inboxOf(api)).map(({ text }) => text), [
      "Nobody answered your question 1 (“With?”) until its deadline, so its default counts: go on",
      "Nobody answered your question 2 (“Without?”) until its deadline",
    ]);
    await api.expect([{
      request: "POST /v1/questions/1/answer",
      body: { answer: "late" },
      status: 409,
      matches: /Question 1 is expired already: go on/,
    }]);
  });
});

Deno.test("questions and their deadlines outlive the program", async () => {
  await withFolder(async (folder) => {
    const before = await openServices(folder);
    const { clock } = before;
    await anAgent(before, "caller");
    const agent = before.accounts.find("caller");
    const principal = {
      kind: "agent",
      id: agent?.id ?? "",
      name: "caller",
      scopes: new Set(["read", "write"] as const),
      project: null,
      tokenId: null,
      sessionId: null,
    } as const;
    const by = { principal, address: null, requestId: null };
    const { question } = await before.questions.ask(
      { text: "Still there?", default: "yes", deadline: 600 },
      by,
    );
    await before.questions.ask({ text: "And this?" }, by);
    await before.close();
    clock.advance(3_600_000);
    const after = await openServices(folder, {}, clock);
    try {
      await after.questions.idle();
      const found = await after.questions.get(question.id, principal);
      assert.deepEqual([found.state, found.answer, found.via], ["expired", "yes", "default"]);
      assert.equal((await after.questions.get(2, principal)).state, "open");
      const inbox = await after.inboxes.read("caller", {}, principal);
      assert.deepEqual(inbox.map(({ kind }) => kind), ["question"]);
      const { question: next } = await after.questions.ask({ text: "A third?" }, by);
      assert.equal(next.id, 3);
      await after.questions.idle();
      const { tables } = after.database;
      const types = await tables.selectFrom("events").select("type")
        .where("type", "=", "question.expired").execute();
      assert.equal(types.length, 1);
    } finally {
      await after.close();
    }
  });
});

Deno.test("a deadline stands still while the asker is halted, and people still answer", async () => {
  await withProject(async (test) => {
    const { api, caller } = test;
    const { clock, questions } = api.services;
    await ask(test, { text: "Now?", default: "go", deadline: 600 });
    await ask(test, { text: "Or later?" });
    clock.advance(300_000);
    await api.answer("POST /v1/halt", { reason: "drill" });
    assert.equal((await call(api, "POST /v1/questions", caller, { text: "x" })).status, 423);
    clock.advance(3_600_000);
    await questions.idle();
    const still = (await call(api, "GET /v1/questions/1", caller)).json;
    assert.deepEqual([still.state, still.frozen_at], ["open", "2026-11-20T12:05:00.000Z"]);
    await api.answer("POST /v1/questions/2/answer", { answer: "later" });
    await api.answer("DELETE /v1/halt");
    const running = (await call(api, "GET /v1/questions/1", caller)).json;
    assert.deepEqual([running.deadline, running.frozen_at], ["2026-11-20T13:10:00.000Z", null]);
    clock.advance(299_000);
    await questions.idle();
    assert.equal((await call(api, "GET /v1/questions/1", caller)).json.state, "open");
    clock.advance(1000);
    await questions.idle();
    assert.equal((await call(api, "GET /v1/questions/1", caller)).json.answer, "go");
  });
});

Deno.test("an asker withdraws its question; a revoked agent's questions end", async () => {
  await withProject(async (test) => {
    const { api, caller, other } = test;
    await ask(test, { text: "Never mind?" });
    assert.equal((await call(api, "DELETE /v1/questions/1", other)).status, 404);
    const { json } = await call(api, "DELETE /v1/questions/1", caller);
    assert.deepEqual([json.state, json.answer, json.answered_by], ["withdrawn", null, "caller"]);
    assert.equal((await call(api, "DELETE /v1/questions/1", caller)).status, 409);
    await ask(test, { text: "And this?" });
    await api.answer("DELETE /v1/questions/2");
    assert.match((await inboxOf(api)).map(({ text }) => text).join(), /operator withdrew/);
    await ask(test, { text: "Third?" });
    await api.send({ request: "POST /v1/agents/caller/revoke" });
    await api.services.questions.idle();
    const states = await api.answer("GET /v1/questions?state=all") as ShownQuestion[];
    assert.deepEqual(states.map(({ state }) => state), ["withdrawn", "withdrawn", "withdrawn"]);
  });
});

/** Questions of agents to people, and the list of what waits for somebody. */
import assert from "node:assert/strict";
import { EarlyEnd } from "../../../services/kernel/early_end.ts";
import { TooMany } from "../../../services/kernel/errors.ts";
import { GUEST, type Principal, type TokenRequest } from "../../../services/people/identity/mod.ts";
import { withProject } from "../../support/projects.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";
import { ask, call, inboxOf, type ShownQuestion } from "./asked_questions.ts";

interface ShownNeeds {
  readonly needs: readonly {
    readonly kind: string;
    readonly title: string;
    readonly actors: readonly string[];
    readonly group: string | null;
    readonly yours: boolean;
    readonly link: string;
  }[];
  readonly total: number;
  readonly yours: number;
}

/** `Authorization` of a new person. */
async function aPerson(
  { services }: TestApi,
  account: string,
  scopes: TokenRequest["scopes"] = ["read", "write"],
): Promise<string> {
  await services.ircAccounts.create({ account, password: "correct horse" }, BY_OPERATOR);
  const request = { owner: account, name: "test", scopes, project: null, expires_at: null };
  return `Bearer ${(await services.tokens.create(request, BY_OPERATOR)).token}`;
}

Deno.test("an agent asks, a person answers, and the agent finds the answer in its inbox", async () => {
  await withProject(async (test) => {
    const { api } = test;
    const ann = await aPerson(api, "ann");
    const question = await ask(test, {
      text: "Shall I land it?",
      choices: ["Yes", "No"],
      to: "ANN",
      default: "no",
      deadline: 3600,
    });
    assert.deepEqual(question, {
      id: 1,
      asker: "caller",
      text: "Shall I land it?",
      choices: ["Yes", "No"],
      default: "No",
      asked_at: "2026-11-20T12:00:00.000Z",
      deadline: "2026-11-20T13:00:00.000Z",
      frozen_at: null,
      to: "ann",
      ticket: null,
      state: "open",
      answer: null,
      answered_by: null,
      via: null,
      closed_at: null,
    });
    const waiting = call(api, "GET /v1/questions/1?wait_seconds=60", test.caller);
    const { json: { needs } } = await call<ShownNeeds>(api, "GET /v1/needs", ann);
    assert.deepEqual(needs[0], {
      kind: "question",
      id: "question/1",
      title: "Shall I land it?",
      why: "caller asks",
      actors: ["ann"],
      group: null,
      yours: true,
      since: "2026-11-20T12:00:00.000Z",
      until: "2026-11-20T13:00:00.000Z",
      project: null,
      link: "/questions/1",
    });
    const path = "POST /v1/questions/1/answer";
    assert.equal((await call(api, path, ann, { answer: "maybe" })).status, 400);
    const { status, json } = await call(api, path, ann, { answer: " yes " });
    assert.deepEqual([status, json.answer, json.answered_by, json.via], [
      200,
      "Yes",
      "ann",
      "http",
    ]);
    assert.equal((await waiting).json.answer, "Yes");
    const [entry] = await inboxOf(api);
    assert.deepEqual(
      [entry?.kind, entry?.from, entry?.account, entry?.question, entry?.text],
      ["question", "ann", "ann", 1, "ann answered your question 1 (“Shall I land it?”): Yes"],
    );
    const late = await call<{ error: string }>(api, path, ann, { answer: "no" });
    assert.deepEqual([late.status, late.json.error], [
      409,
      "Question 1 is answered by ann already: Yes",
    ]);
    const types = await api.services.database.tables.selectFrom("events").select(["type", "data"])
      .where("type", "like", "question.%").orderBy("seq").execute();
    assert.deepEqual(types.map(({ type }) => type), ["question.asked", "question.answered"]);
    assert.doesNotMatch(types.map(({ data }) => data).join(), /land it|Yes/);
  });
});

Deno.test("who is asked, and by whom, decides who may see and answer a question", async () => {
  await withProject(async (test) => {
    const { api, caller, other, answer } = test;
    const [ann, bob] = [await aPerson(api, "ann"), await aPerson(api, "bob")];
    const reader = await aPerson(api, "eve", ["read"]);
    await api.services.hosting.projects.setMember("demo", "bob", "write", BY_OPERATOR);
    await api.services.hosting.projects.setMember("demo", "eve", "read", BY_OPERATOR);
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "T" } });
    await ask(test, { text: "for admins" });
    await ask(test, { text: "for ann", to: "ann" });
    const third = await ask(test, { text: "about a ticket", ticket: `demo/${uuid.slice(0, 10)}` });
    assert.equal(third.ticket, `demo/${uuid}`);
    const seen = async (as: string) =>
      (await call<ShownQuestion[]>(api, "GET /v1/questions", as)).json.map(({ id }) => id);
    assert.deepEqual(await seen(caller), [3, 2, 1]);
    assert.deepEqual(await seen(other), []);
    assert.deepEqual(await seen(ann), [2]);
    assert.deepEqual(await seen(bob), [3]);
    assert.deepEqual(await seen(reader), []);
    const all = await api.answer("GET /v1/questions") as ShownQuestion[];
    assert.deepEqual(all.map(({ id }) => id), [3, 2, 1]);
    const tries: readonly (readonly [string, number, number])[] = [
      [ann, 1, 404],
      [bob, 2, 404],
      [other, 2, 404],
      [caller, 2, 403],
      [reader, 3, 403],
      [ann, 3, 404],
      [bob, 3, 200],
      [ann, 2, 200],
    ];
    for (const [as, id, status] of tries) {
      const { status: got, text } = await call(api, `POST /v1/questions/${id}/answer`, as, {
        answer: "done",
      });
      assert.equal(got, status, `${id}: ${text}`);
    }
    await api.expect([
      { who: "admin", request: "POST /v1/questions/1/answer", body: { answer: "x" }, status: 200 },
      { request: "POST /v1/questions/1/answer", body: { answer: "x" }, status: 409 },
      { request: "GET /v1/questions/4", status: 404 },
      { request: "GET /v1/questions/x", status: 400 },
      { request: "GET /v1/questions?state=closed&limit=2", status: 200, matches: /"id":3.*"id":2/ },
    ]);
    const closed = await call<ShownQuestion[]>(api, "GET /v1/questions?state=closed", bob);
    assert.equal(closed.json.length, 1);
  });
});

Deno.test("a guest and a stranger are refused, and so are questions that make no sense", async () => {
  await withApi(async (api) => {
    await api.expect(
      byEverybody("GET /v1/questions", ["reader", "writer", "passphrase", "operator"], 200),
    );
    await api.expect(
      byEverybody("GET /v1/needs", ["reader", "writer", "passphrase", "operator"], 200),
    );
    const refused = (body: unknown, matches: RegExp, status = 400) =>
      ({ who: "writer", request: "POST /v1/questions", body, status, matches }) as const;
    const text = "Well?";
    await anAgent(api.services, "helper");
    await api.services.hosting.projects.create({
      slug: "secret",
      name: "Secret",
      description: "",
      visibility: "private",
    }, BY_OPERATOR);
    await api.expect([
      { who: "reader", request: "POST /v1/questions", body: { text }, status: 403 },
      refused({}, /text/),
      refused({ text: "" }, /text/),
      refused({ text: " \n" }, /text.{2} must not be blank/),
      refused({ text: "a\u0007b" }, /text.{2} must have no control/),
      refused({ text: "a\u202eb" }, /text.{2} must have no control/),
      refused({ text: "a\ud800b" }, /text.{2} must be well-formed/),
      refused({ text: "x".repeat(2001) }, /at most 2000/),
      refused({ text, choices: ["one"] }, /at least 2 choices/),
      refused({ text, choices: ["a", "A"] }, /must differ/),
      refused({ text, choices: ["a", "b\n!halt"] }, /choices/),
      refused({ text, choices: Array.from({ length: 11 }, (_, at) => `c${at}`) }, /at most 10/),
      refused({ text, default: "a" }, /give a \\"deadline\\" too/),
      refused({ text, choices: ["a", "b"], default: "c", deadline: 60 }, /one of/),
      refused({ text, deadline: 9 }, /at least 10 seconds/),
      refused({ text, deadline: 1e9 }, /at most 2592000 seconds/),
      refused({ text, deadline: "2026-11-20T11:00:00Z" }, /between 10 seconds and 30 days/),
      refused({ text, deadline: "tomorrow" }, /ISO 8601/),
      refused({ text, to: "nobody" }, /no person or admin/, 404),
      refused({ text, to: "helper" }, /is an agent/, 409),
      refused({ text, ticket: "secret" }, /a project and the id/),
      refused({ text, ticket: "secret/abcd" }, /no project \\"secret\\"/, 404),
    ]);
  });
});

Deno.test("of 64 answers at once one wins, and the others learn who", async () => {
  await withApi(async (api) => {
    await api.send({ who: "writer", request: "POST /v1/questions", body: { text: "Who?" } });
    const answers = await Promise.all(Array.from({ length: 64 }, async (_, at) => {
      const who = at % 2 === 0 ? "admin" : "operator";
      const request = "POST /v1/questions/1/answer";
      const response = await api.send({ who, request, body: { answer: `answer ${at}` } });
      return { status: response.status, json: await response.json() };
    }));
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    assert.equal(more.length, 0);
    const { answer, answered_by: by } = won?.json;
    const refusals = answers.filter(({ status }) => status === 409);
    assert.equal(refusals.length, 63);
    for (const { json } of refusals) {
      assert.equal(json.error, `Question 1 is answered by ${by} already: ${answer}`);
    }
    assert.equal((await inboxOf(api)).length, 1);
  });
});

Deno.test("an agent whose requests wait in great numbers keeps nobody else from waiting", async () => {
  await withProject(async (test) => {
    const { agents: { roster }, questions } = test.api.services;
    const asked = { caller: test.caller, other: test.other };
    for (const caller of Object.values(asked)) await ask({ ...test, caller }, { text: "Well?" });
    const wait = (id: number, nick: keyof typeof asked) => {
      const agent = roster.find(nick);
      assert.ok(agent !== null);
      const reader: Principal = { ...GUEST, kind: "agent", id: agent.id, name: nick };
      return questions.wait(id, reader, { seconds: 60, end: new EarlyEnd() });
    };
    const others = wait(2, "other");
    const many = Array.from({ length: 5000 }, () => wait(1, "caller"))
      .map((one) => one.then(() => null, (error: unknown) => error));
    assert.ok(await many.at(-1) instanceof TooMany);
    // As the program does when it stops.
    questions.endWaits();
    assert.equal((await others).state, "open");
    assert.equal((await wait(2, "other")).state, "open");
    const errors = (await Promise.all(many)).filter((error) => error !== null);
    assert.equal(errors.length, 3500);
    assert.ok(errors.every((error) => error instanceof TooMany));
  });
});

Deno.test("one agent has at most 20 open questions, and the same one only once", async () => {
  await withProject(async (test) => {
    const { api, caller } = test;
    await ask(test, { text: "Same?" });
    const again = await call(api, "POST /v1/questions", caller, { text: "Same?" });
    assert.deepEqual([again.status, again.json.id], [200, 1]);
    const results = await Promise.all(
      Array.from(
        { length: 40 },
        (_, at) => call(api, "POST /v1/questions", caller, { text: `Question ${at}` }),
      ),
    );
    assert.equal(results.filter(({ status }) => status === 201).length, 19);
    assert.equal(results.filter(({ status }) => status === 429).length, 21);
    await call(api, "DELETE /v1/questions/1", caller);
    await ask(test, { text: "Room again?" });
  });
});

Deno.test("needs name who must act: reviewers for admins, authors of conflicts, members", async () => {
  await withProject(async (test) => {
    const { api, answer, caller } = test;
    const ann = await aPerson(api, "ann");
    await api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const changes = [{ path: "a.txt", content: "a\n" }];
    await answer("POST /api/workspaces/fix/commit", {
      as: caller,
      body: { message: "A", changes },
    });
    const review = { title: "Fix it", workspace: "fix", reviewers: ["ann"] };
    const { id } = await answer("POST /api/reviews/create", { as: caller, body: review });
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Stuck" } });
    for (let strikes = 0; strikes < 3; strikes++) {
      await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
      await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
    }
    await ask(test, { text: "Which\nway?", ticket: `demo/${uuid}` });
    const short = ({ needs }: ShownNeeds) =>
      needs.map(({ kind, title, actors, group, yours }) => (
        `${kind} ${title}: ${[...actors, group ?? ""].join(" ").trim()}${yours ? " (you)" : ""}`
      )).sort();
    assert.deepEqual(short((await call<ShownNeeds>(api, "GET /v1/needs", ann)).json), [
      "question Which way?: members (you)",
      "review Fix it: ann (you)",
      "stuck Stuck: members (you)",
    ]);
    assert.deepEqual(short(await api.answer("GET /v1/needs") as ShownNeeds), [
      "question Which way?: members (you)",
      "review Fix it: ann",
      "stuck Stuck: members (you)",
    ]);
    const page = await call<ShownNeeds>(api, "GET /v1/needs?limit=1", caller);
    assert.equal(page.json.needs.length, 1);
    const link = `/projects/demo/reviews/${id}`;
    const all = (await call<ShownNeeds>(api, "GET /v1/needs", ann)).json;
    assert.equal(all.needs.find(({ kind }) => kind === "review")?.link, link);
    assert.deepEqual([all.total, all.yours], [3, 3]);
  });
});

/** Budgets of calls of models, and slots of agents, as they are seen over HTTP. */
import assert from "node:assert/strict";
import { countedAnswer } from "../../services/models/llm/support/counted_answers.ts";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { withProject } from "../../support/projects.ts";
import { byEverybody, withApi } from "../../support/scenarios.ts";
import { until } from "../../support/until.ts";
import {
  call,
  COMPLETE,
  DAY,
  MESSAGES,
  OPENAI_COMPLETE,
  usage,
  withLedger,
} from "./ledger_calls.ts";

Deno.test("a budget warns at its share, and then stops calls until its period ends", async () => {
  await withLedger(async (api, provider) => {
    const budget = "/v1/llm/budgets/agent.caller.day";
    await api.expect([
      ...byEverybody("DELETE /v1/llm/budgets/all.day", [], 403).filter(({ who }) =>
        who !== "operator" && who !== "admin"
      ),
      { request: "PUT /v1/llm/budgets/agent.day", body: { max_tokens: 1 }, status: 400 },
      { request: "PUT /v1/llm/budgets/all.week", body: { max_tokens: 1 }, status: 400 },
      { request: "PUT /v1/llm/budgets/agent.nobody.day", body: { max_tokens: 1 }, status: 404 },
      { request: `PUT ${budget}`, body: {}, status: 400, matches: /limit the cost or the tokens/ },
      { request: `PUT ${budget}`, body: { max_cost_micro_usd: 300 }, status: 200 },
      { request: "DELETE /v1/llm/budgets/all.day", status: 404 },
    ]);
    const events = async () => {
      const rows = await api.services.database.tables.selectFrom("events").select("type")
        .where("type", "like", "llm_budget.%").orderBy("seq").execute();
      return rows.map(({ type }) => type.slice("llm_budget.".length));
    };
    const needs = async () => {
      const { needs } = await api.services.needs.list(
        { kind: "operator", id: null } as never,
        { limit: 10, offset: 0 },
      );
      for (const { link } of needs) assert.equal(link, "/settings/usage#budgets");
      return needs.map(({ id, why, isYours }) => [id, why, isYours]);
    };
    assert.deepEqual([await call(api), await call(api), await needs()], [200, 200, []]);
    assert.equal(await call(api), 200);
    assert.deepEqual(await events(), ["set", "warned"]);
    assert.deepEqual(await needs(), [["budget/agent.caller.day", "it is almost used up", true]]);
    assert.equal(await call(api), 200);
    assert.deepEqual(await events(), ["set", "warned", "exceeded"]);
    assert.deepEqual(await needs(), [[
      "budget/agent.caller.day",
      "it is used up, and calls are refused",
      true,
    ]]);
    const body = { messages: MESSAGES, model: "gpt-5" };
    for (const request of [COMPLETE, OPENAI_COMPLETE]) {
      const response = await api.send({ who: "writer", request, body });
      assert.equal(response.status, 429);
      assert.equal(response.headers.get("retry-after"), null);
      const text = await response.text();
      const isOpenAi = request === OPENAI_COMPLETE;
      assert.equal(text.includes('"code":"insufficient_quota"'), isOpenAi);
      assert.equal(text.includes('"type":"insufficient_quota"'), isOpenAi);
      assert.match(text, /agent\.caller\.day.*used up: 0\.00038 of 0\.0003 US dollars; it begins/);
    }
    assert.equal(provider.seen.length, 4);
    assert.equal((await api.send({ request: COMPLETE, body })).status, 200, "the operator's own");

    api.services.clock.advance(DAY);
    assert.deepEqual(await needs(), []);
    assert.equal(await call(api), 200);
    await api.expect([{ request: `PUT ${budget}`, body: { max_tokens: 20 }, status: 200 }]);
    assert.deepEqual((await events()).slice(3), ["set", "exceeded"]);
    assert.equal(await call(api), 429);
    await api.expect([{ request: `DELETE ${budget}`, status: 204 }]);
    assert.equal(await call(api), 200);
  });
});

Deno.test("budgets of a type, of a project and of everybody bind too", async () => {
  await using provider = new FakeProvider((request) => countedAnswer("openai", request));
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  await withProject(async ({ api, answer, caller, other }) => {
    const { uuid } = await answer("POST /api/tickets", { body: { title: "One" } });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    const ask = async (as: string) => {
      const body = { messages: MESSAGES, model: "gpt-5" };
      const headers = { authorization: as };
      const response = await api.send({ who: "guest", request: COMPLETE, headers, body });
      return [response.status, (await response.json()).error?.split('"')[1]];
    };
    const set = (name: string) =>
      api.answer(`PUT /v1/llm/budgets/${name}`, { max_tokens: 27, warn_percent: 100 });
    await set("project.demo.month");
    assert.deepEqual(await ask(caller), [200, undefined]);
    assert.deepEqual(await ask(caller), [429, "project.demo.month"]);
    assert.deepEqual(await ask(other), [200, undefined], "it is for no ticket");
    await set("type.worker.day");
    assert.deepEqual(await ask(other), [429, "type.worker.day"]);
    await api.answer("PUT /v1/llm/budgets/all.day", { max_tokens: 0 });
    const response = await api.send({
      request: COMPLETE,
      body: { messages: MESSAGES, model: "gpt-5" },
    });
    assert.equal(response.status, 429);
    const all = await api.answer("GET /v1/llm/budgets") as { budget: string; state: string }[];
    assert.deepEqual(all.map(({ budget, state }) => [budget, state]), [
      ["project.demo.month", "exceeded"],
      ["type.worker.day", "exceeded"],
      ["all.day", "exceeded"],
    ]);
    const seen = await api.send({ who: "reader", request: "GET /v1/llm/budgets" });
    const own = await seen.json() as { budget: string }[];
    assert.deepEqual(own.map(({ budget }) => budget), ["type.worker.day", "all.day"]);
  }, { config: { llm: { backends } } });
});

Deno.test("parallel calls cannot spend what is reserved for those that run", async () => {
  const release = Promise.withResolvers<void>();
  await using provider = new FakeProvider(async (request) => {
    await release.promise;
    return countedAnswer("openai", request);
  });
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  await withApi(async (api) => {
    await api.answer("PUT /v1/llm/budgets/all.day", { max_tokens: 270 });
    // Each may take about 60 tokens, so five of them use up the budget.
    let refused = 0;
    const calls = Array.from({ length: 32 }, async () => {
      const status = await call(api, { max_tokens: 40 });
      if (status === 429) refused++;
      return status;
    });
    await until(() => refused >= 32 - 7);
    release.resolve();
    const statuses = await Promise.all(calls);
    const passed = statuses.filter((status) => status === 200).length;
    assert.ok(passed >= 4 && passed <= 7, String(passed));
    assert.equal(passed + statuses.filter((status) => status === 429).length, 32);
    const [budget] = await api.answer("GET /v1/llm/budgets") as { spent_tokens: number }[];
    assert.equal(budget?.spent_tokens, passed * 27);
    while (await call(api) === 200);
    assert.equal((await usage(api, "by=day")).total.calls, 10);
  }, { config: { llm: { backends, limits: { calls_per_caller: 50 } } } });
});

Deno.test("a stream that its caller leaves counts in the budget without reported tokens", async () => {
  await using provider = new FakeProvider(() => {
    const chunk = { choices: [{ index: 0, delta: { content: "x".repeat(400) } }] };
    const text = `data: ${JSON.stringify(chunk)}\n\n`;
    return new Response(
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      }),
    );
  });
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  await withApi(async (api) => {
    await api.answer("PUT /v1/llm/budgets/agent.caller.day", { max_tokens: 100 });
    const body = { messages: MESSAGES, model: "gpt-5", stream: true };
    const response = await api.send({ who: "writer", request: COMPLETE, body });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    const { total } = await usage(api, "by=day");
    assert.deepEqual([total.cancelled, total.input_tokens, total.cost_micro_usd], [1, 0, 0]);
    assert.ok(total.estimated_tokens >= 100 && total.estimated_tokens < 130);
    assert.equal((await api.send({ who: "writer", request: COMPLETE, body })).status, 429);
  }, { config: { llm: { backends } } });
});

Deno.test("slots limit each agent, at once, and a refusal names what fills them", async () => {
  await withProject(async ({ api, answer, send, caller, other }) => {
    const slots = "/v1/agents/caller/slots";
    await api.expect([
      ...byEverybody(`GET ${slots}`, ["reader", "writer", "passphrase", "operator"], 200),
      { who: "writer", request: `PUT ${slots}`, body: { claims: 9 }, status: 403 },
      { request: `PUT ${slots}`, body: { claims: -1 }, status: 400 },
      { request: "PUT /v1/agents/nobody/slots", body: {}, status: 404 },
      { request: `PUT ${slots}`, body: { claims: 1, workspaces: 1, reviews: 1 }, status: 200 },
    ]);
    const tickets: string[] = [];
    for (const title of ["One", "Two", "Three", "Four"]) {
      tickets.push((await answer("POST /api/tickets", { body: { title } })).uuid);
    }
    const [one = "", two = "", three = "", four = ""] = tickets;
    const refusal = async (request: string, as: string, body: object = {}) => {
      const response = await send(request, { as, body });
      return [response.status, (await response.json()).error];
    };
    const make = (name: string) =>
      refusal("POST /api/workspaces/create", caller, { name, ticket: one });
    const review = (title: string) =>
      refusal("POST /api/reviews/create", caller, { title, diff: "--- a\n+++ b\n" });
    await answer(`POST /api/tickets/${one}/claim`, { as: caller, body: {} });
    assert.deepEqual(await refusal(`POST /api/tickets/${two}/claim`, caller), [
      429,
      `Your slot "claims" is full with demo/${one.slice(0, 10)} (limit 1): submit or release some`,
    ]);
    assert.deepEqual(await make("first"), [201, undefined]);
    assert.deepEqual(await make("second"), [
      429,
      'Your slot "workspaces" is full with first (limit 1): merge or abandon some',
    ]);
    assert.deepEqual(await review("Mine"), [201, undefined]);
    assert.deepEqual(await review("More"), [
      429,
      'Your slot "reviews" is full with 1 "Mine" (limit 1): merge or close some',
    ]);
    // The limit of the type holds for the others, and for an agent without limits of its own.
    for (const [ticket, status] of [[two, 201], [three, 201], [four, 429]] as const) {
      assert.equal((await refusal(`POST /api/tickets/${ticket}/claim`, other))[0], status);
    }
    await api.expect([{ request: `PUT ${slots}`, body: {}, status: 200, matches: /"claims":2/ }]);
    assert.equal((await refusal(`POST /api/tickets/${four}/claim`, caller))[0], 201);
  }, { config: { slots: { worker: { claims: 2 } } } });
});

/** The ledger of calls of models, and budgets, as they are seen over HTTP. */
import assert from "node:assert/strict";
import { COUNTED_APIS, countedAnswer } from "../../services/models/llm/support/counted_answers.ts";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { Unavailable } from "../../../services/kernel/errors.ts";
import { withProject } from "../../support/projects.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";
import { until } from "../../support/until.ts";
import { asked } from "../../support/until.ts";
import {
  call,
  COMPLETE,
  DAY,
  groups,
  MESSAGES,
  OPENAI_COMPLETE,
  usage,
  withLedger,
} from "./ledger_calls.ts";

/** Counts the changes that are on disk from now on; those before `accepts` are refused. */
function watchWrites({ services: { database } }: TestApi, accepts: () => boolean = () => true) {
  const commit = database.commit.bind(database);
  const watched = { written: 0 };
  database.commit = async (change) => {
    if (!accepts()) throw new Unavailable("The disk is full");
    const result = await commit(change);
    watched.written++;
    return result;
  };
  return watched;
}

Deno.test("the tokens of every API are in the ledger, of whole and of streamed answers", async () => {
  const providers = COUNTED_APIS.map((kind) => ({
    kind,
    fake: new FakeProvider((request) => countedAnswer(kind, request)),
  }));
  try {
    const backends = providers.map(({ kind, fake }) => ({
      name: `a-${kind}`,
      provider: kind,
      base_url: fake.url,
      api_key_env: "THE_KEY",
    }));
    await withApi(async (api) => {
      for (const { kind } of providers) {
        for (const stream of [false, true]) {
          assert.equal(await call(api, { backend: `a-${kind}`, model: "m", stream }), 200, kind);
        }
      }
      const { groups } = await usage(api, "by=backend");
      for (const { name, calls, failed, input_tokens, output_tokens } of groups) {
        assert.deepEqual([calls, failed, input_tokens, output_tokens], [2, 0, 40, 14], name);
      }
      assert.equal(groups.length, COUNTED_APIS.length);
    }, { config: { llm: { backends } }, environment: { THE_KEY: "k-0123456789" } });
  } finally {
    for (const { fake } of providers) await fake[Symbol.asyncDispose]();
  }
});

Deno.test("every call is a row, also one that fails, and usage adds them up", async () => {
  await withLedger(async (api) => {
    assert.equal(await call(api), 200);
    assert.equal(await call(api, { stream: true, stream_options: { include_usage: false } }), 200);
    assert.equal(await call(api, { model: "main/gpt-5" }, OPENAI_COMPLETE), 200);
    assert.equal(await call(api, { model: "refused" }), 404);
    assert.equal(await call(api, { model: "unpriced" }), 200);
    api.services.clock.advance(DAY);
    assert.equal((await api.send({ request: COMPLETE, body: { messages: MESSAGES } })).status, 200);

    // 20 tokens of 1.25 dollars a million, and 7 of 10.
    assert.deepEqual(await groups(api, "by=model"), [
      ["gpt-5", 3, 285],
      ["unpriced", 1, 0],
      ["x", 1, 0],
      ["refused", 1, 0],
    ]);
    assert.deepEqual(await groups(api, "by=agent"), [["caller", 5, 285], ["operator", 1, 0]]);
    assert.deepEqual(await groups(api, "by=backend&agent=operator"), [["main", 1, 0]]);
    const days = (await usage(api, "by=day")).groups;
    assert.deepEqual(days.map(({ calls }) => calls), [5, 1]);
    const [first] = days;
    const { total } = await usage(api, `by=day&from=${first?.name}&to=${first?.name}`);
    const { calls, failed, unpriced_calls: unpriced, estimated_tokens: estimated } = total;
    assert.deepEqual([calls, failed, unpriced, estimated], [5, 1, 2, 0]);

    const rows = await api.answer("GET /v1/llm/calls?agent=caller") as Record<string, unknown>[];
    assert.deepEqual(
      rows.map(({ model, outcome, cost_micro_usd: cost }) => [model, outcome, cost]),
      [
        ["unpriced", "completed", null],
        ["refused", "failed", null],
        ["gpt-5", "completed", 95],
        ["gpt-5", "completed", 95],
        ["gpt-5", "completed", 95],
      ],
    );
    const page = `GET /v1/llm/calls?limit=2&before=${rows[2]?.["id"]}`;
    assert.deepEqual(await api.answer(page), rows.slice(3));
    await api.expect([
      { request: "GET /v1/llm/usage?by=moon", status: 400, matches: /by/ },
      { request: "GET /v1/llm/usage?from=2026-02-30", status: 400, matches: /date such as/ },
      { request: "GET /v1/llm/usage?from=2020-01-01", status: 400, matches: /366 days/ },
      { request: "GET /v1/llm/calls?limit=0", status: 400, matches: /from 1 to 500/ },
    ]);
  });
});

Deno.test("a call that the disk refuses is answered, counts, and is a row before the next one", async () => {
  await withLedger(async (api) => {
    let isFull = true;
    const watched = watchWrites(api, () => !isFull);
    assert.equal(await call(api), 200);
    assert.equal((await usage(api, "by=agent")).total.calls, 0);
    assert.equal(await call(api), 503);
    isFull = false;
    api.services.clock.advance(30_000);
    await until(() => watched.written > 0);
    assert.equal((await usage(api, "by=agent")).total.calls, 1);
    assert.equal(await call(api), 200);
    await api.answer("PUT /v1/llm/budgets/agent.caller.day", { max_cost_micro_usd: 100 });
    const [budget] = await api.answer("GET /v1/llm/budgets") as { spent_micro_usd: number }[];
    assert.equal(budget?.spent_micro_usd, 2 * 95);
  });
});

Deno.test("old calls lose their rows, and their sums stay", async () => {
  await withLedger(async (api) => {
    for (let index = 0; index < 3; index++) await call(api);
    api.services.clock.advance(11 * DAY);
    await call(api);
    const kept = async () => (await api.answer("GET /v1/llm/calls") as unknown[]).length;
    // The next look is due ten minutes after the end of the last one, which may be under way.
    const trimmed = async () => {
      api.services.clock.advance(600_000);
      return await kept();
    };
    await asked(trimmed, (count) => count === 1);
    assert.equal((await usage(api, "by=agent")).total.calls, 4);
  }, { ledger: { max_days: 10 } });
});

Deno.test("an agent sees its own calls alone", async () => {
  await withLedger(async (api) => {
    await call(api);
    await api.send({ request: COMPLETE, body: { messages: MESSAGES, model: "gpt-5" } });
    const seen = async (request: string) => {
      return await (await api.send({ who: "reader", request })).json();
    };
    assert.deepEqual((await seen("GET /v1/llm/usage")).total.calls, 1);
    assert.deepEqual((await seen("GET /v1/llm/usage?agent=operator")).total.calls, 0);
    assert.deepEqual((await seen("GET /v1/llm/calls")).length, 1);
    assert.deepEqual(await seen("GET /v1/llm/calls?agent=operator"), []);
    const everybody = ["reader", "writer", "passphrase", "operator"] as const;
    for (const path of ["usage", "calls", "budgets"]) {
      await api.expect(byEverybody(`GET /v1/llm/${path}`, everybody, 200));
    }
  });
});

Deno.test("prices of the configuration come first, and cost is unknown without one", async () => {
  const prices = [
    { provider: "openai", model: "gpt-5", input: 100, output: 0 },
    { model: "own-*", input: 1, output: 2, max_input_tokens: 20 },
    { model: "long", input: 1, output: 2, max_input_tokens: 19 },
  ];
  await withLedger(async (api) => {
    for (const model of ["gpt-5", "own-model", "long"]) await call(api, { model });
    assert.deepEqual(await groups(api, "by=model"), [
      ["gpt-5", 1, 2000],
      ["own-model", 1, 34],
      ["long", 1, 0],
    ]);
    assert.equal((await usage(api, "by=model")).total.unpriced_calls, 1);
  }, { prices });
});

Deno.test("a call counts for the ticket that it names, or for the one that its agent holds", async () => {
  await using provider = new FakeProvider((request) => countedAnswer("openai", request));
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  await withProject(async ({ api, answer, caller, outsider }) => {
    const ids: string[] = [];
    for (const title of ["One", "Two", "Three", "Four"]) {
      ids.push((await answer("POST /api/tickets", { body: { title } })).uuid);
    }
    const [one = "", two = "", three = "", four = ""] = ids;
    const claim = (id: string, headers = {}) =>
      answer(`POST /api/tickets/${id}/claim`, { as: caller, body: {}, headers });
    const ask = async (ticket: string | null, as = caller, session = {}) => {
      const headers = {
        authorization: as,
        ...session,
        ...(ticket === null ? {} : { "X-Muster-Ticket": ticket }),
      };
      const body = { messages: MESSAGES, model: "gpt-5" };
      const response = await api.send({ who: "guest", request: COMPLETE, headers, body });
      return [response.status, (await response.json()).error ?? ""];
    };
    assert.deepEqual(await ask(null), [200, ""]);
    await claim(one);
    assert.deepEqual(await ask(null), [200, ""], "its only claim");
    await claim(two);
    assert.deepEqual(await ask(null), [200, ""], "the newer one of two");
    const [first, second] = ["terminal-1", "terminal-2"].map((id) => ({ "muster-session": id }));
    await answer("GET /api/tickets", { as: caller, headers: first ?? {} });
    await claim(four, second);
    assert.deepEqual(await ask(null), [200, ""], "the newest of all sessions");
    await answer(`POST /api/tickets/${three}/claim`, {
      as: caller,
      body: {},
      headers: first ?? {},
    });
    assert.deepEqual(await ask(null, caller, second), [200, ""], "that of its session");
    assert.deepEqual(await ask(two.slice(0, 10)), [200, ""]);
    assert.deepEqual(await ask(`demo/${three.slice(0, 10)}`), [200, ""], "it need not hold it");
    for (
      const [ticket, as, status, message] of [
        ["ffffffffff", caller, 404, /You hold no ticket/],
        ["demo/ffffffffff", caller, 404, /Ticket not found/],
        ["none/ffffffffff", caller, 404, /There is no project/],
        [`demo/${one}`, outsider, 404, /There is no project/],
        ["; DROP TABLE", caller, 400, /must be "PROJECT\/TICKET"/],
      ] as const
    ) {
      const [got, error] = await ask(ticket, as);
      assert.equal(got, status, ticket);
      assert.match(error, message);
    }
    const expected = [
      ["", 1, 95],
      [`demo/${one}`, 1, 95],
      [`demo/${two}`, 2, 190],
      [`demo/${three}`, 1, 95],
      [`demo/${four}`, 2, 190],
    ];
    const byName = (left: unknown[], right: unknown[]) => String(left) < String(right) ? -1 : 1;
    assert.deepEqual(
      (await groups(api, "by=ticket") as unknown[][]).sort(byName),
      expected.sort(byName),
    );
    assert.deepEqual(await groups(api, "by=project&project=demo"), [["demo", 6, 570]]);
    assert.equal(provider.seen.length, 7);
  }, { config: { llm: { backends } } });
});

Deno.test("calls are exported to the collector of the configuration, with its headers", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  await using provider = new FakeProvider((request) => countedAnswer("openai", request));
  await using collector = new FakeProvider(() => {
    resolve();
    return Response.json({});
  });
  const backends = [{ name: "main", provider: "openai", base_url: provider.url }];
  await withApi(async (api) => {
    assert.equal(await call(api), 200);
    api.services.clock.advance(5000);
    await arrived;
    const { path, headers, body } = collector.only;
    assert.deepEqual([path, headers.get("x-key")], ["/v1/traces", "k-0123456789"]);
    const text = JSON.stringify(body);
    assert.match(text, /"gen_ai.request.model","value":\{"stringValue":"gpt-5"/);
    assert.match(text, /"gen_ai.usage.input_tokens","value":\{"intValue":"20"/);
    assert.match(text, /"gen_ai.agent.name","value":\{"stringValue":"caller"/);
    assert.doesNotMatch(text, /hello/);
  }, {
    config: { llm: { backends, otlp: { endpoint: collector.url, headers_env: "THE_HEADERS" } } },
    environment: { THE_HEADERS: "x-key=k-0123456789" },
  });
});

/** Calls of models that clients report, in OTLP's JSON. */
import assert from "node:assert/strict";
import { call, usage, withLedger } from "./ledger_calls.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";

const LOGS = "POST /v1/llm/otlp/v1/logs";
const SPANS = "POST /v1/llm/otlp/v1/traces";

type Values = Readonly<Record<string, string | number | boolean>>;

function attributes(values: Values) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string"
      ? { stringValue: value }
      : typeof value === "boolean"
      ? { boolValue: value }
      : Number.isInteger(value)
      ? { intValue: String(value) }
      : { doubleValue: value },
  }));
}

function logs(service: string, ...records: readonly (Values & { readonly body?: string })[]) {
  return {
    resourceLogs: [{
      resource: { attributes: attributes({ "service.name": service }) },
      scopeLogs: [{
        logRecords: records.map(({ body, ...values }) => ({
          timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
          ...(body === undefined ? {} : { body: { stringValue: body } }),
          attributes: attributes(values),
        })),
      }],
    }],
  };
}

function spans(service: string, ...records: readonly Values[]) {
  const end = BigInt(Date.now()) * 1_000_000n;
  return {
    resourceSpans: [{
      resource: { attributes: attributes({ "service.name": service }) },
      scopeSpans: [{
        spans: records.map((values) => ({
          name: "chat",
          startTimeUnixNano: String(end - 1_500_000_000n),
          endTimeUnixNano: String(end),
          attributes: attributes(values),
        })),
      }],
    }],
  };
}

const CLAUDE = {
  body: "claude_code.api_request",
  "event.name": "api_request",
  "session.id": "s",
  "event.sequence": 1,
  model: "claude-sonnet-4-6",
  input_tokens: "10",
  cache_read_tokens: 20,
  cache_creation_tokens: 30,
  output_tokens: 7,
  cost_usd: 0.0123,
  duration_ms: 900,
};

async function report(api: TestApi, request: string, body: object) {
  const response = await api.send({ who: "writer", request, body });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

async function reported(api: TestApi): Promise<readonly unknown[]> {
  const { groups } = await usage(api, "by=backend");
  return groups.map(({ name, calls, input_tokens: input, output_tokens: output }) => [
    name,
    calls,
    input,
    output,
  ]).sort();
}

Deno.test("calls that clients report in their logs are in the ledger", async () => {
  await withApi(async (api) => {
    await report(api, LOGS, logs("claude-code", CLAUDE, { "event.name": "user_prompt" }));
    const codex = await report(
      api,
      LOGS,
      logs(
        "codex_cli_rs",
        {
          "event.name": "codex.sse_event",
          "event.kind": "response.completed",
          model: "gpt-5",
          input_token_count: "100",
          cached_token_count: "40",
          output_token_count: "9",
          reasoning_token_count: "4",
        },
        { "event.name": "codex.sse_event", "event.kind": "response.output_item.done" },
        { "event.name": "codex.sse_event", "event.kind": "response.completed", model: "gpt-5" },
      ),
    );
    assert.deepEqual(codex, {});
    const google = {
      model: "gemini-2.5-pro",
      input_token_count: 50,
      output_token_count: 5,
      thoughts_token_count: 6,
      cached_content_token_count: 0,
      duration_ms: 10,
    };
    await report(
      api,
      LOGS,
      logs("gemini-cli", { "event.name": "gemini_cli.api_response", ...google }),
    );
    await report(
      api,
      LOGS,
      logs("qwen-code", { "event.name": "qwen-code.api_response", ...google }),
    );
    assert.deepEqual(await reported(api), [
      ["reported:claude-code", 1, 60, 7],
      ["reported:codex", 1, 100, 9],
      ["reported:gemini-cli", 1, 50, 11],
      ["reported:qwen-code", 1, 50, 5],
    ]);
    const calls = await api.answer("GET /v1/llm/calls") as readonly Record<string, unknown>[];
    const claude = calls.find(({ backend }) => backend === "reported:claude-code");
    assert.deepEqual(
      [claude?.["source"], claude?.["model"], claude?.["cost_micro_usd"], claude?.["milliseconds"]],
      ["reported", "claude-sonnet-4-6", 12_300, 900],
    );
    assert.deepEqual(
      [claude?.["cached_input_tokens"], claude?.["cache_write_input_tokens"]],
      [20, 30],
    );
    const ofCodex = calls.find(({ backend }) => backend === "reported:codex");
    assert.equal(ofCodex?.["cost_micro_usd"], 60 * 1.25 + 40 * 0.125 + 9 * 10);
  });
});

Deno.test("spans of calls count, but not those of clients whose logs say the same", async () => {
  await withApi(async (api) => {
    const span = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.model": "gpt-5-2025-08-07",
      "gen_ai.usage.input_tokens": 11,
      "gen_ai.usage.output_tokens": 3,
    };
    await report(api, SPANS, spans("my-agent", span, { "gen_ai.operation.name": "execute_tool" }));
    await report(api, SPANS, spans("gemini-cli", span));
    assert.deepEqual(await reported(api), [["reported:otel", 1, 11, 3]]);
    const [only] = await api.answer("GET /v1/llm/calls") as readonly Record<string, unknown>[];
    assert.deepEqual([only?.["milliseconds"], only?.["source"]], [1500, "reported"]);
  });
});

Deno.test("metrics are taken, and nothing of them is kept", async () => {
  await withApi(async (api) => {
    const request = "POST /v1/llm/otlp/v1/metrics";
    assert.deepEqual(await report(api, request, { resourceMetrics: [{}] }), {});
    assert.deepEqual(await reported(api), []);
  });
});

Deno.test("an export that is sent again counts once, also at the same time", async () => {
  await withApi(async (api) => {
    const body = logs("claude-code", CLAUDE, { ...CLAUDE, "event.sequence": 2 });
    await Promise.all([1, 2, 3].map(() => report(api, LOGS, body)));
    await report(api, LOGS, body);
    const more = structuredClone(body);
    more.resourceLogs[0]?.scopeLogs[0]?.logRecords.push(
      ...logs("claude-code", { ...CLAUDE, "event.sequence": 3 }).resourceLogs[0]!.scopeLogs[0]!
        .logRecords,
    );
    await report(api, LOGS, more);
    assert.deepEqual(await reported(api), [["reported:claude-code", 3, 180, 21]]);
  });
});

Deno.test("what is implausible is not counted, and the client is told", async () => {
  await withApi(async (api) => {
    const wrong: readonly Values[] = [
      { input_tokens: -1 },
      { input_tokens: "many" },
      { output_tokens: 1e12 },
      { output_tokens: 1.5 },
      { cost_usd: -1 },
      { cost_usd: 1e9 },
      { cost_usd: "NaN" },
    ];
    const answer = await report(
      api,
      LOGS,
      logs("claude-code", CLAUDE, ...wrong.map((more) => ({ ...CLAUDE, ...more }))),
    );
    assert.equal(answer.partialSuccess.rejectedLogRecords, "7");
    assert.deepEqual(await reported(api), [["reported:claude-code", 1, 60, 7]]);
    for (
      const odd of [
        {},
        { resourceLogs: [] },
        {
          resourceLogs: [null, 1, "x", {}, { scopeLogs: 1 }, { scopeLogs: [{ logRecords: [7] }] }],
        },
        { resourceLogs: [{ resource: [], scopeLogs: [{ logRecords: [{ attributes: {} }] }] }] },
        { resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: "__proto__" }] }] }] },
      ]
    ) assert.deepEqual(await report(api, LOGS, odd), {});
    const response = await api.send({ who: "writer", request: LOGS, body: { resourceLogs: {} } });
    assert.equal(response.status, 400);
    await response.text();
  });
});

Deno.test("an export has a most of calls; the rest is rejected, not lost silently", async () => {
  await withApi(async (api) => {
    const many = Array.from({ length: 600 }, (_, index) => ({
      ...CLAUDE,
      "event.sequence": index,
      input_tokens: 1,
    }));
    const answer = await report(api, LOGS, logs("claude-code", ...many));
    assert.equal(answer.partialSuccess.rejectedLogRecords, "88");
    const { total } = await usage(api, "by=agent");
    assert.equal(total.calls, 512);
  });
});

Deno.test("a call of last month counts for yesterday at the earliest", async () => {
  await withApi(async (api) => {
    const body = logs("claude-code", CLAUDE);
    const records = body.resourceLogs[0]!.scopeLogs[0]!.logRecords;
    records[0]!.timeUnixNano = "1000000000000000000";
    await report(api, LOGS, body);
    const { groups } = await usage(api, "by=day");
    assert.equal(groups.filter(({ calls }) => calls > 0).length, 1);
  });
});

Deno.test("models that clients make up have a most, and take no names from the gateway", async () => {
  await withLedger(async (api) => {
    const calls = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...CLAUDE, model: `m-${from + index}` }));
    await report(api, LOGS, logs("claude-code", ...calls(0, 512)));
    const yesterday = logs("claude-code", ...calls(0, 1));
    yesterday.resourceLogs[0]!.scopeLogs[0]!.logRecords[0]!.timeUnixNano = "1000000000000000000";
    await report(api, LOGS, yesterday);
    await report(api, LOGS, logs("claude-code", ...calls(1000, 100)));
    assert.equal(await call(api), 200);
    const { groups } = await usage(api, "by=model");
    assert.equal(groups.length, 502);
    const named = (wanted: string) => groups.find(({ name }) => name === wanted)?.calls;
    assert.deepEqual([named("(others)"), named("gpt-5")], [112, 1]);
  });
});

Deno.test("what a client reports stops its own agent, and nobody else", async () => {
  await withLedger(async (api) => {
    for (const budget of ["all.day", "agent.caller.day"]) {
      const limits = { max_cost_micro_usd: 10_000 };
      await api.answer(`PUT /v1/llm/budgets/${budget}`, limits);
    }
    await report(api, LOGS, logs("claude-code", CLAUDE));
    assert.equal(await call(api), 429);
    const budgets = await api.answer("GET /v1/llm/budgets") as readonly Record<string, unknown>[];
    assert.deepEqual(
      budgets.map(({ budget, spent_micro_usd: spent, state }) => [budget, spent, state]).sort(),
      [["agent.caller.day", 12_300, "exceeded"], ["all.day", 0, "open"]],
    );
  });
});

Deno.test("an exporter that sends protobuf learns how to send JSON", async () => {
  await withApi(async (api) => {
    const headers = { "content-type": "application/x-protobuf" };
    const body = new Uint8Array([0x0a, 0x80, 0xff]);
    const METRICS = "POST /v1/llm/otlp/v1/metrics";
    await api.expect(
      [LOGS, SPANS, METRICS].map((request) => ({
        who: "writer",
        request,
        headers,
        body,
        status: 400,
        matches: /set OTEL_EXPORTER_OTLP_PROTOCOL=http\/json/,
      })),
    );
  });
});

Deno.test("who may call models may report calls", async () => {
  await withApi(async (api) => {
    const body = logs("claude-code", CLAUDE);
    const allowed = byEverybody(LOGS, ["writer", "passphrase", "operator"], 200);
    await api.expect(allowed.map((scenario) => ({ ...scenario, body })));
    const { groups } = await usage(api, "by=agent");
    assert.deepEqual(groups.map(({ name }) => name).sort(), ["admin", "caller", "operator"]);
  });
});

/** Bedrock's API, spoken over the wire and translated from and to the common format. */
import assert from "node:assert/strict";
import { REQUEST, WEATHER } from "../support/conversation.ts";
import { answer, assembled, chunks, KEY, withBackend } from "../support/gateway.ts";
import { awsEventStream, FakeProvider } from "../support/provider.ts";

Deno.test("Bedrock: a conversation with tools, with a key or signed", async () => {
  await using provider = new FakeProvider(() =>
    Response.json({
      output: {
        message: {
          role: "assistant",
          content: [
            { text: "Wait." },
            { toolUse: { toolUseId: "u1", name: "weather", input: { city: "Bern" } } },
          ],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 30, outputTokens: 6, totalTokens: 36 },
      metrics: { latencyMs: 5 },
    })
  );
  const model = "anthropic.claude-3-5-sonnet-20241022-v2:0";
  await withBackend({ provider: "bedrock", base_url: provider.url }, async (services) => {
    const told = await answer(services, { ...REQUEST, model });
    assert.equal(told.choices[0]?.message?.content, "Wait.");
    assert.deepEqual(told.choices[0]?.message?.tool_calls?.[0]?.function, {
      name: "weather",
      arguments: '{"city":"Bern"}',
    });
    assert.equal(told.usage?.["total_tokens"], 36);
    const { path, headers, body } = provider.only;
    assert.equal(path, `/model/${encodeURIComponent(model)}/converse`);
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.partialDeepStrictEqual(body, {
      system: [{ text: "Be brief." }],
      inferenceConfig: { maxTokens: 50, temperature: 0.5, stopSequences: ["END"] },
      toolConfig: { tools: [{ toolSpec: { name: "weather" } }] },
    });
  });
  const signing = { provider: "bedrock", base_url: provider.url, api_key_env: "X_ACCESS_KEY_ID" };
  const environment = {
    X_ACCESS_KEY_ID: "AKIDEXAMPLE",
    X_SECRET_ACCESS_KEY: KEY,
    AWS_REGION: "eu-central-2",
    AWS_BEARER_TOKEN_BEDROCK: "of-somebody-else",
  };
  await withBackend(signing, async (services) => {
    await answer(services, { model });
    const authorization = provider.seen.at(-1)?.headers.get("authorization") ?? "";
    assert.match(authorization, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/eu-central-2\//);
  }, { environment });
});

Deno.test("Bedrock: text and a tool, streamed in AWS's event stream", async () => {
  await using provider = new FakeProvider(() =>
    awsEventStream([
      ["messageStart", { role: "assistant" }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Ho" } }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "la" } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["contentBlockStart", {
        contentBlockIndex: 1,
        start: { toolUse: { toolUseId: "u2", name: "weather" } },
      }],
      ["contentBlockDelta", {
        contentBlockIndex: 1,
        delta: { toolUse: { input: '{"city":"Bern"}' } },
      }],
      ["contentBlockStop", { contentBlockIndex: 1 }],
      ["messageStop", { stopReason: "tool_use" }],
      ["metadata", {
        usage: { inputTokens: 4, outputTokens: 3, totalTokens: 7 },
        metrics: { latencyMs: 9 },
      }],
    ])
  );
  await withBackend({ provider: "bedrock", base_url: provider.url }, async (services) => {
    const told = assembled(
      await chunks(services, { tools: [WEATHER], stream_options: { include_usage: true } }),
    );
    assert.deepEqual([told.content, told.finish], ["Hola", ["tool_calls"]]);
    assert.deepEqual(told.calls, [{ id: "u2", name: "weather", arguments: '{"city":"Bern"}' }]);
    assert.equal(told.usage?.["total_tokens"], 7);
    assert.equal(provider.only.path, "/model/m/converse-stream");
  });
});

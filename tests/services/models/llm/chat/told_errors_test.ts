/** Errors that providers tell in answers whose status is 200, and whole answers for streams. */
import assert from "node:assert/strict";
import { answer, assembled, chunks, withBackend } from "../support/gateway.ts";
import { awsEventStream, eventStream, FakeProvider, jsonLines } from "../support/provider.ts";
import type { TestServices } from "../../../../support/services.ts";
import { THOROUGH } from "../../../../support/level.ts";

const PROVIDERS = ["openai", "anthropic", "gemini", "bedrock", "ollama"] as const;

type Kind = typeof PROVIDERS[number];

/** Errors in the words of each provider, for which the fitting status is 429. */
const QUOTA: Readonly<Record<Kind, readonly unknown[]>> = {
  openai: [
    { error: { message: "quota", code: 429 } },
    { error: { message: "quota", code: "429" } },
    { error: { message: "quota", type: "insufficient_quota", code: null } },
    { error: { message: "quota", code: "rate_limit_exceeded" }, choices: [] },
    { object: "error", message: "quota", code: 429 },
    { detail: "quota", status_code: 429 },
    { code: 429, msg: "quota", data: null },
    { choices: [{ index: 0, error: { message: "quota", code: 429 }, finish_reason: "error" }] },
  ],
  anthropic: [{ type: "error", error: { type: "rate_limit_error", message: "quota" } }],
  gemini: [
    { error: { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED" } },
    [{ error: { message: "quota", status: "RESOURCE_EXHAUSTED" } }],
  ],
  bedrock: [
    { __type: "ThrottlingException", message: "quota" },
    { error: { code: 429, message: "quota" } },
  ],
  ollama: [{ error: { message: "quota", code: 429 } }],
};

/** The beginnings of streams in which nothing was said yet, and those in which something was. */
const SILENT: Readonly<Record<"openai" | "anthropic" | "gemini", readonly unknown[]>> = {
  openai: [{ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }],
  anthropic: [{
    type: "message_start",
    message: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: { input_tokens: 1, output_tokens: 0 },
    },
  }],
  gemini: [],
};

const SPEAKING: typeof SILENT = {
  openai: [{ choices: [{ index: 0, delta: { role: "assistant", content: "half" } }] }],
  anthropic: [
    ...SILENT.anthropic,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } },
  ],
  gemini: [{ candidates: [{ content: { role: "model", parts: [{ text: "half" }] } }] }],
};

const WHOLE: Readonly<Record<Kind, unknown>> = {
  openai: {
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: "all of it",
        tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  },
  anthropic: {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "all of it" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  gemini: {
    candidates: [{
      content: { role: "model", parts: [{ text: "all of it" }] },
      finishReason: "STOP",
    }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  },
  bedrock: {
    output: { message: { role: "assistant", content: [{ text: "all of it" }] } },
    stopReason: "end_turn",
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
  },
  ollama: {
    model: "m",
    message: { role: "assistant", content: "all of it" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 3,
    eval_count: 4,
  },
};

/** Runs a test for a provider that answers everything with one body and status 200. */
async function withAnswer(
  provider: Kind,
  respond: () => Response,
  run: (services: TestServices) => Promise<void>,
): Promise<void> {
  await using fake = new FakeProvider(respond);
  await withBackend({ provider, base_url: fake.url }, run);
}

/** How the calls of the ledger ended. */
async function outcomes({ database }: TestServices): Promise<string[]> {
  const rows = await database.tables.selectFrom("llm_calls").select("outcome").execute();
  return rows.map(({ outcome }) => outcome);
}

for (const kind of PROVIDERS) {
  Deno.test(`an error in an answer of ${kind} with status 200 is a refusal`, async () => {
    for (const told of QUOTA[kind]) {
      await withAnswer(kind, () => Response.json(told), async (services) => {
        const refusal = { name: "UpstreamRefused", status: 429, message: /answered 429: quota$/ };
        await assert.rejects(answer(services, {}), refusal);
        await assert.rejects(chunks(services, {}), refusal);
        assert.deepEqual(await outcomes(services), ["failed", "failed"]);
        const leave = new AbortController().signal;
        const listing = services.llm.gateway.models("main", leave);
        await assert.rejects(listing, { name: "UpstreamFailed", message: /quota/ });
      });
    }
  });

  Deno.test(`an answer of ${kind} that is none is a failure`, THOROUGH, async () => {
    const bodies = ["", " \n", "{}", "[]", "null", "7", '"quota"', "<!doctype html><p>Sign in"];
    for (const body of bodies) {
      for (const type of ["application/json", "text/html", "text/event-stream"]) {
        const respond = () => new Response(body, { headers: { "content-type": type } });
        await withAnswer(kind, respond, async (services) => {
          const failure = { name: "UpstreamFailed", message: /"main"/ };
          await assert.rejects(answer(services, {}), failure, `${body} whole`);
          await assert.rejects(chunks(services, {}), failure, `${body} streamed`);
          assert.deepEqual(await outcomes(services), ["failed", "failed"]);
          const listing = services.llm.gateway.models("main", new AbortController().signal);
          // A bare list is one of OpenAI's forms.
          if (kind === "openai" && body === "[]") assert.deepEqual(await listing, []);
          else await assert.rejects(listing, failure, `${body} listed`);
        });
      }
    }
  });

  Deno.test(`a whole answer of ${kind} to a request for a stream is streamed`, async () => {
    for (const type of ["application/json", "text/event-stream", "text/plain"]) {
      const text = JSON.stringify(WHOLE[kind]);
      const respond = () => new Response(text, { headers: { "content-type": type } });
      await withAnswer(kind, respond, async (services) => {
        const told = await chunks(services, { stream_options: { include_usage: true } });
        for (const chunk of told) assert.equal(chunk["object"], "chat.completion.chunk");
        const { content, finish, usage, calls } = assembled(told);
        assert.deepEqual([content, finish], ["all of it", ["stop"]]);
        assert.deepEqual([usage?.["prompt_tokens"], usage?.["completion_tokens"]], [3, 4]);
        if (kind === "openai") assert.deepEqual(calls, [{ id: "t1", name: "f", arguments: "{}" }]);
        assert.deepEqual(await outcomes(services), ["completed"]);
      });
    }
  });
}

for (const kind of ["openai", "anthropic", "gemini"] as const) {
  Deno.test(`an error in a stream of ${kind} is a refusal before its first word`, async () => {
    for (const told of QUOTA[kind]) {
      if (Array.isArray(told)) continue;
      const named = kind === "anthropic";
      const silent = () => eventStream([...SILENT[kind], told], { named });
      await withAnswer(kind, silent, async (services) => {
        await assert.rejects(chunks(services, {}), { name: "UpstreamRefused", status: 429 });
        assert.deepEqual(await outcomes(services), ["failed"]);
      });
      const speaking = () => eventStream([...SPEAKING[kind], told], { named });
      await withAnswer(kind, speaking, async (services) => {
        await assert.rejects(chunks(services, {}), { message: /answered 429: quota$/ });
        assert.deepEqual(await outcomes(services), ["failed"]);
      });
    }
  });
}

Deno.test("an error in a stream of bedrock and of ollama is a refusal before its first word", async () => {
  const bedrock = () => awsEventStream([["throttlingException", { message: "quota" }]]);
  await withAnswer("bedrock", bedrock, async (services) => {
    await assert.rejects(chunks(services, {}), { name: "UpstreamRefused", status: 429 });
    assert.deepEqual(await outcomes(services), ["failed"]);
  });
  const ollama = () => jsonLines([{ error: { message: "quota", code: 429 } }]);
  await withAnswer("ollama", ollama, async (services) => {
    await assert.rejects(chunks(services, {}), { name: "UpstreamRefused", status: 429 });
    assert.deepEqual(await outcomes(services), ["failed"]);
  });
});

Deno.test("a whole answer as the only event of a stream is streamed", async () => {
  await withAnswer(
    "openai",
    () => eventStream([WHOLE.openai], { done: true }),
    async (services) => {
      const { content, finish } = assembled(await chunks(services, {}));
      assert.deepEqual([content, finish], ["all of it", ["stop"]]);
      assert.deepEqual(await outcomes(services), ["completed"]);
    },
  );
});

Deno.test("choices without a message are a failure", async () => {
  for (const choices of [[{}], [null], [{ index: 0, finish_reason: "stop" }]]) {
    await withAnswer("openai", () => Response.json({ choices }), async (services) => {
      await assert.rejects(answer(services, {}), { name: "UpstreamFailed" });
      await assert.rejects(chunks(services, {}), { name: "UpstreamFailed" });
      assert.deepEqual(await outcomes(services), ["failed", "failed"]);
    });
  }
});

Deno.test("a stream without choices is a failure", async () => {
  for (const events of [[], [{}], [{ choices: [] }], [{ choices: [], usage: {} }]]) {
    await withAnswer("openai", () => eventStream(events, { done: true }), async (services) => {
      await assert.rejects(chunks(services, {}), { name: "UpstreamFailed" });
      assert.deepEqual(await outcomes(services), ["failed"]);
    });
  }
});

/** What holds for every provider: bounds, failures, cancellation, and what is noted of a call. */
import assert from "node:assert/strict";
import { answer, chunks, complete, KEY, withBackend } from "./support/gateway.ts";
import { eventStream, FakeProvider, jsonLines, type SeenRequest } from "./support/provider.ts";
import { GUEST, type Principal } from "../../../../services/people/identity/mod.ts";
import { collectGarbage } from "../../../support/garbage.ts";
import { BY_OPERATOR, type TestServices } from "../../../support/services.ts";
import { within } from "../../../support/until.ts";

const APIS = ["openai", "anthropic", "gemini", "bedrock", "ollama"] as const;

const COMPLETION = {
  id: "x",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

const CHUNK = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] };

/** A body that begins and never ends by itself. */
function unending(begin: string): { response: Response; cancelled: Promise<void> } {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(begin)),
    cancel: () => cancelled.resolve(),
  });
  return { response: new Response(body), cancelled: cancelled.promise };
}

/** The data of every event about a call, once all calls are over. */
async function calls({ database, llm }: TestServices): Promise<Record<string, unknown>[]> {
  await llm.gateway.close();
  const rows = await database.tables.selectFrom("events").select("data")
    .where("type", "=", "llm.called").orderBy("seq").execute();
  return rows.map(({ data }) => JSON.parse(data));
}

async function outcomes(services: TestServices): Promise<unknown[]> {
  return (await calls(services)).map(({ outcome }) => outcome);
}

Deno.test("every API passes on a provider's refusal with its status and without the key", async () => {
  const table: readonly (readonly [number, unknown, RegExp])[] = [
    [401, { error: { message: `Incorrect API key: ${KEY}` } }, /401: Incorrect API key: \[rem/],
    [429, { error: `slow down, ${KEY.slice(0, 20)}**` }, /429: slow down, \[removed\]/],
    [500, { message: `boom ${KEY.slice(8)}` }, /500: boom \[removed\]/],
    [400, [{ error: { message: encodeURIComponent(KEY) } }], /400: \[removed\]/],
    [503, `<html>${KEY}</html>`, /answered 503$/],
  ];
  for (const provider of APIS) {
    let answered = new Response();
    await using fake = new FakeProvider(() => answered.clone());
    await withBackend({ provider, base_url: fake.url }, async (services) => {
      for (const [status, body, message] of table) {
        answered = typeof body === "string"
          ? new Response(body, { status, headers: { "content-type": "text/html" } })
          : Response.json(body, { status });
        const name = status === 400 || status === 429 ? "UpstreamRefused" : "UpstreamFailed";
        for (const stream of [false, true]) {
          const refused = complete(services, { stream });
          await assert.rejects(refused, { name, message }, `${provider} ${status}`);
        }
        const { signal } = new AbortController();
        const refused = services.llm.gateway.models("main", signal);
        await assert.rejects(refused, { name: "UpstreamFailed", message });
      }
      assert.deepEqual(await outcomes(services), Array(2 * table.length).fill("failed"));
      assert.ok(!services.log.lines.join("\n").includes(KEY));
    });
  }
});

Deno.test("no API follows redirects", async () => {
  await using elsewhere = new FakeProvider(() => Response.json(COMPLETION));
  for (const provider of APIS) {
    let status = 0;
    await using fake = new FakeProvider(({ path }: SeenRequest) =>
      new Response(null, { status, headers: { location: elsewhere.url + path } })
    );
    await withBackend({ provider, base_url: fake.url }, async (services) => {
      for (status of [301, 302, 303, 307, 308]) {
        const { signal } = new AbortController();
        const expected = { name: "UpstreamFailed", message: new RegExp(`${status}, a redirect`) };
        await assert.rejects(complete(services, {}), expected);
        await assert.rejects(complete(services, { stream: true }), expected);
        await assert.rejects(services.llm.gateway.models("main", signal), expected);
      }
    });
  }
  assert.deepEqual(elsewhere.seen, []);
});

Deno.test("every API treats a malformed answer as the provider's failure", async () => {
  for (const provider of APIS) {
    let body = "";
    await using fake = new FakeProvider(() => new Response(body));
    await withBackend({ provider, base_url: fake.url }, async (services) => {
      for (body of ["", "not JSON", "[7]", "null", '{"cut": ']) {
        const { signal } = new AbortController();
        const expected = {
          name: "UpstreamFailed",
          message: /did not answer in the form of its API/,
        };
        const label = `${provider}: ${body}`;
        await assert.rejects(chunks(services, {}), expected, label);
        await assert.rejects(services.llm.gateway.models("main", signal), expected, label);
        await assert.rejects(answer(services, {}), expected, label);
      }
    });
  }
});

Deno.test("an unreachable provider is an error that names it", async () => {
  const gone = new FakeProvider(() => new Response());
  const { url } = gone;
  await gone[Symbol.asyncDispose]();
  await withBackend({ provider: "mine", base_url: url }, async (services) => {
    const expected = { name: "UpstreamFailed", message: /"main" cannot be reached/ };
    await assert.rejects(answer(services, {}), expected);
  });
});

Deno.test("a provider has a time limit to begin, to continue and to finish", async () => {
  const hours = { first_byte_seconds: 3600, idle_seconds: 3600, total_seconds: 86_400 };
  const pending = () => new Promise<Response>(() => {});
  const begun = () => Promise.resolve(unending("{").response);
  // The answer may arrive after any number of turns, so only one limit is near.
  const table: readonly (readonly [Partial<typeof hours>, () => Promise<Response>, RegExp])[] = [
    [{ first_byte_seconds: 0.001 }, pending, /did not answer in time/],
    [{ idle_seconds: 0.001 }, begun, /in the middle/],
    [{ total_seconds: 0.001 }, begun, /did not finish in time/],
  ];
  for (const provider of APIS) {
    for (const [limit, respond, message] of table) {
      const asked = Promise.withResolvers<void>();
      await using fake = new FakeProvider(async ({ left }) => {
        asked.resolve();
        const gaveUp = left.then(() => new Response(null, { status: 500 }));
        return await Promise.race([respond(), gaveUp]);
      });
      await withBackend({ provider, base_url: fake.url }, async (services) => {
        const failed = assert.rejects(answer(services, {}), { name: "TimedOut", message });
        await asked.promise;
        await services.clock.passUntil(failed);
      }, { limits: { ...hours, ...limit } });
    }
  }
});

Deno.test("a list of models that takes longer than 10 s is given up", async () => {
  const asked = Promise.withResolvers<void>();
  await using fake = new FakeProvider(async ({ left }) => {
    asked.resolve();
    await left;
    return new Response();
  });
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const models = services.llm.gateway.models("main", new AbortController().signal);
    const failed = assert.rejects(models, { name: "TimedOut" });
    await asked.promise;
    services.clock.advance(9_999);
    assert.equal(services.clock.pending > 0, true);
    services.clock.advance(1);
    await failed;
    await fake.only.left;
  });
});

Deno.test("an answer has a bound", async () => {
  await using fake = new FakeProvider(() => Response.json({ ...COMPLETION, x: "x".repeat(2000) }));
  const limits = { answer_bytes: 1024 };
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const expected = { name: "UpstreamFailed", message: /sent too long an answer/ };
    await assert.rejects(answer(services, {}), expected);
    await assert.rejects(chunks(services, {}), expected);
  }, { limits });
});

Deno.test("a caller that leaves ends the call at the provider, before and during the answer", async () => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const stream = unending(`data: ${JSON.stringify(CHUNK)}\n\n`);
  await using fake = new FakeProvider(async (request) => {
    if ((request.body as { stream?: boolean }).stream === true) return stream.response;
    asked.resolve();
    await request.left;
    left.resolve();
    return new Response();
  });
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const caller = new AbortController();
    const called = assert.rejects(complete(services, {}, caller.signal), { name: "Unavailable" });
    await asked.promise;
    caller.abort();
    await Promise.all([called, left.promise]);

    const completion = await complete(services, { stream: true });
    assert.equal(completion.kind, "stream");
    if (completion.kind !== "stream") return;
    await completion.events.cancel();
    await Promise.all([stream.cancelled, completion.ended]);
    assert.deepEqual(await outcomes(services), ["cancelled", "cancelled"]);
  });
});

Deno.test("the gateway ends running calls when it closes", async () => {
  const stream = unending(`data: ${JSON.stringify(CHUNK)}\n\n`);
  await using fake = new FakeProvider(() => stream.response);
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const completion = await complete(services, { stream: true });
    assert.deepEqual(await outcomes(services), ["cancelled"]);
    if (completion.kind === "stream") await assert.rejects(completion.events.pipeTo(sink()));
    await stream.cancelled;
  });
});

function sink(): WritableStream<unknown> {
  return new WritableStream();
}

Deno.test("a stalled stream is given up in time, also after memory was collected", async () => {
  const stream = unending(`data: ${JSON.stringify(CHUNK)}\n\n`);
  await using fake = new FakeProvider(() => stream.response);
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const completion = await complete(services, { stream: true });
    const reader = completion.kind === "stream" ? completion.events.getReader() : assert.fail();
    await reader.read();
    const failed = assert.rejects(reader.read(), { name: "TimedOut" });
    await collectGarbage();
    await services.clock.passUntil(failed, 1000);
    await within(stream.cancelled, () => "The end of the call at the provider");
  }, { limits: { idle_seconds: 10 } });
});

Deno.test("the number of concurrent calls is bounded", async () => {
  const stream = unending(`data: ${JSON.stringify(CHUNK)}\n\n`);
  await using fake = new FakeProvider(() => stream.response);
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const completion = await complete(services, { stream: true });
    const message = "The maximum number of model calls is already running (1)";
    await assert.rejects(complete(services, {}), { name: "TooMany", message });
    // The runtime then forgets the signal of the request.
    await collectGarbage();
    if (completion.kind === "stream") await completion.events.cancel();
    await within(stream.cancelled, () => "The end of the call at the provider");
  }, { limits: { calls: 1 } });
});

Deno.test("agents leave the operator room for a call", async () => {
  const begin = `data: ${JSON.stringify(CHUNK)}\n\n`;
  await using fake = new FakeProvider(() => unending(begin).response);
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const callAs = (id: string) => {
      const principal: Principal = { ...GUEST, kind: "agent", id, name: id };
      const request = { messages: [{ role: "user", content: "hello" }], stream: true };
      const { signal } = new AbortController();
      return services.llm.gateway.complete(request, { ...BY_OPERATOR, principal }, signal);
    };
    const first = await callAs("scout");
    await assert.rejects(callAs("builder"), { name: "TooMany" });
    const own = await complete(services, { stream: true });
    for (const call of [first, own]) {
      assert.equal(call.kind, "stream");
      if (call.kind === "stream") await call.events.cancel();
    }
  }, { limits: { calls: 2 } });
});

Deno.test("an error in the middle of a stream ends it, without the key", async () => {
  const error = { error: { message: `overloaded ${KEY}`, type: "overloaded_error" } };
  const anthropic = { type: "error", ...error };
  for (const [provider, event] of [["mine", error], ["anthropic", anthropic]] as const) {
    const begin = provider === "mine" ? CHUNK : {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 0 },
      },
    };
    await using fake = new FakeProvider(() => eventStream([begin, event]));
    await withBackend({ provider, base_url: fake.url }, async (services) => {
      const expected = { name: "UpstreamFailed", message: /overloaded \[removed\]$/ };
      await assert.rejects(chunks(services, {}), expected);
      assert.deepEqual(await outcomes(services), ["failed"]);
    });
  }
});

Deno.test("a stream that stops before its end is an error at any length", async () => {
  const text = (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, index: 0 }] });
  const ollama = { model: "m", message: { role: "assistant", content: "hi" }, done: false };
  const table = [["mine", CHUNK], ["gemini", text("hi")], ["ollama", ollama]] as const;
  for (const [provider, event] of table) {
    const stream = () => provider === "ollama" ? jsonLines([event]) : eventStream([event]);
    await using fake = new FakeProvider(stream);
    await withBackend({ provider, base_url: fake.url }, async (services) => {
      await assert.rejects(chunks(services, {}), { name: "UpstreamFailed" }, provider);
      assert.deepEqual(await outcomes(services), ["failed"]);
    });
  }
});

Deno.test("the event log has a call's cost, and its texts are nowhere", async () => {
  const secret = "PLANTED-PROMPT";
  const said = { role: "assistant", content: `PLANTED-ANSWER ${KEY}` };
  const echo = { ...COMPLETION, choices: [{ index: 0, message: said, finish_reason: "stop" }] };
  await using fake = new FakeProvider(() => Response.json(echo));
  await withBackend({ provider: "mine", base_url: fake.url }, async (services) => {
    const messages = [{ role: "user", content: secret }];
    const told = await answer(services, { messages, model: "main/m" });
    assert.equal(told.choices[0]?.message?.content, "PLANTED-ANSWER [removed]");
    const [stats] = services.llm.gateway.stats();
    assert.deepEqual(stats?.calls, { completed: 1, failed: 0, cancelled: 0 });
    assert.equal(stats?.latency.count, 1);
    assert.equal(stats?.latency.buckets.at(-1), 1);
    const [{ milliseconds, ...call } = {}] = await calls(services);
    assert.ok(Number(milliseconds) >= 0);
    assert.deepEqual(call, {
      backend: "main",
      model: "m",
      streamed: false,
      outcome: "completed",
      prompt_tokens: 3,
      completion_tokens: 1,
    });
    const events = await services.database.tables.selectFrom("events").selectAll().execute();
    const kept = JSON.stringify(events) + services.log.lines.join("\n");
    assert.doesNotMatch(kept, /PLANTED/);
  });
});

Deno.test("a model with the name of no backend goes to one that lists it, and else nowhere", async () => {
  await using provider = new FakeProvider(({ path }) =>
    path.endsWith("/models")
      ? Response.json({ data: [{ id: "maker/known" }] })
      : Response.json({ choices: [{ index: 0, message: { content: "hi" } }] })
  );
  const base_url = provider.url;
  const asked = () =>
    provider.seen.flatMap(({ body }) =>
      typeof body === "object" && body !== null && "model" in body ? [body.model] : []
    );
  await withBackend({ provider: "openai", base_url }, async (services) => {
    const message = /no LLM backend "mian", and no backend lists .*: write "main\/MODEL"/;
    for (const stream of [false, true]) {
      const refusal = { name: "NotFound", message };
      await assert.rejects(answer(services, { model: "mian/gpt-5", stream }), refusal);
      const named = answer(services, { model: "gpt-5", backend: "mian", stream });
      await assert.rejects(named, { name: "NotFound", message: /"mian"/ });
    }
    assert.deepEqual(asked(), []);
    for (const model of ["maker/known", "main/maker/new", "main/gpt-5", "gpt-5"]) {
      await answer(services, { model });
    }
    await answer(services, { model: "maker/new", backend: "main" });
    assert.deepEqual(asked(), ["maker/known", "maker/new", "gpt-5", "gpt-5", "maker/new"]);
  });
  provider.seen.length = 0;
  await withBackend({ provider: "openrouter", base_url }, async (services) => {
    await answer(services, { model: "maker/new:free" });
    await answer(services, { model: "maker/known" });
    await assert.rejects(answer(services, { model: "mian/gpt-5" }), { name: "NotFound" });
    assert.deepEqual(asked(), ["maker/new:free", "maker/known"]);
  });
});

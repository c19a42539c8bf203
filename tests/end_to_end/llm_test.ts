import assert from "node:assert/strict";
import { FakeProvider, jsonLines } from "../services/models/llm/support/provider.ts";
import { call } from "../support/api.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const KEY = "sk-PLANTED-0123456789";
const LINE = { model: "m", message: { role: "assistant", content: "hello" }, done: false };
const END = { ...LINE, done: true, done_reason: "stop", prompt_eval_count: 2, eval_count: 1 };

Deno.test("models answer through a backend from the command line, and a client that leaves ends the call", async () => {
  const asked = Promise.withResolvers<void>();
  const left = { whole: Promise.withResolvers<void>(), stream: Promise.withResolvers<void>() };
  await using provider = new FakeProvider(async ({ path, body, left: gone }) => {
    if (path === "/api/tags") return Response.json({ models: [{ name: "m" }] });
    const { stream, model } = body as { stream: boolean; model: string };
    if (model === "m") return stream ? jsonLines([LINE, END]) : Response.json(END);
    if (!stream) {
      asked.resolve();
      await gone;
      left.whole.resolve();
      return new Response();
    }
    const begin = new TextEncoder().encode(`${JSON.stringify(LINE)}\n`);
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(begin),
        cancel: () => left.stream.resolve(),
      }),
    );
  });
  await using program = await startProgram({ environment: { THE_KEY: KEY } });
  const environment = { MUSTER_URL: program.api, MUSTER_TOKEN: program.token };
  const run = (...args: string[]) => runMuster(args, { folder: program.folder, environment });
  const make = ["--base-url", provider.url, "--api-key-env", "THE_KEY", "--block", "secret-*"];
  assert.equal((await run("backend", "add", "home", "ollama", ...make)).code, 0);
  assert.match((await run("backend", "list")).stdout, /^home .* api +-$/m);
  assert.equal((await run("backend", "models", "home")).stdout, "m\n");
  assert.match((await run("backend", "list")).stdout, /^home +ollama +http.* THE_KEY +api +1$/m);

  const complete = (request: object, signal?: AbortSignal) =>
    fetch(`${program.api}/v1/llm/complete`, {
      method: "POST",
      headers: { authorization: `Bearer ${program.token}`, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...request }),
      ...signal === undefined ? {} : { signal },
    });
  const whole = await (await complete({ model: "home/m" })).json();
  assert.equal(whole.choices[0].message.content, "hello");
  assert.match(
    await (await complete({ model: "m", stream: true })).text(),
    /hello.*\[DONE\]\n\n$/s,
  );

  const streamed = await complete({ model: "endless", stream: true });
  await streamed.body?.cancel();
  await left.stream.promise;
  const caller = new AbortController();
  const abandoned = assert.rejects(complete({ model: "endless" }, caller.signal));
  await asked.promise;
  caller.abort();
  await Promise.all([abandoned, left.whole.promise]);

  assert.equal((await run("backend", "remove", "home")).code, 0);
  const failed = await run("backend", "models", "home");
  assert.deepEqual([failed.code, failed.stdout], [1, ""]);
  assert.match(failed.stderr, /no LLM backend "home"/);
  assert.ok(!program.log.join("\n").includes("PLANTED"));
});

Deno.test("a call that was answered is in the ledger after kill -9", async () => {
  await withFolder(async (folder) => {
    await using provider = new FakeProvider(() => Response.json(END));
    const backends = [{ name: "home", provider: "ollama", base_url: provider.url }];
    const config = JSON.stringify({ llm: { backends } });
    const calls = 5;
    {
      await using program = await startProgram({ folder, config });
      for (let index = 0; index < calls; index++) {
        const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
        const response = await call(program, "POST", "/v1/llm/complete", body);
        assert.equal(response.status, 200);
        await response.text();
      }
      await program.stop("SIGKILL");
    }
    await using again = await startProgram({ folder, config });
    const { total } = await (await call(again, "GET", "/v1/llm/usage?by=model")).json();
    assert.deepEqual([total.calls, total.input_tokens, total.output_tokens], [5, 10, 5]);
    const rows = await (await call(again, "GET", "/v1/llm/calls")).json();
    assert.equal(rows.length, calls);
  });
});

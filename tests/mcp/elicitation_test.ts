/** `ask_human` at a client that can ask its own user. */
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, type McpHandler } from "../../mcp/mod.ts";
import { serveStdio } from "../../mcp/stdio/mod.ts";
import { showsForms } from "../../mcp/user_forms.ts";
import { type TestApi, withApi } from "../support/scenarios.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { FORGETFUL } from "../support/stdio.ts";
import { until } from "../support/until.ts";

type Handle = (request: Request) => Promise<Response>;

/** Runs a test with the MCP endpoint, as the agent `caller`. */
async function withEndpoint(run: (api: TestApi, handle: Handle) => Promise<void>): Promise<void> {
  await withApi(async (api) => {
    const { services, metrics } = api;
    const scopes = ["read" as const, "write" as const];
    const request = { owner: "caller", name: "mcp", scopes, project: null, expires_at: null };
    const { token } = await services.tokens.create(request, BY_OPERATOR);
    const handler: McpHandler = createMcpHandler({
      ...services,
      metrics,
      scheduler: services.clock,
    });
    await run(api, (sent) => {
      const headers = new Headers(sent.headers);
      headers.set("authorization", `Bearer ${token}`);
      return handler(new Request(sent, { headers }), "127.0.0.1");
    });
  });
}

interface Asked {
  readonly message?: unknown;
  readonly requestedSchema?: unknown;
}

type Reply = { action: "accept"; content: { answer: string } } | { action: "decline" | "cancel" };

/** A client of the stateless revision, over HTTP. */
async function connect(handle: Handle, reply: (asked: Asked) => Reply | Promise<Reply>) {
  const client = new Client({ name: "test", version: "1" }, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  client.setRequestHandler("elicitation/create", ({ params }) => reply(params));
  await client.connect(
    new StreamableHTTPClientTransport(new URL("http://127.0.0.1:8081/mcp"), {
      fetch: (url, init) => handle(new Request(url, init)),
    }),
  );
  return client;
}

const QUESTION = { text: "Release it?", choices: ["yes", "no"], wait_seconds: 60 };

Deno.test("the user of the agent's own client answers, and others may be first", async () => {
  await withEndpoint(async ({ services: { questions } }, handle) => {
    const asked: Asked[] = [];
    let before = () => Promise.resolve();
    let reply: Reply = { action: "accept", content: { answer: "yes" } };
    const client = await connect(handle, async (params) => {
      asked.push(params);
      await before();
      return reply;
    });
    const ask = async (input: Record<string, unknown> = QUESTION) => {
      const result = await client.callTool({ name: "ask_human", arguments: input });
      assert.equal(result.isError, false);
      return result.structuredContent;
    };
    assert.deepEqual(await ask(), {
      id: 1,
      state: "answered",
      answer: "yes",
      answered_by: "the user of caller’s client",
    });
    assert.equal(asked[0]?.message, "caller asks: Release it?");
    assert.deepEqual(asked[0]?.requestedSchema, {
      type: "object",
      properties: { answer: { type: "string", title: "Answer", enum: ["yes", "no"] } },
      required: ["answer"],
    });

    before = async () => void await questions.answer(2, "no", BY_OPERATOR, "http");
    assert.deepEqual(await ask({ ...QUESTION, text: "And now?" }), {
      id: 2,
      state: "answered",
      answer: "no",
      answered_by: "operator",
    });

    before = () => Promise.resolve();
    reply = { action: "decline" };
    const declined = ask({ ...QUESTION, text: "Really?" });
    await until(() => asked.length === 3);
    await questions.answer(3, "no", BY_OPERATOR, "http");
    assert.deepEqual(
      await declined,
      { id: 3, state: "answered", answer: "no", answered_by: "operator" },
      "a form that is declined ends nothing",
    );

    const shown = asked.length;
    await ask({ text: "Without waiting?" });
    assert.equal(asked.length, shown, "who does not wait for the answer shows no form");
    await client.close();
  });
});

Deno.test("a reply answers nothing but the caller's own question, which named nobody", async () => {
  await withEndpoint(async ({ services: { questions, ircAccounts } }, handle) => {
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    await questions.ask({ text: "Whose?" }, BY_OPERATOR);
    const call = async (state: unknown, answer: unknown, input: object = QUESTION) => {
      const response = await handle(
        new Request("http://127.0.0.1:8081/mcp", {
          method: "POST",
          headers: { "mcp-protocol-version": "2025-11-25", "muster-elicitation": "form" },
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: {
              name: "ask_human",
              arguments: input,
              requestState: state,
              inputResponses: { answer: { action: "accept", content: { answer } } },
            },
          }),
        }),
      );
      return (await response.json()).result;
    };
    for (const state of ["1", "99"]) {
      const refused = await call(state, "yes");
      assert.equal(refused.isError, true, state);
    }
    for (const state of ["x", "-1", "", "1 ", "9".repeat(10), "1".repeat(1000)]) {
      const refused = await call(state, "yes");
      assert.equal(refused.isError, true, state);
      assert.match(refused.content[0].text, /^"requestState" is not one that ask_human gave; /);
    }
    assert.equal((await questions.get(1, BY_OPERATOR.principal)).state, "open");
    // What is no reply is a first call, which shows the form.
    for (const [state, answer] of [[1, "yes"], ["2", null], [null, "yes"]]) {
      assert.equal((await call(state, answer)).resultType, "input_required");
    }
    const named = await call(null, "", { text: "Ann?", to: "ann" });
    assert.match((await call(String(named.structuredContent.id), "yes")).content[0].text, /nobody/);
  });
});

/** A form that a client gets. */
interface Form {
  readonly id: string;
  readonly params: Asked;
}

/** A client of an early revision that shows forms, at `muster mcp`. */
interface EarlyClient {
  readonly lines: readonly string[];
  send(message: object): Promise<void>;
  /** Calls `ask_human`; returns the form that its user sees. */
  ask(id: number, text: string): Promise<Form>;
  /** The first message that matches. */
  next(matches: (message: Message) => boolean): Promise<Message>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result: { readonly structuredContent: Readonly<Record<string, unknown>> };
  readonly error?: { readonly code: number };
}

async function withEarlyClient(
  run: (client: EarlyClient, api: TestApi) => Promise<void>,
): Promise<void> {
  await withEndpoint(async (api, handle) => {
    const lines: string[] = [];
    const input = new TransformStream<Uint8Array, Uint8Array>();
    const writer = input.writable.getWriter();
    const send = (message: object) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
    const serving = serveStdio({
      ...FORGETFUL,
      input: input.readable,
      write: (line) => Promise.resolve(void lines.push(line)),
      deliver: ({ headers, body, signal }) =>
        handle(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body, signal })),
    });
    const next: EarlyClient["next"] = async (matches) => {
      await until(() => lines.some((line) => matches(JSON.parse(line))));
      return lines.map((line) => JSON.parse(line)).find(matches);
    };
    const capabilities = { elicitation: {} };
    const opening = { protocolVersion: "2025-06-18", capabilities };
    await send({ id: 1, method: "initialize", params: opening });
    const ask: EarlyClient["ask"] = async (id, text) => {
      const call = { name: "ask_human", arguments: { ...QUESTION, text } };
      await send({ id, method: "tools/call", params: call });
      const isForm = ({ method, params }: Message) =>
        method === "elicitation/create" && JSON.stringify(params).includes(text);
      await next(isForm);
      return lines.map((line) => JSON.parse(line)).find(isForm);
    };
    await run({ lines, send, ask, next }, api);
    await writer.close();
    await serving;
  });
}

/** Whether a message takes a form away. */
function takesAway(form: Form) {
  return ({ method, params }: Message) =>
    method === "notifications/cancelled" && params.requestId === form.id;
}

Deno.test("muster mcp shows the form to users of clients of earlier revisions", async () => {
  await withEarlyClient(async ({ lines, send, ask, next }, { services: { questions } }) => {
    const form = await ask(2, "Release it?");
    assert.equal(form.params.message, "caller asks: Release it?");
    await send({ id: form.id, result: { action: "accept", content: { answer: "no" } } });
    const answered = await next(({ id }) => id === 2);
    assert.equal(answered.result.structuredContent.answer, "no");
    assert.equal((await questions.get(1, BY_OPERATOR.principal)).via, "elicitation");

    const second = await ask(3, "Again?");
    await send({ method: "notifications/cancelled", params: { requestId: 3 } });
    await next(takesAway(second));
    assert.ok(!lines.some((line) => JSON.parse(line).id === 3));
    assert.equal((await questions.get(2, BY_OPERATOR.principal)).state, "open");
  });
});

Deno.test("the form, an answer from elsewhere and the end of the wait race", async () => {
  await withEarlyClient(async ({ lines, send, ask, next }, { services }) => {
    const { questions, clock } = services;
    const first = await ask(2, "One?");
    await questions.answer(1, "yes", BY_OPERATOR, "http");
    const elsewhere = await next(({ id }) => id === 2);
    assert.equal(elsewhere.result.structuredContent.answered_by, "operator");
    await next(takesAway(first));

    const replies = [{ result: { action: "decline" } }, {
      error: { code: -32603, message: "none" },
    }];
    for (const [index, reply] of replies.entries()) {
      const id = 3 + index;
      const form = await ask(id, `Declined ${index}?`);
      await send({ id: form.id, ...reply });
      await questions.answer(2 + index, "no", BY_OPERATOR, "http");
      assert.equal(
        (await next((message) => message.id === id)).result.structuredContent.answer,
        "no",
      );
    }

    const late = await ask(5, "Late?");
    await until(() => {
      clock.advance(60_000);
      return lines.some((line) => JSON.parse(line).id === 5);
    });
    const open = await next(({ id }) => id === 5);
    assert.equal(open.result.structuredContent.state, "open");
    await next(takesAway(late));
  });
});

Deno.test("a client whose forms would belong to tasks gets initialize, where they can be closed", async () => {
  await withEarlyClient(async ({ send, next }) => {
    const discover = async (id: number, capabilities: object) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
      };
      await send({ id, method: "server/discover", params: { _meta } });
      return await next((message) => message.id === id);
    };
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const elicitation = { form: {} };
    assert.equal((await discover(2, { elicitation, extensions })).error?.code, -32601);
    for (const [index, capabilities] of [{ elicitation }, { extensions }, {}].entries()) {
      assert.ok((await discover(3 + index, capabilities)).result);
    }
  });
});

Deno.test("a client shows forms if it says so, or is from before there was a choice", () => {
  for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
    assert.equal(showsForms({ elicitation }), true);
  }
  for (const capabilities of [undefined, {}, { elicitation: null }, { elicitation: { url: {} } }]) {
    assert.equal(showsForms(capabilities), false);
  }
});

/** The tools with which agents ask people, and people answer. */
import assert from "node:assert/strict";
import { createMcpHandler } from "../../mcp/mod.ts";
import { Unavailable } from "../../services/kernel/errors.ts";
import { listAt, numberAt, textAt, valueAt } from "../support/json.ts";
import { type TestApi, withApi } from "../support/scenarios.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { until } from "../support/until.ts";

type Call = (
  who: string,
  name: string,
  input?: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Runs a test with a way to call tools as the agent `caller`, the person `ann` and the operator. */
async function withTools(
  run: (api: TestApi, call: Call, list: (who: string) => Promise<string[]>) => Promise<void>,
) {
  await withApi(async (api) => {
    const { services } = api;
    await services.ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    const tokens = new Map<string, string>();
    for (const owner of ["caller", "ann"]) {
      const scopes = ["read" as const, "write" as const];
      const request = { owner, name: "mcp", scopes, project: null, expires_at: null };
      tokens.set(owner, (await services.tokens.create(request, BY_OPERATOR)).token);
    }
    tokens.set("operator", (await Deno.readTextFile(`${services.folder}/api_token`)).trim());
    const handle = createMcpHandler({
      ...services,
      metrics: api.metrics,
      scheduler: services.clock,
    });
    const send = async (who: string, method: string, params: unknown, query = "") => {
      const request = new Request(`http://127.0.0.1:8081/mcp${query}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tokens.get(who)}`,
          "mcp-protocol-version": "2025-06-18",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return (await (await handle(request, "127.0.0.1")).json()).result;
    };
    await run(
      api,
      (who, name, input = {}) => send(who, "tools/call", { name, arguments: input }),
      async (who) =>
        listAt(await send(who, "tools/list", {}, "?tools=all"), "tools").map((tool) =>
          textAt(tool, "name")
        ),
    );
  });
}

Deno.test("an agent asks and waits, and a person answers, with tools", async () => {
  await withTools(async (api, call, list) => {
    const asking = call("caller", "ask_human", {
      text: "Which way?",
      choices: ["left", "right"],
      to: "ann",
      wait_seconds: 60,
    });
    await until(() => api.services.questions.open(BY_OPERATOR.principal).length === 1);
    const needs = await call("ann", "list_needs");
    assert.match(
      textAt(needs, "content.0.text"),
      /^question\/1 → you: "Which way\?" \(caller asks\)$/,
    );
    const wrong = await call("ann", "answer_question", { id: 1, answer: "up" });
    assert.equal(valueAt(wrong, "isError"), true);
    const answered = await call("ann", "answer_question", { id: 1, answer: "left" });
    assert.equal(textAt(answered, "content.0.text"), "question 1 is answered by ann: left");
    const outcome = { id: 1, state: "answered", answer: "left", answered_by: "ann" };
    for (const result of [await asking, await call("caller", "get_answer", { id: 1 })]) {
      assert.deepEqual(valueAt(result, "structuredContent"), outcome);
    }
    const late = await call("operator", "answer_question", { id: 1, answer: "right" });
    assert.match(textAt(late, "content.0.text"), /Question 1 is answered by ann already: left/);

    const unknown = await call("caller", "get_answer", { id: 2 });
    assert.match(
      textAt(unknown, "content.0.text"),
      /no question 2.*Use the id that ask_human returned/,
    );
    const open = await call("caller", "ask_human", {
      text: "And now?",
      default: "on",
      deadline: 60,
    });
    assert.equal(textAt(open, "structuredContent.state"), "open");
    api.services.clock.advance(60_000);
    await api.services.questions.idle();
    const ended = await call("caller", "get_answer", { id: 2 });
    assert.equal(textAt(ended, "content.0.text"), "question 2 ended; its default counts: on");
    const inbox = await call("caller", "read_inbox", {});
    const last = listAt(inbox, "structuredContent.messages").at(-1);
    assert.deepEqual([textAt(last, "kind"), numberAt(last, "question")], ["question", 2]);
    await call("caller", "ask_human", { text: "Third?" });
    const withdrawn = await call("caller", "withdraw_question", { id: 3 });
    assert.equal(textAt(withdrawn, "structuredContent.state"), "withdrawn");

    assert.deepEqual(await list("ann"), ["answer_question", "list_needs"]);
    for (const name of ["ask_human", "get_answer", "withdraw_question", "list_needs"]) {
      assert.ok((await list("caller")).includes(name), name);
    }
    assert.ok(!(await list("caller")).includes("answer_question"));
    const forbidden = await call("caller", "answer_question", { id: 2, answer: "x" });
    assert.match(textAt(forbidden, "content.0.text"), /People answer questions, not agents/);
    for (
      const [name, input] of [
        ["ask_human", { text: "Whose?" }],
        ["get_answer", { id: 2 }],
        ["withdraw_question", { id: 2 }],
      ] as const
    ) {
      const refused = await call("ann", name, input);
      assert.match(textAt(refused, "content.0.text"), /^Agents ask questions, and people answer/);
    }
    const noInbox = await call("operator", "acknowledge_messages", { up_to: "x" });
    assert.match(textAt(noInbox, "content.0.text"), /^Only agents have an inbox/);
    const closed = await call("ann", "get_history", { channel: "#general" });
    assert.match(
      textAt(closed, "content.0.text"),
      /^A person's token opens questions, what waits, repos/,
    );
  });
});

Deno.test("a question is answered while the disk is nearly full as it is over HTTP", async () => {
  await withTools(async (api, call) => {
    await call("caller", "ask_human", { text: "Which way?" });
    await call("caller", "ask_human", { text: "When?" });
    const { services } = api;
    const require = services.space.require.bind(services.space);
    let isFull = true;
    services.space.require = () => {
      if (isFull) throw new Unavailable("The disk is nearly full");
      require();
    };
    const answer = (id: number) => call("ann", "answer_question", { id, answer: "now" });
    const status = async (id: number) => {
      const request = `POST /v1/questions/${id}/answer`;
      const response = await api.send({ who: "operator", request, body: { answer: "now" } });
      await response.body?.cancel();
      return response.status;
    };
    assert.deepEqual([valueAt(await answer(1), "isError"), await status(2)], [true, 503]);
    const withdrawn = await call("caller", "withdraw_question", { id: 1 });
    assert.equal(textAt(withdrawn, "structuredContent.state"), "withdrawn");
    isFull = false;
    assert.equal(await status(2), 200);
  });
});

import assert from "node:assert/strict";
import { call, newFixture, post, rpc, textOf, type ToolResult, type Who } from "./support.ts";

/** What a call gives: a text, or what a tool error has to say. */
type Outcome = { text: string } | { error: RegExp };

interface Scenario {
  readonly who: Who;
  readonly tool: string;
  readonly input?: unknown;
  readonly outcome: Outcome;
}

const STATUS = { text: "status: ok\nagents: 2 active, 3 total" };
const CHANNELS = { text: "#empty (1 members)\n#general (3 members) — What we do — today" };
const REGISTERED = { text: "Agent registered: coder\nnick: coder\npassword: secret" };
const SENT = { text: "message sent to #general" };
const NO_HISTORY = { text: "# history: #general (last 0)" };
const READ_ONLY = { error: /scope "write"\. Ask the operator/ };
const OPERATOR_ONLY = {
  error: /^Only the operator's API token and admins' tokens open this\. Ask the operator/,
};

const MESSAGE = { channel: "#general", type: "task.create" };

const SCENARIOS: readonly Scenario[] = [
  ...(["reader", "writer", "operator"] as const).flatMap((who): Scenario[] => [
    { who, tool: "get_status", outcome: STATUS },
    {
      who,
      tool: "get_status",
      input: { verbose: true },
      outcome: { error: /^"verbose" is not an argument of get_status, which takes none$/ },
    },
    { who, tool: "list_channels", outcome: CHANNELS },
    { who, tool: "get_history", input: { channel: "general" }, outcome: NO_HISTORY },
    {
      who,
      tool: "register_agent",
      input: { nick: "coder", type: "observer", channels: ["general"] },
      outcome: who === "operator" ? REGISTERED : OPERATOR_ONLY,
    },
    {
      who,
      tool: "send_message",
      input: MESSAGE,
      outcome: who === "reader" ? READ_ONLY : SENT,
    },
  ]),
  {
    who: "operator",
    tool: "register_agent",
    input: { nick: "taken" },
    outcome: { error: /taken\. Choose another nick$/ },
  },
  { who: "operator", tool: "register_agent", outcome: { error: /^"nick" is required$/ } },
  {
    who: "operator",
    tool: "register_agent",
    input: { nick: 5 },
    outcome: { error: /^"nick" must be a string$/ },
  },
  {
    who: "operator",
    tool: "register_agent",
    input: { nick: "coder", type: "king" },
    outcome: { error: /^"type" must / },
  },
  {
    who: "operator",
    tool: "register_agent",
    input: { nick: "coder", channels: ["a", 5] },
    outcome: { error: /^"channels\[1\]" must be a string$/ },
  },
  { who: "writer", tool: "send_message", outcome: { error: /^"channel" is required$/ } },
  {
    who: "writer",
    tool: "send_message",
    input: { channel: "general" },
    outcome: { error: /^"type" is required, or "text" for plain words$/ },
  },
  {
    who: "writer",
    tool: "send_message",
    input: { ...MESSAGE, type: "task create" },
    outcome: { error: /^"type" must / },
  },
  {
    who: "writer",
    tool: "send_message",
    input: { ...MESSAGE, payload: "text" },
    outcome: { error: /^"payload" must be an object$/ },
  },
  {
    who: "writer",
    tool: "send_message",
    input: { ...MESSAGE, channel: "no channel" },
    outcome: { error: /channel's name/ },
  },
  { who: "writer", tool: "send_message", input: { ...MESSAGE, channel: "general" }, outcome: SENT },
  { who: "reader", tool: "get_history", outcome: { error: /^"channel" is required$/ } },
  ...[0, 201, 1.5, "twenty"].map((limit): Scenario => ({
    who: "reader",
    tool: "get_history",
    input: { channel: "#general", limit },
    outcome: { error: /^"limit"/ },
  })),
  {
    who: "reader",
    tool: "get_history",
    input: { channel: "#general", wait_seconds: 61 },
    outcome: { error: /^"wait_seconds"/ },
  },
];

for (const { who, tool, input, outcome } of SCENARIOS) {
  const what = input === undefined ? "" : ` with ${JSON.stringify(input)}`;
  Deno.test(`${tool} called by ${who}${what}`, async () => {
    const fixture = newFixture();
    const result = await call(fixture, who, tool, input);
    const { type } = result.content[0] ?? {};
    assert.equal(type, "text");
    assert.equal(result.isError, "error" in outcome);
    if ("text" in outcome) assert.equal(textOf(result), outcome.text);
    else {
      assert.match(textOf(result), outcome.error);
      assert.deepEqual(fixture.bridge.kept, []);
      assert.deepEqual(fixture.registered, []);
    }
  });
}

Deno.test("register_agent passes on its arguments and the caller", async () => {
  const fixture = newFixture();
  await call(fixture, "operator", "register_agent", { nick: "coder" });
  await call(fixture, "operator", "register_agent", {
    nick: "eye",
    type: "observer",
    channels: ["general"],
  });
  assert.deepEqual(fixture.registered.map(({ input }) => input), [
    { nick: "coder", type: "worker", channels: [] },
    { nick: "eye", type: "observer", channels: ["#general"] },
  ]);
  const caller = fixture.registered[0]?.caller;
  assert.equal(caller?.principal.kind, "operator");
  assert.equal(caller?.address, "127.0.0.1");
  assert.match(caller?.requestId ?? "", /^[0-9a-f-]{36}$/);
});

Deno.test("send_message sends an envelope in the caller's name", async () => {
  const fixture = newFixture();
  const before = Date.now();
  await call(fixture, "writer", "send_message", { ...MESSAGE, payload: { n: [1, "two"] } });
  await call(fixture, "operator", "send_message", MESSAGE);
  const [byAgent, byOperator] = fixture.bridge.kept.map(({ nick, text }) => ({
    nick,
    envelope: JSON.parse(text),
  }));
  assert.equal(byAgent?.nick, "writer");
  const { id, ts, ...rest } = byAgent.envelope;
  assert.deepEqual(rest, { v: 1, type: "task.create", from: "writer", payload: { n: [1, "two"] } });
  assert.match(id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.ok(ts >= before && ts <= Date.now());
  assert.equal(byOperator?.nick, "bridge");
  assert.equal(byOperator.envelope.from, "bridge");
});

Deno.test("get_history writes typed and untyped messages, the newest, oldest first", async () => {
  const fixture = newFixture();
  await call(fixture, "writer", "send_message", { ...MESSAGE, payload: { n: 1 } });
  fixture.bridge.say("ann", "hello there");
  fixture.bridge.say("ann", '{"v":1}');
  const { id } = JSON.parse(fixture.bridge.kept[0]?.text ?? "");
  fixture.bridge.say("ann", JSON.stringify({ v: 1, type: "t", id: "E", from: "boss", re: id }));
  const all = await call(fixture, "reader", "get_history", { channel: "general" });
  assert.equal(
    textOf(all),
    "# history: #general (last 4)\n" +
      `[#general] <writer> type=task.create id=${id}\n` +
      "[#general] <ann> hello there\n" +
      '[#general] <ann> {"v":1}\n' +
      "[#general] <ann> type=t id=E",
  );
  const spoken = (number: number, nick: string) => ({
    id: `m${number}`,
    timestamp: `2026-11-20T00:00:00.00000${number}Z`,
    nick,
    account: null,
  });
  assert.deepEqual(JSON.parse(all.content[1]?.text ?? ""), {
    channel: "#general",
    messages: [
      { ...spoken(1, "writer"), type: "task.create", envelope_id: id, payload: { n: 1 } },
      { ...spoken(2, "ann"), text: "hello there" },
      { ...spoken(3, "ann"), text: '{"v":1}' },
      { ...spoken(4, "ann"), type: "t", envelope_id: "E", from: "boss", other_fields: { re: id } },
    ],
    next_since: "m4",
  });
  const newest = await call(fixture, "reader", "get_history", { channel: "#general", limit: 1 });
  assert.equal(textOf(newest), "# history: #general (last 1)\n[#general] <ann> type=t id=E");
});

Deno.test("get_history returns 20 messages by default, and no more than are kept", async () => {
  const fixture = newFixture();
  for (let count = 0; count < 25; count++) {
    fixture.bridge.say("ann", `line ${count}`);
  }
  const usual = await call(fixture, "reader", "get_history", { channel: "#general" });
  assert.match(textOf(usual), /^# history: #general \(last 20\)\n.*line 5\n/);
  const small = newFixture({ config: { bridge: { buffer_size: 3 } } });
  const result = await call(small, "reader", "get_history", { channel: "#general" });
  assert.equal(result.isError, false);
});

Deno.test("get_history keeps to max_chars, and next reads what is left out", async () => {
  const fixture = newFixture();
  for (let count = 0; count < 60; count++) {
    fixture.bridge.say("ann", `line ${count} ${"x".repeat(300)}`);
  }
  const range = { channel: "#general", limit: 60, max_chars: 10_000 };
  const newest = await call(fixture, "reader", "get_history", range);
  assert.ok(newest.content.reduce((sum, { text }) => sum + text.length, 0) <= 10_000);
  assert.match(textOf(newest), /\(last (\d+)\)\n[^]*line 59 x+$/);
  const { more, next } = JSON.parse(newest.content[1]?.text ?? "");
  assert.match(more, /^Left out: the first \d+ of 60 messages; call again with \{"before":/);
  const before = await call(fixture, "reader", "get_history", { ...range, ...next });
  const shown = [before, newest].flatMap((result) =>
    [...textOf(result).matchAll(/line (\d+)/g)].map(([, number]) => Number(number))
  );
  assert.deepEqual(shown, shown.map((_, index) => 60 - shown.length + index), "no gap, no repeat");
});

Deno.test("get_history continues after an id that it showed", async () => {
  const fixture = newFixture();
  await call(fixture, "writer", "send_message", MESSAGE);
  fixture.bridge.say("ann", "next");
  const shown = await call(fixture, "reader", "get_history", { channel: "#general" });
  const since = /id=(\S+)/.exec(textOf(shown))?.[1];
  const rest = await call(fixture, "reader", "get_history", { channel: "#general", since });
  assert.equal(textOf(rest), "# history: #general (last 1)\n[#general] <ann> next");
});

Deno.test("get_history goes back before the id that it showed", async () => {
  const fixture = newFixture();
  for (const text of ["one", "two"]) fixture.bridge.say("ann", text);
  await call(fixture, "writer", "send_message", MESSAGE);
  const shown = await call(fixture, "reader", "get_history", { channel: "#general", limit: 1 });
  const before = /id=(\S+)/.exec(textOf(shown))?.[1];
  const page = { channel: "#general", limit: 1, before };
  const older = await call(fixture, "reader", "get_history", page);
  assert.equal(textOf(older), "# history: #general (last 1)\n[#general] <ann> two");
});

Deno.test("get_history waits for the next message", async () => {
  const fixture = newFixture();
  const waiting = Promise.withResolvers<void>();
  fixture.bridge.onWaiting = waiting.resolve;
  const answer = call(fixture, "reader", "get_history", { channel: "general", wait_seconds: 60 });
  await waiting.promise;
  fixture.bridge.say("ann", "at last");
  assert.equal(textOf(await answer), "# history: #general (last 1)\n[#general] <ann> at last");
});

Deno.test("waiting calls of a batch wait at the same time and delay nothing else", async () => {
  const fixture = newFixture();
  const wait = { name: "get_history", arguments: { channel: "#general", wait_seconds: 60 } };
  const say = { name: "send_message", arguments: { channel: "#general", type: "status.report" } };
  const batch = [
    ...Array.from({ length: 40 }, (_, id) => rpc("tools/call", wait, id)),
    rpc("ping", undefined, "ping"),
    rpc("tools/call", say, "say"),
    rpc("tools/call", { ...wait, arguments: { channel: "#general" } }, "read"),
  ];
  const response = await fixture.handler(post("writer", batch), "127.0.0.1");
  const answers: { id: unknown; result: ToolResult }[] = await response.json();
  assert.deepEqual(answers.map(({ id }) => id), batch.map(({ id }) => id));
  for (const { id, result } of answers) {
    if (id !== "ping" && id !== "say") assert.match(textOf(result), /^# history.*last 1/, `${id}`);
  }
});

Deno.test("a batch ends when its caller's credential ends", async () => {
  const fixture = newFixture();
  const say = { name: "post", arguments: { channel: "#general", text: "hello" } };
  fixture.bridge.onPosted = () => fixture.revoke("writer");
  const batch = [1, 2, 3].map((id) => rpc("tools/call", say, id));
  const response = await fixture.handler(post("writer", batch), "127.0.0.1");
  assert.equal(response.status, 401);
  assert.equal(fixture.bridge.kept.length, 1);
});

Deno.test("all waits of a batch together take a minute at most", async () => {
  const fixture = newFixture();
  const waiting = Promise.withResolvers<void>();
  fixture.bridge.onWaiting = () => {
    if (fixture.bridge.waiting.length === 3) waiting.resolve();
  };
  const wait = { name: "get_history", arguments: { channel: "#general", wait_seconds: 60 } };
  const batch = [1, 2, 3].map((id) => rpc("tools/call", wait, id));
  const answered = fixture.handler(post("reader", batch), "127.0.0.1");
  await waiting.promise;
  fixture.scheduler.advance(60_000);
  const answers: { result: ToolResult }[] = await (await answered).json();
  assert.deepEqual(answers.map(({ result }) => textOf(result)), Array(3).fill(NO_HISTORY.text));
  assert.equal(fixture.scheduler.pending, 0);
});

Deno.test("get_history stops waiting when the client closes the request", async () => {
  const fixture = newFixture();
  const waiting = Promise.withResolvers<void>();
  fixture.bridge.onWaiting = waiting.resolve;
  const closing = new AbortController();
  const input = { channel: "general", wait_seconds: 60 };
  const answer = call(fixture, "reader", "get_history", input, closing.signal);
  await waiting.promise;
  closing.abort();
  assert.equal(textOf(await answer), NO_HISTORY.text);
  assert.deepEqual(fixture.logged, []);
});

Deno.test("get_history stops waiting when the agent is revoked", async () => {
  const fixture = newFixture();
  const waiting = Promise.withResolvers<void>();
  fixture.bridge.onWaiting = waiting.resolve;
  const answer = call(fixture, "reader", "get_history", { channel: "general", wait_seconds: 60 });
  await waiting.promise;
  fixture.revoke("reader");
  assert.equal(textOf(await answer), NO_HISTORY.text);
});

for (
  const [tool, input] of [
    ["list_channels", {}],
    ["send_message", MESSAGE],
    ["get_history", { channel: "#general" }],
  ] as const
) {
  Deno.test(`${tool} says why it does not work while the bridge is off`, async () => {
    const result = await call(newFixture({ bridge: null }), "operator", tool, input);
    assert.equal(result.isError, true);
    assert.equal(
      textOf(result),
      "The bridge is turned off in the configuration (bridge.enabled). Go on without it, or ask " +
        "the operator to turn it on",
    );
  });
}

Deno.test("a bug in a service is logged, and the answer holds only its id", async () => {
  const fixture = newFixture({ failure: new Error("the password is hunter2") });
  const result = await call(fixture, "operator", "get_status");
  assert.equal(result.isError, true);
  const [, id] = /^internal error \(([0-9a-f-]{36})\)\. Tell the operator/.exec(textOf(result)) ??
    [];
  assert.equal(fixture.logged.length, 1);
  assert.equal(fixture.logged[0]?.properties.requestId, id);
});

Deno.test("an excessively nested payload gets an answer", async () => {
  const depth = 100_000;
  const payload = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const input = `{"channel":"#general","type":"t","payload":${payload}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
    `"params":{"name":"send_message","arguments":${input}}}`;
  const response = await newFixture().handler(post("writer", body), "127.0.0.1");
  const { result, error } = await response.json();
  assert.ok(error !== undefined || typeof result.isError === "boolean");
});

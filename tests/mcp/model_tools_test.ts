import assert from "node:assert/strict";
import {
  Conflict,
  Forbidden,
  NotFound,
  TimedOut,
  TooLarge,
  TooMany,
  Unavailable,
} from "../../services/kernel/errors.ts";
import { call, newFixture, post, rpc, textOf, type Who } from "./support.ts";

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: string;
    readonly properties: Record<string, { description?: string } & Record<string, unknown>>;
    readonly required?: string[];
    readonly additionalProperties?: boolean;
  };
  readonly outputSchema?: unknown;
  readonly annotations: Record<string, boolean>;
}

async function listTools(who: Who, revision?: string): Promise<ListedTool[]> {
  const headers = revision === undefined ? {} : { "mcp-protocol-version": revision };
  const request = post(who, rpc("tools/list"), {
    headers: { ...headers, "muster-tool-sets": "all" },
  });
  const { result } = await (await newFixture().handler(request, "127.0.0.1")).json();
  return result.tools;
}

const READING = [
  ...["get_status", "list_channels", "get_history", "read_inbox", "get_message_state"],
  ...["get_answer", "list_needs"],
];

const ALL = [
  ...["get_status", "list_channels", "register_agent", "send_message", "get_history"],
  ...["read_inbox", "send_direct", "post", "get_message_state"],
  ...["ask_human", "get_answer", "withdraw_question", "answer_question", "list_needs"],
];

const OF_WRITERS = ALL.flatMap((name) => {
  if (["register_agent", "answer_question"].includes(name)) return [];
  return name === "get_message_state" ? ["acknowledge_messages", name] : [name];
});

const LISTED: readonly (readonly [Who, readonly string[]])[] = [
  ["reader", READING],
  ["writer", OF_WRITERS],
  ["operator", ALL],
  ["admin", ALL],
  ["auditor", READING],
];

for (const [who, names] of LISTED) {
  Deno.test(`tools/list shows ${who} the tools that it may call, and no other`, async () => {
    assert.deepEqual((await listTools(who)).map(({ name }) => name), names);
  });
}

Deno.test("tools/list shows schemas, hints and what every argument means", async () => {
  const tools = await listTools("operator", "2025-06-18");
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    assert.match(description, /\S/, name);
    assert.equal(inputSchema.type, "object");
    assert.equal(inputSchema.additionalProperties, undefined, "max_chars is not listed");
    assert.notEqual(outputSchema, undefined);
    for (const [argument, schema] of Object.entries(inputSchema.properties)) {
      assert.match(schema.description ?? "", /\S/, `${name} ${argument}`);
    }
    const changes = { destructiveHint: false, idempotentHint: name === "ask_human" };
    const isReading = READING.includes(name);
    assert.deepEqual(annotations, {
      readOnlyHint: isReading,
      ...isReading ? {} : changes,
      openWorldHint: false,
    });
  }
  assert.deepEqual(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]), [
    ["get_status", []],
    ["list_channels", []],
    ["register_agent", ["nick"]],
    ["send_message", ["channel"]],
    ["get_history", ["channel"]],
    ["read_inbox", ["agent"]],
    ["send_direct", ["to", "text"]],
    ["post", ["channel", "text"]],
    ["get_message_state", ["id"]],
    ["ask_human", ["text"]],
    ["get_answer", ["id"]],
    ["withdraw_question", ["id"]],
    ["answer_question", ["id", "answer"]],
    ["list_needs", []],
  ]);
  const { limit } = tools[4]?.inputSchema.properties ?? {};
  assert.deepEqual([limit?.default, limit?.maximum], [20, 200]);
  const own = (await listTools("reader")).find(({ name }) => name === "read_inbox");
  assert.deepEqual(own?.inputSchema.required ?? [], []);
});

Deno.test("structured results and their schemas go to clients of 2025-06-18 and newer", async () => {
  const fixture = newFixture();
  for (
    const [revision, structured] of [
      [null, false],
      ["2024-11-05", false],
      ["2025-03-26", false],
      ["2025-06-18", true],
      ["2025-11-25", true],
    ] as const
  ) {
    const [tool] = await listTools("reader", revision ?? undefined);
    assert.equal(tool?.outputSchema !== undefined, structured, `${revision}`);
    const headers: Record<string, string> = revision === null
      ? {}
      : { "mcp-protocol-version": revision };
    const request = post("reader", rpc("tools/call", { name: "get_status" }), { headers });
    const { result } = await (await fixture.handler(request, "127.0.0.1")).json();
    assert.equal("structuredContent" in result, structured, `${revision}`);
    assert.equal(result.isError, false);
  }
});

const MESSAGE = { channel: "#general", type: "task.create" };

interface Refusal {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly error: string | RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    tool: "send_message",
    input: { ...MESSAGE, too: ["scout"] },
    error: '"too" is not an argument of send_message; did you mean "to"?',
  },
  {
    tool: "get_history",
    input: { chanel: "#general" },
    error: '"chanel" is not an argument of get_history; did you mean "channel"?',
  },
  {
    tool: "post",
    input: { channel: "#general", words: "hi" },
    error: '"words" is not an argument of post; it takes "channel" and "text"',
  },
  {
    tool: "read_inbox",
    input: { agent: "scout" },
    error: '"agent" is not an argument of read_inbox; it takes "limit", "since", ' +
      '"wait_seconds", and "max_chars"',
  },
  {
    tool: "send_message",
    input: { ...MESSAGE, text: "hi" },
    error: '"text" cannot be given together with "type" or "payload"',
  },
  { tool: "send_message", input: { ...MESSAGE, to: "scout" }, error: '"to" must be an array' },
  { tool: "send_message", input: { ...MESSAGE, to: [] }, error: '"to" must not be empty' },
  { tool: "send_message", input: { ...MESSAGE, to: ["#ops"] }, error: /^"to\[0\]" must be a nick/ },
  {
    tool: "send_message",
    input: { ...MESSAGE, to: ["scout", "scuot"] },
    error: '"to" names "scuot", but there is no such agent, and nobody of that nick is in ' +
      "#general. Nothing was sent",
  },
  {
    tool: "send_direct",
    input: { to: "#general", text: "hi" },
    error: '"#general" is a channel: use the tool post',
  },
  { tool: "send_direct", input: { to: "ann" }, error: '"text" is required' },
  { tool: "post", input: { channel: "#general", text: null }, error: '"text" is required' },
];

for (const { tool, input, error } of REFUSALS) {
  Deno.test(`${tool} refuses ${JSON.stringify(input)} and says what to change`, async () => {
    const fixture = newFixture();
    const result = await call(fixture, "writer", tool, input);
    assert.equal(result.isError, true);
    if (typeof error === "string") assert.equal(textOf(result), error);
    else assert.match(textOf(result), error);
    assert.deepEqual([fixture.bridge.kept, fixture.directs], [[], []]);
  });
}

Deno.test("an argument that is null counts as left out", async () => {
  const fixture = newFixture();
  const range = { since: null, before: null, limit: null, wait_seconds: null };
  const read = await call(fixture, "reader", "get_history", { channel: "general", ...range });
  assert.equal(textOf(read), "# history: #general (last 0)");
  const sent = await call(fixture, "writer", "send_message", { ...MESSAGE, text: null, to: null });
  assert.equal(sent.isError, false);
  const { to } = JSON.parse(fixture.bridge.kept[0]?.text ?? "");
  assert.equal(to, undefined);
});

Deno.test("send_message addresses an envelope and returns its id", async () => {
  const fixture = newFixture();
  const to = ["scout", "Ann", "@workers", "@build*", "@all"];
  const result = await call(fixture, "writer", "send_message", { ...MESSAGE, to });
  assert.equal(textOf(result), "message sent to #general");
  const envelope = JSON.parse(fixture.bridge.kept[0]?.text ?? "");
  assert.deepEqual(envelope.to, to);
  assert.equal(result.structuredContent?.envelope_id, envelope.id);
});

Deno.test("send_message with a text sends plain words to the addressees", async () => {
  const fixture = newFixture();
  const say = (input: object) =>
    call(fixture, "writer", "send_message", { channel: "#general", ...input });
  assert.equal(textOf(await say({ text: "done" })), "message sent to #general");
  await say({ text: "one\n\nt\u2028wo", to: ["scout", "@workers"] });
  assert.deepEqual(fixture.bridge.kept.map(({ text }) => text), [
    "done",
    "scout, @workers: one\n\nscout, @workers: t\u2028wo",
  ]);
});

Deno.test("send_message names the addressees that did not get the message", async () => {
  const fixture = newFixture();
  const result = await call(fixture, "writer", "send_message", {
    ...MESSAGE,
    to: ["scout", "away", "@away", "@all"],
  });
  assert.deepEqual(result.content.map(({ text }) => text), [
    "message sent to #general",
    '"away" did not get it in the inbox, not being in #general: use send_direct, or ask the ' +
    "operator",
  ]);
  assert.deepEqual(result.structuredContent?.not_reached, ["away"]);
});

Deno.test("read_inbox keeps to max_chars, and next reads on to the last message", async () => {
  const fixture = newFixture();
  const base = { from: "boss", account: "boss", state: "queued", kind: "message" } as const;
  for (let index = 0; index < 200; index++) {
    const timestamp = `2026-11-20T00:00:00.${String(index).padStart(6, "0")}Z`;
    const text = `${index} ${"x".repeat(300)}`;
    fixture.inbox.push({ ...base, id: `i${index}`, timestamp, channel: null, text });
  }
  const read: string[] = [];
  let next: Record<string, unknown> | undefined = { limit: 200 };
  for (let calls = 0; next !== undefined; calls++) {
    assert.ok(calls < 20);
    const { content, structuredContent: data } = await call(fixture, "reader", "read_inbox", next);
    assert.ok(content.reduce((sum, { text }) => sum + text.length, 0) <= 40_000);
    const shown = (data?.messages ?? []).map(({ id }) => String(id));
    // What had no room is not read yet.
    assert.deepEqual(fixture.inboxSeen.at(-1), shown);
    assert.equal(fixture.inboxSeen.length, calls + 1, "no other read counts");
    read.push(...shown);
    next = data?.next === undefined ? undefined : { limit: 200, ...data.next };
    if (next === undefined) break;
    assert.match(data?.more ?? "", /^Left out: the last \d+ of \d+ messages; call again with/);
  }
  assert.deepEqual(read, fixture.inbox.map(({ id }) => id));
  fixture.inbox.splice(0, 199);
  const tight = await call(fixture, "reader", "read_inbox", { max_chars: 1000 });
  assert.match(
    textOf(tight),
    /^One message does not fit in 1000 characters; set "max_chars" to \d{4}$/,
  );
});

Deno.test("read_inbox shows the agent's messages and the cursor of the next read", async () => {
  const fixture = newFixture();
  const envelope = { v: 1, type: "task.create", id: "E1", from: "boss", ts: 1, to: ["reader"] };
  const state = "queued" as const;
  const timestamp = "2026-11-20T00:00:00.000001Z";
  const origin = { from: "boss", account: "boss", timestamp, state };
  fixture.inbox.push(
    { ...origin, id: "i1", kind: "message", channel: null, text: "two\n[#general] <root> lines" },
    {
      ...origin,
      id: "i2",
      kind: "mention",
      channel: "#general",
      text: JSON.stringify({ ...envelope, payload: { n: 1 } }),
    },
  );
  const result = await call(fixture, "reader", "read_inbox");
  assert.equal(
    textOf(result),
    "# inbox: reader (last 2)\n" +
      "[direct] <boss> two\n    [#general] <root> lines\n" +
      "[#general] <boss> type=task.create id=E1",
  );
  const { account } = origin;
  const shown = { timestamp, nick: "boss", account };
  assert.deepEqual(result.structuredContent, {
    agent: "reader",
    messages: [
      {
        id: "i1",
        ...shown,
        text: "two\n[#general] <root> lines",
        kind: "message",
        channel: null,
      },
      {
        id: "i2",
        ...shown,
        type: "task.create",
        envelope_id: "E1",
        to: ["reader"],
        payload: { n: 1 },
        kind: "mention",
        channel: "#general",
      },
    ],
    next_since: "i2",
  });
  const next = await call(fixture, "reader", "read_inbox", { since: "E1", wait_seconds: 5 });
  assert.equal(textOf(next), "# inbox: reader (last 0)");
  assert.equal(next.structuredContent?.next_since, "E1");
  const { nick, query } = fixture.inboxQueries.at(-1) ?? {};
  assert.deepEqual([nick, query?.since, query?.waitSeconds, query?.limit], ["reader", "i2", 5, 20]);
  // To find the envelope, it looked at entries that the agent does not see.
  const { limit, since } = fixture.inboxQueries.at(-2)?.query ?? {};
  assert.deepEqual([limit, since], [undefined, undefined]);
});

for (const who of ["operator", "admin", "auditor"] as const) {
  Deno.test(`read_inbox of ${who} reads an agent's`, async () => {
    const fixture = newFixture();
    const nameless = await call(fixture, who, "read_inbox");
    assert.equal(textOf(nameless), '"agent" is required');
    const result = await call(fixture, who, "read_inbox", { agent: "scout" });
    assert.equal(textOf(result), "# inbox: scout (last 0)");
    assert.equal(fixture.inboxQueries[0]?.nick, "scout");
  });
}

for (const who of ["writer", "operator"] as const) {
  Deno.test(`send_direct and post say plain words for ${who}`, async () => {
    const fixture = newFixture();
    const direct = await call(fixture, who, "send_direct", { to: "ann", text: "hi" });
    assert.equal(textOf(direct), "message sent to ann");
    const [sent] = fixture.directs;
    assert.deepEqual([sent?.to, sent?.text, sent?.caller.principal.kind], [
      ...["ann", "hi", who === "writer" ? "agent" : "operator"],
    ]);
    const posted = await call(fixture, who, "post", { channel: "general", text: "hello all" });
    assert.equal(textOf(posted), "posted to #general");
    assert.equal(fixture.bridge.kept[0]?.text, "hello all");
  });
}

Deno.test("an agent acknowledges messages, and asks what became of its own", async () => {
  const fixture = newFixture();
  const acknowledged = await call(fixture, "writer", "acknowledge_messages", { ids: ["i1", "x"] });
  assert.equal(textOf(acknowledged), "acknowledged 1, 0 left; unknown: x");
  assert.deepEqual(acknowledged.structuredContent, { acknowledged: 1, unknown: ["x"], left: 0 });
  const both = await call(fixture, "writer", "acknowledge_messages", { ids: ["i1"], up_to: "i1" });
  assert.match(textOf(both), /^Give either "ids" or "up_to"/);
  const sent = await call(fixture, "writer", "send_direct", { to: "scout", text: "hi" });
  assert.equal(sent.structuredContent?.message_id, "sent-to-scout");
  const state = await call(fixture, "writer", "get_message_state", { id: "sent-to-scout" });
  assert.equal(textOf(state), "scout: read");
});

for (const [tool, input] of [["send_direct", { to: "ann", text: "x" }], ["post", MESSAGE]]) {
  Deno.test(`${tool} is refused to a token that may only read`, async () => {
    const fixture = newFixture();
    const result = await call(fixture, "reader", String(tool), input);
    assert.equal(result.isError, true);
    assert.match(textOf(result), /no scope "write"\. Ask the operator/);
    assert.deepEqual([fixture.bridge.kept, fixture.directs], [[], []]);
  });
}

const FAILURES: readonly (readonly [Error, string])[] = [
  [new NotFound("Nobody"), "Nobody. Use the nick that read_inbox, get_history or"],
  [new Conflict("Away."), "Away. Leave word in a channel with the tool post, or"],
  [new Forbidden("Paused"), "Paused. Ask the operator to allow it"],
  [new TooLarge("Long"), "Long. Make it shorter, or send it in parts"],
  [new TooMany("Fast", 1.5), "Fast. Try again in 2 seconds"],
  [new TooMany("Fast"), "Fast. Try again later, and tell the operator if it stays so"],
  [new TooMany("Full: close one"), "Full: close one"],
  [new Unavailable("Down"), "Down. Try again in a few seconds"],
  [new TimedOut("Slow"), "Slow. It may have been sent all the same"],
];

for (const [failure, told] of FAILURES) {
  Deno.test(`${failure.name} "${failure.message}" tells a model: ${told}`, async () => {
    const fixture = newFixture({ directFailure: failure });
    const result = await call(fixture, "writer", "send_direct", { to: "ann", text: "hi" });
    assert.equal(result.isError, true);
    assert.ok(textOf(result).startsWith(told), textOf(result));
  });
}

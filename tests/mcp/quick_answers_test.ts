/**
 * Plain messages are answered without the protocol's library. Nobody can tell: a message that is
 * plain but for a note in `_meta`, which means nothing and which only the library judges, gets the
 * same answer. (What `initialize` gets stands in http_test.ts: its params mean nothing but a revision,
 * so that no note in them would be judged.)
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { newFixture, post, rpc, type Who } from "./support.ts";
import { THOROUGH } from "../support/level.ts";

const NOTE = { "com.example.mcp/note": 1 };

const REVISIONS = [undefined, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"];

/** Requests and notifications that are plain, or nearly so. */
const MESSAGES: readonly Record<string, unknown>[] = [
  rpc("ping"),
  rpc("ping", {}, "a"),
  rpc("ping", {}, -7),
  rpc("initialize", {}),
  ...["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"].map((
    protocolVersion,
  ) => rpc("initialize", { protocolVersion, capabilities: { roots: {} } })),
  rpc("tools/list"),
  rpc("tools/list", { cursor: "x" }),
  rpc("tools/call", { name: "get_status" }),
  rpc("tools/call", { name: "get_status", arguments: { bogus: 1 } }),
  rpc("tools/call", { name: "list_channels", arguments: {} }),
  rpc("tools/call", { name: "post", arguments: { channel: "#general", text: "hello" } }),
  rpc("tools/call", { name: "post", arguments: { channel: "#general" } }),
  rpc("tools/call", { name: "read_inbox", arguments: { agent: "scout" } }),
  rpc("tools/call", { name: "get_history", arguments: { channel: "#general", limit: 3 } }),
  rpc("tools/call", { name: "register_agent", arguments: { nick: "taken" } }),
  rpc("tools/call", { name: "no_tool" }),
  rpc("tools/call", { name: "x".repeat(300) }),
  rpc("tools/call", { name: "toString", arguments: {} }),
  rpc("tools/call", { name: "" }),
  rpc("resources/list"),
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", method: "ping" },
];

/** A message with a note that only the library judges. */
function withNote(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withNote);
  if (!isRecord(message) || message.method === "initialize") return message;
  // A call without params is refused for having none, which a note would change.
  const { params = message.method === "tools/call" ? null : {} } = message;
  if (!isRecord(params)) return message;
  const { _meta: meta = {} } = params;
  if (!isRecord(meta)) return message;
  return { ...message, params: { ...params, _meta: { ...meta, ...NOTE } } };
}

interface Told {
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
}

async function tell(who: Who, body: unknown, revision: string | undefined): Promise<Told> {
  const { handler } = newFixture();
  const headers = revision === undefined ? {} : { "mcp-protocol-version": revision };
  const response = await handler(post(who, body, { headers }), "127.0.0.1");
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: text === "" ? null : JSON.parse(text),
  };
}

for (const who of ["operator", "writer", "reader", "auditor"] as const) {
  Deno.test(`the library gives ${who} the same answers to plain messages`, THOROUGH, async () => {
    for (const revision of REVISIONS) {
      for (const message of MESSAGES) {
        const told = await tell(who, message, revision);
        assert.deepEqual(told, await tell(who, withNote(message), revision), show(message));
      }
      const batch = [...MESSAGES];
      const told = await tell(who, batch, revision);
      assert.deepEqual(told, await tell(who, withNote(batch), revision));
    }
  });
}

/** What takes the place of a part of a message. */
const VALUES: readonly unknown[] = [
  ...[null, true, 0, 1.5, -0, 2 ** 60, 1e300, "", "2.0", "1", "ping", "tools/call", "#general"],
  ...[[], {}, [1], { a: null }, { progressToken: 1.5 }, { progressToken: "p" }, { _meta: {} }],
];

const KEYS = [
  ...["jsonrpc", "id", "method", "params", "_meta", "name", "arguments", "cursor", "task"],
  ...["__proto__", "constructor", "requestState", "inputResponses", "progressToken", "extra"],
];

/** A member that is put into the object of this number within a message, or is removed there. */
const change = fc.record({
  object: fc.nat(4),
  key: fc.constantFrom(...KEYS),
  value: fc.option(fc.constantFrom(...VALUES), { nil: undefined }),
});

Deno.test(
  "the library gives the same answers to messages that were tampered with",
  THOROUGH,
  async () => {
    const message = fc.constantFrom(...MESSAGES);
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    const revision = fc.constantFrom(...REVISIONS);
    const property = fc.asyncProperty(
      message,
      changes,
      revision,
      async (message, changes, named) => {
        const tampered = JSON.parse(JSON.stringify(message));
        for (const one of changes) tamper(tampered, one);
        const told = await tell("operator", tampered, named);
        assert.deepEqual(told, await tell("operator", withNote(tampered), named));
      },
    );
    await fc.assert(property, { seed: 11, numRuns: 300 });
  },
);

type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

function tamper(message: unknown, { object, key, value }: Change): void {
  const objects = objectsOf(message);
  const target = objects[object % objects.length];
  if (target === undefined) return;
  if (value === undefined) Reflect.deleteProperty(target, key);
  else {
    const all = { writable: true, enumerable: true, configurable: true };
    Object.defineProperty(target, key, { value: structuredClone(value), ...all });
  }
}

/** Every object within a value, itself included. */
function objectsOf(value: unknown): Record<string, unknown>[] {
  if (!isRecord(value)) return [];
  return [value, ...Object.values(value).flatMap(objectsOf)];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(message: unknown): string {
  return JSON.stringify(message).slice(0, 200);
}

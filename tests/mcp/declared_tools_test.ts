/** Tools that follow from the declaration of an operation alone. */
import assert from "node:assert/strict";
import { z } from "zod";
import { declaredTools } from "../../mcp/declared_tools.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { AnyOperation, ToolServices } from "../../mcp/tool_call.ts";
import { OPERATOR } from "../../services/people/identity/mod.ts";
import { serverOperation } from "../../services/people/identity/server_operation.ts";

/** The only tool of an operation. */
function toolOf(operation: AnyOperation): Tool {
  const [tool, ...others] = declaredTools([operation]);
  assert.ok(tool !== undefined && others.length === 0);
  return tool;
}

/** Calls a tool as the operator; returns its answer, which its text says too. */
async function use(tool: Tool, input: Record<string, unknown>): Promise<unknown> {
  const all = { agents: { halts: { requireGoing() {} } }, space: { require() {} } };
  const services: ToolServices = Object.assign(Object.create(null), all, { all });
  const caller = { principal: OPERATOR, address: "192.0.2.1", requestId: "test" };
  const context = { caller, signal: new AbortController().signal };
  const { data, text } = await tool.call(input, context, services);
  assert.deepEqual(JSON.parse(text), data);
  return data;
}

const mcp = { name: "list_words", about: "Lists words." };
const answer = z.object({ words: z.array(z.string()), total: z.int(), page: z.int() });
const words = Array.from({ length: 250 }, (_, index) => `word-${index}`);

Deno.test("a declared tool takes the fields of the input and shows those of the answer", async () => {
  const tool = toolOf(serverOperation({
    on: "coordination",
    summary: "Say a word again",
    mcp: {
      name: "say_again",
      about: "Says it again.",
      names: { said: "word" },
      takes: { said: "A word" },
      hides: ["secret"],
    },
    input: z.object({ word: z.string().max(9), agent_id: z.string().optional() }),
    ok: {
      schema: z.object({ word: z.string(), secret: z.string() }),
      description: "The word",
    },
  }, (_services, { word }) => ({ word, secret: "x" })));
  assert.deepEqual(await use(tool, { said: "hello" }), { word: "hello" });
  assert.deepEqual(await use(tool, { said: "hello", max_chars: 1000 }), { word: "hello" });
  const { properties, required } = tool.listing.inputSchema;
  assert.deepEqual([Object.keys(properties ?? {}), required], [["said"], ["said"]]);
  assert.match(JSON.stringify(properties), /"description":"A word"/);
  assert.deepEqual(Object.keys(tool.outputSchema.properties ?? {}), ["word", "more", "next"]);
  assert.equal(tool.listing.annotations?.readOnlyHint, true);
  await assert.rejects(use(tool, { word: "hello" }), /"word" is not an argument of say_again/);
  await assert.rejects(use(tool, { said: "hello hello" }), /said/);
});

Deno.test("a field is read once, by the operation", async () => {
  const tool = toolOf(serverOperation({
    on: "coordination",
    summary: "Double a number",
    mcp: { name: "double_it", about: "Doubles it." },
    input: z.object({ number: z.int().transform((number) => number * 2) }),
    ok: { schema: z.object({ number: z.int() }), description: "Twice as much" },
  }, (_services, { number }) => ({ number })));
  assert.deepEqual(await use(tool, { number: "4" }), { number: 8 });
});

Deno.test("an operation that answers nothing says that it is done", async () => {
  const tool = toolOf(serverOperation({
    on: "coordination",
    changes: true,
    summary: "Do it",
    mcp: { name: "do_it", about: "Does it.", hints: { destructiveHint: true } },
    input: z.object({}),
    done: "It is done",
  }, () => {}));
  assert.deepEqual(await use(tool, {}), { done: true });
  assert.deepEqual(tool.listing.annotations, {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  });
});

/** Lists of words, by how their operations read a part. */
const LISTS: Readonly<Record<string, AnyOperation>> = {
  "with pages": serverOperation({
    on: "coordination",
    summary: "Words",
    mcp: { ...mcp, list: { field: "words", noun: "words", limit: 100 } },
    input: z.object({ page: z.int().default(1), per_page: z.int().default(50) }),
    ok: { schema: answer, description: "A page" },
  }, (_services, { page, per_page }) => ({
    words: words.slice((page - 1) * per_page, page * per_page),
    total: words.length,
    page,
  })),
  "with an offset": serverOperation({
    on: "coordination",
    summary: "Words",
    mcp: { ...mcp, list: { field: "words", noun: "words", limit: 100 } },
    input: z.object({ limit: z.int().default(50), offset: z.int().default(0) }),
    ok: { schema: answer, description: "A part" },
  }, (_services, { limit, offset }) => ({
    words: words.slice(offset, offset + limit),
    total: words.length,
    page: 0,
  })),
  "as a whole": serverOperation({
    on: "coordination",
    summary: "Words",
    mcp: { ...mcp, list: { field: "words", noun: "words", limit: 100 } },
    input: z.object({}),
    ok: { schema: z.array(z.string()), description: "All words" },
  }, () => words),
};

for (const [how, operation] of Object.entries(LISTS)) {
  Deno.test(`a tool shows any part of a list that the operation gives ${how}`, async () => {
    const tool = toolOf(operation);
    assert.deepEqual(Object.keys(tool.outputSchema.properties ?? {}), [
      "words",
      "total",
      "more",
      "next",
    ]);
    const part = async (input: Record<string, unknown>) => {
      const { words: shown, total } = answer.partial().parse(await use(tool, input));
      assert.equal(total, words.length);
      return shown;
    };
    assert.deepEqual(await part({ limit: 30, offset: 130 }), words.slice(130, 160));
    assert.deepEqual(await part({ offset: 240 }), words.slice(240));
    const { next } = z.object({ next: z.object({ offset: z.int() }) })
      .parse(await use(tool, { limit: 250, max_chars: 1500 }));
    const seen = await part({ limit: 250, max_chars: 1500 });
    assert.equal(next.offset, seen?.length);
  });
}

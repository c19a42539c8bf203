import assert from "node:assert/strict";
import { type Document, endpointsOf, type Schema } from "../support/api_document.ts";
import { withProject } from "../support/projects.ts";
import { withApi } from "../support/scenarios.ts";

/** Texts and lists within a schema that have no greatest length, by their names. */
function* boundless(
  document: Document,
  schema: Schema,
  name: string,
  seen: readonly string[] = [],
): Generator<string> {
  const { $ref, type, items, properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema;
  if ($ref !== undefined) {
    const key = $ref.replace("#/components/schemas/", "");
    const named = document.components.schemas[key];
    if (named !== undefined && !seen.includes(key)) {
      yield* boundless(document, named, name, [...seen, key]);
    }
    return;
  }
  const types = [type].flat();
  const isBound = schema.maxLength !== undefined || schema.enum !== undefined ||
    schema.const !== undefined || ["binary", "date-time", "uuid"].includes(schema.format ?? "");
  if (types.includes("string") && !isBound) yield name;
  if (types.includes("array") && schema.maxItems === undefined) yield `${name}[]`;
  for (const part of [...anyOf, ...oneOf, ...allOf, ...(items === undefined ? [] : [items])]) {
    yield* boundless(document, part, name, seen);
  }
  for (const [key, part] of Object.entries(properties)) {
    yield* boundless(document, part, `${name}.${key}`, seen);
  }
}

Deno.test("every text and list of every request has a greatest length", async () => {
  await withProject(async ({ api }) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const found: string[] = [];
    for (const { method, path, parameters = [], requestBody } of endpointsOf(document)) {
      for (const { name, schema } of parameters) {
        found.push(...boundless(document, schema ?? {}, `${method} ${path} ${name}`));
      }
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        found.push(...boundless(document, schema ?? {}, `${method} ${path}`));
      }
    }
    assert.deepEqual(found, []);
  });
});

Deno.test("a parameter that is longer than the document says is refused", async () => {
  await withProject(async ({ api }) => {
    const document = await api.answer("GET /openapi.json") as Document;
    let asked = 0;
    const taken: string[] = [];
    for (const { method, path, parameters = [] } of endpointsOf(document)) {
      if (method !== "GET") continue;
      for (const { name, in: place, schema } of parameters) {
        const longest = schema?.maxLength;
        if (place !== "query" || longest === undefined || name === "token") continue;
        const target = path.replace("{slug}", "demo").replaceAll(/\{\w+\}/g, "known");
        const query = new URLSearchParams({ [name]: "a".repeat(longest + 1) });
        const { status, body } = await api.send({ request: `GET ${target}?${query}` });
        await body?.cancel();
        if (status !== 400) taken.push(`${status} GET ${path} ${name}`);
        asked++;
      }
    }
    assert.deepEqual(taken, []);
    assert.ok(asked > 20, `${asked} parameters`);
  });
});

Deno.test("a parameter that is no number within its bounds is told the bounds", async () => {
  await withProject(async ({ api }) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const sentences: unknown[] = [];
    const expected: unknown[] = [];
    for (const { method, path, parameters = [] } of endpointsOf(document)) {
      if (method !== "GET" || !path.startsWith("/v1/")) continue;
      for (const { name, in: place, schema } of parameters) {
        const { minimum, maximum } = schema ?? {};
        if (place !== "query" || minimum === undefined || maximum === undefined) continue;
        const sentence = `"${name}" must be a whole number from ${minimum} to ${maximum}`;
        const target = path.replaceAll(/\{\w+\}/g, "1");
        for (const value of ["", "-1", "1.5", "1e2", "a", "9".repeat(20)]) {
          const { status, body } = await api.send({ request: `GET ${target}?${name}=${value}` });
          const { error } = await new Response(body).json();
          sentences.push([path, name, value, status, error]);
          expected.push([path, name, value, 400, sentence]);
        }
      }
    }
    assert.ok(expected.length > 50, `${expected.length} values`);
    assert.deepEqual(sentences, expected);
  });
});

Deno.test("a path that must end in a number says so", async () => {
  await withProject(async ({ api }) => {
    for (const id of ["-1", "1.5", "a", "9".repeat(20)]) {
      const { status, body } = await api.send({ request: `GET /v1/questions/${id}` });
      const { error } = await new Response(body).json();
      assert.deepEqual([status, error], [400, '"id" must be the number of a question'], id);
    }
  });
});

Deno.test("an unknown field of any length, and very many entries, cost little and say why", async () => {
  await withProject(async ({ send, caller }) => {
    const long = { requests: [], ["a".repeat(900_000)]: 1 };
    const refused = await send("POST /api/batch", { as: caller, body: long });
    assert.equal(refused.status, 400);
    const { error } = await refused.json();
    assert.match(error, /^"a{100}…" is not a field that this takes; it takes "requests"$/);
    const many = { requests: Array(30_000).fill(1) };
    const answer = await send("POST /api/batch", { as: caller, body: many });
    assert.equal(answer.status, 400);
    assert.match((await answer.json()).error, /more than 20000 entries/);
    const fields = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [index, 1]));
    for (const body of [fields, { requests: [fields] }]) {
      const wide = await send("POST /api/batch", { as: caller, body });
      assert.equal(wide.status, 400);
      assert.match((await wide.json()).error, /^An object of the JSON has more than 1000 fields$/);
    }
  });
});

Deno.test("a body has no field that muster does not know, but where others have the endpoint too", async () => {
  await withApi(async (api) => {
    const { halts } = api.services.agents;
    const halted = await api.send({ request: "POST /v1/halt", body: { agent: "scout" } });
    const { error } = await new Response(halted.body).json();
    assert.deepEqual([halted.status, error], [
      400,
      '"agent" is not a field that this takes; did you mean "agents"?',
    ]);
    assert.ok(!halts.coversEverybody);
    const token = { owner: "admin", name: "x", scopes: ["read"], expires: "2026-12-01T00:00:00Z" };
    const issued = await api.send({ request: "POST /v1/tokens", body: token });
    assert.equal(issued.status, 400);
    const more = { nick: "scout", model: "some" };
    const registered = await api.send({ request: "POST /v1/agents/register", body: more });
    assert.equal(registered.status, 200);
  });
});

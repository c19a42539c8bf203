import assert from "node:assert/strict";
import { z } from "zod";
import * as projectOperations from "../../services/operation/daemon/operations.ts";
import { SERVER_OPERATIONS } from "../../services/operation/daemon/server_operations.ts";
import type { Declaration } from "../../services/people/identity/operation.ts";
import { isPortable } from "../../services/kernel/validation/portable_patterns.ts";
import { type Document, endpointsOf, type Schema } from "../support/api_document.ts";
import { withApi } from "../support/scenarios.ts";
import { THOROUGH } from "../support/level.ts";

/** Every schema within a value, the value itself included. */
function* schemasIn(value: unknown): Generator<Schema> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const nested of Object.values(value)) yield* schemasIn(nested);
}

/** A validator for a schema of the document, with its references. */
function validator(document: Document, schema: Schema | undefined): z.ZodType {
  const whole = { ...schema, $defs: document.components.schemas };
  const own = JSON.stringify(whole).replaceAll("#/components/schemas/", "#/$defs/");
  return z.fromJSONSchema(JSON.parse(own));
}

function pascalCase(name: string): string {
  return name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

Deno.test("every engine compiles the patterns of the OpenAPI document", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const patterns = [...schemasIn(document)].flatMap(({ pattern }) =>
      typeof pattern === "string" ? [pattern] : []
    );
    assert.ok(patterns.length > 5);
    for (const pattern of patterns) {
      assert.ok(isPortable(pattern), pattern);
    }
  });
});

Deno.test("generators of clients can name a type after each schema", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const names = Object.keys(document.components.schemas);
    const lowered = new Set(names.map((name) => name.toLowerCase()));
    assert.equal(lowered.size, names.length);
    // In Go, `NewTag` makes a `Tag`, and `NullableTag` holds one.
    const taken = names.filter((name) =>
      [/^New/, /WithDefaults$/, /^Nullable/].some((part) =>
        part.test(name) && names.includes(name.replace(part, ""))
      )
    );
    assert.deepEqual(taken, []);
  });
});

/** An operation, as far as the names of its schemas go. */
interface Named {
  readonly declared: Declaration<z.ZodObject, z.ZodType, z.ZodType> & { readonly http?: string };
}

Deno.test("no two shapes share a name: the document would show one of them for both", async () => {
  const rooms = await Promise.all(Object.values(SERVER_OPERATIONS).map((load) => load()));
  const operations = [projectOperations, ...rooms].flatMap((room) =>
    Object.values(room) as unknown as readonly Named[]
  );
  const shapes = new Map<string, Set<string>>();
  const note = (name: string, fields: readonly string[]) => {
    shapes.set(name, (shapes.get(name) ?? new Set()).add(fields.toSorted().join(" ")));
  };
  for (const { declared } of operations) {
    const { http = "", input, bodyName, bodyField, inQuery, ok, created } = declared;
    if (bodyName !== undefined && bodyField === undefined && inQuery === undefined) {
      note(bodyName, Object.keys(input.shape).filter((field) => !http.includes(`{${field}}`)));
    }
    for (const shown of [ok, created]) {
      const answer = shown !== undefined && "schema" in shown ? shown.schema : null;
      if (!(answer instanceof z.ZodObject)) continue;
      const name = z.globalRegistry.get(answer)?.id;
      if (name !== undefined) note(name, Object.keys(answer.shape));
    }
  }
  assert.ok(shapes.size > 50, `${shapes.size} names`);
  assert.deepEqual([...shapes].filter(([, found]) => found.size > 1), []);
});

Deno.test(
  "every JSON body has an example that its schema accepts, and the page shows it",
  THOROUGH,
  async () => {
    await withApi(async (api) => {
      const document = await api.answer("GET /openapi.json") as Document;
      const page = await (await api.send({ who: "guest", request: "GET /docs" })).text();
      const bodies = endpointsOf(document).flatMap(({ method, path, requestBody }) =>
        Object.entries(requestBody?.content ?? {})
          .filter(([type]) => type === "application/json")
          .map(([, content]) => ({ ...content, method, path }))
      );
      assert.ok(bodies.length > 10);
      for (const { method, path, schema, example } of bodies) {
        const result = validator(document, schema).safeParse(example);
        assert.ok(result.success, `${method} ${path}: ${result.error}`);
        const shown = JSON.stringify(example, null, 2).replaceAll('"', "&quot;");
        assert.ok(page.includes(shown), `${method} ${path}`);
      }
    });
  },
);

Deno.test("a schema with a name is never null itself, so that others can extend it", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const nullable = Object.entries(document.components.schemas)
      .filter(([, { type }]) => Array.isArray(type) && type.includes("null"))
      .map(([name]) => name);
    assert.deepEqual(nullable, []);
  });
});

Deno.test("no schema has the name that generators make for a field of another one", async () => {
  await withApi(async (api) => {
    const { schemas } = (await api.answer("GET /openapi.json") as Document).components;
    const made = Object.entries(schemas).flatMap(([name, schema]) =>
      [schema, ...schema.allOf ?? []].flatMap(({ properties = {} }) =>
        Object.keys(properties).map((field) => name + pascalCase(field))
      )
    );
    assert.ok(made.includes("ReviewTargetBranch"));
    assert.deepEqual(made.filter((name) => Object.hasOwn(schemas, name)), []);
  });
});

Deno.test("every list in the document has one schema for all of its entries, as clients expect", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json");
    const lists = [...schemasIn(document)].filter((schema) =>
      "type" in schema && schema.type === "array"
    );
    assert.ok(lists.length > 100);
    const odd = lists.filter((schema) => "prefixItems" in schema || !("items" in schema));
    assert.deepEqual(odd, []);
  });
});

Deno.test("the document says which JSON bodies may be missing", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const optional = endpointsOf(document)
      .filter(({ requestBody }) =>
        requestBody?.content["application/json"] !== undefined && requestBody.required !== true
      )
      .map(({ method, path }) => `${method} ${path.replace("/projects/{slug}/fossil", "")}`);
    assert.deepEqual(optional.toSorted(), [
      "DELETE /api/reviews/{id}/land",
      "DELETE /api/workspaces/{name}/abandon",
      "POST /api/reviews/{id}/approve",
      "POST /api/reviews/{id}/close",
      "POST /api/reviews/{id}/land",
      "POST /api/reviews/{id}/merge",
      "POST /api/reviews/{id}/request-changes",
      "POST /api/tickets/{uuid}/claim",
      "POST /api/tickets/{uuid}/release",
      "POST /api/tickets/{uuid}/start",
      "POST /api/workspaces/{name}/merge",
      "POST /api/workspaces/{name}/restore",
      "POST /api/workspaces/{name}/takeover",
      "POST /api/workspaces/{name}/update",
      "POST /v1/agents/{nick}/adopt",
      "POST /v1/agents/{nick}/pause",
      "POST /v1/agents/{nick}/rotate",
      "POST /v1/halt",
    ]);
  });
});

Deno.test("the page of the API renders the Markdown of its texts", async () => {
  await withApi(async (api) => {
    const page = await (await api.send({ who: "guest", request: "GET /docs" })).text();
    assert.match(page, /<code>agent\.\*<\/code>/);
    assert.doesNotMatch(page, /`/);
  });
});

Deno.test("the document has the bounds that the server enforces on waits, limits and texts", async () => {
  await withApi(async (api) => {
    const document = await api.answer("GET /openapi.json") as Document;
    // The repository API takes the nearest number within the bounds, as its contract says.
    const strict = endpointsOf(document).filter(({ path }) => path.startsWith("/v1/"));
    const numbers = strict.flatMap(({ method, path, parameters = [] }) =>
      parameters.filter(({ name }) => name === "limit" || name === "wait_seconds")
        .map(({ name, schema = {} }) => ({ request: `${method} ${path}`, name, ...schema }))
    );
    assert.ok(numbers.length >= 3);
    for (const { request, name, minimum = NaN, maximum = NaN } of numbers) {
      const path = request.replace(/\{\w+\}/, "caller");
      for (const value of [minimum - 1, maximum + 1]) {
        await api.expect([
          { request: `${path}?${name}=${value}`, status: 400, matches: new RegExp(`"${name}`) },
        ]);
      }
    }
    const schemas = document.components.schemas;
    for (const schema of ["RegistrationRequest", "AdminRequest", "IrcAccountRequest"]) {
      const properties = Object.values(schemas[schema]?.properties ?? {});
      assert.ok(properties.some(({ pattern }) => pattern?.startsWith("^[A-Za-z")), schema);
    }
  });
});

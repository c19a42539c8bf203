/**
 * What clients see, compared with what they saw before: the OpenAPI document, the tools of each kind
 * of caller, and the status of each request for each caller. `MUSTER_GOLDENS=write` writes the files
 * anew; the difference then says what changes for clients.
 */
import assert from "node:assert/strict";
import { Bridge } from "../../services/chat/bridge/mod.ts";
import { withTools } from "../mcp/projects/support.ts";
import { type Document, type Endpoint, endpointsOf } from "../support/api_document.ts";
import { THOROUGH } from "../support/level.ts";
import { withProject } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";

/** Compares texts by their names with the lines of a file, so that a difference is a line. */
async function compare(name: string, texts: Readonly<Record<string, unknown>>): Promise<void> {
  const place = new URL(`../goldens/${name}.txt`, import.meta.url);
  const lines = Object.entries(texts).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const text = `${lines.sort().join("\n")}\n`;
  if (Deno.env.get("MUSTER_GOLDENS") === "write") await Deno.writeTextFile(place, text);
  assert.deepEqual(text.split("\n"), (await Deno.readTextFile(place)).split("\n"), name);
}

Deno.test("the OpenAPI document is what it was", async () => {
  await withProject(async ({ api }) => {
    const bridged = api.with({ bridge: Object.create(Bridge.prototype) });
    const { paths, components, ...rest } = await bridged.answer("GET /openapi.json") as Document;
    const texts: Record<string, unknown> = { document: rest };
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        texts[`${method} ${path}`] = operation;
      }
    }
    for (const [kind, named] of Object.entries(components)) {
      for (const [name, schema] of Object.entries(named)) texts[`${kind} ${name}`] = schema;
    }
    await compare("openapi", texts);
  });
});

Deno.test("each kind of caller sees the tools that it saw", async () => {
  await withTools(async (test) => {
    const callers = {
      operator: test.operator,
      agent: test.caller,
      outsider: test.outsider,
      reader: await test.token({ owner: "caller", scopes: ["read"] }),
      project: await test.token({ owner: null, project: "demo", scopes: ["read", "write"] }),
      reporter: await test.token({ owner: null, project: "demo", scopes: ["status:write"] }),
    };
    const texts: Record<string, unknown> = {};
    for (const [who, as] of Object.entries(callers)) {
      const listed = await test.tools(as);
      texts[who] = listed.map(({ name }) => name);
      for (const tool of listed) {
        const text = JSON.stringify(tool);
        const known = Object.entries(texts).find(([key, value]) =>
          key.startsWith(`${tool.name} `) && JSON.stringify(value) === text
        );
        if (known === undefined) texts[`${tool.name} of ${who}`] = tool;
      }
    }
    await compare("tools", texts);
  });
});

/** Whether the answer is there at once: streams do not end, and a pause holds up what comes next. */
function isPlain({ method, path, responses }: Endpoint): boolean {
  return !(method === "POST" && path === "/v1/pauses") &&
    !Object.values(responses).some(({ content }) => "text/event-stream" in (content ?? {}));
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * A request for each operation of the document, with the examples of its bodies, by method and path,
 * so that what one request makes is there for the next one, wherever the document has them.
 */
function requestsOf(document: Document) {
  const inOrder = endpointsOf(document).filter(isPlain).sort((one, other) =>
    METHODS.indexOf(one.method) - METHODS.indexOf(other.method) || (one.path < other.path ? -1 : 1)
  );
  return inOrder.map(({ method, path, requestBody }) => ({
    name: `${method} ${path}`,
    request: `${method} ${
      path.replace(/^\/projects\/\{slug\}/, "/projects/demo").replace(/\{\w+\}/g, "abcdef0123")
    }`,
    body: requestBody?.content["application/json"]?.example,
  }));
}

Deno.test("each request gets the status from each caller that it got", THOROUGH, async () => {
  const statuses: Record<string, Record<string, number>> = {};
  for (const who of ["guest", "outsider", "reader", "caller", "admin", "operator"] as const) {
    await withProject(async (test) => {
      const { api, outsider, caller } = test;
      await api.services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
      const as = {
        guest: undefined,
        outsider,
        reader: api.authorizationOf("reader"),
        caller,
        admin: api.authorizationOf("admin"),
        operator: api.authorizationOf("operator"),
      }[who];
      const document = await api.answer("GET /openapi.json") as Document;
      for (const { name, request, body } of requestsOf(document)) {
        const response = await api.send({
          who: "guest",
          request,
          ...as === undefined ? {} : { headers: { authorization: as } },
          ...body === undefined ? {} : { body },
        });
        await response.body?.cancel();
        (statuses[name] ??= {})[who] = response.status;
      }
    });
  }
  await compare("statuses", statuses);
});

import assert from "node:assert/strict";
import { ownName } from "../../mcp/names.ts";
import { join } from "node:path";
import { endpointPages } from "../../scripts/endpoint_tables.ts";
import type { Document, Operation, Schema } from "../support/api_document.ts";
import { call, registerAgent } from "../support/api.ts";
import { startProgram } from "../support/program.ts";
import { withToolTables } from "../../scripts/tool_table.ts";
import { readPage, readProjectPages, readUserPages, ROOT } from "./pages.ts";

const METHODS = "GET|POST|PUT|PATCH|DELETE";

/** Finds the endpoints that the code spans of one paragraph name, such as `GET /v1/agents`. */
function endpointsIn(spans: readonly string[]): string[] {
  const found: string[] = [];
  let methods: string[] = [];
  let path = "";
  let isComplete = false;
  for (const span of spans) {
    const [, method, rest] = new RegExp(`^(${METHODS})(?: (/\\S*))?$`).exec(span) ?? [];
    if (method !== undefined) {
      // "`GET`, `POST /v1/tokens`" names two endpoints.
      methods = isComplete ? [method] : [...methods, method];
      isComplete = rest !== undefined;
      path = rest ?? path;
    } else if (isComplete && /^\/[a-z]+$/.test(span)) {
      // "`POST /v1/agents/{nick}/revoke`, `/adopt`" names two as well.
      path = path.replace(/\/[^/]*$/, span);
    } else continue;
    if (isComplete) found.push(...methods.map((method) => `${method} ${path.split("?", 1)[0]}`));
  }
  return found;
}

/** An endpoint of the repository API is named from its base on. */
function inProject(endpoint: string): string {
  return endpoint.replace(
    /^(\w+) (\/api(?:\/(?!actions\/|actions_pipeline\/)|$))/,
    "$1 /projects/{slug}/fossil$2",
  );
}

/** The paths that code spans and blocks name without a method. */
function pathsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(/\/v1(?:\/[\w{}.-]+)+/g) ?? []);
}

Deno.test("every endpoint that the documentation names exists, and docs/http.md or a page about projects names each", async () => {
  await using program = await startProgram();
  const { paths } = await (await fetch(`${program.api}/openapi.json`)).json();
  const served = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  const patterns = Object.keys(paths).map((path) =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}(?:/|$)`)
  );
  const prefixes = Object.keys(paths);
  const unknown: string[] = [];
  for (const page of await readUserPages()) {
    const endpoints = page.spans.flatMap(endpointsIn).map(inProject);
    unknown.push(...endpoints.filter((one) => !served.includes(one)));
    const texts = [...page.spans.flat(), ...page.blocks.map(({ text }) => text)];
    unknown.push(
      ...pathsIn(texts).filter((path) =>
        !patterns.some((pattern) => pattern.test(path)) &&
        !prefixes.some((served) => served.startsWith(`${path}/`))
      ),
    );
  }
  assert.deepEqual(unknown, []);

  const pages = [await readPage("docs/http.md"), ...await readProjectPages()];
  const named = new Set(
    pages.flatMap(({ spans }) => spans.flatMap(endpointsIn).map(inProject)),
  );
  assert.deepEqual(served.filter((one) => !named.has(one)), []);
});

Deno.test("docs/projects/api.md names the lists that take no page, and no others", async () => {
  await using program = await startProgram();
  const document: Document = await (await fetch(`${program.api}/openapi.json`)).json();
  const { paths, components } = document;
  const texts = await Promise.all(
    (await readProjectPages()).map(({ path }) => Deno.readTextFile(join(ROOT, path))),
  );
  const text = texts.join("\n");
  const [paragraph = ""] = /^These take no `page`.*?\n\n/ms.exec(text) ?? [];
  const named = Array.from(paragraph.matchAll(/`(\/api\/[^`]+)`/g), ([, path = ""]) => path);
  const takesPage = (path: string) =>
    paths[`/projects/{slug}/fossil${path}`]?.["get"]?.parameters?.some(({ name }) =>
      name === "page"
    ) === true;
  assert.deepEqual(named.filter(takesPage), []);
  const listed = Object.entries(paths).filter(([path, { get }]) =>
    path.includes("/api/") && get !== undefined && isList(get, components.schemas)
  ).map(([path]) => path.replace("/projects/{slug}/fossil", ""));
  assert.ok(listed.length > 20);
  assert.deepEqual(listed.filter((path) => !takesPage(path) && !named.includes(path)), []);
});

Deno.test("docs/mcp.md has the rows that `deno task reference` writes", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/mcp.md", import.meta.url));
  const plain = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-");
  assert.equal(plain(page), plain(await withToolTables(page)));
});

/** Whether an answer is nothing but lists, with how long they are. */
function isList({ responses }: Operation, schemas: Document["components"]["schemas"]): boolean {
  const resolved = (schema: Schema = {}): Schema =>
    schema.$ref === undefined ? schema : resolved(schemas[schema.$ref.replace(/.*\//, "")]);
  const answer = resolved(responses["200"]?.content?.["application/json"]?.schema);
  const fields = Object.entries(answer.properties ?? {});
  const isOfList = ([name, schema]: [string, Schema]) =>
    resolved(schema).type === "array" || /^(?:total|page|per_page|total_pages)$/.test(name);
  return answer.type === "array" || (fields.length > 0 && fields.every(isOfList));
}

Deno.test("the tables of endpoints are what `deno task reference` writes", async () => {
  const plain = (text: string) => text.replace(/-{3,}/g, "---").replace(/\s+/g, " ");
  const pages = await endpointPages();
  assert.ok(pages.size > 5);
  for (const [path, text] of pages) {
    assert.equal(plain(await Deno.readTextFile(join(ROOT, path))), plain(text), path);
  }
});

/** Arguments of the tools for projects that a sentence names, and not the tables. */
const COMMON = new Set(["slug", "max_chars", "uuid", "filepath"]);

Deno.test("docs/mcp.md lists the tools of the operator and of agents, with their arguments", async () => {
  await using program = await startProgram();
  await registerAgent(program, "scout", { channels: [] });
  await call(program, "POST", "/v1/projects", { slug: "demo" });
  await call(program, "PUT", "/v1/projects/demo/members/scout", { role: "write" });
  const request = { owner: "scout", name: "test", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  const offered = new Map<string, string[]>();
  for (const bearer of [token, program.token]) {
    const response = await fetch(`${program.mcp}?tools=all`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    const { result: { tools } } = await response.json();
    for (const { name, inputSchema } of tools) {
      const known = offered.get(ownName(name)) ?? [];
      const keys = Object.keys(inputSchema.properties ?? {}).filter((key) => !COMMON.has(key));
      offered.set(ownName(name), [...new Set([...known, ...keys])].toSorted());
    }
  }

  const text = await Deno.readTextFile(new URL("../../docs/mcp.md", import.meta.url));
  const listed = Array.from(
    text.matchAll(/^\| `(\w+)` +\|[^|]*\|([^|]*)\|$/gm),
    ([, name, cell = ""]) => [name, Array.from(cell.matchAll(/`(\w+)`/g), ([, a]) => a).toSorted()],
  );
  assert.deepEqual(listed.toSorted(), [...offered].toSorted());
});

Deno.test("every metric that docs/operating.md names is served", async () => {
  await using program = await startProgram();
  const response = await fetch(`${program.api}/v1/metrics`, {
    headers: { authorization: `Bearer ${program.token}` },
  });
  const served = await response.text();
  const { spans } = await readPage("docs/operating.md");
  const named = spans.flat().filter((span) => /^muster_\w+[a-z]$/.test(span));
  assert.ok(named.length > 0);
  for (const name of named) assert.match(served, new RegExp(`^# TYPE ${name} `, "m"));
});

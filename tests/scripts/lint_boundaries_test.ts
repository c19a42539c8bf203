import assert from "node:assert/strict";
import plugin from "../../scripts/lint/boundaries.ts";

/** The rules that a module breaks. */
function broken(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id }) => id);
}

Deno.test("only the modules with SQLite files may import node:sqlite, in whatever way", () => {
  const forms = [
    'import { DatabaseSync } from "node:sqlite";',
    'import type { StatementSync } from "node:sqlite";',
    'export { DatabaseSync } from "node:sqlite";',
    'export * from "node:sqlite";',
    'const sqlite = await import("node:sqlite");',
  ];
  for (const form of forms) {
    for (const path of ["services/people/agents/roster.ts", "routes/app.ts", "cli/serve.ts"]) {
      assert.deepEqual(broken(path, form), ["boundaries/sqlite"], `${path}: ${form}`);
    }
    const allowed = [
      "services/engines/database/a.ts",
      "services/chat/irc_server/history/a.ts",
      "tests/a.ts",
    ];
    for (const path of [...allowed, "services/engines/fossil/content/a.ts"]) {
      assert.deepEqual(broken(path, form), [], `${path}: ${form}`);
    }
  }
});

Deno.test("services import nothing from above them", () => {
  for (const folder of ["routes", "mcp", "cli", "http"]) {
    const source = (up: string) => `import { x } from "${up}/${folder}/mod.ts";`;
    const refused = broken("services/people/agents/a.ts", source("../../.."));
    assert.deepEqual(refused, ["boundaries/downward"]);
    assert.deepEqual(broken("routes/v1/a.ts", source("../..")), []);
  }
});

Deno.test("a runner knows of the server what both sides say, and no more", () => {
  const table = [
    ["../../services/work/runs/assignment.ts", true],
    ["../../services/work/definitions/mod.ts", true],
    ["../../services/kernel/words.ts", true],
    ["../executor/mod.ts", true],
    ["../../services/work/runs/runs.ts", false],
    ["../../cli/output.ts", false],
  ] as const;
  for (const [module, isAllowed] of table) {
    const found = broken("runner/client/a.ts", `import { x } from "${module}";`);
    assert.deepEqual(found, isAllowed ? [] : ["boundaries/runner-apart"], module);
  }
});

Deno.test("a part of services is imported through its mod.ts", () => {
  const table = [
    ["services/people/agents/a.ts", "../../engines/database/mod.ts", true],
    ["services/people/agents/a.ts", "../../engines/database/database.ts", false],
    ["services/people/agents/a.ts", "../../engines/database/sqlite/mod.ts", true],
    ["services/people/agents/a.ts", "../../kernel/errors.ts", true],
    ["services/people/agents/a.ts", "./roster.ts", true],
    ["services/chat/irc_server/bans/a.ts", "../origin.ts", true],
    ["services/chat/irc_server/bans/a.ts", "../../../engines/irc/server.ts", false],
    ["services/people/agents/a.ts", "npm:kysely", true],
    ["routes/v1/a.ts", "../../services/people/agents/mod.ts", true],
    ["routes/v1/a.ts", "../../services/people/agents/roster.ts", false],
    ["cli/a.ts", "../services/kernel/version.ts", true],
    ["cli/a.ts", "../services/people/agents/roster.ts", false],
  ] as const;
  for (const [path, specifier, allowed] of table) {
    const rules = broken(path, `import { x } from "${specifier}";`);
    assert.deepEqual(rules, allowed ? [] : ["boundaries/door"], `${path}: ${specifier}`);
  }
});

Deno.test("pages take only types from routes", () => {
  const schemas = "../../routes/projects/list.ts";
  const values = [
    `import { schema } from "${schemas}";`,
    `import { type Schema, schema } from "${schemas}";`,
    `import "${schemas}";`,
    `export { schema } from "${schemas}";`,
    `export * from "${schemas}";`,
    `const { schema } = await import("${schemas}");`,
  ];
  const types = [
    `import type { schema } from "${schemas}";`,
    `export type { schema } from "${schemas}";`,
  ];
  for (const path of ["web/pages/timeline.tsx", "web/parts/graph.tsx"]) {
    for (const source of values) {
      assert.deepEqual(broken(path, source), ["boundaries/pages"], source);
    }
    for (const source of types) assert.deepEqual(broken(path, source), [], source);
  }
  assert.deepEqual(broken("web/live/home.ts", values[0] ?? ""), []);
  assert.deepEqual(broken("web/pages/a.tsx", 'import { x } from "../visit.ts";'), []);
});

Deno.test("an operation runs only where its rights are checked", () => {
  const source = "await listTickets.perform(services, input, call);";
  for (const path of ["mcp/tool.ts", "web/pages/a.tsx", "services/work/tickets/operations.ts"]) {
    assert.deepEqual(broken(path, source), ["boundaries/edge"], path);
  }
  const edges = ["routes/operations.ts", "routes/projects/operations.ts"];
  for (const path of [...edges, "services/work/projects/operation.ts"]) {
    assert.deepEqual(broken(path, source), [], path);
  }
});

Deno.test("a use case has no second way", () => {
  for (const source of ["export function route() {}", "class InnerCalls {}"]) {
    assert.deepEqual(broken("routes/projects/tickets.ts", source), ["boundaries/one-way"]);
  }
  assert.deepEqual(broken("routes/table.ts", "function specialRoute() {}"), []);
});

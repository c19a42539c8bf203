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
    for (const path of ["services/agents/roster.ts", "routes/app.ts", "cli/serve.ts"]) {
      assert.deepEqual(broken(path, form), ["boundaries/sqlite"], `${path}: ${form}`);
    }
    const allowed = ["services/database/a.ts", "services/irc_server/history/a.ts", "tests/a.ts"];
    for (const path of [...allowed, "services/fossil/content/a.ts"]) {
      assert.deepEqual(broken(path, form), [], `${path}: ${form}`);
    }
  }
});

Deno.test("services import nothing from above them", () => {
  for (const folder of ["routes", "mcp", "cli", "http"]) {
    const source = `import { x } from "../../${folder}/mod.ts";`;
    assert.deepEqual(broken("services/agents/a.ts", source), ["boundaries/downward"]);
    assert.deepEqual(broken("routes/v1/a.ts", source), []);
  }
});

Deno.test("a folder of services is imported through its mod.ts", () => {
  const table = [
    ["services/agents/a.ts", "../database/mod.ts", true],
    ["services/agents/a.ts", "../database/database.ts", false],
    ["services/agents/a.ts", "../database/sqlite/mod.ts", true],
    ["services/agents/a.ts", "../errors.ts", true],
    ["services/agents/a.ts", "./roster.ts", true],
    ["services/irc_server/bans/a.ts", "../origin.ts", true],
    ["services/irc_server/bans/a.ts", "../../irc/server.ts", false],
    ["services/agents/a.ts", "npm:kysely", true],
    ["routes/v1/a.ts", "../../services/agents/mod.ts", true],
    ["routes/v1/a.ts", "../../services/agents/roster.ts", false],
    ["cli/a.ts", "../services/version.ts", true],
    ["cli/a.ts", "../services/agents/roster.ts", false],
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

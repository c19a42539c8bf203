import assert from "node:assert/strict";
import { join } from "node:path";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");

interface Graph {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier: string };
    }[];
  }[];
}

/** The modules that are loaded with a module, those that it imports later left out. */
async function loadedWith(path: string): Promise<Set<string>> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `--config=${join(ROOT, "deno.json")}`, join(ROOT, path)],
  }).output();
  assert.ok(success);
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const modules = new Map(graph.modules.map((module) => [module.specifier, module]));
  const loaded = new Set(graph.roots);
  for (const specifier of loaded) {
    for (const { code, isDynamic } of modules.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code !== undefined) loaded.add(code.specifier);
    }
  }
  return loaded;
}

const PATHS = [
  "main.ts",
  "cli/operations.ts",
  "cli/fossil/mod.ts",
  "cli/fossil/tree.ts",
  "cli/fossil/maintenance.ts",
  "cli/hook.ts",
];

for (const path of PATHS) {
  Deno.test(`${path} loads no package, no configuration and no IRC server`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.size > 5);
    const needless = [...loaded].filter((specifier) =>
      specifier.startsWith("npm:") ||
      /\/services\/\w+\/(config|database|daemon|identity|irc|llm)\//.test(specifier)
    );
    assert.deepEqual(needless, []);
  });
}

for (const path of ["cli/fossil/timeline.ts", "cli/fossil/tree.ts", "cli/fossil/search.ts"]) {
  Deno.test(`${path} loads no pool of workers`, async () => {
    const loaded = await loadedWith(path);
    assert.deepEqual([...loaded].filter((specifier) => /[/_]pool\.ts$/.test(specifier)), []);
  });
}

for (const path of ["cli/account.ts", "cli/agent.ts", "cli/channel.ts", "cli/project.ts"]) {
  Deno.test(`${path} loads what talks to a server, and no part of one`, async () => {
    const loaded = await loadedWith(path);
    const needless = [...loaded].filter((specifier) =>
      /^npm:.*kysely/.test(specifier) ||
      /\/services\/\w+\/(agents|daemon|identity|irc|projects)\//.test(specifier)
    );
    assert.deepEqual(needless, []);
  });
}

Deno.test("the start of a server loads no schemas, routes, pages, bots, tools or repositories", async () => {
  const needed = await Promise.all(["cli/server.ts", "cli/serve.ts"].map(loadedWith));
  const loaded = needed.flatMap((modules) => [...modules]);
  assert.ok(loaded.some((specifier) => specifier.endsWith("/routes/probes.ts")));
  const needless = loaded.filter((specifier) =>
    /^npm:.*zod/.test(specifier) ||
    /\/mcp\/|\/web\/(?!leader_pages)|\/routes\/(core|v1\/)|\/services\/\w+\/irc_network\//.test(
      specifier,
    ) ||
    /\/services\/\w+\/bots\/catalog\/|\/services\/\w+\/fossil\/(content|read|write|git)\/mod\.ts$/
      .test(
        specifier,
      )
  );
  assert.deepEqual(needless, []);
});

Deno.test("what stands before all routes loads no schemas", async () => {
  const loaded = [...await loadedWith("routes/core.ts")];
  assert.ok(loaded.some((specifier) => specifier.endsWith("/routes/operation_requests.ts")));
  const needless = loaded.filter((specifier) => /^npm:.*zod|\/schemas\.ts$/.test(specifier));
  assert.deepEqual(needless, []);
});

Deno.test("the tools for channels load none of those for projects", async () => {
  const loaded = [...await loadedWith("mcp/mod.ts")];
  assert.ok(loaded.some((specifier) => specifier.endsWith("/mcp/reading_tools.ts")));
  const needless = loaded.filter((specifier) =>
    /\/mcp\/(?:projects\/|resources\.ts$)|\/services\/work\/\w+\/operations\.ts$|\/routes\/projects\/\w+_schemas\.ts$|zod-openapi/
      .test(specifier)
  );
  assert.deepEqual(needless, []);
});

Deno.test("the routes of projects leave the engine of repositories to the workers", async () => {
  const loaded = [...await loadedWith("routes/projects/mod.ts")];
  assert.ok(loaded.some((specifier) => specifier.endsWith("/services/work/tickets/operations.ts")));
  const needless = loaded.filter((specifier) =>
    /\/services\/\w+\/fossil\/(content|read|write|git)\/mod\.ts$/.test(specifier)
  );
  assert.deepEqual(needless, []);
});

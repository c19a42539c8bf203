import type { OpenAPIHono } from "@hono/zod-openapi";
import assert from "node:assert/strict";
import { createApi } from "../../routes/app.ts";
import { newStreams } from "../../routes/core.ts";
import type { AppEnv } from "../../routes/environment.ts";
import { createGroups, operationRooms } from "../../routes/groups.ts";
import { OPERATION_ROUTES } from "../../routes/operation_table.ts";
import { PROJECT_ROUTES } from "../../routes/projects/table.ts";
import { ROUTES } from "../../routes/table.ts";
import { Bridge } from "../../services/chat/bridge/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { withApi } from "../support/scenarios.ts";

interface Routed {
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** What an app answers, as the table writes it; middleware answers every method. */
function endpointsOf({ routes }: Routed): string[] {
  const handled = routes.filter(({ method }) => method !== "ALL");
  const names = handled.map(({ method, path }) =>
    `${method} ${path.replace(/:(\w+)(?:\{[^}]+\})?/g, "{$1}")}`
  );
  return [...new Set(names)].sort();
}

/** What a group shows in the API's document, as the table writes it. */
function documentedIn({ openAPIRegistry }: OpenAPIHono<AppEnv>): string[] {
  return openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== "route") return [];
    const { method, path } = definition.route;
    return [`${method.toUpperCase()} ${path}`];
  }).sort();
}

/** Services with a bridge to make routes of, which nobody calls. */
async function withBridgedServices(
  run: (services: Services) => void | Promise<void>,
): Promise<void> {
  await withApi(async ({ services }) => {
    await run({ ...services, bridge: Object.create(Bridge.prototype) });
  });
}

Deno.test("the app has every route of the table that is no operation on the server, and no other", async () => {
  await withBridgedServices((services) => {
    const ofProjects = Object.keys(PROJECT_ROUTES)
      .map((name) => name.replace(" ", " /projects/{slug}/fossil"));
    assert.deepEqual(
      endpointsOf(createApi(services).app),
      [...Object.keys(ROUTES).filter((name) => !(name in OPERATION_ROUTES)), ...ofProjects].sort(),
    );
  });
});

Deno.test("each group answers the routes that the table gives it", async () => {
  await withBridgedServices(async (services) => {
    const parts = { streams: newStreams(services), rooms: operationRooms(services) };
    const groups = createGroups(services, parts, () => Promise.reject());
    for (const [name, { load }] of Object.entries(groups)) {
      assert.ok(load !== null, name);
      const rows = Object.entries(ROUTES).filter(([, [owner]]) => owner === name);
      assert.deepEqual(documentedIn(await load()), rows.map(([endpoint]) => endpoint).sort(), name);
    }
  });
});

Deno.test("only a route whose body is a file, or goes to a model, takes a body above the limit", async () => {
  const rows: [string, readonly string[]][] = [
    ...Object.entries(ROUTES),
    ...Object.entries(PROJECT_ROUTES)
      .map(([name, row]): [string, typeof row] => [name.replace(" ", " /projects/x/fossil"), row]),
  ];
  const writing = rows.filter(([name]) => !name.startsWith("GET "));
  const files = writing.filter(([, row]) => row.includes("file body") || row.includes("model body"))
    .map(([name]) => name);
  await withApi(async (api) => {
    const { body_bytes: limit } = api.services.config.limits;
    const headers = { "content-length": `${limit + 1}` };
    const taken: string[] = [];
    for (const [name] of writing) {
      const request = name.replaceAll(/\{\w+\}/g, "x");
      const response = await api.send({ who: "stranger", request, headers });
      if (response.status !== 413) taken.push(name);
      await response.body?.cancel();
    }
    assert.deepEqual(taken, files);
  });
});

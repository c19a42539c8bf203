import assert from "node:assert/strict";
import { createApp, createGroups } from "../../routes/app.ts";
import { PROJECT_ROUTES } from "../../routes/projects/table.ts";
import { ROUTES } from "../../routes/table.ts";
import { Bridge } from "../../services/bridge/mod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { withApi } from "../support/scenarios.ts";

interface Routed {
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** What an app answers, as the table writes it; middleware answers every method. */
function endpointsOf({ routes }: Routed): string[] {
  const handled = routes.filter(({ method }) => method !== "ALL");
  const names = handled.map(({ method, path }) =>
    `${method} ${path.replace(/:(\w+)(?:\{\.\+\})?/g, "{$1}")}`
  );
  return [...new Set(names)].sort();
}

/** Services with a bridge to make routes of, which nobody calls. */
async function withBridgedServices(run: (services: Services) => void): Promise<void> {
  await withApi(({ services }) => {
    run({ ...services, bridge: Object.create(Bridge.prototype) });
    return Promise.resolve();
  });
}

Deno.test("the table of routes names every route of the app, and nothing else", async () => {
  await withBridgedServices((services) => {
    const others = ["GET /"];
    const ofProjects = Object.keys(PROJECT_ROUTES)
      .map((name) => name.replace(" ", " /projects/{slug}/fossil"));
    assert.deepEqual(
      endpointsOf(createApp(services)),
      [...Object.keys(ROUTES), ...ofProjects, ...others].sort(),
    );
  });
});

Deno.test("each group answers the routes that the table gives it", async () => {
  await withBridgedServices((services) => {
    for (const [name, group] of Object.entries(createGroups(services))) {
      const rows = Object.entries(ROUTES).filter(([, [owner]]) => owner === name);
      assert.deepEqual(endpointsOf(group), rows.map(([endpoint]) => endpoint).sort(), name);
    }
  });
});

/** A refused method names exactly those that the path takes. */
import assert from "node:assert/strict";
import { PROJECT_ROUTES } from "../../routes/projects/table.ts";
import { ROUTES } from "../../routes/table.ts";
import { withProject } from "../support/projects.ts";

/** The methods of each path, as the header says them. */
function methodsByPath(names: readonly string[], base: string): Map<string, string> {
  const found = Map.groupBy(names, (name) => base + name.slice(name.indexOf(" ") + 1));
  return new Map(Array.from(found, ([path, all]) => {
    const methods = new Set(all.map((name) => name.slice(0, name.indexOf(" "))));
    if (methods.has("GET")) methods.add("HEAD");
    return [path, [...methods, "OPTIONS"].sort().join(", ")];
  }));
}

Deno.test("a 405 allows the methods of exactly that path, for every route", async () => {
  await withProject(async ({ api, base }) => {
    const expected = new Map([
      ...methodsByPath(Object.keys(ROUTES), ""),
      ...methodsByPath(Object.keys(PROJECT_ROUTES), base),
    ]);
    const wrong: string[] = [];
    for (const [pattern, methods] of expected) {
      const path = pattern.replace(/\{(\w+)\}/g, (_, name) => name === "slug" ? "demo" : "x");
      const response = await api.send({ request: `BREW ${path}` });
      await response.body?.cancel();
      const allowed = (response.headers.get("allow") ?? "").split(", ").sort().join(", ");
      if (response.status === 404) continue;
      if (response.status !== 405 || allowed !== methods) {
        wrong.push(`${path}: ${response.status}, allows ${allowed}, takes ${methods}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});

import assert from "node:assert/strict";
import { withWeb } from "../support/web.ts";

/** The module that a line of a module imports. */
const IMPORTED = /(?:from|^import) "([^"]+)";$/gm;

Deno.test("every module that runs in the browser is served below the folder of scripts", async () => {
  await withWeb(async ({ guest }) => {
    const page = await guest.see("/login");
    const [, first = ""] = /<script type="module" src="([^"]+)"/.exec(page.html) ?? [];
    const [, folder = ""] = /script-src \S*?(\/assets\/)/.exec(
      page.headers.get("content-security-policy") ?? "",
    ) ?? [];
    assert.equal(folder, "/assets/");
    const paths = new Set([first]);
    for (const path of paths) {
      assert.ok(path.startsWith(folder), path);
      const { html, headers } = await guest.see(path);
      assert.match(headers.get("content-type") ?? "", /^text\/javascript/, path);
      for (const [, imported = ""] of html.matchAll(IMPORTED)) {
        paths.add(new URL(imported, `http://muster.test${path}`).pathname);
      }
    }
    assert.ok(paths.size > 20, [...paths].join(" "));
  });
});

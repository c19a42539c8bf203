import assert from "node:assert/strict";
import { exists, readPage, readPages, readUserPages, targetOf } from "./pages.ts";

Deno.test("every relative link of the documentation leads to a file and a heading", async () => {
  const broken: string[] = [];
  for (const page of await readPages()) {
    for (const link of page.links.filter((link) => !/^[a-z]+:/.test(link))) {
      const [, fragment] = link.split("#", 2);
      const target = targetOf(page, link);
      const isFound = await exists(target) &&
        (fragment === undefined || (await readPage(target)).anchors.has(fragment));
      if (!isFound) broken.push(`${page.path}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("the README leads to every page of docs/", async () => {
  const readme = await readPage("README.md");
  const targets = readme.links.map((link) => targetOf(readme, link));
  for (const { path } of await readUserPages()) {
    if (path !== "README.md") assert.ok(targets.includes(path), path);
  }
});

Deno.test("every file that CONTRIBUTING names exists", async () => {
  const { spans } = await readPage("CONTRIBUTING.md");
  const isPath = /^(cli|docs|routes|scripts|services|tests)\/[a-z0-9_./]+$/;
  const paths = spans.flat().filter((span) => isPath.test(span));
  assert.ok(paths.length > 20);
  for (const path of paths) assert.ok(await exists(path), path);
});

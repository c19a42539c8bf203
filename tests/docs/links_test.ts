import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import {
  exists,
  FOR_DEVELOPERS,
  type Page,
  readPage,
  readPages,
  readUserPages,
  ROOT,
  targetOf,
} from "./pages.ts";

/** The folders of the tree with source files. */
const PARTS: readonly string[] = [
  "bench",
  "cli",
  "http",
  "mcp",
  "routes",
  "scripts",
  "services",
  "tests",
  "web",
];

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

Deno.test("the README leads to every page of docs/, to those about projects by docs/projects.md", async () => {
  const indexes = [await readPage("README.md"), await readPage("docs/projects.md")];
  const targets = indexes.flatMap((page) => page.links.map((link) => targetOf(page, link)));
  for (const { path } of await readUserPages()) {
    if (path !== "README.md") assert.ok(targets.includes(path), path);
  }
});

Deno.test("every file that the pages for developers name exists", async () => {
  const pages = (await readPages()).filter(({ path }) =>
    path === "CONTRIBUTING.md" || FOR_DEVELOPERS.test(path)
  );
  const isPath = /^(cli|docs|http|mcp|routes|scripts|services|tests|web)\/[a-z0-9_./]+$/;
  const paths = pages.flatMap(({ spans }) => spans.flat()).filter((span) => isPath.test(span));
  assert.ok(paths.length > 40);
  for (const path of paths) assert.ok(await exists(path), path);
});

/** The paths of all files in a folder of the tree and the folders in it. */
async function filesBelow(folder: string): Promise<string[]> {
  const found = (await Array.fromAsync(Deno.readDir(join(ROOT, folder)))).map(
    ({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? filesBelow(path) : [path];
    },
  );
  return (await Promise.all(found)).flat();
}

/**
 * The folders of the tree below which a file may be whose name a page shortens: the page's own, that
 * of its tests, and those that the same paragraph names. Pages about the whole tree mean any.
 */
function placesOf({ path }: Page, spans: readonly string[]): readonly string[] {
  const own = dirname(path);
  const named = spans.filter((span) => span.includes("/")).map((span) => dirname(span));
  const isOfPart = !/^(?:\.|docs|docs\/dev)$/.test(own);
  return isOfPart ? [own, `tests/${own}`, ...named] : PARTS;
}

Deno.test("every source file that a page names exists where the page says", async () => {
  const tree = (await Promise.all(PARTS.map(filesBelow))).flat();
  const gone: string[] = [];
  let checked = 0;
  for (const page of await readPages()) {
    for (const spans of page.spans) {
      for (const span of spans.filter((span) => /^[a-z0-9_/.]+\.tsx?$/.test(span))) {
        checked++;
        const isNamed = await exists(span) || await exists(targetOf(page, span));
        const isHere = isNamed ||
          placesOf(page, spans).some((place) =>
            tree.some((path) => path.startsWith(`${place}/`) && path.endsWith(`/${span}`))
          );
        if (!isHere) gone.push(`${page.path}: ${span}`);
      }
    }
  }
  assert.ok(checked > 400, `${checked} names`);
  assert.deepEqual(gone, []);
});

Deno.test("CONTRIBUTING has at most 1,200 words", async () => {
  const text = await Deno.readTextFile(join(ROOT, "CONTRIBUTING.md"));
  const words = text.split(/\s+/).filter((word) => /\w/.test(word));
  assert.ok(words.length <= 1200, `${words.length} words`);
});

/**
 * A screen: the lines of a terminal or an editor that fills a display of 1,080 pixels. A longer line
 * takes as many of them as it fills.
 */
const SCREEN = { lines: 80, columns: 100 };

Deno.test("the README takes at most three screens", async () => {
  const text = await Deno.readTextFile(join(ROOT, "README.md"));
  // What aligns the source of a table is not shown.
  const shown = text.trimEnd().split("\n").filter((line) => !/^[| -]*\|[| -]*$/.test(line));
  const lines = shown.map((line) =>
    Math.max(1, Math.ceil(line.replaceAll(/ {2,}/g, " ").length / SCREEN.columns))
  );
  const sum = lines.reduce((total, count) => total + count, 0);
  assert.ok(sum <= 3 * SCREEN.lines, `${sum} lines`);
});

Deno.test("docs/ has a page about installation, the first day, each interface, operation and security", async () => {
  const paths = (await readUserPages()).map(({ path }) => path);
  const subjects = ["install", "first-day", "irc", "http", "mcp", "fossil", "web", "operating"];
  for (const subject of [...subjects, "security", "configuration", "commands"]) {
    assert.ok(paths.includes(`docs/${subject}.md`), subject);
  }
});

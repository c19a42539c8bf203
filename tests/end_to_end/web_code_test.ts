import assert from "node:assert/strict";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

const LINES = Array.from({ length: 1200 }, (_, i) => `const line${i + 1} = "<b>${i + 1}</b>";`);

/** Makes a public project with code in a workspace. */
async function makeProject({ api, token }: Program): Promise<void> {
  const call = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = { method, headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, api), init);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
  };
  await call("POST", "/v1/projects", { slug: "demo", name: "Demo", visibility: "public" });
  const base = "/projects/demo/fossil/api";
  await call("POST", `${base}/workspaces/create`, { name: "first" });
  await call("POST", `${base}/workspaces/first/commit`, {
    message: "Add code",
    changes: [
      { path: "src/main.ts", content: LINES.join("\n") },
      { path: "README.md", content: "![A drawing](drawing.svg)\n" },
      { path: "drawing.svg", content: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    ],
  });
}

Deno.test({
  name: "in Chromium, a page of code marks the chosen lines, and loads the part that has them",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await makeProject(program);
    await using browser = await TestBrowser.open({ base: program.pages });
    const { page } = browser;
    const branch = "workspace%2Ffirst";
    const code = `/projects/demo/file/${branch}/src/main.ts`;
    await browser.go(`${code}#L10-L12`);
    const chosen = () =>
      page.$$eval("tr.chosen", (rows) => rows.map(({ id }) => id)) as Promise<string[]>;
    assert.deepEqual(await chosen(), ["L10", "L11", "L12"]);
    await page.keyboard.down("Shift");
    await page.click("#L15 a");
    await page.keyboard.up("Shift");
    assert.equal(new URL(page.url()).hash, "#L10-L15");
    await page.waitForSelector("td.code .hljs-keyword");

    // A drawing on a transparent ground is made for a light page.
    await browser.look({ width: "desk", theme: "dark" });
    await browser.go(`/projects/demo/tree/${branch}`);
    const ground = "getComputedStyle(document.querySelector('.prose img')).backgroundColor";
    assert.equal(await page.evaluate(ground), "rgb(255, 255, 255)");

    await browser.go(code);
    await browser.leave(() => page.evaluate("location.hash = 'L1100'") as Promise<void>);
    await page.waitForSelector("#L1100.chosen");
    assert.equal(new URL(page.url()).searchParams.get("first"), "1001");
  },
});

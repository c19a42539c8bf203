import assert from "node:assert/strict";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

const LINES = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`);

/** Makes a public project with a review; returns the check-in of the review. */
async function makeReview({ api, token }: Program): Promise<string> {
  const call = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, api), init);
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${text}`);
    return JSON.parse(text);
  };
  await call("/v1/projects", { slug: "demo", name: "Demo", visibility: "public" });
  const base = "/projects/demo/fossil/api";
  const commit = (name: string, lines: readonly string[]) =>
    call(`${base}/workspaces/${name}/commit`, {
      message: "Change lines",
      changes: [{ path: "a.txt", content: lines.join("\n") }],
    });
  await call(`${base}/workspaces/create`, { name: "first" });
  await commit("first", LINES);
  await call(`${base}/workspaces/first/merge`, {});
  await call(`${base}/workspaces/create`, { name: "second" });
  const { uuid } = await commit(
    "second",
    LINES.map((line, i) => (i === 1 || i === 100) ? `${line}, changed` : line),
  );
  await call(`${base}/reviews/create`, { title: "Lines", workspace: "second" });
  return uuid;
}

Deno.test({
  name: "in Chromium, a difference shows hidden lines, whose numbers are addresses",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    const checkin = await makeReview(program);
    await using browser = await TestBrowser.open({ base: program.api });
    const { page } = browser;
    const hidden = ".diff-file td.num[data-n='97']";
    for (const layout of ["unified", "split"]) {
      await browser.go(`/projects/demo/checkin/${checkin}?layout=${layout}`);
      const numbers = () =>
        page.$$eval(
          ".diff-file:first-child tr",
          (rows) =>
            rows.map((row) =>
              [...row.querySelectorAll(".num")].map((cell) => cell.getAttribute("data-n")).join()
            ),
        ) as Promise<string[]>;
      assert.equal((await numbers()).includes("97,97"), false);
      await page.click(".diff-file:first-child tbody:nth-of-type(2) .expand button");
      await page.waitForSelector(hidden);
      const shown = await numbers();
      assert.deepEqual([shown.includes("58,58"), shown.includes("57,57")], [true, false]);
    }

    await page.click("td.num.added[data-n='101']");
    assert.match(new URL(page.url()).hash, /^#f-a\.txtR101$/);
    await page.reload();
    await page.waitForSelector("tr.chosen td.num.added[data-n='101']");
  },
});

Deno.test({
  name: "in Chromium, a viewed file of a review stays folded until it changes",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await makeReview(program);
    await using browser = await TestBrowser.open({ base: program.api });
    const { page } = browser;
    const changes = "/projects/demo/reviews/1?view=changes";
    const state = () =>
      page.evaluate(
        "[...document.querySelectorAll('.diff-file')].map(({ open }) => open).join() + ' ' + " +
          "document.querySelector('.viewed-count').textContent",
      ) as Promise<string>;
    await browser.go(changes);
    assert.equal((await state()).trim(), "true");
    await page.click(".diff-file input[name=viewed]");
    await browser.go(changes);
    assert.equal(await state(), "false 1 of 1 viewed");
    await page.click(".diff-file summary");
    await page.click(".diff-file input[name=viewed]");
    await browser.go(changes);
    assert.equal((await state()).trim(), "true");
  },
});

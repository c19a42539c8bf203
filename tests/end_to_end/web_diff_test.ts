import assert from "node:assert/strict";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { Person } from "../support/person.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

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

/** Lets an account write in the project. */
async function makeMember({ api, token }: Program, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: "PUT", headers, body: JSON.stringify({ role: "write" }) };
  const response = await fetch(new URL(`/v1/projects/demo/members/${name}`, api), init);
  assert.ok(response.ok, await response.text());
}

Deno.test({
  name: "in Chromium, a difference shows hidden lines, whose numbers are addresses",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    const checkin = await makeReview(program);
    await using browser = await TestBrowser.open({ base: program.pages });
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
      const below = ".diff-file:first-child tbody:last-of-type .expand button";
      const offers = () =>
        page.$$eval(below, (buttons) => buttons.map(({ textContent }) => textContent));
      assert.deepEqual(await offers(), ["40 more lines", "All 96 more lines"]);
      await page.click(`${below}:last-child`);
      await page.waitForSelector(".diff-file td.num[data-n='200']");
      assert.equal((await numbers()).at(-1), "200,200");
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
    await using browser = await TestBrowser.open({ base: program.pages });
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

Deno.test({
  name:
    "in Chromium, a line is commented on without a mouse, and a landed review says so by itself",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await makeReview(program);
    await makeMember(program, "admin");
    const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
    await using browser = await TestBrowser.open({ base: program.pages });
    await browser.logIn("admin", /\S{20,}/.exec(stdout)?.[0] ?? "");
    const { page } = browser;
    const person = new Person(browser);
    const isSeen = async (selector: string) =>
      await (await page.$(selector))?.isIntersectingViewport({ threshold: 1 });

    await browser.go("/projects/demo/reviews/1?view=changes");
    await browser.leave(() => page.click("tr.added a[data-n='101']"));
    await page.keyboard.type("Why?");
    assert.equal(
      await page.$eval("#comment", (field) => Reflect.get(field, "value")),
      "Why?",
    );
    assert.ok(await isSeen("tr.added a[data-n='101']"), "The line is out of sight");
    await person.send("Comment", ".line-comments");
    assert.equal(await page.evaluate("document.activeElement.id"), "comment-1");
    assert.ok(await isSeen("#comment-1"), "The new comment is out of sight");

    await browser.go("/projects/demo/reviews/1");
    await person.send("Approve");
    await person.sees("Your verdict");
    await person.send("Land");
    await person.sees("was merged into trunk");
    await person.sees("Comment", "#say");
    assert.doesNotMatch(await person.text(), /Your verdict|landing queue|wants to merge/i);
    assert.deepEqual(browser.complaints, []);
  },
});

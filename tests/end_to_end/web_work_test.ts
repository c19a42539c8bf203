import assert from "node:assert/strict";
import { join } from "node:path";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

/** Two commits, as `git fast-export` writes them. */
const STREAM = [1, 2].map((number) =>
  [
    "blob",
    `mark :${number}`,
    "data 6",
    "hello",
    "",
    "commit refs/heads/main",
    `mark :${number + 10}`,
    `author Ann <ann@example.test> 170000000${number} +0000`,
    `committer Ann <ann@example.test> 170000000${number} +0000`,
    "data 6",
    "Words",
    "",
    `M 100644 :${number} hello-${number}.txt`,
    "",
    "",
  ].join("\n")
).join("") + "done\n";

/** A browser in which the admin is logged in. */
async function logIn(program: Program): Promise<TestBrowser> {
  const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
  const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
  const browser = await TestBrowser.open({ base: program.pages });
  await browser.logIn("admin", password);
  return browser;
}

Deno.test({
  name:
    "in Chromium, a project is imported, and tickets are filed, seen live, dragged and moved by keyboard",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await using browser = await logIn(program);
    const { page } = browser;
    await browser.go("/projects/new");
    await page.type("#slug", "fresh");
    await page.click("input[value=import]");
    await browser.leave(() => page.click("main button.primary"));
    const file = join(program.folder, "stream");
    await Deno.writeTextFile(file, STREAM);
    const input = await page.$("input[type=file]");
    assert.ok(input !== null);
    await input.uploadFile(file);
    await browser.leave(() => page.click("form[data-upload] button"));
    assert.equal(new URL(page.url()).pathname, "/projects/fresh");

    await browser.go("/projects/fresh/tickets");
    const sent = await fetch(new URL("/projects/fresh/fossil/api/tickets", program.api), {
      method: "POST",
      headers: { authorization: `Bearer ${program.token}` },
      body: JSON.stringify({ title: "Seen at once" }),
    });
    assert.equal(sent.status, 201, await sent.text());
    await page.waitForFunction('document.body.textContent.includes("Seen at once")');

    await browser.go("/projects/fresh/tickets?view=board");
    await browser.leave(() =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        const fire = (target, name) => target.dispatchEvent(
          new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }),
        );
        fire(document.querySelector("[data-card]"), "dragstart");
        const column = document.querySelector('[data-status="Review"]');
        fire(column, "dragover");
        fire(column, "drop");
      })()`) as Promise<void>
    );
    const review = await page.$eval('[data-status="Review"]', (column) => column.textContent);
    assert.match(review ?? "", /Seen at once/);
    await page.focus("[data-card] summary");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Closed");
    await page.keyboard.press("Tab");
    await browser.leave(() => page.keyboard.press("Enter"));
    const closed = await page.$eval('[data-status="Closed"]', (column) => column.textContent);
    assert.match(closed ?? "", /Seen at once/);
    assert.deepEqual(browser.complaints, []);
  },
});

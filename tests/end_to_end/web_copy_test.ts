import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { Person } from "../support/person.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

type Page = TestBrowser["page"];

/** What the clipboard holds, as pasting shows it. */
async function pasted(page: Page): Promise<string> {
  await page.evaluate(`(() => {
    const field = document.createElement("textarea");
    document.querySelector("main").append(field);
    field.focus();
  })()`);
  await page.keyboard.press("v", { commands: ["Paste"] });
  return String(
    await page.evaluate(`(() => {
      const field = document.activeElement;
      field.remove();
      return field.value;
    })()`),
  );
}

/** Presses every button of a page that copies; returns what each one copied. */
async function copyAll(page: Page): Promise<string[]> {
  const copied: string[] = [];
  for (const details of await page.$$("details:has([data-copy]):not([open]) > summary")) {
    await details.click();
  }
  for (const lines of await page.$$(".copyable")) {
    const shown = String(await lines.$eval("pre", ({ textContent }) => textContent));
    const button = await lines.$("button");
    assert.ok(button !== null);
    await button.click();
    await page.waitForFunction((it) => it.textContent === "Copied", {}, button);
    assert.equal(await pasted(page), shown);
    copied.push(shown);
  }
  return copied;
}

/** Presses the buttons of the pages of a new agent and of a project. */
async function assertCopied(program: Program, password: string, host?: string): Promise<void> {
  const { api, pages } = program;
  await using browser = await TestBrowser.open(
    host === undefined ? { base: pages } : { base: api, host },
  );
  const { page } = browser;
  const person = new Person(browser);
  const nick = host === undefined ? "scout" : "builder";
  await browser.logIn("admin", password);
  await browser.go("/agents");
  await person.press("Register an agent");
  await person.fill("Nick", nick, "dialog");
  await person.send("Register", "dialog form");
  const lines = await copyAll(page);
  assert.match(lines[0] ?? "", /^[0-9a-f]{64}$/);
  // Agents are not told the host of the pages.
  const origin = host === undefined ? api : new URL(page.url()).origin;
  const start = `curl -s -u '${nick}:${lines[0]}' '${origin}/v1/`;
  assert.ok(lines.some((line) => line.startsWith(start)), start);
  assert.ok(lines.some((line) => line.includes("\n")), "one of them has several lines");
  assert.ok(lines.length > 6, `${lines.length}`);
  await browser.go("/projects/demo");
  assert.deepEqual(await copyAll(page), [
    `git clone ${origin}/projects/demo.git`,
    `fossil clone ${origin}/projects/demo/fossil demo.fossil`,
  ]);
  assert.deepEqual(browser.complaints, []);
}

Deno.test({
  name: "each button that copies puts the lines beside it on the clipboard, on any origin",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram({ config: "public_hosts: [muster.test]\n" });
    const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
    const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
    const made = await call(program, "POST", "/v1/projects", {
      slug: "demo",
      visibility: "public",
    });
    assert.equal(made.status, 201, await made.text());
    await assertCopied(program, password);
    await assertCopied(program, password, "muster.test");
  },
});

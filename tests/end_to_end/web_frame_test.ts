import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

/** Sends a request as the operator. */
async function asOperator(program: Program, path: string, body: object): Promise<void> {
  const response = await call(program, "POST", path, body);
  await response.body?.cancel();
  assert.ok(response.ok, `${path}: ${response.status}`);
}

async function textOf(page: TestBrowser["page"], selector: string): Promise<string> {
  return String(await page.evaluate(`document.querySelector("${selector}").textContent`));
}

/** A program with two agents, and a browser in which the admin is logged in. */
interface Frame {
  readonly program: Program;
  readonly browser: TestBrowser;
}

/** Fills a new program, and logs the admin in; returns the admin's password. */
async function prepare({ program, browser }: Frame): Promise<string> {
  const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
  const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
  for (const nick of ["bee", "wasp"]) {
    await asOperator(program, "/v1/agents/register", { nick, channels: ["general"] });
  }
  await browser.logIn("admin", password);
  assert.match(await browser.page.title(), /Home/);
  return password;
}

Deno.test({
  name: "keys lead around, live parts renew themselves, forms outlive a session or are dialogs",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await using browser = await TestBrowser.open({ base: program.pages });
    const frame = { program, browser };
    const password = await prepare(frame);
    await useKeys(frame);
    await watchLiveParts(frame);
    await loseSession(frame, password);
    await useDialogs(frame);
    assert.deepEqual(browser.complaints, []);
  },
});

/** Keys lead around the pages, move in lists, and explain themselves. */
async function useKeys({ browser }: Frame): Promise<void> {
  const { page } = browser;
  await page.keyboard.press("g");
  await browser.leave(() => page.keyboard.press("a"));
  assert.equal(new URL(page.url()).pathname, "/agents");
  const focused = async () => (await textOf(page, ":focus")).trim();
  await page.keyboard.press("j");
  assert.equal(await focused(), "bee");
  await page.keyboard.press("j");
  assert.equal(await focused(), "wasp");
  await page.keyboard.press("k");
  assert.equal(await focused(), "bee");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate("document.activeElement.id"), "q");
  await page.keyboard.type("g");
  assert.equal(await page.evaluate("document.activeElement.value"), "g");
  await page.keyboard.press("Escape");
  await page.keyboard.type("?");
  await page.waitForSelector("dialog.shortcuts[open]");
  assert.match(
    await textOf(page, "dialog.shortcuts"),
    /Go to Home.*Go to Agents.*Search on this page/s,
  );
  assert.deepEqual(await browser.violations(), []);
  await page.keyboard.press("Escape");
  await page.waitForFunction("document.querySelector('dialog') === null");
  await page.keyboard.press("j");
  await browser.leave(() => page.keyboard.press("Enter"));
  assert.equal(new URL(page.url()).pathname, "/agents/bee");
  await browser.go("/");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the page");
}

/** A live part renews itself when an event comes, and not while somebody types in it. */
async function watchLiveParts({ program, browser }: Frame): Promise<void> {
  const { page } = browser;
  await browser.go("/agents");
  await page.waitForSelector("body[data-live-state=open]");
  await page.keyboard.press("j");
  await asOperator(program, "/v1/agents/register", { nick: "ant", channels: [] });
  await page.waitForSelector('tbody a[href="/agents/ant"]');
  assert.equal(await textOf(page, ":focus"), "bee");
  await browser.go("/agents/bee");
  await page.waitForSelector("body[data-live-state=open]");
  await page.type("#reason", "half a sente");
  await asOperator(program, "/v1/agents/bee/pause", { reason: "tea" });
  await page.waitForFunction(
    "document.querySelector('[data-live-part=state]').textContent.includes('paused')",
  );
  assert.equal(await page.evaluate("document.querySelector('#reason').value"), "half a sente");
}

/** A form that is sent after its session ended is there again after the login. */
async function loseSession({ browser }: Frame, password: string): Promise<void> {
  const { page } = browser;
  await browser.go("/projects/new");
  await page.type("#slug", "garden");
  await page.type("#description", "Half an hour of thought");
  await page.deleteCookie(...await page.cookies());
  await browser.leave(() => page.click("main button.primary"));
  assert.equal(new URL(page.url()).pathname, "/login");
  assert.match(await textOf(page, "main"), /Your session had ended/);
  assert.deepEqual(await browser.violations(), []);
  await page.type("#username", "admin");
  await page.type("#password", password);
  await browser.leave(() => page.click("main button.primary"));
  assert.match(await textOf(page, "main"), /look at it, and send it again/);
  assert.equal(
    await page.evaluate("document.querySelector('#description').value"),
    "Half an hour of thought",
  );
  assert.deepEqual(await browser.violations(), []);
  await browser.leave(() => page.click("main button.primary"));
  assert.equal(new URL(page.url()).pathname, "/projects/garden");
}

/** Dangerous forms are dialogs, and fold out where no script runs. */
async function useDialogs({ browser }: Frame): Promise<void> {
  const { page } = browser;
  await browser.go("/agents/wasp");
  const summary = "details.confirm:has(input[value=remove]) > summary";
  await page.click(summary);
  await page.waitForSelector("dialog[open] input[name=confirm]");
  assert.deepEqual(await browser.violations(), []);
  await page.keyboard.press("Escape");
  await page.waitForFunction("document.querySelector('dialog') === null");
  assert.match(await textOf(page, ":focus"), /Delete wasp/);
  await page.click(".sidebar-toggle");
  await page.click("details.confirm:has(input[value=halt]) > summary");
  await page.waitForSelector("dialog[open] input[name=halt_reason]");
  assert.equal(await page.evaluate("document.activeElement.name"), "halt_reason");
  await page.keyboard.press("Escape");
  await page.waitForFunction("document.querySelector('dialog') === null");
  await page.click(summary);
  await page.type("dialog[open] input[name=confirm]", "wasp");
  await browser.leave(() => page.click("dialog[open] button[type=submit]"));
  assert.equal(new URL(page.url()).pathname, "/agents");
  assert.match(await textOf(page, "main"), /wasp is deleted/);
  await page.setJavaScriptEnabled(false);
  await browser.go("/agents/bee");
  await page.click("details.confirm:has(input[value=revoke]) > summary");
  await page.type("details[open] input[name=confirm]", "bee");
  await browser.leave(() => page.click("details[open] button[type=submit]"));
  assert.match(
    await textOf(page, "main"),
    /can log in no longer/,
  );
}

/** The log of a job in a browser: it grows, is drawn as the server draws it, and goes back in time. */
import assert from "node:assert/strict";
import { TestBrowser } from "../support/browser.ts";
import { addAdmin, fillServer } from "../support/filled_server.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";

Deno.test({
  name: "a log in a browser follows its job, stays where the reader is, and loads earlier lines",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    const admin = await addAdmin(program, "root");
    const { project: { checks } } = await fillServer(program, admin);
    await using first = await TestBrowser.open({ base: program.pages });
    await using browser = await first.tab(admin);
    await browser.look({ width: "desk", theme: "light" });
    const { page } = browser;
    const read = (script: string) => page.evaluate(script);
    const job = await checks.begin();
    await browser.go(`/projects/demo/jobs/${job.id}`);
    assert.ok(await read("document.querySelector('[data-log]').scrollTop === 0"));
    const seen = (line: number) => page.waitForSelector(`#L${line}`);
    const last = await job.print([["out", "\x1b[32mgreen <b>\x1b[0m"], ["note", "cut"]]);
    await seen(last);
    await job.print([["command", "deno task more"], ["err", "after \u202e it"]]);
    await seen(last + 2);
    const drawn = "[...document.querySelectorAll('.log-part')].slice(-2).map((it) => it.outerHTML)";
    const live = await read(drawn) as string[];
    await browser.go(`/projects/demo/jobs/${job.id}`);
    const loaded = await read(drawn) as string[];
    // How long a part is differs: the page loads 150 lines, and the live one had more.
    assert.deepEqual(live.map((html) => html.slice(-400)), loaded.map((html) => html.slice(-400)));
    const count = "document.querySelectorAll('[data-log] tr').length";
    const before = Number(await read(count));
    await read("document.querySelector('[data-log]').scrollTop = -1e6");
    await page.waitForFunction(`${count} > ${before}`);
    const numbers =
      "[...document.querySelectorAll('[data-log] [data-n]')].map((it) => it.dataset.n)";
    const shown = (await read(numbers) as string[]).map(Number);
    assert.deepEqual(shown, shown.map((_, place) => (shown[0] ?? 0) + place));
    const place = "document.querySelector('[data-log]').scrollTop";
    await read(`${place} = -300`);
    const top = async () =>
      Number(await read("document.querySelector('#L380').getBoundingClientRect().top"));
    const seenAt = await top();
    await seen(await job.print([["out", "one more"], ["out", "and another"]]));
    // Heights of scrollers are whole pixels.
    assert.ok(Math.abs(await top() - seenAt) < 2);
    await job.finish("success");
    await page.waitForFunction("document.querySelector('h1').textContent.includes('passed')");
    await page.waitForFunction("!('live' in document.querySelector('[data-log]').dataset)");
    await browser.go(`/projects/demo/jobs/${checks.failed}#L17`);
    await page.waitForFunction("location.search === '?from=1' && location.hash === '#L17'");
    assert.ok(await read("document.querySelector('#L17').matches('.chosen')"));
    assert.deepEqual(browser.complaints, []);
  },
});

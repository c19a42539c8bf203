import assert from "node:assert/strict";
import { Markup } from "../../../../services/engines/markup/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { systemScheduler } from "../../../../services/kernel/scheduler.ts";

const links = { base: "/projects/demo", known: {} };
const markdown = (text: string) => ({ text, mimetype: "text/x-markdown", links });

Deno.test("texts are rendered in a worker, which ends", async () => {
  const markup = new Markup({ scheduler: systemScheduler });
  const texts = Array.from({ length: 20 }, (_, index) => `*${index}*`);
  const html = await Promise.all(texts.map((text) => markup.render(markdown(text))));
  assert.deepEqual(html, texts.map((_, index) => `<p><em>${index}</em></p>\n`));
  assert.equal(
    await markup.render({ ...markdown("<b>"), mimetype: "text/plain" }),
    "<pre>&lt;b&gt;</pre>",
  );
  markup.close();
});

Deno.test("a text that takes too long or is too long is shown as plain text, and the next one is rendered", async () => {
  let expire: (() => void) | null = null;
  const scheduler = {
    now: () => performance.now() * 1000,
    steady: () => 0,
    after: (milliseconds: number, task: () => void) => {
      if (milliseconds === 1) queueMicrotask(() => expire?.());
      expire = task;
      return () => void (expire = null);
    },
  };
  const computed = () => performance.now() * 1000;
  const slow = new Markup({ scheduler, limitMs: 1, computed });
  assert.equal(await slow.render(markdown("*a* <b>")), "<pre>*a* &lt;b&gt;</pre>");
  slow.close();

  const markup = new Markup({ scheduler: systemScheduler });
  const long = "a".repeat(2 ** 20 + 1);
  assert.equal(await markup.render(markdown(long)), `<pre>${long}</pre>`);
  assert.equal(await markup.render(markdown("*a*")), "<p><em>a</em></p>\n");
  markup.close();
});

Deno.test("a process without any rights renders everything that a thread does", async () => {
  const thread = new Markup({ scheduler: systemScheduler });
  const process = new Markup({ scheduler: systemScheduler, startsProcesses: true });
  const fence = "```";
  const texts = [
    "*a* | b\n--|--\n1|2\n",
    `${fence}ts\nconst a: number = 1;\n${fence}\n`,
    `${fence}pikchr\nbox "a"; arrow; circle "b"\n${fence}\n`,
    `# \ud800 ${"<b>bold</b> ".repeat(2000)}`,
  ];
  for (const text of texts) {
    assert.equal(await process.render(markdown(text)), await thread.render(markdown(text)));
  }
  const code = await process.highlight("/projects/demo", "a.py", "def f(): pass\n");
  assert.equal(code, await thread.highlight("/projects/demo", "a.py", "def f(): pass\n"));
  thread.close();
  process.close();
});

Deno.test("the owner is told why texts are shown as they are", async () => {
  const reasons: string[] = [];
  const markup = new Markup({
    scheduler: systemScheduler,
    startWorker: () => {
      throw new Unavailable("not permitted");
    },
    onUnusable: (reason) => reasons.push(reason),
  });
  assert.equal(await markup.render(markdown("*a*")), "<pre>*a*</pre>");
  assert.deepEqual(reasons, ["not permitted"]);
  markup.close();
});

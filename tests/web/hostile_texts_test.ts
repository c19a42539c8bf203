import assert from "node:assert/strict";
import { findLive, HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";

Deno.test("there are at least 100 hostile texts in one line, and no two texts are alike", () => {
  assert.ok(HOSTILE_LINES.length >= 100, String(HOSTILE_LINES.length));
  assert.equal(new Set(HOSTILE_TEXTS.map(({ text }) => text)).size, HOSTILE_TEXTS.length);
  assert.equal(new Set(HOSTILE_TEXTS.map(({ aim }) => aim)).size, HOSTILE_TEXTS.length);
  // deno-lint-ignore no-control-regex
  for (const { aim, text } of HOSTILE_LINES) assert.doesNotMatch(text, /[\x00-\x1f]/, aim);
});

Deno.test("the search for live markup finds what runs, and leaves a page's own alone", () => {
  const live = [
    "<script>hurt=1</script>",
    "<img src=x onerror=hurt=1>",
    '<a href="java&#115;cript:hurt=1">x</a>',
    '<b style="color:red">x</b>',
    '<base href="https://evil.test/">',
    '<form action="https://evil.test/"></form>',
  ];
  for (const html of live) assert.equal(findLive(html).length, 1, html);
  const own = '<script type="module" src="/assets/1/mod.ts"></script><a href="/a?b=c">d</a>' +
    '<form method="post" action="/enter"></form>&lt;script&gt;';
  assert.deepEqual(findLive(own), []);
});

import assert from "node:assert/strict";
import { highlightFences, loadHighlighter } from "../../../../services/engines/markup/fences.ts";
import { loadRenderer } from "../../../../services/engines/markup/render.ts";
import { assertSafe } from "./safety.ts";
import { VECTORS } from "./vectors.ts";

const links = { base: "/projects/demo", known: {} };
const [render, highlight] = await Promise.all([loadRenderer(), loadHighlighter()]);
const shown = (text: string) =>
  highlightFences(render({ text, mimetype: "text/x-markdown", links }), highlight);
const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;

Deno.test("code in a text shows its syntax if the fence names a known language", () => {
  assert.match(shown(fence("ts", "const a = 1 < 2;")), /<span class="hljs-keyword">const<\/span>/);
  assert.match(shown(fence("ts", "const a = 1 < 2;")), / a = .* &lt; /);
  assert.match(shown(fence("nothing", "a < b && c")), />a &lt; b &amp;&amp; c\n<\/code>/);
  assert.match(shown("`const`"), /<code>const<\/code>/);
});

Deno.test("code in a text runs nothing, whatever it is", () => {
  for (const vector of VECTORS) {
    for (const language of ["html", "js", "markdown", "zzz"]) {
      assertSafe(shown(fence(language, vector)), vector);
    }
  }
});

Deno.test("a text with very much code is shown without its syntax at the end", () => {
  const html = shown(fence("ts", "const a = 1;\n".repeat(5000)) + fence("ts", "const b = 2;"));
  assert.doesNotMatch(html, /hljs/);
  assert.match(html, /const b = 2;/);
});

Deno.test("items of a task list have boxes", () => {
  const text = "- [x] done\n- [ ] to do\n- [x]no task\n\n[x] no item\n";
  const html = shown(text);
  assert.match(html, /<li>☑ done<\/li>\s*<li>☐ to do<\/li>\s*<li>\[x\]no task<\/li>/);
  assert.match(html, /<p>\[x\] no item<\/p>/);
});

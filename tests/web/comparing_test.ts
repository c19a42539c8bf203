import assert from "node:assert/strict";
import { BY_OPERATOR } from "../support/services.ts";
import { commitFiles } from "../support/projects.ts";
import { fillProject, type TestWeb, withWeb } from "../support/web.ts";

const BASE = "/projects/demo";

/** Runs a test on a public project. */
async function withPublic(run: (web: TestWeb) => Promise<void>): Promise<void> {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    await projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    await run(web);
  });
}

/** Fills the project, and moves trunk on after the workspace began. */
async function diverge(web: TestWeb): Promise<void> {
  await fillProject(web);
  await commitFiles(web, { "later.txt": "later\n" });
}

Deno.test("branches say how far they are from the main one, and what they are for", async () => {
  await withPublic(async (web) => {
    await diverge(web);
    const { text, html } = await web.admin.see(`${BASE}/branches`);
    assert.match(text, /trunk main branch.*workspace\/fix-typo 2 ahead, 1 behind/);
    assert.match(html, /href="\/projects\/demo\/workspaces\/fix-typo"/);
    assert.match(html, /href="\/projects\/demo\/compare\/trunk\.\.\.workspace%2Ffix-typo"/);
  });
});

Deno.test("a comparison shows what one branch did since the two parted, or both sides", async () => {
  await withPublic(async (web) => {
    await diverge(web);
    const path = `${BASE}/compare/trunk...workspace%2Ffix-typo`;
    const since = await web.admin.see(path);
    assert.match(since.text, /workspace\/fix-typo is 2 ahead of and 1 behind trunk/);
    assert.match(since.text, /2 check-ins Fix a typo/);
    assert.match(since.text, /2 changed files/);
    assert.doesNotMatch(since.text, /later\.txt/);
    const direct = await web.admin.see(`${path}?view=direct`);
    assert.match(direct.text, /3 changed files.*later\.txt/);
    const json = await web.admin.get(path, {
      headers: { accept: "application/json" },
      follow: false,
    });
    assert.match(json.to, /\/api\/diff\?from=trunk&to=workspace%2Ffix-typo&common=true$/);
  });
});

Deno.test("a project begins with the newest check-in of its main branch", async () => {
  await withPublic(async (web) => {
    assert.match((await web.admin.see(BASE)).text, /check-ins 0 contributors 0/);
    await fillProject(web);
    const { text } = await web.admin.see(BASE);
    assert.match(text, /[0-9a-f]{10} Files operator,/);
    assert.doesNotMatch(text, /Fix a typo/);
  });
});

Deno.test("a difference can leave out white space, and folds what programs write", async () => {
  await withPublic(async (web) => {
    await commitFiles(web, { "a.ts": "if (x)\n  one();\n", "deno.lock": "1\n", "b.ts": "b\n" });
    const tip = await commitFiles(web, { "a.ts": "if (x)\n    one();\n", "deno.lock": "2\n" });
    const path = `${BASE}/checkin/${tip}`;
    const shown = await web.admin.see(path);
    assert.match(shown.html, /<details(?=[^>]* id="f-a\.ts")[^>]* open/);
    assert.match(shown.html, /<details(?=[^>]* id="f-deno\.lock")(?![^>]* open)/);
    assert.match(shown.text, /deno\.lock changed \+1 −1 generated/);
    assert.match(shown.text, /one\(\);/);
    assert.match(shown.html, /data-lines-at="\/projects\/demo\/fossil\/api\/lines\?checkin=/);
    const loose = await web.admin.see(`${path}?whitespace=ignore`);
    assert.match(loose.text, /a\.ts changed \+0 −0.*Only white space changed/);
    assert.doesNotMatch(loose.text, /one\(\);/);
    assert.match(loose.text, /Show white space/);
  });
});

Deno.test("contributors are listed with the number of their check-ins", async () => {
  await withPublic(async (web) => {
    await fillProject(web);
    const { text, html } = await web.admin.see(`${BASE}/contributors`);
    assert.match(text, /2 contributors, 4 check-ins .*caller first .* 2 check-ins/);
    assert.match(html, /href="\/projects\/demo\/timeline\?user=caller"/);
    assert.match((await web.admin.see(BASE)).text, /contributors \d/);
    assert.match(
      (await web.admin.see(`${BASE}/contributors?q=zzz`)).text,
      /No contributor matches/,
    );
  });
});

Deno.test("the words of a ticket lead to the tickets with the same word", async () => {
  await withPublic(async (web) => {
    const { answer, admin } = web;
    const file = (title: string, subsystem: string) =>
      answer("POST /api/tickets", { body: { title, subsystem, type: "Incident" } });
    const { uuid } = await file("The one", "<b>parser");
    await file("The other", "docs");
    const { html } = await admin.see(`${BASE}/tickets`);
    assert.match(html, /href="\/projects\/demo\/tickets\?subsystem=%3Cb%3Eparser"/);
    const found = await admin.see(`${BASE}/tickets?subsystem=%3Cb%3Eparser`);
    assert.match(found.text, /subsystem: <b>parser ×.*The one/);
    assert.doesNotMatch(found.text, /The other/);
    const ticket = await admin.see(`${BASE}/tickets/${uuid}`);
    assert.match(ticket.html, /href="\/projects\/demo\/tickets\?type=Incident"/);
  });
});

Deno.test("a check-in and a comparison can be had as patches", async () => {
  await withPublic(async (web) => {
    await diverge(web);
    const { checkins: [tip] } = await web.answer("GET /api/timeline?branch=workspace/fix-typo");
    const page = await web.admin.see(`${BASE}/checkin/${tip.uuid}`);
    assert.match(page.html, /data-copy="[0-9a-f]{40,64}"/);
    assert.match(page.html, /href="\/projects\/demo\/workspaces\/fix-typo"/);
    for (const path of [`checkin/${tip.uuid}`, "compare/trunk...workspace%2Ffix-typo"]) {
      const { headers, html } = await web.guest.see(`${BASE}/${path}?format=patch`);
      assert.match(headers.get("content-type") ?? "", /^text\/plain/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.match(html, /^--- a\/docs\/guide\.md\n\+\+\+ b\/docs\/guide\.md\n@@ /);
      assert.match(html, /\n- {2}console\.log\("hello"\);\n\+ {2}console\.log\("hi"\);\n/);
    }
  });
});

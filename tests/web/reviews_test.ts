import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, type TestWeb, withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

const REVIEWS = "/projects/demo/reviews";
const REVIEW = `${REVIEWS}/1`;

/** A review of the workspace `fix-typo`, whose author is the agent `caller`; `ann` is a member. */
async function withReview(
  run: (web: TestWeb) => Promise<void>,
  role: "read" | "write" | "admin" = "write",
): Promise<void> {
  await withWeb(async (web) => {
    await fillProject(web);
    await web.api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
    const { ticket } = await web.answer("GET /api/tickets").then(({ tickets: [one] }) => ({
      ticket: one.uuid,
    }));
    const body = {
      title: "Fix a typo",
      description: "It was *wrong*",
      workspace: "fix-typo",
      ticket_uuid: ticket,
    };
    await web.answer("POST /api/reviews/create", { as: web.caller, body });
    await run(web);
  });
}

Deno.test("a review is listed, and says who must act now", async () => {
  await withReview(async ({ person, answer, caller }) => {
    const listed = await person.see(REVIEWS);
    assert.match(listed.text, /Fix a typo pending .*#1 by caller into trunk round 1 2 files/);
    assert.match(listed.text, /2 files from fix-typo for #1 /);
    assert.match((await person.see(`${REVIEWS}?list=mine`)).text, /No review is in this list/);
    const seen = await person.see(REVIEW);
    assert.match(seen.html, /It was <em>wrong<\/em>/);
    assert.match(seen.text, /Any reviewer but caller can review this round/);
    const asked = { as: caller, body: { reviewers: ["ann"] } };
    await answer("POST /api/reviews/1/reviewers", asked);
    assert.match((await person.see(REVIEW)).text, /ann must review this round/);
    assert.match((await person.see(`${REVIEWS}?list=mine`)).text, /Fix a typo/);
    assert.equal((await person.get(`${REVIEWS}/9`)).status, 404);
  });
});

Deno.test("the changes take comments on their lines, and replies", async () => {
  await withReview(async ({ person }) => {
    const changes = `${REVIEW}?view=changes`;
    const seen = await person.see(changes);
    assert.match(seen.text, /2 files \+2 −2/);
    assert.match(seen.html, /at=new%3A2%3Asrc%2Fmain\.ts#comment/);
    const at = `${changes}&at=new:2:src/main.ts`;
    assert.match((await person.see(at)).text, /Comment on line 2/);
    const place = { action: "comment", file: "src/main.ts", side: "new", line: "2" };
    const refused = await person.post(at, { ...place, comment: " " });
    assert.equal(refused.status, 400);
    const wrong = await person.post(at, { ...place, line: "999", comment: "Keep my words" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.html, />\s*Keep my words<\/textarea>/);
    const words = { ...place, comment: "Why *hi*?" };
    const sent = await person.post(at, words, { follow: false });
    assert.match(sent.to, /view=changes#comment-1$/);
    const said = await person.see(changes);
    assert.match(said.html, /id="comment-1" tabindex="-1"/);
    assert.match(said.html, /Why <em>hi<\/em>\?/);
    assert.match(said.text, /Why hi \? Reply/);
    assert.match((await person.see(REVIEW)).text, /ann .{3,20} on src\/main\.ts:2 Why hi/);
    assert.match((await person.see(at)).text, /Reply on line 2/);
    assert.match((await person.see(`${changes}&layout=split`)).html, /diff-lines split/);
  });
});

Deno.test("members who were not asked for a verdict are asked by a click", async () => {
  await withReview(async ({ person }) => {
    const before = await person.see(REVIEW);
    assert.match(before.html, /name="reviewers" value="other"/);
    assert.doesNotMatch(before.html, /name="reviewers" value="caller"/);
    const after = await person.post(REVIEW, { action: "ask", reviewers: "other" });
    assert.match(after.text, /Reviewers.* other awaited/);
    assert.doesNotMatch(after.html, /name="reviewers" value="other"/);
  });
});

Deno.test("a verdict is given on the round that was seen; a new commit begins the next round", async () => {
  await withReview(async ({ person, answer, caller }) => {
    const verdict = {
      action: ["request-changes", "request-changes"],
      comment: "A test?",
      round: "1",
    };
    const requested = await person.post(REVIEW, verdict);
    assert.match(requested.text, /You requested changes/);
    assert.match(requested.text, /caller must answer the changes that ann requested/);
    assert.match(requested.text, /ann changes requested/);
    const changes = [{ path: "src/main.ts", content: "export const A = 1;\n" }];
    const body = { message: "Add a test", changes };
    await answer("POST /api/workspaces/fix-typo/commit", { as: caller, body });
    const outdated = await person.post(REVIEW, { ...verdict, action: "approve", comment: "Fine" });
    assert.equal(outdated.status, 409);
    assert.match(outdated.html, />\s*Fine<\/textarea>/);
    assert.match((await person.see(REVIEW)).text, /changes since round 1/);
    const since = await person.see(`${REVIEW}?view=changes&from=1&to=2`);
    assert.match(since.text, /1 file /);
    const approved = await person.post(REVIEW, { ...verdict, action: "approve", round: "2" });
    assert.match(approved.text, /The review is approved/);
    assert.match(approved.text, /Approved: it can be merged or landed now/);
    assert.match(
      approved.text,
      /requested changes in round 1 A test\? .*caller began round 2 .*approved round 2 A test\?/,
    );
    const own = await person.post(REVIEW, { action: "merge" });
    assert.match(own.text, /The change is merged/);
    assert.match(own.text, /fix-typo by caller was merged into trunk for #/);
    assert.doesNotMatch(own.text, /Your verdict|landing queue|wants to merge/);
    assert.equal((await person.post(REVIEW, { action: "merge" })).status, 409);
    assert.match((await person.see(`${REVIEWS}?list=closed`)).text, /Fix a typo merged/);
  });
});

Deno.test("a review lands through the queue, and the queue says why one came back", async () => {
  await withReview(async ({ person, answer }) => {
    const landing = "/projects/demo/landing";
    assert.match((await person.see(landing)).text, /Nothing waits to land/);
    assert.equal((await person.post(REVIEW, { action: "land" })).status, 409);
    const rule = {
      pattern: "trunk",
      contexts: ["ci/build"],
      approvals: { any: 1, people: 0 },
      push: "admin",
      merge: "write",
      landing: "required",
    };
    await answer("PUT /api/protection", { body: [rule] });
    await person.post(REVIEW, { action: "approve", comment: "", round: "1" });
    const queued = await person.post(REVIEW, { action: "land" });
    assert.match(
      queued.text,
      /The landing (?:waits at place 1 of the landing queue|is being tested)/,
    );
    assert.match((await person.see(landing)).text, /1\. Fix a typo (?:queued|testing)/);
    const back = await person.post(landing, { action: "withdraw", review: "1" });
    assert.match(back.text, /out of the landing queue/);
    assert.match(back.text, /Ended Fix a typo returned/);
    assert.match((await person.see(REVIEW)).text, /must see why it came back/);
    assert.equal((await person.post(landing, { action: "withdraw", review: "1" })).status, 404);
  });
});

Deno.test("reviewers are asked and dropped, and a review is closed", async () => {
  await withReview(async ({ person }) => {
    const ask = { action: "ask", reviewers: "other, nobody-here" };
    const refused = await person.post(REVIEW, ask);
    assert.ok(refused.status >= 400 && refused.status < 500);
    assert.match(refused.html, /value="other, nobody-here"/);
    assert.match((await person.post(REVIEW, { ...ask, reviewers: "other" })).text, /other awaited/);
    const dropped = await person.post(REVIEW, { action: "drop", name: "other" });
    assert.match(dropped.text, /Nobody was asked/);
    assert.match((await person.post(REVIEW, { action: "close" })).text, /The review is closed/);
  }, "admin");
});

Deno.test("a reader sees a review without forms, and who is no member sees none", async () => {
  await withReview(async ({ api, person }) => {
    const pages = [REVIEWS, REVIEW, `${REVIEW}?view=changes`, "/projects/demo/landing"];
    for (const page of pages) {
      const seen = await person.see(page);
      assert.doesNotMatch(seen.html, /<main.*method="post"/s, page);
    }
    const sent = { action: "approve", comment: "", round: "1" };
    assert.equal((await person.post(REVIEW, sent)).status, 403);
    await api.services.hosting.projects.removeMember("demo", "ann", BY_OPERATOR);
    for (const page of pages) assert.equal((await person.get(page)).status, 404, page);
  }, "read");
});

Deno.test("hostile texts in reviews are shown as what they are", THOROUGH, async () => {
  await withReview(async ({ person, answer, send, caller }) => {
    for (const { text } of HOSTILE_LINES.filter((_, index) => index % 6 === 0)) {
      const body = {
        title: text,
        description: text,
        diff: `--- a\n+++ b\n@@ -1 +1 @@\n+${text}\n`,
      };
      const sent = await send("POST /api/reviews/create", { as: caller, body });
      if (sent.status !== 201) continue;
      const { id } = await sent.json();
      for (const view of ["", "?view=changes"]) {
        assertInert(await person.see(`${REVIEWS}/${id}${view}`), text);
      }
    }
    for (const { text } of HOSTILE_TEXTS) {
      const place = { file_path: "src/main.ts", line_number: 2 };
      await answer("POST /api/reviews/1/comment", { body: { body: text, ...place } });
    }
    const at = encodeURIComponent(`new:2:"><img src=x onerror=hurt=1>`);
    for (const page of [REVIEWS, REVIEW, `${REVIEW}?view=changes&at=${at}`]) {
      assertInert(await person.see(page), page);
    }
  });
});

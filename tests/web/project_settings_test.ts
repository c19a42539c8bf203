import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";

const SETTINGS = "/projects/demo/settings";

/** Makes accounts members. */
async function join({ api }: TestWeb, name: string, role: "read" | "write" | "admin") {
  await api.services.hosting.projects.setMember("demo", name, role, BY_OPERATOR);
}

Deno.test("an admin changes a project's name, visibility and limits, and archives it", async () => {
  await withWeb(async (web) => {
    const fields = {
      action: "save-general",
      name: "Better",
      description: "It *is*",
      visibility: "internal",
      channel: "",
      claim_seconds: "7200",
      strikes: "",
      depth: "3",
      timeout_seconds: "",
    };
    const refused = await web.admin.post(SETTINGS, { ...fields, strikes: "0.5" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="7200"/);
    assert.match(refused.text, /After so many claims without a result.*The server has 3\./);
    assert.match((await web.admin.post(SETTINGS, fields)).text, /The settings are saved/);
    const project = await web.answer("GET /api/project");
    const { name, visibility, channel, claim_seconds, strikes, landing } = project;
    assert.deepEqual({ name, visibility, channel, claim_seconds, strikes, landing }, {
      name: "Better",
      visibility: "internal",
      channel: "",
      claim_seconds: 7200,
      strikes: null,
      landing: { depth: 3, timeout_seconds: null },
    });
    assert.match((await web.admin.post(SETTINGS, { action: "archive" })).text, /is archived/);
    assert.equal((await web.answer("GET /api/project")).archived, true);
    await web.admin.post(SETTINGS, { action: "unarchive" });
    assert.equal((await web.answer("GET /api/project")).archived, false);
  });
});

Deno.test("a project is removed once its name is typed", async () => {
  await withWeb(async (web) => {
    const wrong = await web.admin.post(SETTINGS, { action: "remove-project", confirm: "dem" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /type "demo" to confirm/);
    const options = { follow: false };
    const fields = { action: "remove-project", confirm: "demo" };
    assert.equal((await web.admin.post(SETTINGS, fields, options)).to, "/projects");
    assert.equal((await web.admin.get(SETTINGS)).status, 404);
  });
});

Deno.test("an admin adds members, changes their roles and removes them", async () => {
  await withWeb(async (web) => {
    const page = `${SETTINGS}/members`;
    const fields = { action: "set-member", name: "nobody-here", role: "read" };
    const refused = await web.admin.post(page, fields);
    assert.equal(refused.status, 404);
    assert.match(refused.html, /value="nobody-here"/);
    const added = await web.admin.post(page, { ...fields, name: "ann" });
    assert.match(added.text, /ann is a member now\. .*ann person/);
    const changed = await web.admin.post(page, { ...fields, name: "ann", role: "admin" });
    assert.match(changed.text, /ann has the role admin/);
    assert.match((await web.person.see(`${SETTINGS}/protection`)).text, /New rule/);
    const removed = await web.admin.post(page, { action: "remove-member", name: "ann" });
    assert.match(removed.text, /ann is no member any more/);
    assert.equal((await web.person.get(SETTINGS)).status, 404);
  });
});

Deno.test("a project's admin protects branches; a refused form keeps its rules", async () => {
  await withWeb(async (web) => {
    await join(web, "ann", "admin");
    const page = `${SETTINGS}/protection`;
    const rule = {
      action: "save-rules",
      rules: "1",
      "pattern-0": "trunk",
      "contexts-0": "ci/build, ci/lint",
      "any-0": "2",
      "people-0": "1",
      "push-0": "nobody",
      "merge-0": "admin",
      "landing-0": "required",
    };
    const refused = await web.person.post(page, { ...rule, "any-0": "99" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="ci\/build, ci\/lint"/);
    assert.match(refused.html, /value="nobody" selected/);
    assert.match((await web.person.post(page, rule)).text, /The rules are saved/);
    assert.deepEqual(await web.answer("GET /api/protection"), [{
      pattern: "trunk",
      contexts: ["ci/build", "ci/lint"],
      approvals: { any: 2, people: 1 },
      push: "nobody",
      merge: "admin",
      landing: "required",
    }]);
    await web.person.post(page, { ...rule, "pattern-0": "" });
    assert.deepEqual(await web.answer("GET /api/protection"), []);
  });
});

Deno.test("a project's admin defines and removes fields of tickets", async () => {
  await withWeb(async (web) => {
    await join(web, "ann", "admin");
    const page = `${SETTINGS}/tickets`;
    const refused = await web.person.post(page, { action: "add-field", name: "1x", type: "text" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="1x"/);
    const added = await web.person.post(page, { action: "add-field", name: "team", type: "text" });
    assert.match(added.text, /Tickets have the field team now/);
    const removed = await web.person.post(page, { action: "remove-field", name: "team" });
    assert.match(removed.text, /only the built-in fields/);
  });
});

Deno.test("webhooks are added with a secret that is shown once, tested, changed and removed", async () => {
  await withWeb(async (web) => {
    await join(web, "ann", "admin");
    const page = `${SETTINGS}/webhooks`;
    const fields = { action: "add-webhook", url: "ftp://x", types: ["checkin", "review"] };
    const refused = await web.person.post(page, fields);
    assert.equal(refused.status, 400);
    const [, ...boxes] = refused.html.split('<input type="checkbox" name="types"');
    const chosen = boxes.filter((box) => / checked/.test(box.split(">", 1)[0] ?? ""));
    assert.match(chosen.join(), /^ value="checkin".* value="review"/s);
    assert.equal(chosen.length, 2);
    const url = "https://ci.example.test/hook";
    const added = await web.person.post(page, { ...fields, url });
    assert.match(added.text, /The secret for https:\/\/ci\.example\.test\/hook .*whsec_/);
    assert.doesNotMatch((await web.person.see(page)).text, /whsec_/);
    const [{ id, types }] = await web.answer("GET /api/webhooks");
    assert.deepEqual(types, ["checkin", "review"]);

    const one = `${page}?webhook=${id}`;
    const pinged = await web.person.post(one, { action: "ping-webhook" });
    assert.match(pinged.text, /A test delivery is on its way\. .*ping/);
    const [delivery] = await web.answer(`GET /api/webhooks/${id}/deliveries`);
    const again = { action: "redeliver", delivery: delivery.id };
    assert.ok([200, 409].includes((await web.person.post(one, again)).status));
    assert.match((await web.person.post(one, { action: "rotate-webhook" })).text, /whsec_/);
    const changed = { action: "change-webhook", url, types: "" };
    assert.match((await web.person.post(one, changed)).text, /The webhook is saved/);
    assert.equal((await web.answer(`GET /api/webhooks/${id}`)).active, false);
    const removed = await web.person.post(one, { action: "remove-webhook" });
    assert.match(removed.text, /Nothing is told of this project's events/);
  });
});

Deno.test("a mirror is set, run and ended; its password is never shown", async () => {
  await withWeb(async (web) => {
    await join(web, "ann", "admin");
    const page = `${SETTINGS}/mirror`;
    const fields = {
      action: "set-mirror",
      "git-url": "https://git.example.test/demo.git",
      "git-username": "bot",
      "git-password": "s3cret",
      "fossil-url": "",
      every_minutes: "1",
    };
    const refused = await web.person.post(page, fields);
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="https:\/\/git\.example\.test\/demo\.git"/);
    assert.doesNotMatch(refused.html, /s3cret/);
    const set = await web.person.post(page, { ...fields, every_minutes: "30" });
    assert.match(set.text, /The mirror is set/);
    assert.match(set.html, /value="bot"/);
    assert.doesNotMatch(set.html, /s3cret/);
    assert.match((await web.person.post(page, { action: "run-mirror" })).text, /runs now/);
    const ended = await web.person.post(page, { action: "remove-mirror" });
    assert.match(ended.text, /This project is not mirrored/);
  });
});

Deno.test("an admin makes a token of the project, which is shown once, and revokes it", async () => {
  await withWeb(async (web) => {
    const page = `${SETTINGS}/tokens`;
    const fields = { action: "make-token", name: "CI", expires: "" };
    const refused = await web.admin.post(page, fields);
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="CI"/);
    const made = await web.admin.post(page, { ...fields, scope: ["read", "status:write"] });
    const [, token = ""] = /The token CI is shown only now: ([0-9a-f]{40})/.exec(made.text) ?? [];
    const as = `Bearer ${token}`;
    assert.equal((await web.send("GET /api/project", { as })).status, 200);
    assert.doesNotMatch((await web.admin.see(page)).text, new RegExp(token));
    const { tokens, hosting: { projects } } = web.api.services;
    const { id } = projects.require("demo").project;
    const [own] = (await tokens.list()).filter(({ project }) => project === id);
    await web.admin.post(page, { action: "revoke-token", id: own?.id ?? "" });
    assert.equal((await web.send("GET /api/project", { as })).status, 401);
  });
});

Deno.test("what only the server's admin may do is closed to the project's admin, and the reverse", async () => {
  await withWeb(async (web) => {
    await join(web, "ann", "admin");
    const seen = await web.person.see(SETTINGS);
    assert.doesNotMatch(seen.html, /settings\/(?:general|members|tokens|repository)/);
    assert.match((await web.admin.see(`${SETTINGS}/repository`)).text, /Fill the empty repository/);
    await commitFiles(web, { "a.txt": "a\n" });
    const filled = await web.admin.see(`${SETTINGS}/repository`);
    assert.match(filled.text, /this one has something in it already.*Export/s);
    assert.doesNotMatch(filled.html, /data-upload/);
    for (const part of ["general", "members", "tokens", "repository"]) {
      assert.equal((await web.person.get(`${SETTINGS}/${part}`)).status, 403, part);
    }
    const fields = { action: "set-member", name: "caller", role: "admin" };
    assert.equal((await web.person.post(`${SETTINGS}/members`, fields)).status, 403);
    assert.match((await web.admin.see(SETTINGS)).text, /You are no admin of this project/);
    assert.equal((await web.admin.get(`${SETTINGS}/webhooks`)).status, 403);
    assert.equal((await web.admin.get(`${SETTINGS}/nothing`)).status, 404);
    await join(web, "ann", "write");
    assert.equal((await web.person.get(SETTINGS)).status, 403);
    assert.match((await web.guest.get(SETTINGS, { follow: false })).to, /^\/login/);
  });
});

Deno.test("hostile texts in the settings are shown as what they are", async () => {
  await withWeb(async (web) => {
    await join(web, "admin", "admin");
    for (const { aim, text } of HOSTILE_LINES.filter((_, index) => index % 6 === 0)) {
      const general = { action: "save-general", name: text, description: text, channel: text };
      assertInert(await web.admin.post(SETTINGS, { ...general, visibility: text }), aim);
      const saved = { ...general, visibility: "private", channel: "" };
      assertInert(await web.admin.post(SETTINGS, saved), aim);
      const rule = { rules: "1", "pattern-0": text, "contexts-0": text, "push-0": text };
      const rules = { ...rule, action: "save-rules" };
      assertInert(await web.admin.post(`${SETTINGS}/protection`, rules), aim);
      const hook = { action: "add-webhook", url: text, types: text };
      assertInert(await web.admin.post(`${SETTINGS}/webhooks`, hook), aim);
      const token = { action: "make-token", name: text, scope: ["read"], expires: text };
      assertInert(await web.admin.post(`${SETTINGS}/tokens`, token), aim);
    }
  });
});

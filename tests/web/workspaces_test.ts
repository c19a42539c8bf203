import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, type TestWeb, withWeb } from "../support/web.ts";

const WORKSPACES = "/projects/demo/workspaces";

async function join({ api }: TestWeb, role: "read" | "write" | "admin"): Promise<void> {
  await api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
}

/** Commits a file to a workspace as `ann`. */
async function commit({ person, api }: TestWeb, name: string, path: string): Promise<void> {
  const { accounts, tokens } = api.services;
  assert.ok(accounts.find("ann") !== null && person !== undefined);
  const request = { owner: "ann", name: "t", scopes: ["write" as const] };
  const { token } = await tokens.create(
    { ...request, project: null, expires_at: null },
    BY_OPERATOR,
  );
  const sent = await api.send({
    who: "guest",
    request: `POST /projects/demo/fossil/api/workspaces/${name}/commit`,
    headers: { authorization: `Bearer ${token}` },
    body: { message: `Write ${path}`, changes: [{ path, content: "text\n" }] },
  });
  assert.equal(sent.status, 200, await sent.text());
}

Deno.test("a member creates a workspace, sees its work and abandons and restores it", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { person } = web;
    assert.match((await person.see(WORKSPACES)).text, /There is no active workspace/);
    const fields = { action: "create", name: "mine", description: "My work", from: "" };
    const refused = await person.post(WORKSPACES, { ...fields, name: "not a name" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="My work"/);
    const created = await person.post(WORKSPACES, fields);
    assert.match(created.text, /mine .*active .*of ann .*My work/);
    await commit(web, "mine", "a.txt");
    const page = `${WORKSPACES}/mine`;
    assert.match(
      (await person.see(page)).text,
      /Commits 1 Write a\.txt .*Changed files 1 added a\.txt/,
    );
    assert.match((await person.see(WORKSPACES)).text, /mine .*ann 1 commit, 1 file/);

    assert.match((await person.post(page, { action: "abandon" })).text, /is abandoned/);
    assert.match((await person.see(`${WORKSPACES}?status=abandoned`)).text, /mine/);
    assert.match((await person.post(page, { action: "restore" })).text, /is open again/);
    assert.equal((await person.post(page, { action: "restore" })).status, 409);
  });
});

Deno.test("overlaps are shown, and a workspace is updated and merged", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    await fillProject(web);
    const { person } = web;
    await person.post(WORKSPACES, { action: "create", name: "mine" });
    await commit(web, "mine", "src/main.ts");
    const page = `${WORKSPACES}/mine`;
    const seen = await person.see(page);
    assert.match(
      seen.text,
      /Others change the same files fix-typo of caller conflicts src\/main\.ts/,
    );
    assert.match((await person.see(WORKSPACES)).text, /conflicts with 1 workspace/);

    const source = { action: "update", source: "no-such-branch" };
    const refused = await person.post(page, source);
    assert.ok([400, 404].includes(refused.status), String(refused.status));
    assert.match(refused.html, /value="no-such-branch"/);
    const updated = await person.post(page, { ...source, source: "workspace/fix-typo" });
    assert.equal(updated.status, 409);
    assert.match(updated.text, /conflict/i);

    const { tip } = await web.answer("GET /api/workspaces/mine");
    const merge = { action: "merge", target_branch: "", message: "Merge my work", tip };
    const outdated = await person.post(page, { ...merge, tip: "0123456789" });
    assert.equal(outdated.status, 409);
    assert.match(outdated.html, /value="Merge my work"/);
    assert.match((await person.post(page, merge)).text, /The workspace is merged\. .*merged/);
    assert.match((await person.see(`${WORKSPACES}?status=merged`)).text, /mine/);
  });
});

Deno.test("a workspace opens a review; a refused form keeps what was entered", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    await web.person.post(WORKSPACES, { action: "create", name: "mine" });
    await commit(web, "mine", "a.txt");
    const fields = {
      action: "review",
      title: "My change",
      description: "It is *good*",
      reviewers: "nobody-here",
    };
    const refused = await web.person.post(`${WORKSPACES}/mine`, fields);
    assert.ok(refused.status >= 400 && refused.status < 500);
    assert.match(refused.html, /value="My change"/);
    const opened = await web.person.post(`${WORKSPACES}/mine`, { ...fields, reviewers: "caller" });
    assert.match(opened.text, /The review is open/);
    assert.match(opened.html, /It is <em>good<\/em>/);
    assert.match((await web.person.see(`${WORKSPACES}/mine`)).text, /Reviews #1 My change pending/);
  });
});

Deno.test("a reader sees workspaces without forms, and who is no member sees none", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    const pages = [WORKSPACES, `${WORKSPACES}/fix-typo`];
    for (const page of pages) assert.equal((await web.person.get(page)).status, 404, page);
    await join(web, "read");
    for (const page of pages) {
      const seen = await web.person.see(page);
      assert.match(seen.text, /fix-typo/);
      assert.doesNotMatch(seen.html, /<main.*method="post"/s, page);
    }
    const sent = await web.person.post(`${WORKSPACES}/fix-typo`, { action: "abandon" });
    assert.equal(sent.status, 403);
  });
});

Deno.test("hostile messages and file names of a workspace are shown as what they are", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const body = { name: "w", description: HOSTILE_LINES[0]?.text };
    await web.answer("POST /api/workspaces/create", { as: web.caller, body });
    for (const { text } of HOSTILE_LINES.filter((_, index) => index % 8 === 0)) {
      const changes = [{ path: `d/${text.replaceAll(/[/\\:*?"<>|]/g, "_")}`, content: "x" }];
      await web.send("POST /api/workspaces/w/commit", {
        as: web.caller,
        body: { message: text, changes },
      });
    }
    for (const page of [WORKSPACES, `${WORKSPACES}/w`]) {
      assertInert(await web.person.see(page), page);
    }
  });
});

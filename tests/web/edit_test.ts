import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, type TestWeb, withWeb } from "../support/web.ts";

const EDIT = "/projects/demo/edit/trunk";

/** A filled project with `ann` as a member. */
async function withFiles(run: (web: TestWeb) => Promise<void>): Promise<void> {
  await withWeb(async (web) => {
    await fillProject(web);
    await web.api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
    await run(web);
  });
}

/** The id of a file's content, and its text. */
async function fileOf(web: TestWeb, checkin: string, path: string) {
  const query = new URLSearchParams({ checkin, path });
  const response = await web.send(`GET /api/file?${query}`);
  const uuid = response.headers.get("etag")?.replaceAll('"', "") ?? "";
  return { status: response.status, uuid, text: await response.text() };
}

Deno.test("an edit becomes a commit in a new workspace, and offers a review", async () => {
  await withFiles(async (web) => {
    const editor = `${EDIT}/src/util.ts`;
    assert.match((await web.person.see(editor)).html, />\nexport const ONE = 1;\n<\/textarea>/);
    const { uuid } = await fileOf(web, "trunk", "src/util.ts");
    const fields = {
      action: "save",
      uuid,
      path: "src/util.ts",
      content: "export const ONE = 2;\r\n",
      message: "Count right",
      new_workspace: "mine",
      branch: "trunk",
    };
    const refused = await web.person.post(editor, { ...fields, new_workspace: "not a name" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /export const ONE = 2;/);
    const saved = await web.person.post(editor, fields);
    assert.match(saved.text, /Saved as a commit in mine/);
    assert.match(saved.html, /<details class="card more" open><summary>Open a review/);
    assert.match(saved.text, /Commits 1 Count right/);
    assert.equal(
      (await fileOf(web, "workspace/mine", "src/util.ts")).text,
      "export const ONE = 2;\n",
    );

    const again = { ...fields, workspace: "mine", content: "export const ONE = 3;\n" };
    const outdated = await web.person.post(editor, again);
    assert.equal(outdated.status, 409);
    assert.match(outdated.text, /The file differs in workspace\/mine/);
    const there = "/projects/demo/edit/workspace%2Fmine/src/util.ts";
    assert.match((await web.person.see(there)).html, /value="mine" selected/);
    const { uuid: newest } = await fileOf(web, "workspace/mine", "src/util.ts");
    assert.match((await web.person.post(there, { ...again, uuid: newest })).text, /Commits 2/);
  });
});

Deno.test("a file is added, renamed and deleted in a workspace", async () => {
  await withFiles(async (web) => {
    const added = await web.person.post(EDIT, {
      action: "save",
      uuid: "",
      path: "docs/new.md",
      content: "# New\n",
      message: "",
      new_workspace: "mine",
      branch: "trunk",
    });
    assert.match(added.text, /Commits 1 Add docs\/new\.md/);
    const taken = await web.person.post(EDIT, {
      action: "save",
      uuid: "",
      path: "README.md",
      content: "x",
      workspace: "mine",
    });
    assert.equal(taken.status, 409);
    assert.match(taken.text, /There is already a file README\.md/);

    const { uuid } = await fileOf(web, "trunk", "src/main.ts");
    const content = (await fileOf(web, "trunk", "src/main.ts")).text;
    const rename = { action: "save", uuid, path: "src/start.ts", content, workspace: "mine" };
    const renamed = await web.person.post(`${EDIT}/src/main.ts`, { ...rename, message: "" });
    assert.match(renamed.text, /renamed src\/start\.ts was src\/main\.ts/);

    const logo = await web.person.see(`${EDIT}/src/logo.png`);
    assert.match(logo.text, /This file is binary/);
    const { uuid: picture } = await fileOf(web, "trunk", "src/logo.png");
    const removal = { action: ["save", "remove"], uuid: picture, path: "src/logo.png" };
    const removed = await web.person.post(`${EDIT}/src/logo.png`, {
      ...removal,
      workspace: "mine",
      message: "Edit src/logo.png",
    });
    assert.match(removed.text, /Delete src\/logo\.png .*deleted src\/logo\.png/);
    assert.equal((await fileOf(web, "workspace/mine", "src/logo.png")).status, 404);
  });
});

Deno.test("an editor keeps line ends, previews Markdown, and leaves no workspace behind", async () => {
  await withFiles(async (web) => {
    await commitFiles(web, { "dos.txt": "one\r\ntwo\r\n" });
    const { uuid } = await fileOf(web, "trunk", "dos.txt");
    const fields = { action: "save", uuid, path: "dos.txt", branch: "trunk", message: "Edit" };
    const content = "one\r\n2\r\n";
    await web.person.post(`${EDIT}/dos.txt`, { ...fields, content, new_workspace: "mine" });
    assert.equal((await fileOf(web, "workspace/mine", "dos.txt")).text, content);

    const refused = await web.person.post(`${EDIT}/dos.txt`, {
      ...fields,
      path: "../escape",
      content,
      new_workspace: "gone",
    });
    assert.equal(refused.status, 400);
    const { status } = await web.answer("GET /api/workspaces/gone").catch(() => ({ status: "" }));
    assert.notEqual(status, "active");

    const preview = await web.person.post(`${EDIT}/README.md`, {
      action: ["save", "preview"],
      path: "README.md",
      content: "It is *new*",
    });
    assert.match(preview.html, /It is <em>new<\/em>/);
  });
});

Deno.test("only writers edit files, and hostile names and contents stay text", async () => {
  await withFiles(async (web) => {
    const { projects } = web.api.services.hosting;
    for (const { text } of HOSTILE_LINES.filter((_, index) => index % 7 === 0)) {
      const name = text.replaceAll(/[/\\:*?"<>|]/g, "_").slice(0, 60);
      await commitFiles(web, { [`h/${name}`]: text }).catch(() => null);
      const answered = await web.person.get(`${EDIT}/h/${encodeURIComponent(name)}`);
      if (answered.status === 200) assertInert(answered, text);
    }
    const folder = encodeURIComponent(`"><img src=x onerror=hurt=1>/`);
    assertInert(await web.person.see(`${EDIT}?folder=${folder}`));
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    assert.equal((await web.person.get(`${EDIT}/README.md`)).status, 403);
    await projects.removeMember("demo", "ann", BY_OPERATOR);
    assert.equal((await web.person.get(`${EDIT}/README.md`)).status, 404);
    assert.match((await web.guest.get(EDIT, { follow: false })).to, /^\/login/);
  });
});

Deno.test("the first file of an empty project is made from its page", async () => {
  await withWeb(async (web) => {
    await web.api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
    const shown = await web.person.see("/projects/demo");
    assert.match(shown.text, /There are no files yet\. Make the first one/);
    const [, link = ""] = /href="([^"]+)">New file</.exec(shown.html) ?? [];
    assert.match((await web.person.see(link)).text, /New file .*Save to the workspace/);
    const fields = { action: "save", uuid: "", path: "a.txt", content: "a\n", branch: "trunk" };
    const saved = await web.person.post(link, { ...fields, message: "", new_workspace: "first" });
    assert.match(saved.text, /Saved as a commit in first/);
  });
});

import assert from "node:assert/strict";
import { BY_OPERATOR } from "../support/services.ts";
import { commitFiles } from "../support/projects.ts";
import { type TestWeb, withWeb } from "../support/web.ts";

const RELEASES = "/projects/demo/releases";

/** Runs a test in a project with one file; `ann` has a role. */
async function withMember(
  role: "read" | "write",
  run: (web: TestWeb) => Promise<void>,
): Promise<void> {
  await withWeb(async (web) => {
    await commitFiles(web, { "a.txt": "a\n" });
    await web.api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
    await run(web);
  });
}

Deno.test("a member publishes a release; a refused form keeps what was entered", async () => {
  await withMember("write", async ({ person, answer }) => {
    assert.match((await person.see(RELEASES)).text, /New release.*There are no releases yet/);
    const fields = { action: "create", tag_name: "v1.0", name: "<b>One", body: "Has *notes*" };
    const refused = await person.post(RELEASES, { ...fields, checkin: "nowhere" });
    assert.equal(refused.status, 404);
    assert.match(refused.html, />\s*Has \*notes\*<\/textarea>/);
    const published = await person.post(RELEASES, { ...fields, is_prerelease: "true" });
    assert.match(published.text, /It is published/);
    assert.match(published.text, /<b>One prerelease v1\.0 .*Has notes/);
    const [release] = (await answer("GET /api/releases")).releases;
    assert.deepEqual([release.is_draft, release.is_prerelease], [false, true]);
    assert.equal((await person.post(RELEASES, fields)).status, 409);
  });
});

Deno.test("a draft is published or deleted, and readers see neither drafts nor forms", async () => {
  await withMember("write", async ({ person, admin, addPerson, api, answer }) => {
    for (const tag of ["v1", "v2"]) {
      const fields = { action: "create", tag_name: tag, is_draft: "true" };
      assert.match((await person.post(RELEASES, fields)).text, /The draft is saved.*draft/);
    }
    const reader = await addPerson("rita");
    await api.services.hosting.projects.setMember("demo", "rita", "read", BY_OPERATOR);
    const seen = await reader.see(RELEASES);
    assert.match(seen.text, /There are no releases yet/);
    assert.doesNotMatch(seen.text, /New release/);
    assert.equal((await reader.post(RELEASES, { action: "publish", tag: "v1" })).status, 403);
    await person.post(RELEASES, { action: "publish", tag: "v1" });
    const dropped = await person.post(RELEASES, { action: "drop", tag: "v2" });
    assert.match(dropped.text, /The draft is deleted/);
    assert.match((await reader.see(RELEASES)).text, /v1 /);
    assert.doesNotMatch((await reader.see(RELEASES)).text, /v2/);
    assert.equal((await admin.get(RELEASES)).status, 404);
    const events = async () => (await admin.see("/events?type=project.release")).text;
    assert.match(await events(), /published v1/);
    await answer("PATCH /api/releases/v1", { body: { name: "First" } });
    assert.match(await events(), /changed First/);
    assert.doesNotMatch(await events(), /published First/);
  });
});

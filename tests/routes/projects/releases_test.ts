import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Uploads a file of the release `v1`, which the operator does. */
function upload({ api, base }: TestProject, name: string, content: string): Promise<Response> {
  return api.send({
    request: `PUT ${base}/api/releases/v1/assets/${name}`,
    body: content,
    headers: { "content-type": "text/plain" },
  });
}

/** The names of the unversioned files of the repository. */
function unversioned({ api, project }: TestProject): Promise<string[]> {
  return api.services.hosting.repositories.read(
    project,
    async (repository) => (await repository.unversionedFiles("")).map(({ name }) => name),
  );
}

Deno.test("a release has a tag, which is no branch, and is announced once", async () => {
  await withProject(async ({ api, send, answer, caller }) => {
    const tip = (await answer("GET /api/timeline")).checkins[0].uuid;
    const body = { tag_name: "v1", name: "One", body: "Notes" };
    const made = await send("POST /api/releases", { as: caller, body });
    assert.equal(made.status, 201);
    const release = await made.json();
    assert.equal(release.checkin_uuid, tip);
    assert.equal(release.is_draft, false);
    assert.equal(release.author, "caller");
    assert.deepEqual(release.assets, []);
    assert.equal((await send("POST /api/releases", { as: caller, body })).status, 409);
    assert.equal((await send("POST /api/releases", { body: { tag_name: "trunk" } })).status, 409);
    const nowhere = { tag_name: "v2", checkin: "nowhere" };
    assert.equal((await send("POST /api/releases", { body: nowhere })).status, 404);

    assert.equal(
      (await send("POST /api/tags", { as: caller, body: { name: "green" } })).status,
      201,
    );
    const { tags } = await answer("GET /api/tags");
    assert.deepEqual(tags.map(({ name }: { name: string }) => name).sort(), ["green", "v1"]);
    const { branches } = await answer("GET /api/branches");
    assert.deepEqual(
      branches.map(({ name, status }: { name: string; status: string }) => [name, status]),
      [["trunk", "open"]],
    );
    const changed = await answer("PATCH /api/releases/v1", { body: { name: "First" } });
    assert.equal(changed.name, "First");
    const { releases } = await answer("GET /api/releases");
    assert.deepEqual(releases, [changed]);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.release"] });
    assert.deepEqual(
      events.map(({ actor, data }) => [actor, data["tag_name"], data["status"]]),
      [["agent:caller", "v1", "published"], ["operator", "v1", "changed"]],
    );
  });
});

Deno.test("64 releases of one name at once give one 201", async () => {
  await withProject(async ({ send, answer, caller }) => {
    const statuses = await Promise.all(Array.from({ length: 64 }, async (_, index) => {
      const body = { tag_name: "v1", name: `${index}` };
      return (await send("POST /api/releases", { as: caller, body })).status;
    }));
    assert.deepEqual(statuses.sort(), [201, ...Array(63).fill(409)]);
    assert.equal((await answer("GET /api/releases")).releases.length, 1);
  });
});

Deno.test("only writers see a draft, and publishing it sets its tag", async () => {
  await withProject(async (test) => {
    const { api, send, answer, caller, outsider } = test;
    await api.answer("PATCH /v1/projects/demo", { visibility: "public" });
    await answer("POST /api/releases", { as: caller, body: { tag_name: "v1", is_draft: true } });
    assert.equal((await upload(test, "a.txt", "hello")).status, 201);
    for (const as of [null, outsider]) {
      assert.deepEqual((await answer("GET /api/releases", { as })).releases, []);
      assert.equal((await send("GET /api/releases/v1", { as })).status, 404);
      assert.equal((await send("GET /api/releases/v1/assets/a.txt", { as })).status, 404);
    }
    assert.equal((await answer("GET /api/releases", { as: caller })).releases.length, 1);
    assert.deepEqual((await answer("GET /api/tags")).tags, []);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.release"] });
    assert.deepEqual(events, []);

    const published = await answer("PATCH /api/releases/v1", {
      as: caller,
      body: { is_draft: false },
    });
    assert.notEqual(published.published_at, null);
    assert.equal((await answer("GET /api/releases", { as: null })).releases.length, 1);
    assert.equal((await answer("GET /api/tags")).tags[0].name, "v1");
    assert.equal((await send("PATCH /api/releases/v1", { body: { is_draft: true } })).status, 400);
    assert.equal((await send("POST /api/releases", { as: null, body: {} })).status, 401);
    assert.equal((await send("POST /api/releases", { as: outsider, body: {} })).status, 403);
  });
});

Deno.test("a release's file is an unversioned file of the repository, with ranges and an entity tag", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    await answer("POST /api/releases", { body: { tag_name: "v1" } });
    assert.equal((await upload(test, "a.txt", "first")).status, 201);
    const again = await upload(test, "a.txt", "hello world");
    assert.equal(again.status, 200);
    assert.equal((await again.json()).file_size_bytes, 11);
    assert.deepEqual(await unversioned(test), ["releases/v1/a.txt"]);

    const path = "GET /api/releases/v1/assets/a.txt";
    const whole = await send(path, { as: caller });
    assert.equal(await whole.text(), "hello world");
    assert.equal(whole.headers.get("content-type"), "text/plain");
    const etag = whole.headers.get("etag") ?? "";
    const part = await send(path, { headers: { range: "bytes=6-" } });
    assert.equal(part.status, 206);
    assert.equal(await part.text(), "world");
    assert.equal((await send(path, { headers: { "if-none-match": etag } })).status, 304);
    assert.equal((await send(path, { headers: { range: "bytes=99-" } })).status, 416);
    await upload(test, "a.txt", "third");
    assert.equal(await (await send(path)).text(), "third");
    const { assets } = await answer("GET /api/releases/v1");
    assert.ok(assets[0].download_count >= 2);

    assert.equal((await upload(test, ".hidden", "x")).status, 400);
    assert.equal((await send("GET /api/releases/v1/assets/b.txt")).status, 404);
    assert.equal((await send("DELETE /api/releases/v1/assets/b.txt")).status, 404);
    assert.equal((await send("DELETE /api/releases/v1")).status, 204);
    assert.deepEqual(await unversioned(test), []);
    assert.equal((await send("GET /api/releases/v1")).status, 404);
    assert.equal((await answer("GET /api/tags")).tags[0].name, "v1");
  });
});

Deno.test("the fossil program reads a release's files and verifies the repository", async () => {
  await withProject(async (test) => {
    const { api, project, answer } = test;
    await answer("POST /api/releases", { body: { tag_name: "v1" } });
    await upload(test, "a.txt", "hello\n");
    const path = api.services.hosting.repositories.files.pathOf(project);
    const fossil = async (...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command("fossil", {
        args: [...args, "-R", path],
        env: { HOME: path.slice(0, path.lastIndexOf("/")) },
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      return new TextDecoder().decode(stdout);
    };
    assert.match(await fossil("uv", "list"), /releases\/v1\/a\.txt/);
    assert.equal(await fossil("uv", "cat", "releases/v1/a.txt"), "hello\n");
    assert.match(await fossil("uv", "hash"), /^[0-9a-f]{40}/);
    assert.match(await fossil("tag", "list"), /v1/);
    await fossil("test-integrity");
  });
});

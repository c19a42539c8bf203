import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a repository is exported and imported as a file and as a stream", async () => {
  await withProject(async ({ api }) => {
    for (const format of ["fossil", "git"] as const) {
      const slug = `copy-${format}`;
      await api.answer("POST /v1/projects", { slug, visibility: "public" });
      const request = `GET /v1/projects/demo/repository?format=${format}`;
      const exported = await api.send({ request });
      assert.equal(exported.status, 200);
      const body = new Uint8Array(await exported.arrayBuffer());
      const put = await api.send({ request: `PUT /v1/projects/${slug}/repository`, body });
      assert.equal(put.status, 200, await put.clone().text());
      assert.equal((await put.json()).format, format);
      const timeline = await api.send({ request: `GET /projects/${slug}/fossil/api/timeline` });
      assert.equal(timeline.status, 200);
    }
  });
});

Deno.test("guests of a public project read no private content of an imported file", async () => {
  await withProject(async ({ api, project, answer }) => {
    const hash = await api.services.hosting.repositories.write(project, {
      caller: BY_OPERATOR,
      write: async (repository, stamp) => {
        const { uuid: parent } = await repository.resolveCheckin("trunk");
        const content = new TextEncoder().encode("secret words");
        return await repository.commit({
          ...stamp,
          parent,
          comment: "secret comment",
          branch: "secret",
          isPrivate: true,
          changes: [{ kind: "write", path: "secret.txt", content }],
        });
      },
    });
    await answer(`GET /api/checkin/${hash}`);
    const exported = await api.send({ request: "GET /v1/projects/demo/repository" });
    const body = new Uint8Array(await exported.arrayBuffer());
    await api.answer("POST /v1/projects", { slug: "open", visibility: "public" });
    const put = await api.send({ request: "PUT /v1/projects/open/repository", body });
    const { notices } = await put.json();
    assert.deepEqual(notices.counts, { private: 2 });
    assert.ok(notices.first.some(({ subject }: { subject: string }) => subject === hash));
    const asGuest = (path: string) =>
      api.send({ who: "guest", request: `GET /projects/open/fossil/api/${path}` });
    const timeline = await asGuest("timeline");
    assert.equal(timeline.status, 200);
    assert.doesNotMatch(await timeline.text(), /secret/);
    for (const path of [`checkin/${hash}`, `file?path=secret.txt&checkin=${hash}`]) {
      const response = await asGuest(path);
      assert.equal(response.status, 404, path);
      await response.body?.cancel();
    }
    assert.doesNotMatch(await (await asGuest("branches")).text(), /secret/);
  });
});

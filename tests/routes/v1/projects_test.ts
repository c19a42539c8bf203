import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";

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

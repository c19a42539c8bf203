import assert from "node:assert/strict";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

const KEY =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBXM/+t4F6/XnIsggLvL25ZDTuXwAXtoKp8NyORbnvC6 laptop";

Deno.test("a person adds and removes signing keys on the page of the account", async () => {
  await withWeb(async ({ api, person }) => {
    const added = await person.post("/account", { action: "addKey", key: `${KEY}\n` });
    assert.match(added.text, /The key is added.*laptop.*SHA256:/);
    const wrong = await person.post("/account", { action: "addKey", key: "ssh-dss AAAA" });
    assert.match(wrong.text, /cut short/);
    const twice = await person.post("/account", { action: "addKey", key: KEY });
    assert.match(twice.text, /An account has the key SHA256:/);
    const [key] = await api.services.signingKeys.list(null);
    assert.equal(key?.owner, "ann");
    const removed = await person.post("/account", { action: "removeKey", id: key.id });
    assert.match(removed.text, /The key is removed/);
    assert.deepEqual(await api.services.signingKeys.list(null), []);
  });
});

Deno.test("a file in Git LFS shows the size of its content, and where it is", async () => {
  await withWeb(async (web) => {
    const { api, project, person } = web;
    await api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
    const content = "some content";
    const bytes = new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content)),
    );
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${bytes.toHex()}\n` +
      `size ${content.length}\n`;
    const checkin = await commitFiles(web, { "a.png": pointer });
    const before = await person.see("/projects/demo/file/trunk/a.png");
    assert.match(before.text, /in Git LFS: its content has 12 bytes\. It is not on this server/);
    const stored = await api.send({
      request: `PUT /projects/${project.slug}.git/info/lfs/objects/${bytes.toHex()}`,
      body: content,
    });
    assert.equal(stored.status, 200);
    const after = await person.see("/projects/demo/file/trunk/a.png");
    const [, to = ""] = /href="([^"]*\/api\/lfs\/[^"]*)"/.exec(after.html) ?? [];
    assert.match(to, /name=a\.png$/);
    const shown = await person.see(`/projects/demo/checkin/${checkin}`);
    assert.match(shown.text, /The file is in Git LFS: its content has 12 bytes/);
  });
});

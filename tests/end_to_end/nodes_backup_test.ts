/** `muster backup` on several nodes: each saves its own repositories. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { order } from "../support/api.ts";
import { moveProject, testCluster } from "../support/cluster.ts";

testCluster("a backup of a node has its repositories and keys", async (cluster) => {
  const one = await cluster.start("one");
  await order(one, "POST /v1/projects", { slug: "here" });
  await order(one, "POST /v1/projects", { slug: "there" });
  const two = await cluster.start("two");
  await moveProject(one, "there", "two");
  for (const [node, slug] of [[one, "here"], [two, "there"]] as const) {
    const name = node === one ? "one" : "two";
    const file = join(node.folder, "backup.tar");
    const { code, stderr } = await cluster.run(name, "backup", file);
    assert.equal(code, 0, stderr);
    const listed = await new Deno.Command("tar", { args: ["-tf", file] }).output();
    const names = new TextDecoder().decode(listed.stdout).split("\n");
    const repositories = names.filter((entry) => /^projects\/[a-z]+\.fossil$/.test(entry));
    assert.deepEqual(repositories, [`projects/${slug}.fossil`]);
    assert.ok(names.includes("token_key") && names.includes("network_key"), names.join(" "));
  }
});

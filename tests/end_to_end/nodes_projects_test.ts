/** Projects on several nodes: every node answers for each of them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs, order, registerAgent } from "../support/api.ts";
import { testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";

/** The projects, named after the nodes that have them. */
const SLUGS = ["also-on-one", "also-on-two", "on-one", "on-two"];

/** The repositories in a node's data folder. */
async function repositoriesIn(folder: string): Promise<string[]> {
  const slugs = [];
  for await (const { name } of Deno.readDir(join(folder, "data", "projects"))) {
    if (name.endsWith(".fossil")) slugs.push(name.slice(0, -".fossil".length));
  }
  return slugs.sort();
}

/** Waits until a node knows that the node with a project runs. */
async function reaches(node: Program, slug: string): Promise<void> {
  const status = async () => {
    const response = await call(node, "GET", `/projects/${slug}/fossil/api/tickets`);
    await response.body?.cancel();
    return response.status;
  };
  while (await status() !== 200);
}

testCluster("each node answers for the projects of the others", async (cluster) => {
  const one = await cluster.start("one");
  const two = await cluster.start("two");
  const scout = await registerAgent(one, "scout");
  const make = async (node: Program, slug: string) => {
    await order(node, "POST /v1/projects", { slug });
    await order(node, `PUT /v1/projects/${slug}/members/scout`, { role: "write" });
  };
  await make(one, "on-one");
  await make(two, "on-two");
  await reaches(one, "on-two");
  await reaches(two, "on-one");
  await make(two, "also-on-one");
  await make(one, "also-on-two");
  assert.deepEqual(await repositoriesIn(cluster.folderOf("one")), ["also-on-one", "on-one"]);
  assert.deepEqual(await repositoriesIn(cluster.folderOf("two")), ["also-on-two", "on-two"]);

  for (const node of [one, two]) {
    const listed = await order(node, "GET /v1/projects") as { slug: string }[];
    assert.deepEqual(listed.map(({ slug }) => slug), SLUGS);
    for (const slug of SLUGS) {
      const base = `/projects/${slug}/fossil/api`;
      const filed = await callAs(node, scout, "POST", `${base}/tickets`, { title: node.api });
      assert.equal(filed.status, 201, await filed.clone().text());
      const { uuid } = await filed.json();
      const other = node === one ? two : one;
      const claimed = await callAs(other, scout, "POST", `${base}/tickets/${uuid}/claim`, {});
      assert.equal(claimed.status, 201, await claimed.text());
      const guest = await fetch(`${node.api}${base}/tickets`);
      assert.equal(guest.status, 404, await guest.text());
    }
  }
  const missing = await call(one, "GET", "/projects/third/fossil/api/tickets");
  assert.equal(missing.status, 404, await missing.text());
});

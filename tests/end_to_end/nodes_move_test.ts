/** Projects move between nodes while they are used, and over kills. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs, type Credentials, order, registerAgent } from "../support/api.ts";
import { type TestCluster, testCluster } from "../support/cluster.ts";
import { runMuster } from "../support/program.ts";
import type { Program } from "../support/program.ts";

const BASE = "/projects/demo/fossil/api";

/** Waits until a node reaches the project, wherever that is. */
async function reached(node: Program): Promise<void> {
  for (;;) {
    const response = await call(node, "GET", `${BASE}/tickets`);
    await response.body?.cancel();
    if (response.status === 200) return;
  }
}

/** Two nodes, and the project `demo` on the first one with an agent who may write. */
async function start(cluster: TestCluster) {
  const one = await cluster.start("one");
  const scout = await registerAgent(one, "scout");
  await order(one, "POST /v1/projects", { slug: "demo" });
  await order(one, "PUT /v1/projects/demo/members/scout", { role: "write" });
  const two = await cluster.start("two");
  await reached(two);
  return { one, two, scout };
}

/** Sends a request again while the project is on its way. Returns what was acknowledged. */
async function insist(
  nodes: readonly Program[],
  agent: Credentials,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  for (let attempt = 0;; attempt++) {
    const node = nodes[attempt % nodes.length] ?? assert.fail();
    const response = await callAs(node, agent, "POST", BASE + path, body);
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    assert.equal(response.status, 503, text);
    assert.ok(response.headers.has("retry-after"), text);
  }
}

async function nodeOf(program: Program): Promise<string> {
  const { node } = await order(program, "GET /v1/projects/demo") as { node: string };
  return node;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

testCluster("a project moves to another node and back while agents work in it", async (cluster) => {
  const { one, two, scout } = await start(cluster);
  const nodes = [one, two];
  const filed = new Set<unknown>();
  const claimed: unknown[] = [];
  let isOver = false;
  const work = async (index: number) => {
    for (let turn = 0; !isOver; turn++) {
      const order = index % 2 === 0 ? nodes : nodes.toReversed();
      const { uuid } = await insist(order, scout, "/tickets", { title: `${index} ${turn}` });
      filed.add(uuid);
      const claim = await insist(order, scout, `/tickets/${uuid}/claim`, {});
      claimed.push(claim["ticket_uuid"]);
      await insist(order, scout, "/workspaces/create", { name: `w${index}-${turn}`, ticket: uuid });
      await insist(order, scout, `/workspaces/w${index}-${turn}/commit`, {
        message: "Work",
        changes: [{ path: `${index}-${turn}.txt`, content: "x" }],
      });
      const { status } = await callAs(one, scout, "POST", `${BASE}/tickets/${uuid}/release`, {});
      assert.ok(status === 200 || status === 503);
    }
  };
  const working = Promise.all([0, 1, 2].map(work));
  for (const to of ["two", "one", "two"]) {
    const before = filed.size;
    await order(one, "POST /v1/projects/demo/move", { node: to });
    assert.equal(await nodeOf(one), to);
    assert.equal(await nodeOf(two), to);
    while (filed.size < before + 3) await Promise.race([working, reached(one)]);
  }
  isOver = true;
  await working;
  for (const node of nodes) {
    const listed = new Set<string>();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await order(node, `GET ${BASE}/tickets?per_page=100&page=${page}`) as {
        tickets: { uuid: string }[];
        total_pages: number;
      };
      pages = answer.total_pages;
      for (const { uuid } of answer.tickets) listed.add(uuid);
    }
    assert.deepEqual([...filed].filter((uuid) => !listed.has(String(uuid))), []);
    assert.equal(listed.size, filed.size);
  }
  const log = await order(one, "GET /v1/events?types=project.ticket&limit=1000") as {
    events: { data: { uuid: string } }[];
  };
  const uuids = log.events.map(({ data: { uuid } }) => uuid);
  assert.equal(new Set(uuids).size, uuids.length, "no artifact has two events");
  const aside = join(cluster.folderOf("one"), "data", "projects");
  assert.equal(await isFile(join(aside, "demo.fossil")), false);
  const verified = await runMuster(
    ["fossil", "verify", "-R", join(cluster.folderOf("two"), "data/projects/demo.fossil")],
    { folder: cluster.folderOf("two") },
  );
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});

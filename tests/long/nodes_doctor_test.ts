/** `muster doctor` on several nodes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { order } from "../support/api.ts";
import { moveProject, type TestCluster, testCluster } from "../support/cluster.ts";
import { freePort } from "../support/free_port.ts";
import { asked } from "../support/until.ts";

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly message: string;
  readonly fix: string;
}

/** What the doctor finds on a node in one of its checks. */
async function examine(cluster: TestCluster, node: string, check: string): Promise<Finding[]> {
  const { stdout, stderr } = await cluster.run(node, "doctor", "--quick", "--json");
  assert.notEqual(stdout, "", stderr);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter((finding) => finding.check === check);
}

testCluster("muster doctor does not miss repositories that another node has", async (cluster) => {
  const one = await cluster.start("one");
  await order(one, "POST /v1/projects", { slug: "demo" });
  const two = await cluster.start("two");
  for (const node of ["one", "two"]) {
    assert.deepEqual(await examine(cluster, node, "repositories"), []);
  }

  const path = (folder: string) => join(folder, "data", "projects", "demo.fossil");
  await Deno.copyFile(path(one.folder), path(two.folder));
  assert.deepEqual(await examine(cluster, "two", "repositories"), [{
    level: "note",
    check: "repositories",
    message: `"${path(two.folder)}" is a copy; the project "demo" is on the node "one"`,
    fix: "the next start sets it aside",
  }]);
});

testCluster("muster doctor finds a node.url that does not lead to its node", async (cluster) => {
  const one = await cluster.start("one");
  // A node with the very URL of another one does not start.
  const api = one.api.replace("127.0.0.1", "localhost");
  const nowhere = `http://127.0.0.1:${freePort()}`;
  await cluster.start("two", { MUSTER_NODE_URL: nowhere });
  await cluster.start("three", { MUSTER_NODE_URL: api });
  await asked(
    () => order(one, "GET /v1/nodes") as Promise<{ state: string }[]>,
    (nodes) => nodes.length === 3 && nodes.every(({ state }) => state === "running"),
  );
  const findings = await examine(cluster, "one", "addresses");
  assert.deepEqual(findings.map(({ message }) => message).sort(), [
    `No node answers at "${nowhere}", the node.url of "two"`,
    `The node.url of "three", "${api}", leads to the node "one"`,
  ]);
});

testCluster("muster doctor tells of nodes that are stopped, and what to do", async (cluster) => {
  const one = await cluster.start("one");
  for (const name of ["two", "three", "four"]) await cluster.start(name);
  const states = (wanted: string) =>
    asked(
      () => order(one, "GET /v1/nodes") as Promise<{ name: string; state: string }[]>,
      (nodes) =>
        nodes.length === 4 &&
        nodes.every(({ name, state }) => state === (name === "one" ? "running" : wanted)),
    );
  await states("running");
  assert.deepEqual(await examine(cluster, "one", "nodes"), []);
  await order(one, "POST /v1/projects", { slug: "demo" });
  await moveProject(one, "demo", "two");
  await order(one, "POST /v1/nodes/three/drain");
  for (const name of ["two", "three", "four"]) await cluster.stop(name);
  await states("stopped");
  // What to do about each is in the test of the check, `tests/cli/doctor_test.ts`.
  const found = await examine(cluster, "one", "nodes");
  assert.deepEqual(found.map(({ level, message }) => `${level}: ${message}`), [
    'warning: The node "four" is stopped, and has no projects',
    'note: The node "three" is stopped, drained, and has no projects',
    'warning: The node "two" is stopped, and its 1 project answers 503',
  ]);
});

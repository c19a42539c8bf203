/** Runners and jobs on a cluster: a runner may call any node. */
import assert from "node:assert/strict";
import { orderNode, registerAgent } from "../support/api.ts";
import { reaches, testCluster } from "../support/cluster.ts";
import type { Program } from "../support/program.ts";
import { asked } from "../support/until.ts";

const BASE = "/projects/demo/fossil/api";

/** Sends something as a runner; returns the status and the JSON. */
async function asRunner(
  node: Program,
  token: string,
  request: string,
  body: unknown,
): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }> {
  const [method = "", path = ""] = request.split(" ");
  const response = await fetch(node.api + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : JSON.parse(text) };
}

testCluster(
  "a runner gets and ends a job through a node that does not have the project",
  async (cluster) => {
    const home = await cluster.start("a");
    const other = await cluster.start("b");
    await registerAgent(home, "ann");
    await orderNode(home, "POST /v1/projects", { slug: "demo", name: "Demo", agents_md: true });
    const { node } = await orderNode(home, "GET /v1/projects/demo") as { node: string };
    const [near, far] = node === "a" ? [home, other] : [other, home];
    await orderNode(near, "PUT /v1/projects/demo/members/ann", { role: "write" });
    await reaches(far, "demo");
    const work = async (name: string, path: string, content: string) => {
      const agent_id = "ann";
      await orderNode(near, `POST ${BASE}/workspaces/create`, { name, agent_id });
      const changes = [{ path, content }];
      const body = { message: name, changes, agent_id };
      await orderNode(near, `POST ${BASE}/workspaces/${name}/commit`, body);
    };
    await work("ci", ".muster/checks.yaml", "checks:\n  tests:\n    run: make test\n");
    await orderNode(near, `POST ${BASE}/workspaces/ci/merge`, { agent_id: "ann" });
    const { token } = await orderNode(far, "POST /v1/runners", { name: "east" }) as {
      token: string;
    };
    await work("fix", "a.txt", "a\n");
    const waiting = asRunner(far, token, "POST /v1/runner/jobs", { wait_seconds: 60 });
    const opened = performance.now();
    await orderNode(near, `POST ${BASE}/reviews/create`, {
      title: "Fix",
      workspace: "fix",
      agent_id: "ann",
    });
    const { status, json: job } = await waiting;
    assert.equal(status, 200);
    assert.ok(performance.now() - opened < 30_000);

    const archive = await fetch(far.api + job.archive, {
      headers: { authorization: `Bearer ${job.token}` },
    });
    assert.equal(archive.status, 200);
    await archive.body?.cancel();
    const tell = (via: Program, what: string, body: object) =>
      asRunner(via, token, `POST /v1/runner/jobs/${job.id}/${what}`, {
        generation: job.generation,
        ...body,
      });
    const line = (text: string) => [{ at: 0, stream: "out", text }];
    assert.deepEqual((await tell(far, "log", { from: 1, lines: line("one") })).json, { next: 2 });
    assert.deepEqual((await tell(near, "log", { from: 2, lines: line("two") })).json, { next: 3 });
    const renewal = tell(far, "renew", { wait_seconds: 20 });
    await orderNode(far, `POST ${BASE}/jobs/${job.id}/cancel`);
    assert.equal((await renewal).json.cancelled, true);
    assert.equal((await tell(far, "finish", { outcome: "cancelled" })).status, 200);
    for (const via of [near, far]) {
      const log = await orderNode(via, `GET ${BASE}/jobs/${job.id}/log`) as {
        state: string;
        lines: { text: string }[];
      };
      assert.deepEqual(
        [log.state, log.lines.map(({ text }) => text)],
        ["cancelled", ["one", "two"]],
      );
    }
    await asked(async () => {
      const gone = await fetch(far.api + job.archive, {
        headers: { authorization: `Bearer ${job.token}` },
      });
      await gone.body?.cancel();
      return gone.status;
    }, (one) => one === 401);

    // The next attempt survives the end of the node that gave it.
    const { id } = await orderNode(near, `GET ${BASE}/runs/1`) as { id: number };
    await orderNode(near, `POST ${BASE}/runs/${id}/rerun`);
    const again = await asRunner(far, token, "POST /v1/runner/jobs", { wait_seconds: 60 });
    assert.equal(again.status, 200);
    await cluster.stop(far === home ? "a" : "b");
    const ended = await asRunner(near, token, `POST /v1/runner/jobs/${again.json.id}/finish`, {
      generation: 1,
      outcome: "success",
    });
    assert.deepEqual([ended.status, ended.json.outcome], [200, "success"]);
  },
);

import assert from "node:assert/strict";
import { Hono } from "hono";
import { LEADER_ROUTES, LeaderPlacement, ProjectPlacement } from "../../routes/placements.ts";
import type { NodeRecord } from "../../services/kernel/nodes.ts";
import type { HeldProject } from "../../services/work/projects/mod.ts";
import { randomTargets } from "../support/odd_targets.ts";

const OTHER: NodeRecord = Object.freeze({
  name: "other",
  url: "http://other.example",
  version: "1",
  startedAt: 0,
  drainedAt: null,
});

/** A request as it comes, whose target no constructor has changed. */
function raw(target: string): Request {
  return Object.defineProperty(new Request("http://localhost/"), "url", {
    value: `http://localhost${target}`,
  });
}

const PARTS = ["v1", "projects", "demo", "fossil", "agents", "scout", "messages", "%64emo", "%25"]
  .concat("live", "jobs");

Deno.test("what decides on the node of a request reads its target as the router does", async () => {
  const asked: string[] = [];
  const projects = new ProjectPlacement({
    projects: {
      find(slug) {
        asked.push(slug);
        return { project: { id: slug } } as HeldProject;
      },
    },
    homes: {
      elsewhere: ({ id }) => id === "demo" ? OTHER : null,
      forNew: () => null,
      named: () => null,
    },
  });
  const leader = new LeaderPlacement({ nodes: { otherLeader: () => OTHER }, pages: [] });
  const router = new Hono({ strict: false });
  for (const pattern of LEADER_ROUTES) {
    const [method = "", path = ""] = pattern.split(" ");
    router.on(method, path.replace(/\{(\w+)\}/g, ":$1"), (context) => context.text("leader"));
  }
  const slugOf = (given: string) => given === "new" ? "" : given;
  const ofProject = [
    ...["/projects/:slug", "/projects/:slug/*", "/v1/projects/:slug/repository"],
    "/live/projects/:slug/jobs/:id",
  ];
  for (const path of ofProject) {
    router.get(
      path,
      (context) => context.text(`project ${slugOf(context.req.param("slug") ?? "")}`),
    );
  }
  const fixed = [
    ...["/projects/x/../demo", "/projects/%2e%2e/demo", "/v1/projects/demo/repository"],
    ...["/projects/demo/../x/y", "//projects/demo", "/projects//demo", "/projects/demo%2fx"],
    ...["/projects\\demo", "/projects/demo?x/../y", "/projects/demo#x", "/v1/../projects/demo"],
    ...["/projects/%2f%zz", "/projects/d%65mo%zz", "/projects/%e9%64emo", "/projects/%2564emo"],
    ...["/live/projects/demo/jobs/1", "/live/projects/x/../demo/jobs/1"],
    ...["/v1/agents/scout/messages", "/v1/agents/../messages", "/v1/agents/x/../scout/messages"],
  ];
  for (const target of [...fixed, ...randomTargets(3000, PARTS)]) {
    const response = await router.fetch(raw(target));
    const reached = response.status === 200 ? await response.text() : "nothing";
    asked.length = 0;
    const node = projects.nodeFor(raw(target), null);
    if (reached.startsWith("project ")) {
      const slug = reached.slice("project ".length);
      assert.deepEqual(asked, slug === "" ? [] : [slug], target);
      assert.equal(node, slug === "demo" ? OTHER : null, target);
    }
    assert.equal(leader.nodeFor(raw(target), null) !== null, reached === "leader", target);
  }
  // The address for `git` is a project's, too.
  for (const target of ["/projects/demo.git/info/refs", "/projects/demo.git/git-upload-pack"]) {
    assert.equal(projects.nodeFor(raw(target), null), OTHER, target);
  }
});

import assert from "node:assert/strict";
import { LEADER_ROUTES, LeaderPlacement } from "../../routes/placements.ts";
import { Unavailable } from "../../services/kernel/errors.ts";
import type { NodeRecord } from "../../services/kernel/nodes.ts";
import { LEADER_PAGES } from "../../web/leader_pages.ts";
import { PAGES } from "../../web/table.ts";

const LEADER: NodeRecord = Object.freeze({
  name: "one",
  url: "http://one.example",
  version: "1",
  startedAt: 0,
  drainedAt: null,
});

function placement(otherLeader: () => NodeRecord | null): LeaderPlacement {
  return new LeaderPlacement({ nodes: { otherLeader }, pages: LEADER_PAGES });
}

function asked(method: string, path: string): Request {
  return new Request(`http://two.example${path}`, { method });
}

Deno.test("what needs the leading node goes there, and everything else stays", () => {
  const { nodeFor } = bound(placement(() => LEADER));
  for (const pattern of [...LEADER_ROUTES, ...LEADER_PAGES]) {
    const [method = "", path = ""] = pattern.split(" ");
    assert.equal(nodeFor(method, path.replace(/\{\w+\}/g, "scout")), LEADER, pattern);
  }
  assert.equal(nodeFor("GET", "/v1/agents/scout/messages?wait_seconds=5"), LEADER);
  assert.equal(nodeFor("GET", "/v1/agents/sc%6Fut/messages/"), LEADER);
  assert.equal(nodeFor("HEAD", "/%761/agents/scout/messages"), LEADER);
  for (const path of ["/v1/agents/scout", "/v1/agents//messages", "/v1/questions", "/channels/x"]) {
    assert.equal(nodeFor("GET", path), null, path);
  }
});

Deno.test("pages of the leading node exist", () => {
  const paths = Object.keys(PAGES).map((path) => path.replace(/:(\w+)/g, "{$1}"));
  for (const pattern of LEADER_PAGES) {
    const [, path = ""] = pattern.split(" ");
    assert.ok(paths.includes(path), pattern);
  }
});

Deno.test("while no node leads, what needs one is refused", () => {
  const { nodeFor } = bound(placement(() => {
    throw new Unavailable("none");
  }));
  assert.throws(() => nodeFor("GET", "/v1/agents/scout/messages"), Unavailable);
  assert.equal(nodeFor("GET", "/v1/agents"), null);
});

function bound(placed: LeaderPlacement) {
  return { nodeFor: (method: string, path: string) => placed.nodeFor(asked(method, path), null) };
}

import assert from "node:assert/strict";
import type { NodeReport } from "../../services/cluster/nodes/mod.ts";
import { Visitor, withWeb } from "../support/web.ts";

function aNode(name: string, more: Partial<NodeReport>): NodeReport {
  return {
    name,
    url: `http://${name}.example:8080`,
    version: "1.2.3",
    started_at: "2026-11-26T12:00:00.000Z",
    state: "running",
    drained_at: null,
    leader: false,
    self: false,
    projects: 0,
    ...more,
  };
}

Deno.test("a server that is alone says so at /settings/nodes", async () => {
  await withWeb(async ({ admin }) => {
    assert.match((await admin.see("/settings/nodes")).text, /This server is alone/);
    const refused = await admin.post("/settings/nodes", { action: "drain", name: "a" });
    assert.equal(refused.status, 404);
  });
});

Deno.test("an admin drains, resumes and removes nodes", async () => {
  await withWeb(async ({ api, admin }) => {
    const done: string[] = [];
    const note = (what: string) => (name: string) => {
      done.push(`${what} ${name}`);
      return Promise.resolve();
    };
    const nodes = [
      aNode("a", { leader: true, projects: 7 }),
      aNode("b", { state: "draining", drained_at: "2026-11-26T12:30:00.000Z", self: true }),
      aNode("c", { state: "stopped" }),
    ];
    const nodeOperations = {
      list: () => Promise.resolve(nodes),
      drain: note("drain"),
      resume: note("resume"),
      remove: note("remove"),
    };
    const several = api.with({ nodeOperations });
    several.mountPages();
    const visitor = new Visitor(several, {
      muster_session: admin.cookie("muster_session"),
      muster_csrf: admin.cookie("muster_csrf"),
    });
    const { text, html } = await visitor.see("/settings/nodes");
    assert.match(text, /a leads running 7 1\.2\.3 .* http:\/\/a\.example:8080 Drain/);
    assert.match(text, /b answers you draining 0 .* Resume/);
    assert.match(text, /c stopped 0 .* Drain Remove/);
    assert.equal(html.match(/value="remove"/g)?.length, 1, "only a stopped node can be removed");
    const send = (action: string, name: string) =>
      visitor.post("/settings/nodes", { action, name });
    assert.match((await send("drain", "a")).text, /a leads no more/);
    assert.match((await send("resume", "b")).text, /b takes work again/);
    assert.match((await send("remove", "c")).text, /c is removed/);
    assert.deepEqual(done, ["drain a", "resume b", "remove c"]);
  });
});

import assert from "node:assert/strict";
import { withProject } from "../support/projects.ts";
import { withApi } from "../support/scenarios.ts";

Deno.test("llms.txt tells anybody what the server is and leads to its documents", async () => {
  await withApi(async (api) => {
    const response = await api.send({ who: "guest", request: "GET /llms.txt" });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
    const text = await response.text();
    // A proxy in front of the server need not lead to `mcp_addr`.
    assert.match(text, /^- MCP: .* at `\/mcp` of this address;/m);
    // https://llmstxt.org: a title, a summary as a quotation, sections with links.
    assert.match(text, /^# muster\n\n> .+\n(?:> .+\n)+\n/);
    const links = Array.from(text.matchAll(/\]\((\/[^)]+)\)/g), ([, path = ""]) => path);
    assert.ok(links.includes("/openapi.json"));
    for (const path of links) {
      const linked = await api.send({ who: "guest", request: `GET ${path}` });
      assert.notEqual(linked.status, 404, path);
      await linked.body?.cancel();
    }
  });
});

Deno.test("a new project can begin with AGENTS.md, of at most 25 lines", async () => {
  await withProject(async ({ api }) => {
    await api.answer("POST /v1/projects", { slug: "guided", name: "Guided", agents_md: true });
    const base = "/projects/guided/fossil/api";
    const timeline = await api.answer(`GET ${base}/timeline`) as {
      checkins: { comment: string; branch: string }[];
    };
    const seen = timeline.checkins.map(({ comment, branch }) => [comment, branch]);
    assert.deepEqual(seen, [["Add AGENTS.md", "trunk"], ["initial empty check-in", "trunk"]]);
    const file = await api.send({ who: "operator", request: `GET ${base}/file?path=AGENTS.md` });
    const text = await file.text();
    assert.match(text, /^# Guided: guide for agents\n/);
    assert.match(text, /`\/projects\/guided\/fossil\/api\/`/);
    assert.ok(text.trimEnd().split("\n").length <= 25);
    const refused = await api.send({
      who: "operator",
      request: "POST /v1/projects",
      body: { slug: "other", agents_md: "yes" },
    });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /"agents_md\\" must be true or false/);
  });
});

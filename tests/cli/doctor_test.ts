/** What `muster doctor` says of the nodes that `GET /v1/nodes` lists. */
import assert from "node:assert/strict";
import { checkNodes } from "../../cli/doctor.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import type { Finding } from "../../services/operation/doctor/mod.ts";
import { freePort } from "../support/free_port.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const NOW = "2026-01-01T00:00:00Z";

/** What is found on the node "one", at "HERE", which runs beside others. */
async function examine(nodes: (url: string) => readonly Record<string, unknown>[]) {
  let findings: readonly Finding[] = [];
  await withFolder(async (folder) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => {
        const { pathname, origin } = new URL(request.url);
        return pathname === "/v1/nodes"
          ? Response.json([node("one", origin), ...nodes(origin)])
          : Response.json({ node: { started_at: NOW } });
      },
    );
    const api = `http://127.0.0.1:${server.addr.port}`;
    await writeFile(folder, "endpoints.json", JSON.stringify({ api, mcp: `${api}/mcp` }));
    await writeFile(folder, "api_token", "secret");
    const { node: alone, ...config } = configSchema.parse({ data_dir: folder });
    const self = { ...config, node: { ...alone, name: "one", url: api } };
    findings = (await checkNodes({ dataDir: folder }, self, true))
      .map((found) => ({ ...found, message: found.message.replace(api, "HERE") }));
  });
  return findings;
}

function node(name: string, url: string, more: Record<string, unknown> = {}) {
  return { name, url, state: "running", started_at: NOW, drained_at: null, projects: 0, ...more };
}

Deno.test("nodes that are stopped are told of, with what to do", async () => {
  const stopped = (name: string, more: Record<string, unknown> = {}) =>
    node(name, "http://localhost:1", { state: "stopped", ...more });
  const findings = await examine(() => [
    stopped("four"),
    stopped("three", { drained_at: NOW }),
    stopped("two", { projects: 1 }),
  ]);
  assert.deepEqual(findings, [{
    level: "warning",
    check: "nodes",
    message: 'The node "four" is stopped, and has no projects',
    fix: "start it; if it will not come back, forget it: muster node remove four",
  }, {
    level: "note",
    check: "nodes",
    message: 'The node "three" is stopped, drained, and has no projects',
    fix:
      "start it and let it take work again: muster node resume three; if it will not come back, " +
      "forget it: muster node remove three",
  }, {
    level: "warning",
    check: "nodes",
    message: 'The node "two" is stopped, and its 1 project answers 503',
    fix: "start it; if it will not come back, restore each project on another node " +
      "(muster project restore SLUG --from FILE --on NODE), and forget it: muster node remove two",
  }]);
});

Deno.test("a node.url that does not lead to its node is an error", async () => {
  const nowhere = `http://127.0.0.1:${freePort()}`;
  const findings = await examine((url) => [
    node("two", nowhere),
    node("three", url, { started_at: "2026-01-01T00:00:01Z" }),
  ]);
  assert.deepEqual(findings.map(({ level, message }) => `${level}: ${message}`), [
    `error: No node answers at "${nowhere}", the node.url of "two"`,
    'error: The node.url of "three", "HERE", leads to the node "one"',
  ]);
  assert.deepEqual(await examine(() => []), []);
});

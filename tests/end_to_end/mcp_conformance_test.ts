/** The official conformance runner, for the newest revision and the one before. */
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { conformanceProtocols } from "../support/conformance_server.ts";
import { startWithProject } from "../support/driven_project.ts";
import { mcpClients, peer } from "../support/peers.ts";
import { withFolder } from "../support/temporary.ts";
import { headersOf, newFixture } from "../mcp/support.ts";

const CURRENT = "2026-07-28";

/**
 * The scenarios that muster itself passes, with its own tools, resources and prompts. All others
 * look for something of the runner's own, such as the tool `test_simple_text`.
 */
const PASSED: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": [
    "completion-complete",
    "dns-rebinding-protection",
    "ping",
    "prompts-list",
    "resources-list",
    "server-initialize",
    "tools-list",
  ],
  [CURRENT]: [
    "caching",
    "completion-complete",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "tools-list",
  ],
};

/** What is not scored and fails, and why. */
const FAILED: Readonly<Record<string, string>> = {
  "http-custom-header-server-validation": "muster has no tool with a parameter in a header",
};

/** Those of the extension for skills, which no revision requires. */
const SKILLS = [
  "sep-2640-skills-directory",
  "sep-2640-skills-enumeration",
  "sep-2640-skills-manifest",
];

/**
 * Runs scenarios: by default those that a revision requires, and those that it does not score.
 *
 * @param scenario one of another kind
 */
async function scenarios(url: string, revision: string, scenario?: string) {
  const folder = join(mcpClients(), "node_modules", "@modelcontextprotocol", "conformance");
  let text = "";
  let success = false;
  await withFolder(async (home) => {
    const chosen = scenario === undefined
      ? ["--requirements", revision]
      : ["--scenario", scenario, "--spec-version", revision];
    const command = ["server", "--url", url, ...chosen];
    const ran = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", join(folder, "dist", "index.js"), ...command],
      env: { HOME: home, NO_COLOR: "1" },
      cwd: home,
      stdin: "null",
    }).output();
    success = ran.success;
    text = [ran.stdout, ran.stderr].map((said) => new TextDecoder().decode(said)).join("\n");
  });
  const counted = [...text.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)]
    .map(([, name = "", passed, failed]) => (
      { name, passed: Number(passed), failed: Number(failed) }
    ));
  if (scenario === undefined) assert.ok(counted.length > 30, text);
  return { counted, text, success };
}

/** Forwards requests as they are, with the credential that the runner does not send. */
function withCredential(target: string, token: string) {
  const { hostname, port } = new URL(target);
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const headers = {
      ...Object.fromEntries(request.headers),
      authorization: `Bearer ${token}`,
      // The answer goes on without its Content-Encoding.
      "accept-encoding": "identity",
    };
    // Unlike fetch, this lets the header Host through.
    const options = { hostname, port, path: "/mcp", method: request.method, headers };
    const forwarded = httpRequest(options, (response) => {
      const parts: Uint8Array[] = [];
      response.on("data", (part: Uint8Array) => parts.push(part));
      response.on("end", () => {
        const type = response.headers["content-type"] ?? "application/json";
        const isEmpty = response.statusCode === 202 || response.statusCode === 204;
        const content = isEmpty ? null : new Blob(parts as Uint8Array<ArrayBuffer>[]);
        const init = { status: response.statusCode ?? 500, headers: { "content-type": type } };
        resolve(new Response(content, init));
      });
    });
    forwarded.on("error", reject);
    forwarded.end(body);
    return await promise;
  });
}

Deno.test(
  "the official conformance runner passes every scenario that muster can pass as it is",
  peer("mcp clients"),
  async () => {
    const { program, token } = await startWithProject();
    await using _ = program;
    await using proxy = withCredential(program.mcp, token);
    for (const [revision, names] of Object.entries(PASSED)) {
      const url = `http://127.0.0.1:${proxy.addr.port}/mcp`;
      const { counted, text } = await scenarios(url, revision);
      const passed = counted.filter(({ passed, failed }) => passed > 0 && failed === 0);
      assert.deepEqual(passed.map(({ name }) => name).toSorted(), names, text);
    }
    for (const scenario of SKILLS) {
      const { text, success } = await scenarios(
        `http://127.0.0.1:${proxy.addr.port}/mcp`,
        CURRENT,
        scenario,
      );
      assert.ok(success, text);
    }
  },
);

Deno.test(
  "the official conformance runner passes every scenario, if its tools, resources and prompts are " +
    "behind muster's door",
  peer("mcp clients"),
  async () => {
    const { handler } = newFixture({ protocols: conformanceProtocols });
    const authorization = headersOf("writer").get("authorization") ?? "";
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    await using server = Deno.serve(options, (request, { remoteAddr }) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", authorization);
      return handler(new Request(request, { headers }), remoteAddr.hostname);
    });
    const url = `http://127.0.0.1:${server.addr.port}/mcp`;
    const { counted, text, success } = await scenarios(url, CURRENT);
    const failed = counted.filter((scenario) => scenario.failed > 0);
    assert.deepEqual(failed.map(({ name }) => name).toSorted(), Object.keys(FAILED).toSorted());
    assert.ok(success, text);
  },
);

/** The official conformance runner, which knows the revisions with `initialize`. */
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { startWithProject } from "../support/driven_project.ts";
import { mcpClients, peer } from "../support/peers.ts";
import { withFolder } from "../support/temporary.ts";

/** Scenarios that any server of tools, resources and prompts can pass. */
const PASSING: readonly string[] = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

const FIXTURE_TOOL = "needs a tool of the runner's own on the server, such as test_simple_text";
const FIXTURE_RESOURCE = "needs a resource of the runner's own, such as test://static-text";
const FIXTURE_PROMPT = "needs a prompt of the runner's own, such as test_simple_prompt";
const NO_STREAM = "skipped by the runner: POST is answered with JSON, and there is no stream";

/** Scenarios that a server without fixtures cannot pass, and why. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  "logging-set-level": "muster declares no logging: its log is the operator's",
  "completion-complete":
    "muster declares no completions; the scenario names test_prompt_with_arguments",
  "tools-call-simple-text": FIXTURE_TOOL,
  "tools-call-image": FIXTURE_TOOL,
  "tools-call-audio": FIXTURE_TOOL,
  "tools-call-embedded-resource": FIXTURE_TOOL,
  "tools-call-mixed-content": FIXTURE_TOOL,
  "tools-call-with-logging": FIXTURE_TOOL,
  "tools-call-error": FIXTURE_TOOL,
  "tools-call-with-progress": FIXTURE_TOOL,
  "tools-call-sampling": FIXTURE_TOOL,
  "tools-call-elicitation": FIXTURE_TOOL,
  "json-schema-2020-12": FIXTURE_TOOL,
  "elicitation-sep1034-defaults": FIXTURE_TOOL,
  "elicitation-sep1330-enums": FIXTURE_TOOL,
  "server-sse-polling": NO_STREAM,
  "server-sse-multiple-streams": NO_STREAM,
  "resources-read-text": FIXTURE_RESOURCE,
  "resources-read-binary": FIXTURE_RESOURCE,
  "resources-templates-read": FIXTURE_RESOURCE,
  "resources-subscribe": "muster declares no subscriptions",
  "resources-unsubscribe": "muster declares no subscriptions",
  "prompts-get-simple": FIXTURE_PROMPT,
  "prompts-get-with-args": FIXTURE_PROMPT,
  "prompts-get-embedded-resource": FIXTURE_PROMPT,
  "prompts-get-with-image": FIXTURE_PROMPT,
};

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
  "the official conformance runner passes every scenario that applies",
  peer("mcp clients"),
  async () => {
    const { program, token } = await startWithProject();
    await using _ = program;
    await using proxy = withCredential(program.mcp, token);
    const folder = join(mcpClients(), "node_modules", "@modelcontextprotocol", "conformance");
    await withFolder(async (home) => {
      const url = `http://127.0.0.1:${proxy.addr.port}/mcp`;
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          join(folder, "dist", "index.js"),
          "server",
          "--url",
          url,
          "--suite",
          "all",
        ],
        env: { HOME: home, NO_COLOR: "1" },
        cwd: home,
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(stdout);
      const results = new Map(
        [...text.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)]
          .map(([, name = "", passed, failed]) => [name, [Number(passed), Number(failed)]]),
      );
      assert.deepEqual(
        [...results.keys()].toSorted(),
        [...PASSING, ...Object.keys(NOT_APPLICABLE)].toSorted(),
        `Each scenario is in one of the two lists\n${new TextDecoder().decode(stderr)}`,
      );
      for (const [name, [passed = 0, failed = 0]] of results) {
        if (PASSING.includes(name)) assert.ok(passed > 0 && failed === 0, `${name}\n${text}`);
        else assert.equal(passed, 0, `${name} passes now: move it to the other list`);
      }
    });
  },
);

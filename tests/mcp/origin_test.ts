import assert from "node:assert/strict";
import { type FixtureOptions, headersOf, newFixture, rpc } from "./support.ts";

interface Scenario {
  readonly name: string;
  readonly url?: string;
  readonly origin?: string;
  readonly remoteAddress?: string;
  readonly config?: FixtureOptions["config"];
  readonly allowed: boolean;
}

const OWN = "http://127.0.0.1:8081";
const PUBLIC = { mcp_addr: ":8081" };

const SCENARIOS: readonly Scenario[] = [
  { name: "no origin", allowed: true },
  { name: "its own origin", origin: OWN, allowed: true },
  {
    name: "its own origin under another name",
    url: "http://localhost:8081",
    origin: "http://localhost:8081",
    allowed: true,
  },
  {
    name: "its own origin over IPv6",
    url: "http://[::1]:8081",
    origin: "http://[::1]:8081",
    allowed: true,
  },
  { name: "its own host behind TLS", origin: "https://127.0.0.1:8081", allowed: true },
  { name: "another site", origin: "https://evil.example", allowed: false },
  { name: "another port of this machine", origin: "http://127.0.0.1:3000", allowed: false },
  { name: "an origin that hides", origin: "null", allowed: false },
  {
    name: "a page whose name was pointed here",
    url: "http://evil.example:8081",
    origin: "http://evil.example:8081",
    allowed: false,
  },
  { name: "another name of this machine", url: "http://evil.example:8081", allowed: false },
  {
    name: "a name that only looks like this machine",
    url: "http://127.0.0.1.evil.example",
    allowed: false,
  },
  {
    name: "a public server's own name",
    url: "https://muster.example",
    config: PUBLIC,
    allowed: true,
  },
  {
    name: "a page of a public server's name",
    url: "https://muster.example",
    origin: "https://muster.example",
    config: PUBLIC,
    allowed: true,
  },
  {
    name: "another site on a public server",
    url: "https://muster.example",
    origin: "https://evil.example",
    config: PUBLIC,
    allowed: false,
  },
  {
    name: "the public name from a trusted proxy",
    url: "http://muster.example",
    origin: "https://muster.example",
    config: { trusted_proxies: ["127.0.0.1"] },
    allowed: true,
  },
  {
    name: "a configured site",
    origin: "https://app.example",
    config: { cors: { origins: ["https://app.example"] } },
    allowed: true,
  },
  {
    name: "any site where all are configured",
    origin: "https://evil.example",
    config: { cors: { origins: ["*"] } },
    allowed: true,
  },
  {
    name: "a site that is not configured",
    origin: "https://evil.example",
    config: { cors: { origins: ["https://app.example"] } },
    allowed: false,
  },
  {
    name: "a configured site whose name was pointed here",
    url: "http://app.example:8081",
    origin: "http://app.example:8081",
    config: { cors: { origins: ["http://app.example:8081"] } },
    allowed: false,
  },
  {
    name: "the public name from a proxy that is not trusted",
    url: "http://muster.example",
    config: { trusted_proxies: ["10.0.0.1"] },
    allowed: false,
  },
];

for (const { name, url = OWN, origin, remoteAddress = "127.0.0.1", config, allowed } of SCENARIOS) {
  Deno.test(`POST /mcp ${allowed ? "serves" : "refuses"} ${name}`, async () => {
    const { handler, addresses } = newFixture(config === undefined ? {} : { config });
    const headers = headersOf("operator", origin === undefined ? {} : { origin });
    const body = JSON.stringify(rpc("ping"));
    const request = new Request(`${url}/mcp`, { method: "POST", headers, body });
    const response = await handler(request, remoteAddress);
    const { error } = await response.json();
    assert.equal(response.status, allowed ? 200 : 403);
    assert.equal(error?.code, allowed ? undefined : -32000);
    assert.equal(addresses.length, allowed ? 1 : 0);
  });
}

Deno.test("pages of configured origins may send the headers of MCP and of clients, and read every answer", async () => {
  const { handler } = newFixture({ config: { cors: { origins: ["https://app.example"] } } });
  const origin = { origin: "https://app.example" };
  const asked = "mcp-session-id, x-stainless-lang, openai-project, mcp-method, x-evil";
  const preflight = await handler(
    new Request(`${OWN}/mcp`, {
      method: "OPTIONS",
      headers: { ...origin, "access-control-request-headers": asked },
    }),
    "127.0.0.1",
  );
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://app.example");
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
  const names = (preflight.headers.get("access-control-allow-headers") ?? "").toLowerCase()
    .split(", ");
  for (
    const name of [
      ...["authorization", "content-type", "last-event-id", "mcp-session-id"],
      ...["mcp-protocol-version", "mcp-method", "x-stainless-lang", "openai-project"],
    ]
  ) assert.equal(names.filter((one) => one === name).length, 1, name);
  assert.ok(!names.includes("x-evil"));
  for (const who of ["operator", "guest"] as const) {
    const body = JSON.stringify(rpc("ping"));
    const headers = headersOf(who, origin);
    const request = new Request(`${OWN}/mcp`, { method: "POST", headers, body });
    const response = await handler(request, "127.0.0.1");
    assert.equal(response.headers.get("access-control-allow-origin"), "https://app.example");
    assert.match(response.headers.get("access-control-expose-headers") ?? "", /Mcp-Session-Id/);
    await response.body?.cancel();
  }
});

/** Who may call the endpoint, by which method, and with how large a body. */
import assert from "node:assert/strict";
import {
  errorCode,
  headersOf,
  newFixture,
  post,
  result,
  rpc,
  shapeOf,
  type Who,
} from "./support.ts";

const ID = /^[0-9a-f-]{36}$/;

const ACCESS: readonly (readonly [Who, number])[] = [
  ["guest", 401],
  ["stranger", 401],
  ["reader", 200],
  ["writer", 200],
  ["operator", 200],
  ["project", 200],
  ["admin", 200],
];

for (const [who, status] of ACCESS) {
  Deno.test(`POST /mcp answers ${who} with ${status}`, async () => {
    const { handler } = newFixture();
    const response = await handler(post(who, rpc("ping")), "127.0.0.1");
    const body = await response.json();
    assert.equal(response.status, status);
    const place = "http://127.0.0.1:8081/.well-known/oauth-protected-resource/mcp";
    const challenge = `Bearer realm="muster", resource_metadata="${place}"`;
    assert.equal(
      response.headers.get("www-authenticate"),
      status === 401 ? challenge : null,
    );
    if (status === 200) assert.deepEqual(body, result({}));
    else assert.deepEqual(shapeOf(body), errorCode(-32001, null));
  });
}

Deno.test("POST /mcp tells a throttled client when to retry", async () => {
  const { handler } = newFixture();
  const request = post("guest", rpc("ping"), { headers: { authorization: "Bearer throttled" } });
  const response = await handler(request, "127.0.0.1");
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "62");
  assert.deepEqual(shapeOf(await response.json()), errorCode(-32000, null));
});

Deno.test("POST /mcp reads the client's address only from a trusted proxy", async () => {
  const { handler, addresses } = newFixture({ config: { trusted_proxies: ["10.0.0.1"] } });
  const headers = { "x-forwarded-for": "203.0.113.9" };
  for (const remoteAddress of ["10.0.0.1", "10.0.0.2"]) {
    const response = await handler(post("operator", rpc("ping"), { headers }), remoteAddress);
    await response.body?.cancel();
  }
  assert.deepEqual(addresses, ["203.0.113.9", "10.0.0.2"]);
});

Deno.test("POST /mcp refuses a body over the limit, declared or not", async () => {
  const { handler } = newFixture({ config: { limits: { body_bytes: 1024 } } });
  const body = JSON.stringify(rpc("ping", { filler: "x".repeat(1024) }));
  const chunked = new Request("http://127.0.0.1:8081/mcp", {
    method: "POST",
    headers: headersOf("operator"),
    body: new Blob([body]).stream(),
  });
  for (const request of [post("operator", body), chunked]) {
    const response = await handler(request, "127.0.0.1");
    assert.equal(response.status, 413);
    assert.deepEqual(shapeOf(await response.json()), errorCode(-32600, null));
  }
});

Deno.test("POST /mcp refuses a body that is not UTF-8, declared or not", async () => {
  const { handler } = newFixture();
  const text = new TextEncoder().encode(JSON.stringify(rpc("ping", { filler: "" })));
  const bytes = Uint8Array.of(...text.slice(0, -3), 0xe9, ...text.slice(-3));
  const headers = { "content-length": String(bytes.length) };
  for (
    const init of [{ headers: headersOf("operator", headers) }, { headers: headersOf("operator") }]
  ) {
    const request = new Request("http://127.0.0.1:8081/mcp", {
      ...init,
      method: "POST",
      body: bytes,
    });
    const response = await handler(request, "127.0.0.1");
    assert.equal(response.status, 400);
    const { id, error } = await response.json();
    assert.deepEqual([id, error], [null, { code: -32700, message: "The body is not valid UTF-8" }]);
  }
});

for (const method of ["GET", "HEAD", "PUT"]) {
  Deno.test(`${method} /mcp is not allowed`, async () => {
    const { handler } = newFixture();
    const request = new Request("http://127.0.0.1:8081/mcp", { method });
    const response = await handler(request, "127.0.0.1");
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), "POST, DELETE, OPTIONS");
    assert.match(response.headers.get("x-request-id") ?? "", ID);
    assert.equal(typeof (await response.json()).error, "string");
  });
}

Deno.test("other paths answer 404", async () => {
  const { handler } = newFixture();
  for (const path of ["/", "/mcpx", "/v1/status", "/mcp/more"]) {
    const url = `http://127.0.0.1:8081${path}`;
    const response = await handler(new Request(url, { method: "POST" }), "127.0.0.1");
    assert.equal(response.status, 404);
    assert.deepEqual(await response.json(), { error: `There is no ${path} here` });
  }
});

Deno.test("OPTIONS /mcp lists the methods", async () => {
  const { handler } = newFixture();
  const request = new Request("http://127.0.0.1:8081/mcp", { method: "OPTIONS" });
  const response = await handler(request, "127.0.0.1");
  assert.equal(response.status, 204);
  assert.equal(response.headers.get("allow"), "POST, DELETE, OPTIONS");
});

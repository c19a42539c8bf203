import assert from "node:assert/strict";
import { Hosts } from "../../http/mod.ts";
import { DEFAULTS } from "../../services/operation/config/defaults.ts";
import { sendRaw, startHttpServer } from "./support.ts";

/** A request to a host, which `Host` may call otherwise. */
function request(authority: string, host: string | null = authority) {
  const headers = new Headers(host === null ? {} : { host });
  return { url: `http://${authority}/v1/agents?x=http://localhost/`, headers };
}

const OWN = [
  ...["127.0.0.1", "127.0.0.1:8080", "127.8.9.10:1", "[::1]:8080", "[::ffff:127.0.0.1]:8080"],
  ...["localhost", "LocalHost:8080", "localhost.:8080", "muster.localhost", "A.b.LOCALHOST.:1"],
  ...["muster.example", "MUSTER.example:8080", "muster.example."],
];

const FOREIGN = [
  ...["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"],
  ...["xlocalhost", "localhost@evil.example", "192.168.1.5", "[fe80::1]", "0.0.0.0:8080", "[::]"],
  ...["x.muster.example", "muster.example.evil", ""],
];

Deno.test("on loopback, a listener answers to names of this machine and to those it is given", () => {
  const config = { ...DEFAULTS, public_hosts: ["muster.example"] };
  for (const listens of ["127.0.0.1:8080", "[::1]:0", "localhost:8080", "127.0.0.9:1"]) {
    const hosts = new Hosts(config, listens);
    for (const name of OWN) assert.equal(hosts.refusal(request(name), "127.0.0.1"), null, name);
    for (const name of FOREIGN) {
      assert.match(hosts.refusal(request(name), "127.0.0.1") ?? "", /add the name/, name);
    }
    // What was accepted before opens nothing.
    for (const name of OWN) {
      assert.equal(hosts.refusal(request(name), "127.0.0.1"), null);
      assert.notEqual(hosts.refusal(request("evil.example", name), "127.0.0.1"), null, name);
      assert.notEqual(hosts.refusal(request(name, "evil.example"), "127.0.0.1"), null, name);
    }
    assert.equal(hosts.refusal(request("localhost:8080", null), "127.0.0.1"), null);
  }
});

Deno.test("elsewhere, and to a trusted proxy, a listener answers to every name", () => {
  const behind = { ...DEFAULTS, trusted_proxies: ["127.0.0.2"] };
  for (const name of [...OWN, ...FOREIGN]) {
    for (const listens of [":8080", "0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"]) {
      assert.equal(new Hosts(DEFAULTS, listens).refusal(request(name), "127.0.0.1"), null);
    }
    assert.equal(new Hosts(behind, "127.0.0.1:1").refusal(request(name), "127.0.0.2"), null);
  }
  const forwarded = request("evil.example");
  forwarded.headers.set("x-forwarded-host", "localhost");
  forwarded.headers.set("x-forwarded-for", "127.0.0.2");
  assert.notEqual(new Hosts(behind, "127.0.0.1:1").refusal(forwarded, "127.0.0.1"), null);
});

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("each request's own Host and target are checked, whatever came before", async () => {
  await using server = startHttpServer(({ url }) => new Response(url));
  const valid = ["localhost", "127.0.0.1:80", "[::1]:8080", "localhost", "localhost:80"];
  const invalid = ["localhost/v1", "localhost?", "local host", "user@localhost", "localhost:80/"];
  const places = [...valid, ...invalid, ...valid];
  for (const host of places.flatMap((host) => [host, host])) {
    using client = await Deno.connect(server);
    await client.write(
      encoder.encode(`GET /path HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    const answer = await new Response(client.readable).text();
    if (valid.includes(host)) assert.ok(answer.endsWith(`\r\n\r\nhttp://${host}/path`), answer);
    else assert.match(answer, /^HTTP\/1\.1 400 /, host);
  }
  using client = await Deno.connect(server);
  await client.write(encoder.encode("GET http://a:b/ HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const bytes = new Uint8Array(4096);
  const answer = decoder.decode(bytes.subarray(0, await client.read(bytes) ?? 0));
  assert.match(answer, /^HTTP\/1\.1 400 /);
});

Deno.test("a request with any method, target and body reaches the handler as it came", async () => {
  await using server = startHttpServer(async (request) => {
    const { method, url } = request;
    return Response.json([method, url, await request.text()]);
  });
  const framing = "Transfer-Encoding: chunked\r\nConnection: close";
  for (const method of ["get", "Head", "TRACE", "TRACK", "post", "PUT", "QUERY"]) {
    const answer = await sendRaw(
      server,
      `${method} /a/../b HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    );
    assert.ok(
      answer.endsWith(`\r\n\r\n["${method}","http://localhost/a/../b","hi"]`),
      `${method}: ${answer}`,
    );
  }
});

import assert from "node:assert/strict";
import { TrustedProxies } from "../../http/mod.ts";

const PROXY = "10.0.0.1";

/** What a proxy writes, and the address that the client then has. */
const HEADERS: readonly (readonly [string, string])[] = [
  ["203.0.113.9", "203.0.113.9"],
  ["203.0.113.9:51234", "203.0.113.9"],
  [" 203.0.113.9 ", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["[::ffff:cb00:7109]:51234", "203.0.113.9"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["[fe80::1%eth0]:443", "fe80::1"],
  ["fe80::1%25eth0", "fe80::1"],
  ["198.51.100.1, 203.0.113.9:51234, 10.0.0.1:80", "203.0.113.9"],
  ["203.0.113.9, [::ffff:10.0.0.1]:80", "203.0.113.9"],
];

/** What is no address; the client is then the proxy. */
const NONSENSE = [
  ...["", ",", "unknown", "_hidden", "localhost", "203.0.113.256", "203.0.113.9:port", "1.2.3"],
  ...["203.0.113.9:123456", "[203.0.113.9", "203.0.113.0/24", "2001:db8::/32", "[]:1", "a\tb"],
  ...["203.0.113.9, unknown", "203.0.113.9,", '"203.0.113.9"', "x".repeat(5000)],
];

Deno.test("a hop is an address with or without a port, brackets, a zone, or IPv6 around IPv4", () => {
  const proxies = new TrustedProxies([PROXY]);
  for (const [header, address] of HEADERS) {
    assert.equal(proxies.clientOf(PROXY, header), address, header);
    assert.equal(proxies.clientOf(`::ffff:${PROXY}`, header), address, header);
  }
});

Deno.test("a malformed hop counts as the proxy that wrote it", () => {
  const proxies = new TrustedProxies([PROXY, "10.0.0.2"]);
  for (const header of NONSENSE) {
    assert.equal(proxies.clientOf(PROXY, header), PROXY, header);
    assert.equal(proxies.clientOf(PROXY, `${header}, 10.0.0.2:80`), "10.0.0.2", header);
  }
});

Deno.test("only a trusted proxy is believed, in any form of its address", () => {
  const proxies = new TrustedProxies(["2001:DB8::0:1"]);
  assert.equal(proxies.clientOf("2001:db8::1", "203.0.113.9"), "203.0.113.9");
  assert.equal(proxies.clientOf("2001:db8::2", "203.0.113.9"), "2001:db8::2");
  assert.equal(proxies.clientOf("fe80::1%eth0", null), "fe80::1");
  assert.deepEqual(
    ["2001:db8::1", "2001:db8::2"].map((socket) => proxies.includes(socket)),
    [true, false],
  );
});

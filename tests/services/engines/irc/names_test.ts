import assert from "node:assert/strict";
import {
  addressNetwork,
  channelName,
  foldCase,
  isLoopback,
} from "../../../../services/engines/irc/mod.ts";

Deno.test("channelName() reads a name with or without # and refuses malformed ones", () => {
  assert.equal(channelName("a"), "#a");
  assert.equal(channelName("#a"), "#a");
  assert.equal(channelName("x".repeat(79)), `#${"x".repeat(79)}`);
  for (
    const text of ["", "#", "a b", "a,b", "a\tb", "a\u0085b", "a\u00a0b", "\ud800", "x".repeat(80)]
  ) {
    assert.equal(channelName(text), null, JSON.stringify(text));
  }
});

Deno.test("foldCase() folds A to Z and nothing else", () => {
  assert.equal(foldCase("ABC[]\\~"), "abc[]\\~");
  assert.equal(foldCase("\u212aX\u00c4"), "\u212ax\u00c4");
});

Deno.test("addressNetwork() is an IPv4 address, or the first 64 bits of an IPv6 address", () => {
  const table: readonly (readonly [string, string])[] = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1%eth0", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
  ];
  for (const [address, network] of table) assert.equal(addressNetwork(address), network);
});

Deno.test("isLoopback() knows the addresses of this machine", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
    assert.equal(isLoopback(host), true, host);
  }
  for (const host of ["0.0.0.0", "128.0.0.1", "::", "localhost.example.org"]) {
    assert.equal(isLoopback(host), false, host);
  }
});

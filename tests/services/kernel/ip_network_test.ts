import * as fc from "fast-check";
import assert from "node:assert/strict";
import { formatNetwork, parseNetwork, widen } from "../../../services/kernel/ip_network.ts";

Deno.test("a network and its canonical form read alike", () => {
  const network = fc.oneof(
    fc.tuple(fc.ipV4(), fc.nat({ max: 32 })),
    fc.tuple(fc.ipV6(), fc.nat({ max: 128 })),
  );
  fc.assert(fc.property(network, ([address, prefix]) => {
    const whole = parseNetwork(address);
    const part = parseNetwork(`${address}/${prefix}`);
    assert.ok(whole !== null, address);
    if (address.includes(":") && whole.bits === 32) return;
    assert.ok(part !== null, address);
    assert.deepEqual(widen(whole, prefix), part);
    assert.deepEqual(parseNetwork(formatNetwork(part)), part);
    assert.deepEqual(parseNetwork(formatNetwork(whole)), whole);
  }));
});

Deno.test("the canonical form of an IPv6 address is the shortest", () => {
  const table = [
    ["2001:0DB8:0:0:0:0:2:1", "2001:db8::2:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["::ffff:192.0.2.1/120", "192.0.2.0/24"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["fe80::1%eth0", "fe80::1"],
  ] as const;
  for (const [written, shortest] of table) {
    const network = parseNetwork(written);
    assert.ok(network !== null, written);
    assert.equal(formatNetwork(network), shortest);
  }
});

Deno.test("a malformed network is refused", () => {
  const none = [
    "::ffff:1.2.3.4/95",
    "::1.2.3",
    "::1.2.3.400",
    "",
    "1.2.3",
    "256.0.0.1",
    "1.2.3.4/33",
    "1.2.3.4/",
    "1::2::3",
    ":1",
    "1:2:3:4:5:6:7",
  ];
  for (const text of [...none, "1:2:3:4:5:6:7:8:9", "::1/129", "g::", "1.2.3.4/1/2", "host"]) {
    assert.equal(parseNetwork(text), null, text);
  }
});

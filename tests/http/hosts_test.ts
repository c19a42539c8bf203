import assert from "node:assert/strict";
import { Hosts } from "../../http/mod.ts";
import { DEFAULTS } from "../../services/config/defaults.ts";

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

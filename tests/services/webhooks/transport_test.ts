import assert from "node:assert/strict";
import { DeliveryError, isPublicAddress, post } from "../../../services/webhooks/mod.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { peer } from "../../support/peers.ts";
import { withFolder } from "../../support/temporary.ts";
import { Receiver } from "./receiver.ts";

const REQUEST = {
  headers: { "content-type": "application/json" },
  body: "{}",
  attempt: 0,
  signal: new AbortController().signal,
};
const STRICT = { allowPrivate: false, timeLimit: 10_000 };

Deno.test("addresses inside the network, and of clouds, are not on the public internet", () => {
  const closed = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "localhost",
    "",
  ];
  assert.deepEqual(closed.filter(isPublicAddress), []);
  const open = ["1.1.1.1", "172.32.0.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"];
  assert.deepEqual(open.filter((address) => !isPublicAddress(address)), []);
});

Deno.test("a URL to a local address is refused however it is written", async () => {
  const hosts = [
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "0",
    "localhost",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "169.254.169.254",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
  ];
  for (const host of hosts) {
    for (const scheme of ["http", "https"]) {
      await assert.rejects(
        post(new URL(`${scheme}://${host}:9/`), REQUEST, STRICT),
        (error) => error instanceof DeliveryError && /not on the public/.test(error.message),
        host,
      );
    }
  }
});

Deno.test("a name with one private address is refused", async () => {
  const resolve = () => Promise.resolve(["93.184.216.34", "10.0.0.1"]);
  await assert.rejects(
    post(new URL("http://mixed.example/"), REQUEST, { ...STRICT, resolve }),
    /mixed.example has the address 10.0.0.1/,
  );
});

Deno.test("a name is resolved once, and the connection goes to a checked address", async () => {
  await using receiver = new Receiver();
  let asked = 0;
  const resolve = () => {
    asked++;
    return Promise.resolve(asked === 1 ? ["127.0.0.1"] : ["203.0.113.1"]);
  };
  const url = new URL(`http://rebinding.example:${receiver.port}/a?b=c`);
  const answer = await post(url, REQUEST, { ...STRICT, allowPrivate: true, resolve });
  assert.equal(answer.status, 204);
  assert.equal(asked, 1);
  const [arrival] = receiver.arrivals;
  assert.equal(arrival?.headers["host"], `rebinding.example:${receiver.port}`);
});

Deno.test("an untrusted certificate is refused", peer("openssl"), async () => {
  await withFolder(async (folder) => {
    const certificate = await makeCertificate(folder);
    const options = { hostname: "127.0.0.1", port: 0, ...certificate, onListen() {} };
    const server = Deno.serve(options, () => new Response());
    const url = new URL(`https://localhost:${server.addr.port}/`);
    const resolve = () => Promise.resolve(["127.0.0.1"]);
    await assert.rejects(
      post(url, REQUEST, { ...STRICT, allowPrivate: true, resolve }),
      /The connection failed: .*certificate/i,
    );
    await server.shutdown();
  });
});

Deno.test("an endless or malformed response ends the request", async () => {
  const table = [
    ["HTTP/1.1 200 OK\r\n" + "x-filler: y\r\n".repeat(5000), /head is too long/],
    ["SSH-2.0-OpenSSH\r\n\r\n", /not HTTP/],
    ["", /closed without a response/],
  ] as const;
  for (const [text, expected] of table) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const serving = (async () => {
      using conn = await listener.accept();
      await conn.read(new Uint8Array(65_536));
      await conn.write(new TextEncoder().encode(text)).catch(() => {});
    })();
    const { port } = listener.addr as Deno.NetAddr;
    const url = new URL(`http://127.0.0.1:${port}/`);
    await assert.rejects(post(url, REQUEST, { ...STRICT, allowPrivate: true }), expected);
    await serving;
    listener.close();
  }
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr as Deno.NetAddr;
  const limits = { allowPrivate: true, timeLimit: 50 };
  await assert.rejects(post(new URL(`http://127.0.0.1:${port}/`), REQUEST, limits), /in time/);
  silent.close();
});

Deno.test("an interim response is skipped, and Retry-After is read", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using conn = await listener.accept();
    await conn.read(new Uint8Array(65_536));
    const answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 No\r\nRetry-After: 120\r\n\r\n";
    await conn.write(new TextEncoder().encode(answer));
  })();
  const { port } = listener.addr as Deno.NetAddr;
  const url = new URL(`http://127.0.0.1:${port}/`);
  assert.deepEqual(await post(url, REQUEST, { ...STRICT, allowPrivate: true }), {
    status: 503,
    retryAfter: 120,
  });
  await serving;
  listener.close();
});

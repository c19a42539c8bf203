import assert from "node:assert/strict";
import {
  type AddressRules,
  ClosedHost,
  isPublicAddress,
  OutboundClient,
  OutboundFailure,
} from "../../../../services/kernel/outbound/mod.ts";
import { makeCertificate } from "../../../support/certificate.ts";
import { peer } from "../../../support/peers.ts";
import { withFolder } from "../../../support/temporary.ts";
import { within } from "../../../support/until.ts";
import { Receiver } from "../../work/webhooks/receiver.ts";

interface Post {
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** Runs a test with a client. Each request has ten seconds. */
async function withClient(
  rules: Partial<AddressRules>,
  run: (post: (url: string, more?: Post) => ReturnType<OutboundClient["post"]>) => Promise<void>,
): Promise<void> {
  const client = new OutboundClient({ allowPrivate: true, ...rules });
  const headers = { "content-type": "application/json" };
  await run((url, { body = bytes("{}"), signal = AbortSignal.timeout(10_000) } = {}) =>
    client.post(new URL(url), { headers, body, signal })
  );
}

/** Runs a test with a server that does this with each connection, once a request has begun. */
async function withServer(
  serve: (conn: Deno.Conn) => Promise<void>,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.Conn[] = [];
  const serving = (async () => {
    for await (const conn of listener) {
      accepted.push(conn);
      await conn.read(new Uint8Array(65_536));
      await serve(conn).catch(() => {});
    }
  })();
  try {
    await run(`http://a.example:${listener.addr.port}/`);
  } finally {
    listener.close();
    await serving;
    for (const conn of accepted) {
      try {
        conn.close();
      } catch {
        // The test has closed it already.
      }
    }
  }
}

const HERE: Partial<AddressRules> = { resolve: () => Promise.resolve(["127.0.0.1"]) };

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function textOf(parts: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const part of parts) text += new TextDecoder().decode(part);
  return text;
}

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

Deno.test("a URL to a local address is refused however it is written", () =>
  withClient({ allowPrivate: false }, async (post) => {
    const hosts = [
      ...["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "localhost"],
      ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"],
      ...["%31%32%37.0.0.1", "１２７.0.0.1"],
    ];
    for (const host of hosts) {
      for (const scheme of ["http", "https"]) {
        await assert.rejects(
          post(`${scheme}://${host}:9/`),
          (error) => error instanceof ClosedHost && /not on the public/.test(error.message),
          host,
        );
      }
    }
  }));

Deno.test("a name with one private address is refused, and a name without an address", async () => {
  const mixed = () => Promise.resolve(["93.184.216.34", "10.0.0.1"]);
  await withClient({ allowPrivate: false, resolve: mixed }, async (post) => {
    await assert.rejects(post("http://mixed.example/"), /mixed.example has the address 10.0.0.1/);
  });
  await withClient({ resolve: () => Promise.resolve([]) }, async (post) => {
    await assert.rejects(post("http://none.example/"), /none.example has no address/);
  });
});

Deno.test("a name is resolved once for a connection, which goes to a checked address", async () => {
  await using receiver = new Receiver();
  let asked = 0;
  const resolve = () => {
    asked++;
    return Promise.resolve(asked === 1 ? ["127.0.0.1"] : ["203.0.113.1"]);
  };
  await withClient({ resolve }, async (post) => {
    const { status } = await post(`http://rebinding.example:${receiver.port}/a?b=c`);
    assert.equal(status, 204);
    assert.equal(asked, 1);
    const [arrival] = receiver.arrivals;
    assert.equal(arrival?.headers["host"], `rebinding.example:${receiver.port}`);
    assert.equal(arrival?.path, "/a");
  });
});

Deno.test("an address that refuses is passed over for the next one", async () => {
  await using receiver = new Receiver();
  const resolve = () => Promise.resolve(["127.0.0.2", "127.0.0.1"]);
  await withClient({ resolve }, async (post) => {
    for (let count = 0; count < 3; count++) {
      assert.equal((await post(`http://two.example:${receiver.port}/`)).status, 204);
    }
  });
});

Deno.test(
  "only a trusted certificate for the name of the host is accepted",
  peer("openssl"),
  () =>
    withFolder(async (folder) => {
      const certificate = await makeCertificate(folder);
      const options = { hostname: "127.0.0.1", port: 0, ...certificate, onListen() {} };
      await using server = Deno.serve(options, () => new Response());
      await withClient(HERE, async (post) => {
        await assert.rejects(
          post(`https://localhost:${server.addr.port}/`),
          (error) =>
            error instanceof OutboundFailure &&
            /The connection failed: .*certi/i.test(error.message),
        );
      });
    }),
);

Deno.test("a redirect is not followed", async () => {
  await using receiver = new Receiver();
  receiver.answer = () => new Response(null, { status: 307, headers: { location: "/elsewhere" } });
  await withClient(HERE, async (post) => {
    const answer = await post(`http://a.example:${receiver.port}/here`);
    assert.deepEqual([answer.status, answer.header("location")], [307, "/elsewhere"]);
    assert.deepEqual(receiver.arrivals.map(({ path }) => path), ["/here"]);
  });
});

Deno.test("an endless or malformed head ends the request", async () => {
  const table = [
    ["HTTP/1.1 200 OK\r\n" + "x-filler: y\r\n".repeat(5000), /head is too long/],
    ["SSH-2.0-OpenSSH\r\n\r\n", /not HTTP/],
    ["", /closed without a response/],
  ] as const;
  await withClient(HERE, async (post) => {
    for (const [text, expected] of table) {
      const answer = async (conn: Deno.Conn) => {
        await conn.write(bytes(text));
        conn.close();
      };
      await withServer(answer, (url) => assert.rejects(post(url), expected));
    }
  });
});

Deno.test("a body that ends early fails, and so does one that is longer than declared", async () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const cut = [
    `${head}content-length: 9\r\n\r\nbody`,
    `${head}transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n`,
    `${head}transfer-encoding: chunked\r\n\r\nzz\r\nbody\r\n`,
  ];
  await withClient(HERE, async (post) => {
    for (const text of cut) {
      const answer = async (conn: Deno.Conn) => {
        await conn.write(bytes(text));
        conn.close();
      };
      await withServer(
        answer,
        (url) => assert.rejects(post(url).then(({ body }) => textOf(body)), OutboundFailure),
      );
    }
  });
});

Deno.test("a signal ends a request that waits for its answer, or for the rest of it", async () => {
  const answers = ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbody"];
  await withClient(HERE, async (post) => {
    for (const text of answers) {
      const leaving = new AbortController();
      const begun = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      const serve = async (conn: Deno.Conn) => {
        if (text !== "") await conn.write(bytes(text));
        begun.resolve();
        for (let count: number | null = 0; count !== null;) {
          count = await conn.read(new Uint8Array(100)).catch(() => null);
        }
        ended.resolve();
      };
      await withServer(serve, async (url) => {
        const { signal } = leaving;
        const failed = assert.rejects(
          post(url, { signal }).then(({ body }) => textOf(body)),
          /gone away/,
        );
        await begun.promise;
        leaving.abort(new Error("gone away"));
        await failed;
        await within(ended.promise, () => "The end of the connection");
      });
    }
  });
});

Deno.test("an interim response is skipped, and a body in chunks comes as it is", async () => {
  const text = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 No\r\nRetry-After: 120\r\n" +
    "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
  await withClient(
    HERE,
    (post) =>
      withServer(async (conn) => void await conn.write(bytes(text)), async (url) => {
        const answer = await post(url);
        assert.deepEqual([answer.status, answer.header("retry-after")], [503, "120"]);
        assert.equal(answer.header("x-absent"), null);
        assert.equal(await textOf(answer.body), "body");
      }),
  );
});

Deno.test("a server that answers and closes before it has read the body is heard", () =>
  withClient(HERE, (post) =>
    withServer(async (conn) => {
      await conn.write(bytes("HTTP/1.1 413 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    }, async (url) => {
      const body = new Uint8Array(20_000_000);
      assert.equal((await post(url, { body })).status, 413);
    })));

Deno.test("an answer that nobody reads is dropped, also in the middle", async () => {
  await using receiver = new Receiver();
  receiver.answer = () => new Response(new Uint8Array(5_000_000));
  await withClient(HERE, async (post) => {
    (await post(`http://a.example:${receiver.port}/`)).drop();
    for await (const part of (await post(`http://a.example:${receiver.port}/`)).body) {
      assert.ok(part.length > 0);
      break;
    }
  });
});

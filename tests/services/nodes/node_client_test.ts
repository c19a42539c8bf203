import assert from "node:assert/strict";
import { Unavailable } from "../../../services/errors.ts";
import { OPERATOR } from "../../../services/identity/mod.ts";
import { NodeClient, type NodeRecord, type NodeRequest } from "../../../services/nodes/mod.ts";
import { marksOf, nodeRecord } from "../../http/two_nodes.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { until, within } from "../../support/until.ts";

const encoder = new TextEncoder();

/** A connection to a node of the test. */
class Accepted {
  /** What has come. */
  text = "";
  hasEnded = false;
  readonly #conn: Deno.Conn;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
    this.#read().catch(() => {}).finally(() => this.hasEnded = true);
  }

  /** Sends bytes. */
  async write(bytes: string | Uint8Array): Promise<void> {
    const all = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
    for (let at = 0; at < all.length;) at += await this.#conn.write(all.subarray(at));
  }

  close(): void {
    try {
      this.#conn.close();
    } catch {
      // The test has closed it already.
    }
  }

  /** Resolves when so many requests have come. */
  async requests(count: number): Promise<void> {
    await until(() => this.text.split("\r\n\r\n").length > count);
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("latin1");
    for await (const part of this.#conn.readable.values({ preventCancel: true })) {
      this.text += decoder.decode(part);
    }
  }
}

/** A node that answers what a test writes. */
interface World {
  readonly client: NodeClient;
  readonly node: NodeRecord;
  /** The connections so far. */
  readonly accepted: readonly Accepted[];
  /** The connection with a number, once it is there. */
  connection(number: number): Promise<Accepted>;
  /** The node no longer runs. */
  stop(): void;
}

async function withNode(run: (world: World) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Accepted[] = [];
  const accepting = (async () => {
    for await (const conn of listener) accepted.push(new Accepted(conn));
  })();
  let isRunning = true;
  let look = () => {};
  const nodes = {
    isRunning: () => isRunning,
    onLooked(listener: () => void) {
      look = listener;
      return () => {};
    },
  };
  const client = new NodeClient({ nodes, marks: marksOf("front") });
  try {
    await run({
      client,
      node: nodeRecord("far", `http://127.0.0.1:${listener.addr.port}`),
      accepted,
      async connection(number) {
        await until(() => accepted.length >= number);
        return accepted[number - 1] ?? assert.fail();
      },
      stop() {
        isRunning = false;
        look();
      },
    });
  } finally {
    client.close();
    listener.close();
    await accepting;
    for (const connection of accepted) connection.close();
  }
}

function request(more: Partial<NodeRequest> = {}): NodeRequest {
  return {
    method: "GET",
    target: "/x",
    host: "a.example",
    mark: { kind: "forwarded", address: "192.0.2.1", requestId: "id", secure: false },
    caller: () => ({ principal: OPERATOR, address: null }),
    ...more,
  };
}

/** Answers that have no body. */
const BODILESS = [
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
];

const EMPTY = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

Deno.test("requests follow each other on one connection, and a body comes in one piece", () =>
  withNode(async ({ client, node, accepted, connection }) => {
    const headers = new Headers({ accept: "a/b", connection: "x", te: "y", name: "\xe9" });
    for (const number of [1, 2, 3]) {
      const body = encoder.encode(`body ${number}`);
      const sent = client.send(node, request({ method: "POST", headers, body }));
      const far = await connection(1);
      await until(() => far.text.endsWith(`body ${number}`));
      await far.write("HTTP/1.1 100 Continue\r\n\r\n");
      await far.write("HTTP/1.1 201 Created\r\nConte");
      await far.write("nt-Length: 4\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\nte");
      await far.write("xt");
      const response = await sent;
      assert.equal(response.status, 201);
      assert.equal(await response.text(), "text");
      assert.deepEqual(response.headers.getSetCookie(), ["a", "b"]);
    }
    assert.equal(accepted.length, 1);
    const [first = ""] = accepted[0]?.text.split("body 1") ?? [];
    const lines = first.split("\r\n").filter((line) => !line.startsWith("X-Muster"));
    assert.deepEqual(lines, [
      "POST /x HTTP/1.1",
      "host: a.example",
      "accept: a/b",
      "name: \xe9",
      "accept-encoding: identity",
      "content-length: 6",
      "",
      "",
    ]);
  }));

Deno.test("several requests at a time have a connection each", () =>
  withNode(async ({ client, node, accepted, connection }) => {
    const answers = [1, 2].map(() => client.send(node, request()));
    for (const number of [2, 1]) {
      const far = await connection(number);
      await far.requests(1);
      await far.write(EMPTY);
    }
    for (const answer of answers) assert.equal((await answer).status, 200);
    assert.equal(accepted.length, 2);
  }));

Deno.test("a long answer comes whole, and leaves its connection to the next request", () =>
  withNode(async ({ client, node, accepted, connection }) => {
    const sent = client.send(node, request());
    const far = await connection(1);
    await far.requests(1);
    const part = new Uint8Array(65_536).fill(120);
    await far.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const writing = (async () => {
      for (let written = 0; written < 400; written++) {
        await far.write("10000\r\n");
        await far.write(part);
        await far.write("\r\n");
      }
      await far.write("0\r\n\r\n");
    })();
    const response = await sent;
    assert.equal(response.headers.get("transfer-encoding"), null);
    let length = 0;
    for await (const bytes of response.body ?? assert.fail()) length += bytes.length;
    await writing;
    assert.equal(length, 400 * 65_536);
    const next = client.send(node, request());
    await far.requests(2);
    await far.write(EMPTY);
    assert.equal((await next).status, 200);
    assert.equal(accepted.length, 1);
  }));

Deno.test("a connection that has closed is not used again", () =>
  withNode(async ({ client, node, accepted, connection }) => {
    for (const number of [1, 2, 3]) {
      const sent = client.send(node, request());
      const far = await connection(number);
      await far.requests(1);
      // The second one says so, the others just end.
      await far.write(number === 2 ? EMPTY.replace("\r\n", "\r\nconnection: close\r\n") : EMPTY);
      await sent;
      if (number !== 2) far.close();
      await until(() => far.hasEnded);
    }
    assert.equal(accepted.length, 3);
  }));

Deno.test("a request that changes something is never sent twice", () =>
  withNode(async ({ client, node, accepted, connection }) => {
    const first = client.send(node, request());
    const far = await connection(1);
    await far.requests(1);
    await far.write(EMPTY);
    await first;
    const second = client.send(node, request({ method: "POST" }));
    await far.requests(2);
    far.close();
    await assert.rejects(second, Unavailable);
    assert.equal(accepted.length, 1);
  }));

Deno.test("a read is sent again if a kept connection ends instead of an answer", () =>
  withNode(async ({ client, node, connection }) => {
    const first = client.send(node, request());
    const far = await connection(1);
    await far.requests(1);
    await far.write(EMPTY);
    await first;
    const second = client.send(node, request());
    await far.requests(2);
    far.close();
    const again = await connection(2);
    await again.requests(1);
    await again.write(EMPTY);
    assert.equal((await second).status, 200);
  }));

Deno.test("an answer that is none of HTTP, or that ends early, fails", () =>
  withNode(async ({ client, node, connection }) => {
    const malformed = [
      ...["nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\ntoo much", ""],
      ...["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ntoo ", "HTTP/1.1 200 OK\r\nx"],
      ...["HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"],
    ];
    for (const [index, text] of malformed.entries()) {
      const failed = assert.rejects(client.send(node, request()), Unavailable, text);
      const far = await connection(index + 1);
      await far.requests(1);
      await far.write(text);
      far.close();
      await failed;
    }
    const streamed = client.send(node, request());
    const far = await connection(malformed.length + 1);
    await far.requests(1);
    await far.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n");
    const response = await streamed;
    far.close();
    await assert.rejects(response.text());
  }));

Deno.test("a client that leaves ends its request, and no other", () =>
  withNode(async ({ client, node, connection }) => {
    const leaving = new AbortController();
    const left = client.send(node, request({ client: leaving }));
    const far = await connection(1);
    await far.requests(1);
    const stays = client.send(node, request({ client: new AbortController() }));
    const other = await connection(2);
    await other.requests(1);
    leaving.abort();
    await assert.rejects(left);
    await until(() => far.hasEnded);
    assert.equal(other.hasEnded, false);
    await other.write(EMPTY);
    assert.equal((await stays).status, 200);

    const streamed = client.send(node, request());
    await other.requests(2);
    await other.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    await (await streamed).body?.cancel();
    await until(() => other.hasEnded);
  }));

Deno.test("a client that leaves after its answer ends no other request on the connection", () =>
  withNode(async ({ client, node, connection }) => {
    const leaving = new AbortController();
    let isHeard = false;
    const heard = {
      get signal() {
        isHeard = true;
        return leaving.signal;
      },
    };
    const first = client.send(node, request({ client: heard }));
    const far = await connection(1);
    await far.requests(1);
    await until(() => isHeard);
    await far.write(EMPTY);
    assert.equal((await first).status, 200);
    const second = client.send(node, request());
    await far.requests(2);
    leaving.abort();
    await far.write(EMPTY);
    assert.equal((await second).status, 200);
    assert.equal(far.hasEnded, false);
  }));

Deno.test("whose a request is, is asked only if many are under way, or for a stream", () =>
  withNode(async ({ client, node, connection }) => {
    let asked = 0;
    const caller = () => {
      asked++;
      return { principal: OPERATOR, address: null };
    };
    const first = client.send(node, request({ caller }));
    const far = await connection(1);
    await far.requests(1);
    await far.write(EMPTY);
    await first;
    assert.equal(asked, 0);
    const headers = new Headers({ accept: "text/event-stream" });
    const stream = client.send(node, request({ caller, headers }));
    const other = await connection(2);
    await other.requests(1);
    await other.write(EMPTY);
    await stream;
    assert.equal(asked, 1);
  }));

Deno.test("a node gets passes once it has said that it reads them, until it starts again", () =>
  withNode(async ({ client, node, connection }) => {
    const readsPasses = EMPTY.replace("\r\n", "\r\nx-muster-passes: yes\r\n");
    let count = 0;
    const kindOf = async (answer: string, to = node, target = "/x") => {
      const sent = client.send(to, request({ target }));
      const far = await connection(1);
      await far.requests(++count);
      await far.write(answer);
      assert.equal((await sent).headers.has("x-muster-passes"), false);
      const [, mark = ""] = /X-Muster-Forwarded: (.*)/.exec(
        far.text.split("\r\n\r\n")[count - 1] ?? "",
      ) ?? [];
      return mark.startsWith("pass ") ? "pass" : mark === "" ? "none" : "signed";
    };
    assert.equal(await kindOf(EMPTY), "signed");
    assert.equal(await kindOf(readsPasses), "signed");
    assert.equal(await kindOf(EMPTY), "pass");
    assert.equal(await kindOf(EMPTY, node, "/x?y=%2F"), "pass");
    assert.equal(await kindOf(EMPTY, node, "/a/../b"), "signed");
    assert.equal(await kindOf(EMPTY, { ...node, startedAt: node.startedAt + 1 }), "signed");
    assert.equal(await kindOf(EMPTY), "pass");
  }));

Deno.test("nobody waits for a node that no longer runs", () =>
  withNode(async ({ client, node, connection, stop }) => {
    const waits = client.send(node, request());
    const far = await connection(1);
    await far.requests(1);
    const streamed = client.send(node, request());
    const other = await connection(2);
    await other.requests(1);
    await other.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const response = await streamed;
    stop();
    await assert.rejects(waits, Unavailable);
    await assert.rejects(response.text());
    await until(() => far.hasEnded && other.hasEnded);
  }));

Deno.test("an event stream ends with its node, also after memory was collected", () =>
  withNode(async ({ client, node, connection, stop }) => {
    const headers = new Headers({ accept: "text/event-stream" });
    const streamed = client.send(node, request({ headers }));
    const far = await connection(1);
    await far.requests(1);
    await far.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const response = await streamed;
    const ended = assert.rejects(response.text());
    await collectGarbage();
    stop();
    await within(ended, () => "The end of the stream");
    await until(() => far.hasEnded);
  }));

Deno.test("a connection is closed if nobody waits for it any more when it opens", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { addr: { port } } = listener;
  // With two in its queue, the kernel lets the next one wait.
  const queued = [await Deno.connect({ port }), await Deno.connect({ port })];
  const nodes = { isRunning: () => true, onLooked: () => () => {} };
  const client = new NodeClient({ nodes, marks: marksOf("front") });
  const leaving = new AbortController();
  const node = nodeRecord("far", `http://127.0.0.1:${port}`);
  const sent = client.send(node, request({ client: leaving }));
  leaving.abort();
  await assert.rejects(sent, Unavailable);
  const accepted: Accepted[] = [];
  for (let count = 0; count < 3; count++) accepted.push(new Accepted(await listener.accept()));
  await until(() => accepted[2]?.hasEnded ?? false);
  client.close();
  for (const connection of [...accepted, ...queued]) connection.close();
});

Deno.test("an answer whose status allows no body is passed on", () =>
  withNode(async ({ client, node, connection }) => {
    for (const [index, answer] of BODILESS.entries()) {
      const sent = client.send(node, request());
      const far = await connection(1);
      await far.requests(index + 1);
      const [head = "", rest = ""] = answer.split(/(?<=\r\n\r\n)/);
      await far.write(head);
      await far.write(rest);
      const { status, body } = await sent;
      assert.deepEqual([String(status), body], [answer.split(" ")[1], null]);
    }
  }));

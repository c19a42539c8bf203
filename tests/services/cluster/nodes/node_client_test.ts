import assert from "node:assert/strict";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { until } from "../../../support/until.ts";
import { EMPTY, encoder, request, withNode } from "./accepted_connections.ts";

/** Answers that have no body. */
const BODILESS = [
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
];

Deno.test("requests follow each other, and a body comes in one piece", () =>
  withNode(async ({ client, node, accepted, arrived }) => {
    const headers = new Headers({ accept: "a/b", connection: "x", te: "y", name: "\xe9" });
    for (const number of [1, 2, 3]) {
      const body = encoder.encode(`body ${number}`);
      const sent = client.send(node, request({ method: "POST", headers, body }));
      const far = await arrived(number);
      // After the signature of the chunk.
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
    const [first = ""] = accepted[0]?.text.split("\r\n\r\n") ?? [];
    const [line, ...lines] = first.split("\r\n");
    assert.equal(line, "POST /x HTTP/1.1");
    const sent = new Map(lines.map((one) => {
      const [name = "", value = ""] = one.split(": ");
      return [name.toLowerCase(), value];
    }));
    const names = [
      "host",
      "accept",
      "name",
      "accept-encoding",
      "content-length",
      "connection",
      "te",
    ];
    assert.deepEqual(names.map((name) => sent.get(name)), [
      ...["a.example", "a/b", "\xe9", "identity"],
      // Its length, its code and its content.
      String(4 + 32 + 6),
      ...[undefined, undefined],
    ]);
  }));

Deno.test("several requests at a time have a connection each", () =>
  withNode(async ({ client, node, accepted, arrived }) => {
    const answers = [1, 2].map(() => client.send(node, request()));
    await arrived(2);
    for (const number of [2, 1]) await (await arrived(number)).write(EMPTY);
    for (const answer of answers) assert.equal((await answer).status, 200);
    assert.equal(accepted.length, 2);
  }));

Deno.test("a long answer comes whole", () =>
  withNode(async ({ client, node, arrived }) => {
    const sent = client.send(node, request());
    const far = await arrived(1);
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
  }));

Deno.test("a request that changes something is never sent with another signature", () =>
  withNode(async ({ client, node, accepted, arrived }) => {
    const first = client.send(node, request());
    await (await arrived(1)).write(EMPTY);
    await first;
    let hasFailed = false;
    client.send(node, request({ method: "POST" })).catch(() => {
      hasFailed = true;
    });
    await arrived(2);
    for (const one of accepted) one.close();
    // Deno 2.9 sends it again on another connection, where it does not count if it came before.
    await Promise.race([until(() => hasFailed), arrived(3)]);
    const posts = accepted.flatMap(({ text }) => text.split("POST ").slice(1));
    const marks = posts.map((text) => /^x-muster-forwarded: (.*)$/im.exec(text)?.[1]);
    assert.ok(marks.length >= 1 && marks[0] !== undefined);
    assert.equal(new Set(marks).size, 1);
  }));

Deno.test("a read is sent again if a kept connection ends instead of an answer", () =>
  withNode(async ({ client, node, arrived }) => {
    const first = client.send(node, request());
    await (await arrived(1)).write(EMPTY);
    await first;
    const second = client.send(node, request());
    (await arrived(2)).close();
    await (await arrived(3)).write(EMPTY);
    assert.equal((await second).status, 200);
  }));

Deno.test("whose a request is, is asked only if many are under way, or for a stream", () =>
  withNode(async ({ client, node, arrived }) => {
    let asked = 0;
    const caller = () => {
      asked++;
      return { principal: OPERATOR, address: null };
    };
    const first = client.send(node, request({ caller }));
    await (await arrived(1)).write(EMPTY);
    await first;
    assert.equal(asked, 0);
    const headers = new Headers({ accept: "text/event-stream" });
    const stream = client.send(node, request({ caller, headers }));
    await (await arrived(2)).write(EMPTY);
    await stream;
    assert.equal(asked, 1);
  }));

Deno.test("an answer whose status allows no body is passed on", () =>
  withNode(async ({ client, node, arrived }) => {
    for (const [index, answer] of BODILESS.entries()) {
      const sent = client.send(node, request());
      const far = await arrived(index + 1);
      const [head = "", rest = ""] = answer.split(/(?<=\r\n\r\n)/);
      await far.write(head);
      await far.write(rest);
      const { status, body } = await sent;
      assert.deepEqual([String(status), body], [answer.split(" ")[1], null]);
    }
  }));

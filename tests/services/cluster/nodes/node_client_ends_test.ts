import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { collectGarbage } from "../../../support/garbage.ts";
import { until, within } from "../../../support/until.ts";
import { EMPTY, request, withNode } from "./accepted_connections.ts";

Deno.test("a connection that has closed is not used again", () =>
  withNode(async ({ client, node, accepted, arrived }) => {
    for (const number of [1, 2, 3]) {
      const sent = client.send(node, request());
      const far = await arrived(number);
      // The second one says so, the others just end.
      await far.write(number === 2 ? EMPTY.replace("\r\n", "\r\nconnection: close\r\n") : EMPTY);
      await sent;
      if (number !== 2) far.close();
      await until(() => far.hasEnded);
    }
    assert.equal(accepted.length, 3);
  }));

Deno.test("an answer that is none of HTTP, or that ends early, fails", () =>
  withNode(async ({ client, node, arrived }) => {
    const malformed = [
      ...["nonsense\r\n\r\n", "", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"],
      ...["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ntoo ", "HTTP/1.1 200 OK\r\nx"],
    ];
    for (const [index, text] of malformed.entries()) {
      // A read would be sent again.
      const sent = client.send(node, request({ method: "POST" }));
      const failed = assert.rejects(sent, Unavailable, text);
      const far = await arrived(index + 1);
      await far.write(text);
      far.close();
      await failed;
    }
    const streamed = client.send(node, request());
    const far = await arrived(malformed.length + 1);
    await far.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n");
    const response = await streamed;
    far.close();
    await assert.rejects(response.text());
  }));

Deno.test("a client that leaves ends its request, and no other", () =>
  withNode(async ({ client, node, arrived }) => {
    const leaving = new AbortController();
    const left = client.send(node, request({ client: leaving }));
    const far = await arrived(1);
    const stays = client.send(node, request({ client: new AbortController() }));
    const other = await arrived(2);
    leaving.abort();
    await assert.rejects(left);
    await until(() => far.hasEnded);
    assert.equal(other.hasEnded, false);
    await other.write(EMPTY);
    assert.equal((await stays).status, 200);

    const streamed = client.send(node, request());
    const third = await arrived(3);
    await third.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    await (await streamed).body?.cancel();
    await until(() => third.hasEnded);
  }));

Deno.test("a client that leaves after its answer ends no other request on the connection", () =>
  withNode(async ({ client, node, arrived }) => {
    const leaving = new AbortController();
    let isHeard = false;
    const heard = {
      get signal() {
        isHeard = true;
        return leaving.signal;
      },
    };
    const first = client.send(node, request({ client: heard }));
    const far = await arrived(1);
    await until(() => isHeard);
    await far.write(EMPTY);
    assert.equal((await first).status, 200);
    const second = client.send(node, request());
    const other = await arrived(2);
    leaving.abort();
    await other.write(EMPTY);
    assert.equal((await second).status, 200);
    assert.equal(other.hasEnded, false);
  }));

Deno.test("nobody waits for a node that no longer runs", () =>
  withNode(async ({ client, node, arrived, stop }) => {
    const waits = client.send(node, request());
    const far = await arrived(1);
    const streamed = client.send(node, request());
    const other = await arrived(2);
    await other.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const response = await streamed;
    stop();
    await assert.rejects(waits, Unavailable);
    await assert.rejects(response.text());
    await until(() => far.hasEnded && other.hasEnded);
  }));

Deno.test("an event stream ends with its node, also after memory was collected", () =>
  withNode(async ({ client, node, arrived, stop }) => {
    const headers = new Headers({ accept: "text/event-stream" });
    const streamed = client.send(node, request({ headers }));
    const far = await arrived(1);
    await far.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const response = await streamed;
    const ended = assert.rejects(response.text());
    await collectGarbage();
    stop();
    await within(ended, () => "The end of the stream");
    await until(() => far.hasEnded);
  }));

import assert from "node:assert/strict";
import { MessageHead, Outbound } from "../../../../services/engines/irc/outbound.ts";
import { DirectTransport } from "../../../../services/engines/irc/transport/direct.ts";
import { StreamTransport } from "../../../../services/engines/irc/transport/stream.ts";
import { Wire } from "../../../../services/engines/irc/wire.ts";

/** A client that says nothing, and takes what is written to it. */
function silentClient(onWrite: () => void): Deno.Conn {
  const address = { transport: "tcp", hostname: "127.0.0.1", port: 1 } as const;
  return {
    localAddr: address,
    remoteAddr: address,
    read: () => new Promise<null>(() => {}),
    write: (bytes: Uint8Array) => {
      onWrite();
      return Promise.resolve(bytes.length);
    },
  } as unknown as Deno.Conn;
}

Deno.test("a line is written after what its task left for its end, such as the history", async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const conn = silentClient(() => {
    order.push("written");
    resolve();
  });
  const options = { secure: false, sendQueueBytes: null, onClosed: () => {} };
  const transport = new StreamTransport(conn, options);
  const lines = ":ann!ann@host PRIVMSG #general :hello";
  transport.send(new Wire({ form: 0, lines, bytes: lines.length, next: null }));
  queueMicrotask(() => order.push("stored"));
  await promise;
  assert.deepEqual(order, ["stored", "written"]);
});

Deno.test("a client in this process hears a message after it is written to clients over TCP", async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const direct = new DirectTransport({
    address: "internal",
    receiver: {
      message: () => {
        order.push("heard");
        resolve();
      },
      closed() {},
    },
    onError: (error) => assert.fail(String(error)),
    onClosed() {},
  });
  const conn = silentClient(() => order.push("written"));
  const options = { secure: false, sendQueueBytes: null, onClosed: () => {} };
  const transport = new StreamTransport(conn, options);
  const lines = "PING :1";
  const head = new MessageHead({ source: null, command: "PING", params: ["1"] });
  direct.deliver(new Outbound({ head, tags: {} as Outbound["tags"] }), {});
  transport.send(new Wire({ form: 0, lines, bytes: lines.length, next: null }));
  await promise;
  assert.deepEqual(order, ["written", "heard"]);
});

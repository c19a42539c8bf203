import assert from "node:assert/strict";
import { call, ChannelStream } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";

const CLIENTS = 1000;
const STREAMS = 1000;
const SENDERS = 5;
const MESSAGES_PER_SENDER = 8;

/** How many connections are being made at a time. */
const AT_ONCE = 50;

/** Does the same for every number below `count`, a few at a time, and keeps the order. */
async function forEachOf<Result>(count: number, make: (index: number) => Promise<Result>) {
  const results: Result[] = [];
  for (let start = 0; start < count; start += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - start);
    results.push(...await Promise.all(Array.from({ length: size }, (_, i) => make(start + i))));
  }
  return results;
}

Deno.test("1,000 IRC clients and 1,000 streams all get every message, in one order", async () => {
  await using program = await startProgram();
  const clients = await forEachOf(CLIENTS, async (index) => {
    const client = await IrcClient.connect(program.irc);
    await client.register({ nick: `c${index}`, capabilities: ["echo-message"] });
    await client.join("#general");
    return client;
  });
  const streams = await forEachOf(STREAMS, () => ChannelStream.open(program, "general"));

  const total = (SENDERS + 1) * MESSAGES_PER_SENDER;
  const receivedByClients = clients.map(async (client) => {
    const texts: string[] = [];
    while (texts.length < total) {
      const line = await client.expect(/ PRIVMSG #general :/);
      texts.push(line.slice(line.indexOf("PRIVMSG #general :") + "PRIVMSG #general :".length));
    }
    return texts;
  });
  const receivedByStreams = streams.map(async (stream) => {
    const texts: string[] = [];
    while (texts.length < total) {
      const message = await stream.next();
      assert.ok(message);
      texts.push(message.text);
    }
    return texts;
  });

  const numbers = Array.from({ length: MESSAGES_PER_SENDER }, (_, number) => number);
  const said = clients.slice(0, SENDERS).map((client, sender) =>
    client.send(...numbers.map((number) => `PRIVMSG #general :${sender} says ${number}`))
  );
  for (const number of numbers) {
    const text = `ann says ${number}`;
    const response = await call(program, "POST", "/v1/channels/general/messages", { text });
    assert.equal(response.status, 204);
  }
  await Promise.all(said);

  const [first, ...others] = await Promise.all([...receivedByClients, ...receivedByStreams]);
  assert.ok(first);
  for (const other of others) assert.deepEqual(other, first);
  for (const sender of ["ann", ...Array.from({ length: SENDERS }, (_, index) => String(index))]) {
    const own: string[] = first.filter((text) => text.startsWith(`${sender} says`));
    assert.deepEqual(own, numbers.map((number) => `${sender} says ${number}`));
  }
  for (const disposable of [...clients, ...streams]) await disposable[Symbol.asyncDispose]();
});

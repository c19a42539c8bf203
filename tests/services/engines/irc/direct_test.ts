import assert from "node:assert/strict";
import type { DirectConnection, IrcServer } from "../../../../services/engines/irc/mod.ts";
import { openServer } from "../../chat/bridge/support.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

/** Resolves when all that the microtasks of now lead to is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** A direct client in `#room`, and what it was told, in order. */
function enter(server: IrcServer, nick: string) {
  const told: string[] = [];
  const connection: DirectConnection = server.connectDirect({
    message: ({ command, params, text }, { label = "" }) => {
      told.push(`${label} ${command} ${params.join(" ")} ${text ?? ""}`.trim());
    },
    closed: (reason) => told.push(`closed: ${reason}`),
  }, { account: nick, privileged: true });
  const send = (command: string, params: readonly string[], label?: string) => {
    const tags = label === undefined ? NO_TAGS : new Map([["label", label]]);
    connection.send({ command, params, tags });
  };
  send("CAP", ["REQ", "labeled-response batch echo-message message-tags draft/chathistory"]);
  send("NICK", [nick]);
  send("USER", [nick, "0", "*", nick]);
  send("CAP", ["END"]);
  send("JOIN", ["#room"]);
  return { told, send, connection };
}

Deno.test("A direct client gets nothing while it sends, and everything in order", async () => {
  const server = openServer(new TestScheduler());
  const { told, send } = enter(server, "robot");
  await settled();
  told.length = 0;
  send("PRIVMSG", ["#room", " one"], "1");
  send("CHATHISTORY", ["LATEST", "#room", "*", "10"], "2");
  send("PRIVMSG", ["#room", "two"], "3");
  send("PRIVMSG", ["#nowhere", "three"], "4");
  assert.deepEqual(told, []);
  await settled();
  assert.equal(told[0], "1 PRIVMSG #room  one");
  assert.match(told[1] ?? "", /^2 BATCH \+\S+ chathistory #room$/);
  assert.equal(told[2], "PRIVMSG #room  one");
  assert.match(told[3] ?? "", /^BATCH -/);
  assert.equal(told[4], "3 PRIVMSG #room two");
  assert.match(told[5] ?? "", /^4 403 robot #nowhere /);
  assert.equal(told.length, 6);
  await server.close();
  assert.equal(told.at(-1), "closed: Connection closed");
});

Deno.test("A direct client gets a message after the clients with a connection", async () => {
  const server = openServer(new TestScheduler());
  const { told } = enter(server, "robot");
  const bob = server.connect();
  const order: string[] = [];
  bob.onLine = (line) => {
    if (line.includes("PRIVMSG #room")) order.push(`bob, and robot ${told.length - before}`);
  };
  for (const line of ["NICK bob", "USER bob 0 * :bob", "JOIN #room"]) bob.send(line);
  const carol = server.connect();
  for (const line of ["NICK carol", "USER carol 0 * :carol", "JOIN #room"]) carol.send(line);
  await settled();
  const before = told.length;
  carol.send("PRIVMSG #room :hello");
  await settled();
  assert.deepEqual(order, ["bob, and robot 0"]);
  assert.equal(told.at(-1), "PRIVMSG #room hello");
  await server.close();
});

Deno.test("A closed direct client is gone and gets nothing more", async () => {
  const server = openServer(new TestScheduler());
  const { told, send, connection } = enter(server, "robot");
  await settled();
  told.length = 0;
  send("PRIVMSG", ["#room", "last words"]);
  connection.close();
  send("PRIVMSG", ["#room", "too late"]);
  assert.equal(connection.closed, true);
  await settled();
  assert.deepEqual(told, ["PRIVMSG #room last words", "closed: Connection closed"]);
  assert.equal(server.hasChannel("#room"), false);
  assert.deepEqual(server.clients(), []);
  await server.close();
});

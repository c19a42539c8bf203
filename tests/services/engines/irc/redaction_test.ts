import assert from "node:assert/strict";
import type { ObservedRedaction } from "../../../../services/engines/irc/mod.ts";
import { show, type TestClient } from "./support/client.ts";
import { startServer, TestAccounts } from "./support/server.ts";

const TAGGED = "batch draft/chathistory echo-message message-tags server-time";
const CAPABILITIES = `${TAGGED} draft/message-redaction`;
const EVENTS = `${CAPABILITIES} draft/event-playback`;
const PLAIN_EVENTS = `${TAGGED} draft/event-playback`;

Deno.test("an author redacts its message: clients with redaction learn it, and history loses it", async () => {
  await using server = startServer();
  const op = await server.client("op", EVENTS);
  const bob = await server.client("bob", CAPABILITIES);
  const plain = await server.client("plain", PLAIN_EVENTS);
  for (const client of [op, bob, plain]) await joined(client);
  const [before, wrong, after] = [
    await said(bob, "PRIVMSG #c :before"),
    await said(bob, "NOTICE #c :wrong window"),
    await said(bob, "@+react=+1 TAGMSG #c"),
  ];
  bob.send(`REDACT #C ${wrong} :oops`, `REDACT #c ${after}`, `REDACT #c ${after}`);
  const told = [`bob REDACT #c ${wrong} oops`, `bob REDACT #c ${after}`];
  const again = `FAIL REDACT UNKNOWN_MSGID #c ${after} This message does not exist or is too old`;
  assert.deepEqual(await bob.sync(), [...told, again]);
  assert.deepEqual((await op.sync()).slice(-2), told);
  assert.ok(!(await plain.sync()).some((line) => line.includes("REDACT")));

  assert.deepEqual(await history(bob, "LATEST #c * 10"), ["bob PRIVMSG #c before"]);
  assert.deepEqual(await history(op, "LATEST #c * 3"), ["bob PRIVMSG #c before", ...told]);
  assert.deepEqual(await history(plain, "LATEST #c * 1"), ["bob PRIVMSG #c before"]);
  // Who saw the message last may still ask what came around it.
  op.send("PRIVMSG #c :later");
  await op.sync();
  await bob.sync();
  assert.deepEqual(await history(bob, `AFTER #c msgid=${wrong} 10`), ["op PRIVMSG #c later"]);
  assert.deepEqual(await history(bob, `BEFORE #c msgid=${wrong} 10`), ["bob PRIVMSG #c before"]);
  assert.deepEqual(await history(op, `BETWEEN #c msgid=${before} msgid=${after} 10`), []);
});

Deno.test("only operators of the channel and of IRC redact other users' messages", async () => {
  const accounts = new TestAccounts({ admin: "root", ann: "secret", op: "secret" });
  const redactions: ObservedRedaction[] = [];
  const observer = { messageRedacted: (event: ObservedRedaction) => void redactions.push(event) };
  await using server = startServer({ accounts, observer });
  const op = await server.member("op", "secret", CAPABILITIES);
  const ann = await server.member("ann", "secret", CAPABILITIES);
  await joined(op);
  await joined(ann);
  const guest = await server.client("guest", CAPABILITIES);
  await joined(guest);
  const [one, two, three] = [
    await said(guest, "PRIVMSG #c :one"),
    await said(guest, "PRIVMSG #c :two"),
    await said(ann, "PRIVMSG #c :three"),
  ];
  const stranger = await server.client("stranger", CAPABILITIES);
  stranger.send(`REDACT #c ${one}`, `REDACT #nowhere ${one}`, "REDACT #c");
  assert.deepEqual(await stranger.sync(), [
    "FAIL REDACT INVALID_TARGET #c You are not in this channel",
    "FAIL REDACT INVALID_TARGET #nowhere You are not in this channel",
    "461 stranger REDACT Not enough parameters",
  ]);
  // Another guest of the same nick is another.
  guest.send("QUIT");
  await guest.untilClosed();
  const heir = await server.client("guest", CAPABILITIES);
  await joined(heir);
  heir.send(`REDACT #c ${one}`);
  const forbidden = "You may not redact this message";
  assert.deepEqual(await heir.sync(), [`FAIL REDACT REDACT_FORBIDDEN #c ${one} ${forbidden}`]);
  op.send(`REDACT #c ${one} :spam`);
  assert.equal((await op.sync()).at(-1), `op REDACT #c ${one} spam`);
  stranger.send("OPER admin root", `REDACT #c ${two}`);
  assert.equal((await stranger.sync()).at(-1), `stranger REDACT #c ${two}`);
  // An account is itself on every connection; in a moderated channel its reason is not heard.
  op.send("MODE #c +m");
  await op.sync();
  const phone = await server.dial();
  phone.send("CAP LS 302", "NICK phone", "USER p 0 * :p", `CAP REQ :sasl ${CAPABILITIES}`);
  phone.logIn("ann", "secret");
  phone.send("CAP END", "JOIN #c", `REDACT #c ${three} :and now listen to me`);
  assert.equal((await phone.sync()).at(-1), `phone REDACT #c ${three}`);
  assert.deepEqual(
    redactions.map(({ id, channel, author, own, actor }) => {
      return [id, channel, author, own, actor.nick];
    }),
    [
      [one, "#c", "guest", false, "op"],
      [two, "#c", "guest", false, "stranger"],
      [three, "#c", "ann", true, "phone"],
    ],
  );
});

Deno.test("between two users only the author redacts, even when the other is away", async () => {
  const accounts = new TestAccounts({ ann: "secret", ben: "secret" });
  await using server = startServer({ accounts });
  const ann = await server.member("ann", "secret", CAPABILITIES);
  const ben = await server.member("ben", "secret", CAPABILITIES);
  const first = await said(ann, "PRIVMSG ben :first");
  const second = await said(ann, "PRIVMSG ben :second");
  await ben.sync();
  ben.send(`REDACT ann ${first}`);
  assert.deepEqual(await ben.sync(), [
    `FAIL REDACT REDACT_FORBIDDEN ann ${first} You may not redact this message`,
  ]);
  ann.send(`REDACT BEN ${first}`);
  assert.deepEqual(await ann.sync(), [`ann REDACT ben ${first}`]);
  assert.deepEqual(await ben.sync(), [`ann REDACT ben ${first}`]);
  ben.send("QUIT");
  await ben.untilClosed();
  ann.send("NICK annie", `REDACT ben ${second} :never mind`);
  assert.equal((await ann.sync()).at(-1), `annie REDACT ben ${second} never mind`);
  const back = await server.member("ben", "secret", CAPABILITIES);
  assert.deepEqual(await history(back, "LATEST ann * 10"), []);
  assert.deepEqual(await history(ann, "LATEST ben * 10"), []);
});

Deno.test("without the capability there is no REDACT", async () => {
  await using server = startServer();
  const bob = await server.client("bob", TAGGED);
  bob.send("JOIN #c");
  await bob.sync();
  const id = await said(bob, "PRIVMSG #c :stays");
  bob.send(`REDACT #c ${id}`);
  assert.deepEqual(await bob.sync(), ["421 bob REDACT Unknown command"]);
  assert.deepEqual(await history(bob, "LATEST #c * 10"), ["bob PRIVMSG #c stays"]);
});

async function joined(client: TestClient): Promise<void> {
  client.send("JOIN #c");
  await client.sync();
}

/** Sends a message and gives the id that its echo has. */
async function said(client: TestClient, line: string): Promise<string> {
  client.send(line);
  return (await client.syncMessages()).at(-1)?.tags.get("msgid") ?? "";
}

async function history(client: TestClient, request: string): Promise<string[]> {
  client.send(`CHATHISTORY ${request}`);
  return (await client.syncMessages()).slice(1, -1).map(show);
}

Deno.test("a later owner of an account's name cannot redact the earlier owner's messages", async () => {
  let now = 2_000_000_000_000;
  const accounts = new TestAccounts({ ann: "secret", op: "secret" });
  await using server = startServer({ accounts, clock: () => now });
  const op = await server.member("op", "secret", CAPABILITIES);
  await joined(op);
  const first = await server.member("ann", "secret", CAPABILITIES);
  await joined(first);
  const id = await said(first, "PRIVMSG #c :mine");
  first.send("QUIT");
  await first.until("ERROR");
  now += 1000;
  const madeAt = now;
  accounts.accountSince = () => madeAt;
  const second = await server.member("ann", "secret", CAPABILITIES);
  await joined(second);
  second.send(`REDACT #c ${id}`);
  assert.match((await second.sync()).at(-1) ?? "", /^FAIL REDACT REDACT_FORBIDDEN /);
  const own = await said(second, "PRIVMSG #c :mine too");
  second.send(`REDACT #c ${own}`);
  assert.deepEqual(await second.sync(), [`ann REDACT #c ${own}`]);
});

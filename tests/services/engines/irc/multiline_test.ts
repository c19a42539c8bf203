import assert from "node:assert/strict";
import fc from "fast-check";
import { Cap } from "../../../../services/engines/irc/protocol/capabilities.ts";
import { entryOf, recordOf } from "../../../../services/engines/irc/history/record.ts";
import { HistoryKind } from "../../../../services/engines/irc/history/store.ts";
import { MessageHead, Outbound } from "../../../../services/engines/irc/outbound.ts";
import type { ObservedMessage } from "../../../../services/engines/irc/mod.ts";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

const TAGGED = "batch echo-message labeled-response message-tags server-time";
const CAPABILITIES = `${TAGGED} draft/multiline draft/chathistory`;
const PLAIN_HISTORY = "batch draft/chathistory message-tags";

Deno.test("a batch of lines arrives as one message, or as lines at clients without multiline", async () => {
  const observed: ObservedMessage[] = [];
  const observer = { messageSent: (message: ObservedMessage) => void observed.push(message) };
  await using server = startServer({ observer });
  const alice = await joined(server, "alice", CAPABILITIES);
  const bob = await joined(server, "bob", CAPABILITIES);
  const tagged = await joined(server, "carol", "message-tags server-time");
  const plain = await joined(server, "dave", "");
  for (const client of [alice, bob, tagged]) await client.sync();
  alice.send(
    "@label=one;+reply=x BATCH +1 draft/multiline #c",
    "@batch=1 PRIVMSG #c hello",
    "@batch=1 PRIVMSG #c :",
    "@batch=1 PRIVMSG #C :how are ",
    "@batch=1;draft/multiline-concat PRIVMSG #c :you?",
    "@label=two BATCH -1",
  );
  const echo = await alice.syncMessages();
  const [start, ...lines] = echo.slice(0, -2);
  assert.equal(start?.tags.get("label"), "one");
  const reference = start?.params[0]?.slice(1);
  const [, ...others] = start?.params ?? [];
  assert.deepEqual(others, ["draft/multiline", "#c"]);
  assert.deepEqual(lines.map(({ tags, params }) => [...tags.keys(), params[1]]), [
    ["batch", "hello"],
    ["batch", ""],
    ["batch", "how are "],
    ["batch", "draft/multiline-concat", "you?"],
  ]);
  assert.deepEqual(
    echo.slice(-2).map(({ command, params, tags }) => {
      return [command, params[0], tags.get("label")];
    }),
    [["BATCH", `-${reference}`, undefined], ["ACK", undefined, "two"]],
  );

  const [relayed] = await bob.syncMessages();
  for (const tag of ["msgid", "time", "+reply"]) {
    assert.ok(relayed?.tags.get(tag), tag);
    assert.equal(relayed?.tags.get(tag), start?.tags.get(tag), tag);
  }
  const pieces = await tagged.syncMessages();
  assert.deepEqual(pieces.map(({ params }) => params[1]), ["hello", "how are ", "you?"]);
  const [id, time] = [start?.tags.get("msgid"), start?.tags.get("time")];
  assert.deepEqual(pieces.map(({ tags }) => tags.get("msgid")), [id, undefined, undefined]);
  assert.deepEqual(pieces.map(({ tags }) => [tags.get("time"), tags.get("+reply")]), [
    [time, "x"],
    [time, "x"],
    [time, "x"],
  ]);
  const said = ["hello", "how are ", "you?"].map((text) => `alice PRIVMSG #c ${text}`.trim());
  assert.deepEqual(await plain.sync(), said);
  assert.deepEqual(observed.map(({ id, text }) => [id, text]), [[id, "hello\n\nhow are you?"]]);
});

Deno.test("the history keeps the lines together", async () => {
  await using server = startServer();
  const alice = await joined(server, "alice", CAPABILITIES);
  alice.send("PRIVMSG #c :before", ...message("#c", "one", "two"), "PRIVMSG #c :after");
  const [, start] = await alice.syncMessages();
  alice.send("CHATHISTORY LATEST #c * 2");
  const [outer, inner, ...rest] = await alice.syncMessages();
  const [of, within] = [outer?.params[0]?.slice(1), inner?.params[0]?.slice(1)];
  assert.equal(inner?.tags.get("batch"), of);
  assert.equal(inner?.tags.get("msgid"), start?.tags.get("msgid"));
  assert.deepEqual(rest.map(({ tags, params }) => [tags.get("batch"), params.at(-1)]), [
    [within, "one"],
    [within, "two"],
    [of, `-${within}`],
    [of, "after"],
    [undefined, `-${of}`],
  ]);
  const plain = await joined(server, "plain", PLAIN_HISTORY);
  plain.send("CHATHISTORY LATEST #c * 2");
  const shown = (await plain.syncMessages()).slice(1, -1);
  assert.deepEqual(shown.map(({ params }) => params[1]), ["one", "two", "after"]);
  assert.ok(shown.every(({ tags }) => tags.has("batch")));
});

Deno.test("a stored message keeps its lines", () => {
  const tags = { time: "2033-05-18T03:33:20.000Z", msgid: "m1", account: "ann" };
  const text = [{ text: "one", concat: false }, { text: "more", concat: true }];
  const message = new Outbound({
    head: new MessageHead({ source: "ann!a@h", command: "PRIVMSG", params: ["#c"] }),
    tags,
    text,
  });
  const entry = { id: "m1", time: 2e12, kind: HistoryKind.MESSAGE, message, extended: null };
  const read = entryOf(recordOf(entry)).message;
  for (const capabilities of [0, Cap.MESSAGE_TAGS, -1]) {
    assert.deepEqual(read.wire(capabilities).lines, message.wire(capabilities).lines);
  }
});

Deno.test("multiline works between two users, and with long lines for a classic client", async () => {
  await using server = startServer();
  const alice = await server.client("alice", CAPABILITIES);
  const bob = await server.client("bob");
  bob.send("AWAY :out");
  await bob.sync();
  const words = "word ".repeat(150).trim();
  alice.send("@label=x BATCH +x draft/multiline bob", `@batch=x PRIVMSG bob :${words}`);
  alice.send("@batch=x PRIVMSG bob end", "BATCH -x");
  const answer = await alice.syncMessages();
  assert.deepEqual(answer.map(({ command }) => command), [
    ...["BATCH", "BATCH", "PRIVMSG", "PRIVMSG", "BATCH", "301", "BATCH"],
  ]);
  const lines = (await bob.syncMessages()).map(({ params }) => params[1] ?? "");
  assert.ok(lines.length > 2);
  assert.equal(lines.join(" "), `${words} end`);
});

Deno.test("an error in a batch ends it with the error's code, and nothing of it is sent", async () => {
  await using server = startServer({ limits: { multilineBytes: 40, multilineLines: 4 } });
  const alice = await joined(server, "alice", CAPABILITIES);
  const bob = await joined(server, "bob", CAPABILITIES);
  await alice.sync();
  const line = "@batch=1 PRIVMSG #c :x";
  const begin = "BATCH +1 draft/multiline #c";
  const wrong: [string, string[]][] = [
    ["MULTILINE_MAX_LINES 4", [begin, line, line, line, line, line, line, "BATCH -1"]],
    ["MULTILINE_MAX_BYTES 40", [begin, `${line}${"y".repeat(20)}`, `${line}${"y".repeat(19)}`]],
    ["MULTILINE_INVALID_TARGET #c #d", [begin, "@batch=1 PRIVMSG #d :x", line, "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, "@batch=1 NOTICE #c :x", "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, "@batch=2 PRIVMSG #c :x", line, "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, "@batch=1;draft/multiline-concat PRIVMSG #c :", "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, "@batch=1 PRIVMSG #c :", "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, line, "BATCH -2"]],
    ["MULTILINE_INVALID", ["BATCH -1"]],
    ["MULTILINE_INVALID", ["BATCH 1"]],
    ["MULTILINE_INVALID", [line]],
    ["MULTILINE_INVALID", ["BATCH +1 example/other #c", line, "BATCH -1"]],
    ["MULTILINE_INVALID", ["BATCH +1 draft/multiline", line, "BATCH -1"]],
    ["MULTILINE_INVALID", ["BATCH +1 draft/multiline #c,#d", line, "BATCH -1"]],
    ["MULTILINE_INVALID", [begin, line, "MODE #c"]],
    ["MULTILINE_INVALID", [begin, line, begin.replace("1", "2"), "BATCH -2"]],
  ];
  for (const [expected, lines] of wrong) {
    alice.send(...lines);
    const [fail, ...more] = await alice.syncMessages();
    const context = fail?.params.slice(1, -1).join(" ");
    assert.deepEqual([fail?.command, context], ["FAIL", expected], lines.join(" | "));
    assert.deepEqual(more.filter(({ command }) => command === "PRIVMSG"), []);
  }
  // The client's own signs of life disturb nothing, and a refusal has the batch's label.
  alice.send("@label=a BATCH +1 draft/multiline #c", "PONG x", line, "PING y", "BATCH -1");
  alice.send("@label=b BATCH +1 draft/multiline #nowhere", "@batch=1 PRIVMSG #nowhere x");
  alice.send("BATCH -1");
  const [, ...answers] = await alice.syncMessages();
  assert.deepEqual(answers.map(({ command, tags }) => [command, tags.get("label")]), [
    ["BATCH", "a"],
    ["PRIVMSG", undefined],
    ["BATCH", undefined],
    ["403", "b"],
  ]);
  assert.equal((await bob.sync()).filter((text) => text.includes("PRIVMSG")).length, 1);
  const stranger = await server.client("eve", TAGGED);
  stranger.send(begin);
  assert.deepEqual(await stranger.sync(), ["421 eve BATCH Unknown command"]);
});

Deno.test("an unfinished batch times out, and the client may begin another", async () => {
  let now = 2_000_000_000_000;
  await using server = startServer({ clock: () => now });
  const alice = await joined(server, "alice", CAPABILITIES);
  alice.send("@label=late BATCH +1 draft/multiline #c", "@batch=1 PRIVMSG #c :x");
  await alice.sync();
  now += 60_000;
  const [fail] = await alice.until("FAIL");
  assert.deepEqual([fail?.params.slice(0, 3), fail?.tags.get("label")], [
    ["BATCH", "TIMEOUT", "1"],
    "late",
  ]);
  alice.send("@batch=1 PRIVMSG #c :y", "BATCH -1", ...message("#c", "one", "two"));
  assert.equal((await alice.sync()).filter((line) => line.includes("PRIVMSG")).length, 2);
});

Deno.test("each line counts for the account's rate, and a muted account's lines reach nobody", async () => {
  const accounts = new TestAccounts({ ann: "secret" });
  let taken = 0;
  accounts.messageDelay = () => (taken++, 0);
  await using server = startServer({ accounts });
  const ann = await server.member("ann", "secret", CAPABILITIES);
  ann.send("JOIN #c", ...message("#c", "one", "two", "three"));
  await ann.sync();
  assert.equal(taken, 3);
  accounts.muteReason = () => "You are paused";
  ann.send(...message("#c", "one", "two"));
  assert.deepEqual(await ann.sync(), ["404 ann #c You are paused"]);
});

Deno.test("clients with and without multiline get the same text, for any lines", async () => {
  await using server = startServer();
  const alice = await joined(server, "alice", CAPABILITIES);
  const bob = await joined(server, "bob", "message-tags");
  await alice.sync();
  const text = fc.stringMatching(/^[a-zé€😀:# ]{0,8}$/u);
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 12 }), async (lines) => {
      fc.pre(lines.some((line) => line !== ""));
      alice.send(...message("#c", ...lines));
      const echo = await alice.syncMessages();
      assert.deepEqual(echo.slice(1, -1).map(({ params }) => params[1]), lines);
      const relayed = await bob.syncMessages();
      const spoken = lines.filter((line) => line !== "");
      assert.deepEqual(relayed.map(({ params }) => params[1]), spoken);
    }),
    { numRuns: 40 },
  );
});

/** A message of these lines. */
function message(target: string, ...lines: string[]): string[] {
  return [
    `BATCH +m draft/multiline ${target}`,
    ...lines.map((line) => `@batch=m PRIVMSG ${target} :${line}`),
    "BATCH -m",
  ];
}

async function joined(server: TestServer, nick: string, capabilities: string): Promise<TestClient> {
  const client = await server.client(nick, capabilities);
  client.send("JOIN #c");
  await client.sync();
  return client;
}

import assert from "node:assert/strict";
import { EarlyEnd } from "../../../../services/kernel/early_end.ts";
import type { Bridge, ChannelMessage } from "../../../../services/chat/bridge/mod.ts";
import { formatEnvelope } from "../../../../services/chat/bridge/mod.ts";
import {
  Forbidden,
  Invalid,
  NotFound,
  TooLarge,
  TooMany,
  Unavailable,
} from "../../../../services/kernel/errors.ts";
import { until } from "../../../support/until.ts";
import { agentCaller, IrcUser, OPERATOR_CALLER, testBridge, WAYS, withBridge } from "./support.ts";

/** What a channel's buffer holds, as `nick: text`. */
async function buffer(bridge: Bridge, channel = "general"): Promise<string[]> {
  return (await bridge.messages(channel, {})).map(({ nick, text }) => `${nick}: ${text}`);
}

function newFollower() {
  const got: string[] = [];
  return {
    got,
    message: ({ nick, text }: ChannelMessage) => void got.push(`${nick}: ${text}`),
    end: (reason: string) => void got.push(`end: ${reason}`),
  };
}

testBridge(
  "Bridge posts under a name: in front on IRC, bare in the buffer",
  async ({ bridge, server }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    await bridge.post("#GENERAL", { nick: "alice", text: "one\n\ntwo" }, OPERATOR_CALLER);
    await bridge.post("general", { text: "three" }, OPERATOR_CALLER);
    await bridge.post("general", { nick: "BRIDGE", text: "four" }, OPERATOR_CALLER);
    assert.match(await bob.expect(/PRIVMSG/), /^:bridge!\S+ PRIVMSG #general :\[alice\] one$/);
    assert.match(await bob.expect(/PRIVMSG/), / :\[alice\] two$/);
    assert.match(await bob.expect(/PRIVMSG/), / :?three$/);
    assert.match(await bob.expect(/PRIVMSG/), / :?four$/);
    assert.deepEqual(await buffer(bridge), [
      "alice: one",
      "alice: two",
      "bridge: three",
      "BRIDGE: four",
    ]);
  },
);

testBridge(
  "Bridge attributes every message to its speaker, whatever the text looks like",
  async ({ bridge, server }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob", {
      capabilities: "message-tags labeled-response batch echo-message",
    });
    await bob.join("#general");
    bob.send(
      "PRIVMSG #general :[alice] not alice",
      "@label=1 PRIVMSG #general :[alice] nor here",
      "NOTICE #general :a notice",
      "PRIVMSG #general :\x01ACTION waves\x01",
      "PRIVMSG #general :\x01VERSION\x01",
      "PRIVMSG #general :\x01VERSION",
      "NOTICE #general :\x01PING 1\x01",
      "@+typing=active TAGMSG #general",
      "PRIVMSG @#general :for operators",
      "PRIVMSG bridge :in private",
    );
    await bob.sync();
    await bridge.post("general", { nick: "alice", text: "alice indeed" }, OPERATOR_CALLER);
    assert.deepEqual(await buffer(bridge), [
      "bob: [alice] not alice",
      "bob: [alice] nor here",
      "bob: a notice",
      "bob: * bob waves",
      "alice: alice indeed",
    ]);
    assert.ok(!bob.lines.some((line) => line.includes("NOTICE bob")), "no CTCP is answered");
  },
);

testBridge(
  "a person on the web pages speaks through the bridge where the bridge is its only user",
  async ({ bridge, server }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    const { principal, ...from } = agentCaller("ann");
    const kinds = { ann: "person", root: "admin" } as const;
    for (const [name, kind] of Object.entries(kinds)) {
      const session = { kind, name, tokenId: null, sessionId: `session of ${name}` };
      const caller = { ...from, principal: { ...principal, ...session } };
      await bridge.post("#general", { text: "hello" }, caller);
      assert.match(
        await bob.expect(/PRIVMSG/),
        new RegExp(`^:bridge!\\S+ PRIVMSG #general :\\[${name}\\] hello$`),
      );
    }
    const messages = await bridge.messages("#general", {});
    assert.deepEqual(messages.map(({ nick, account, via }) => [nick, account, via]), [
      ["ann", "ann", undefined],
      ["root", "root", undefined],
    ]);
  },
);

testBridge("Bridge takes ids and times from the IRC server", async ({ bridge, server }) => {
  await bridge.whenReady();
  const bob = new IrcUser(server, "bob", { capabilities: "message-tags server-time" });
  await bob.join("#general");
  await bridge.post("general", { nick: "alice", text: "one\ntwo" }, OPERATOR_CALLER);
  const line = await bob.expect(/PRIVMSG/);
  assert.match(line, /^@[^ ]*\bbot\b/, "the bridge says that it is a bot");
  const messages = await bridge.messages("general", {});
  assert.equal(messages[0]?.id, /msgid=([^; ]+)/.exec(line)?.[1]);
  assert.deepEqual(messages.map(({ timestamp }) => timestamp), [
    "2026-11-20T12:00:00.000000Z",
    "2026-11-20T12:00:00.000001Z",
  ]);
});

testBridge(
  "Bridge splits a long line so that all of it fits into the server's lines",
  async ({ bridge, server }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    const text = "wörd ".repeat(300).trim();
    await bridge.post("general", { nick: "alice", text }, OPERATOR_CALLER);
    const messages = await bridge.messages("general", {});
    const got: string[] = [];
    for (const _ of messages) got.push(await bob.expect(/PRIVMSG/));
    for (const line of got) {
      assert.ok(new TextEncoder().encode(line).length <= 510);
      assert.match(line, / :\[alice\] wörd( wörd)*$/);
    }
    assert.ok(messages.length > 3);
    assert.equal(messages.map((message) => message.text).join(" "), text);
  },
  { server: { limits: { lineBytes: 512 } } },
);

testBridge("Bridge keeps the burst that it is configured for", async ({ bridge }) => {
  const text = `${"x".repeat(1000)}\n`.repeat(60);
  await bridge.whenReady();
  const posts = Array.from(
    { length: 30 },
    () => bridge.post("general", { text }, OPERATOR_CALLER),
  );
  await Promise.all(posts);
  assert.equal(bridge.stats().posted, 30 * 60);
  assert.equal(bridge.stats().disconnects, 0);
});

testBridge(
  "Bridge sends an envelope as it is, on one line or not at all",
  async ({ bridge, server }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    const post = (text: string, caller = OPERATOR_CALLER) =>
      bridge.post("general", { nick: "worker", text }, caller);
    const envelope = formatEnvelope({ type: "task.create", from: "worker", payload: { n: 1 } }, 5);
    await post(envelope, agentCaller("Worker"));
    assert.ok((await bob.expect(/PRIVMSG/)).endsWith(` :${envelope}`));
    await post('{"v":1,"type":"t","id":"1"}');
    assert.match(await bob.expect(/PRIVMSG/), / :\[worker\] \{/, "no sender, no envelope");
    const pretty = JSON.stringify(JSON.parse(envelope), null, 1);
    await assert.rejects(post(pretty), Invalid);
    const long = formatEnvelope({ type: "t", from: "w", payload: { n: "x".repeat(9000) } }, 5);
    await assert.rejects(post(long), TooLarge);
    await assert.rejects(post(envelope, agentCaller("other")), Forbidden);
  },
);

testBridge("Bridge lets an agent speak only as itself", async ({ bridge }) => {
  await bridge.whenReady();
  const worker = agentCaller("worker");
  await bridge.post("general", { text: "one" }, worker);
  await bridge.post("general", { nick: "WORKER", text: "two" }, worker);
  await assert.rejects(bridge.post("general", { nick: "bob", text: "x" }, worker), Forbidden);
  await assert.rejects(bridge.post("general", { nick: "b b", text: "x" }, worker), Invalid);
  assert.throws(() => bridge.presence("general", "bob", worker), Forbidden);
  assert.deepEqual(await buffer(bridge), ["worker: one", "worker: two"]);
});

testBridge(
  "Bridge lists the members of a channel on IRC and over HTTP",
  async ({ bridge, server, scheduler }) => {
    await bridge.whenReady();
    const [bob, cy, dan] = ["bob", "cy", "dan"].map((nick) => new IrcUser(server, nick)) as [
      IrcUser,
      IrcUser,
      IrcUser,
    ];
    await bob.join("#Room");
    for (const user of [cy, dan]) await user.join("#room");
    const users = async () => (await bridge.users("room")).join(" ");
    await assert.rejects(users(), NotFound);
    await bridge.presence("room", "early", OPERATOR_CALLER);
    await bridge.join("room");
    assert.equal(await users(), "bob bridge cy dan");
    bob.send("NICK Robert", "TOPIC #room :talk", "KICK #room dan");
    cy.send("PART #room", "JOIN #room");
    await dan.expect(/KICK/);
    await cy.expect(/ 366 /);
    cy.send("PART #room");
    dan.send("JOIN #room", "QUIT");
    await bob.expect(/QUIT/);
    await bridge.presence("room", "web-ann", OPERATOR_CALLER);
    await bridge.presence("room", "ROBERT", OPERATOR_CALLER);
    scheduler.advance(299_999);
    await bridge.post("room", { nick: "eve", text: "hi" }, OPERATOR_CALLER);
    assert.equal(await users(), "Robert bridge eve web-ann");
    scheduler.advance(1);
    assert.equal(await users(), "Robert bridge eve");
    assert.deepEqual(bridge.summaries(), [
      { name: "#Room", members: 3, topic: "talk" },
      { name: "#general", members: 1, topic: "" },
    ]);
  },
);

testBridge(
  "Bridge joins channels in the order of requests, up to its limit",
  async ({ bridge }) => {
    await bridge.whenReady();
    assert.deepEqual(bridge.channels(), ["#general"]);
    assert.deepEqual(await bridge.messages("never-seen", {}), []);
    await Promise.all([bridge.join("b"), bridge.join("#B"), bridge.join("a")]);
    assert.deepEqual(bridge.channels(), ["#a", "#b", "#general"]);
    await assert.rejects(bridge.join("c"), TooMany);
    await bridge.part("B");
    await bridge.part("never-seen");
    await bridge.join("c");
    assert.deepEqual(bridge.channels(), ["#a", "#c", "#general"]);
    for (const name of ["", "#", "a b", "a,b", "a\nb", "x".repeat(80)]) {
      await assert.rejects(bridge.join(name), Invalid, name);
    }
  },
  { bridge: { maxChannels: 3 } },
);

testBridge(
  "Bridge leaves a channel that nobody used for an hour, even if it was invited",
  async ({ bridge, server, scheduler }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob");
    for (let number = 10; number < 25; number++) {
      await bob.join(`#i${number}`);
      bob.send(`INVITE bridge #i${number}`);
    }
    await bob.sync();
    await bridge.follow("followed", {}, newFollower());
    await bridge.join("idle");
    assert.equal(bridge.channels().filter((name) => name.startsWith("#i1")).length, 10);
    assert.equal(bridge.channels().length, 13);
    scheduler.advance(59 * 60_000);
    await bridge.messages("i10", {});
    scheduler.advance(2 * 60_000);
    bob.send("JOIN #idle");
    await bob.expect(/ 366 /);
    await bob.sync();
    assert.deepEqual(bridge.channels(), ["#followed", "#general", "#i10"]);
  },
);

testBridge("Bridge lets readers wait until there is something", async ({ bridge, scheduler }) => {
  await bridge.post("general", { text: "one" }, OPERATOR_CALLER);
  const [first] = await bridge.messages("general", { waitSeconds: 60 });
  const since = first?.timestamp;
  const waiting = bridge.messages("general", { since, waitSeconds: 60, limit: 1 });
  await bridge.post("general", { text: "two" }, OPERATOR_CALLER);
  assert.deepEqual((await waiting).map(({ text }) => text), ["two"]);

  const latest = { since: (await bridge.messages("general", { limit: 1 }))[0]?.id };
  const late = bridge.messages("general", { ...latest, waitSeconds: 60 });
  const aborted = new EarlyEnd();
  const abandoned = bridge.messages("general", {
    ...latest,
    waitSeconds: 60,
    end: aborted,
  });
  await until(() => bridge.stats().waiting === 2);
  aborted.end();
  assert.deepEqual(await abandoned, []);
  scheduler.advance(60_000);
  assert.deepEqual(await late, []);
  assert.equal(bridge.stats().waiting, 0);
  for (const query of [{ limit: 0 }, { limit: 51 }, { waitSeconds: 61 }, { waitSeconds: -1 }]) {
    await assert.rejects(bridge.messages("general", query), Invalid);
  }
});

testBridge("Bridge ends followers when it leaves and when it stops", async ({ bridge }) => {
  const left = newFollower();
  const stopped = newFollower();
  const closed = newFollower();
  await bridge.follow("room", {}, left);
  await bridge.post("general", { text: "before" }, OPERATOR_CALLER);
  await bridge.follow("general", { since: "2026-01-01T00:00:00Z" }, stopped);
  (await bridge.follow("general", {}, closed)).close();
  await bridge.part("room");
  await bridge.post("general", { text: "after" }, OPERATOR_CALLER);
  const waiting = bridge.messages("room", { waitSeconds: 60 });
  await until(() => bridge.stats().waiting === 1);
  await bridge.stop();
  assert.deepEqual(await waiting, []);
  assert.deepEqual(left.got, ["end: The bridge left the channel"]);
  assert.deepEqual(stopped.got, [
    "bridge: before",
    "bridge: after",
    "end: The server is shutting down",
  ]);
  assert.deepEqual(closed.got, []);
  await assert.rejects(bridge.join("room"), Unavailable);
});

for (const way of WAYS) {
  Deno.test(`Bridge drops redacted messages, and its readers continue from there (${way})`, () => {
    const redacted: string[] = [];
    return withBridge(async ({ bridge, server }) => {
      await bridge.whenReady();
      const bob = new IrcUser(server, "bob", {
        capabilities: "message-tags echo-message draft/message-redaction",
      });
      await bob.join("#general");
      bob.send("PRIVMSG #general :one", "PRIVMSG #general :two", "PRIVMSG #general :three");
      await bob.sync();
      const [, two] = await bridge.messages("general", {});
      bob.send(`REDACT #general ${two?.id} :not here`);
      await bob.sync();
      assert.deepEqual(await buffer(bridge), ["bob: one", "bob: three"]);
      const since = await bridge.messages("general", { since: two?.id });
      assert.deepEqual(since.map(({ text }) => text), ["three"]);
      assert.deepEqual(redacted, [two?.id]);
    }, { way, bridge: { onRedacted: (id) => redacted.push(id) } });
  });
}

testBridge(
  "Bridge shows a message of several lines line by line, and redacts it whole",
  async ({ bridge, server }) => {
    await bridge.whenReady();
    const capabilities = "message-tags batch draft/multiline draft/message-redaction";
    const bob = new IrcUser(server, "bob", { capabilities });
    await bob.join("#general");
    bob.send("BATCH +1 draft/multiline #general", "@batch=1 PRIVMSG #general :one");
    bob.send("@batch=1 PRIVMSG #general two", "@batch=1 PRIVMSG #general three", "BATCH -1");
    bob.send("PRIVMSG #general :four");
    await bob.sync();
    const messages = await bridge.messages("general", {});
    const [first = "", ...others] = messages.map(({ id }) => id);
    assert.deepEqual(messages.map(({ text }) => text), ["one", "two", "three", "four"]);
    assert.deepEqual(others.slice(0, 2), [`${first}.2`, `${first}.3`]);
    bob.send(`REDACT #general ${first}`);
    await bob.sync();
    assert.deepEqual(await buffer(bridge), ["bob: four"]);
  },
);

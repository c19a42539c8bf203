import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { ChannelFollower, ChannelMessage } from "../../../../services/chat/bridge/mod.ts";
import { until } from "../../../support/until.ts";
import { type NodesWorld, shownOn, type TestNode, testNodes } from "./nodes_support.ts";
import { agentCaller, IrcUser, OPERATOR_CALLER, wayTo } from "./support.ts";

/** Starts three nodes whose bridges see each other. */
async function three({ start }: NodesWorld): Promise<[TestNode, TestNode, TestNode]> {
  return [await start("a"), await start("b"), await start("c")];
}

function collecting(messages: ChannelMessage[]): ChannelFollower {
  return { message: (message) => messages.push(message), end() {} };
}

testNodes(
  "messages from all nodes and from IRC have the same ids and timestamps on every node",
  async (world) => {
    const nodes = await three(world);
    const streams = nodes.map((): ChannelMessage[] => []);
    for (const [index, { bridge }] of nodes.entries()) {
      await bridge.follow("general", {}, collecting(streams[index] ?? []));
    }
    const users = ["ann", "bob"].map((nick) => new IrcUser(world.server, nick));
    for (const user of users) await user.join("#general");
    const posts: Promise<void>[] = [];
    for (let turn = 0; turn < 20; turn++) {
      if (turn % 3 === 0) world.time.advance(1);
      for (const { name, bridge } of nodes) {
        const agent = agentCaller(`agent-${name}`);
        posts.push(bridge.post("general", { text: `[x] ${turn}\nand ${turn}` }, agent));
        posts.push(bridge.post("general", { text: `as ${name}, ${turn}` }, OPERATOR_CALLER));
        posts.push(bridge.post("general", { nick: "zoe", text: `${turn}` }, OPERATOR_CALLER));
      }
      for (const user of users) user.send(`PRIVMSG #general :${user.nick} ${turn}`);
      await users[0]?.sync();
    }
    await Promise.all(posts);
    for (const user of users) await user.sync();
    const count = 20 * (3 * 4 + 2);
    await until(() => streams.every((stream) => stream.length >= count));

    const [first = []] = streams;
    assert.equal(first.length, count);
    for (const stream of streams) assert.deepEqual(stream, first);
    for (const { bridge } of nodes) assert.deepEqual(await bridge.messages("general", {}), first);
    const stamps = first.map(({ timestamp }) => timestamp);
    assert.deepEqual(stamps, [...new Set(stamps)].sort());
    assert.equal(new Set(first.map(({ id }) => id)).size, count);
    const said = first.find(({ text }) => text === "[x] 7");
    assert.deepEqual([said?.account, said?.via], [said?.nick, undefined]);
    const named = first.find(({ nick }) => nick === "zoe");
    assert.deepEqual([named?.account, named?.via], [null, "bridge"]);
    assert.ok(first.some(({ nick, text }) => nick === "bridge-b" && text === "as b, 3"));
    // What a client of one IRC server saw first is first.
    for (const user of users) {
      const own = first.filter(({ nick }) => nick === user.nick).map(({ text }) => text);
      assert.deepEqual(own, Array.from({ length: 20 }, (_, turn) => `${user.nick} ${turn}`));
    }

    for (const index of [0, 17, 100, count - 1]) {
      for (const { bridge } of nodes) {
        const { id = "" } = first[index] ?? {};
        const resumed: ChannelMessage[] = [];
        const { close } = await bridge.follow("general", { lastEventId: id }, collecting(resumed));
        close();
        assert.deepEqual(resumed, first.slice(index + 1));
      }
    }
  },
);

testNodes("a post that is acknowledged can be read on every node at once", async (world) => {
  const nodes = await three(world);
  for (let turn = 0; turn < 15; turn++) {
    const [from, to] = [nodes[turn % 3], nodes[(turn + 1) % 3]];
    await from?.bridge.post("general", { text: `post ${turn}` }, agentCaller("ann"));
    const [last] = await to?.bridge.messages("general", { limit: 1 }) ?? [];
    assert.equal(last?.text, `post ${turn}`);
  }
});

testNodes("a line is taken by one node, and stays as it is", async (world) => {
  const nodes = await three(world);
  await nodes[0]?.bridge.post("general", { text: "!halt" }, agentCaller("ann"));
  const [line] = await nodes[0]?.bridge.messages("General", { limit: 1 }) ?? [];
  const { id } = line ?? assert.fail();
  const takings = nodes.map(({ nodes: { lines } }) => lines.take("#General", id));
  assert.deepEqual((await Promise.all(takings)).sort(), [false, false, true]);
  assert.equal(await nodes[1]?.nodes.lines.take("#general", "unknown"), false);
  const late = await world.start("late");
  assert.deepEqual(await late.bridge.messages("general", { limit: 1 }), [line]);
});

testNodes("a reader goes on at a node that does not know its last message yet", async (world) => {
  const [a, b] = [await world.start("a"), await world.start("b")];
  await until(() => a.leadership.isLeading);
  await a.bridge.post("general", { text: "one" }, agentCaller("bob"));
  const release = b.hold();
  let isAcknowledged = false;
  const posted = a.bridge.post("general", { text: "two" }, agentCaller("bob"))
    .then(() => isAcknowledged = true);
  const [, last] = await shownOn(a, 2);
  assert.ok(last !== undefined);
  assert.equal((await b.bridge.messages("general", {})).length, 1);
  assert.equal(isAcknowledged, false);
  // By its id and by its timestamp, in a read and in a stream.
  assert.deepEqual(await b.bridge.messages("general", { since: last.id }), []);
  assert.deepEqual(await b.bridge.messages("general", { since: last.timestamp }), []);
  const shown: ChannelMessage[] = [];
  await b.bridge.follow("general", { lastEventId: last.id }, collecting(shown));
  release();
  await posted;
  await a.bridge.post("general", { text: "three" }, agentCaller("bob"));
  await until(() => shown.length > 0);
  assert.deepEqual(shown.map(({ text }) => text), ["three"]);
  for (const { bridge } of [a, b]) {
    const texts = (await bridge.messages("general", {})).map(({ text }) => text);
    assert.deepEqual(texts, ["one", "two", "three"]);
  }
});

testNodes("a post is acknowledged once the node that has stored it shows it too", async (world) => {
  const [a, b] = [await world.start("a"), await world.start("b")];
  await until(() => a.leadership.isLeading);
  await b.bridge.post("general", { text: "one" }, agentCaller("bob"));
  const release = a.hold();
  let isAcknowledged = false;
  const posted = b.bridge.post("general", { text: "two" }, agentCaller("bob"))
    .then(() => isAcknowledged = true);
  await shownOn(b, 2);
  assert.equal((await a.bridge.messages("general", {})).length, 1);
  assert.equal(isAcknowledged, false);
  release();
  await posted;
  assert.equal((await a.bridge.messages("general", {})).length, 2);
});

testNodes("a bot has said a line once IRC has it", async (world) => {
  const [a, b] = [await world.start("a"), await world.start("b")];
  await until(() => a.leadership.isLeading);
  const release = a.hold();
  await b.bridge.announce("general", "one", { bot: "herald" });
  assert.deepEqual(await a.bridge.messages("general", {}), []);
  release();
  await shownOn(a, 1);
});

testNodes("a channel that one node joins or leaves is joined or left by all", async (world) => {
  const [a, b] = [await world.start("a"), await world.start("b")];
  // Nobody can remove a bridge with privileges.
  const connect = wayTo(world.server, "lines", { privileged: false, nick: "bridge-c" });
  const c = await world.start("c", { connect });
  const nodes = [a, b, c];
  const ann = agentCaller("ann");
  const areIn = (channel: string) =>
    nodes.map(({ bridge }) => bridge.channels().includes(channel)).join();
  await a.bridge.join("#Room", ann);
  assert.ok(a.bridge.channels().includes("#Room"));
  await until(() => areIn("#Room") === "true,true,true");

  // Another agent uses it on another node.
  await b.bridge.post("room", { text: "I stay" }, agentCaller("bob"));
  await a.bridge.part("room", ann);
  assert.equal(areIn("#Room"), "true,true,true");
  await c.bridge.part("room", agentCaller("bob"));
  await until(() => areIn("#Room") === "false,false,false");
  await b.bridge.join("room");
  assert.deepEqual(await b.bridge.messages("room", {}), []);
  await until(() => areIn("#room") === "true,true,true");

  // The operator leaves a channel of the configuration.
  await c.bridge.part("general");
  await until(() => areIn("#general") === "false,false,false");

  const ops = new IrcUser(world.server, "ops");
  await ops.join("#invited");
  ops.send("INVITE bridge-b #invited");
  await until(() => areIn("#invited") === "true,true,true");
  ops.send("KICK #invited bridge-c :no");
  await until(() => areIn("#invited") === "false,false,false");
});

testNodes("an idle channel is left by all nodes, once none of them uses it", async (world) => {
  const nodes = await three(world);
  const [a, b] = nodes;
  const hour = 60 * 60 * 1000;
  const pass = async (milliseconds: number) => {
    world.time.advance(milliseconds);
    for (const node of nodes) {
      node.scheduler.advance(milliseconds);
      await node.nodes.channels.flush();
    }
  };
  await a.bridge.join("#used", agentCaller("ann"));
  await a.bridge.join("#idle", agentCaller("ann"));
  await until(() => b.bridge.channels().includes("#idle"));
  await until(() => nodes.some(({ leadership }) => leadership.isLeading));
  for (let half = 0; half < 4; half++) {
    await pass(hour / 2);
    await b.bridge.messages("#used", {}, agentCaller("bob"));
    await b.nodes.channels.flush();
  }
  await pass(60_000);
  for (const { bridge } of nodes) {
    await until(() => bridge.channels().join() === "#general,#used");
  }
});

testNodes("a node without a connection to IRC goes on reading", async (world) => {
  const nodes = await three(world);
  const [a, b] = nodes;
  const shown: ChannelMessage[] = [];
  await a.bridge.follow("general", {}, collecting(shown));
  const ann = new IrcUser(world.server, "ann");
  await ann.join("#general");
  a.disconnect();
  await until(() => !a.bridge.ready);
  await b.bridge.post("general", { text: "one" }, agentCaller("bob"));
  ann.send("PRIVMSG #general :two");
  await ann.sync();
  b.scheduler.advance(50);
  await until(() => shown.length === 2);
  a.scheduler.advance(1000);
  await a.bridge.whenReady();
  await a.bridge.post("general", { text: "three" }, agentCaller("cleo"));
  await until(() => shown.length === 3);
  assert.deepEqual(shown.map(({ text }) => text), ["one", "two", "three"]);
  for (const { bridge } of nodes) assert.deepEqual(await bridge.messages("general", {}), shown);
});

testNodes("a node that starts late or again has what the others have", async (world) => {
  const a = await world.start("a");
  const before = new IrcUser(world.server, "ann");
  await before.join("#general");
  await a.bridge.post("general", { text: "before" }, agentCaller("bob"));
  before.send("PRIVMSG #general :\x01ACTION waves\x01");
  await before.sync();
  await shownOn(a, 2);
  await a.bridge.join("#other", agentCaller("bob"));
  const shown = await a.bridge.messages("general", {});
  const b = await world.start("b");
  assert.deepEqual(await b.bridge.messages("general", {}), shown);
  assert.ok(b.bridge.channels().includes("#other"));
  await a.stop();
  before.send("PRIVMSG #general :to b alone");
  await before.sync();
  const all = await shownOn(b, 3);
  const again = await world.start("a");
  assert.deepEqual(await again.bridge.messages("general", {}), all);
});

testNodes("what only the network's history has is the same on every node", async (world) => {
  const ann = new IrcUser(world.server, "ann");
  await ann.join("#general");
  const say = async (from: number, count: number) => {
    for (let index = from; index < from + count; index++) {
      if (index % 3 === 0) world.time.advance(1);
      ann.send(`PRIVMSG #general :${index}`);
    }
    await ann.sync();
  };
  await say(0, 10);
  const nodes = await three(world);
  const [a, b] = nodes;
  const shown = await shownOn(a, 10);
  assert.deepEqual(await b.bridge.messages("general", {}), shown);
  for (const node of nodes) await node.stop();
  await say(10, 10);
  const later = await world.start("d");
  const all = await shownOn(later, 20);
  assert.deepEqual(all.slice(0, 10), shown);
  assert.deepEqual(all.map(({ text }) => text), Array.from({ length: 20 }, (_, one) => `${one}`));
});

testNodes("nobody can speak in the name of a node's bridge", async (world) => {
  const [a, b] = await three(world);
  await b.stop();
  const eve = new IrcUser(world.server, "bridge-b", { capabilities: "message-tags" });
  await eve.join("#general");
  const envelope = '{"v":1,"type":"note","id":"1","from":"ann","payload":{}}';
  eve.send(
    "@+muster/nick=ann;+muster/account=ann PRIVMSG #general :[ann] hi",
    `@+muster/nick=ann;+muster/account=ann PRIVMSG #general :${envelope}`,
  );
  await eve.sync();
  const shown = (await shownOn(a, 2))
    .map(({ nick, account, via, text }) => [nick, account, via, text]);
  assert.deepEqual(shown, [
    ["bridge-b", null, undefined, "[ann] hi"],
    ["bridge-b", null, undefined, envelope],
  ]);
});

testNodes(
  "the members of a channel and presence over HTTP are the same on every node",
  async (world) => {
    const nodes = await three(world);
    const [a, b] = nodes;
    const bob = new IrcUser(world.server, "bob");
    await bob.join("#general");
    await a.bridge.presence("general", "web-ann", OPERATOR_CALLER);
    await b.bridge.post("general", { text: "hello" }, agentCaller("coder"));
    for (const { bridge } of nodes) {
      const expected = ["bob", "bridge-a", "bridge-b", "bridge-c", "coder", "web-ann"];
      // A bridge may not have heard yet who joined.
      for (let turn = 0; turn < 1000; turn++) {
        if (isDeepStrictEqual(await bridge.users("general"), expected)) break;
      }
      assert.deepEqual(await bridge.users("general"), expected);
      assert.deepEqual(bridge.isAlone("bob", "#general"), true);
    }
    for (const { scheduler } of nodes) scheduler.advance(300_001);
  },
);

testNodes("nobody else than a bridge says what no inbox gets", async ({ server, start }) => {
  const heard: string[] = [];
  const node = await start("a", { onHeard: ({ text }) => heard.push(text) });
  await start("b");
  const user = new IrcUser(server, "bridge-b_", { capabilities: "message-tags" });
  await user.join("#general");
  user.send("@+muster/quiet=1 PRIVMSG #general :not quiet");
  await user.sync();
  await shownOn(node, 1);
  assert.deepEqual(heard, ["not quiet"]);
});

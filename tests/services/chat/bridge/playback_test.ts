import assert from "node:assert/strict";
import { join } from "node:path";
import {
  Bridge,
  type BridgeOptions,
  type ChannelMessage,
  SPEAKER_TAG,
  type Speakers,
} from "../../../../services/chat/bridge/mod.ts";
import { Forbidden, Invalid } from "../../../../services/kernel/errors.ts";
import type { ChannelStanding } from "../../../../services/engines/irc/mod.ts";
import { HistoryArchive } from "../../../../services/chat/irc_server/history/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { isSought, parseSearch } from "../../../../services/chat/messages/mod.ts";
import { systemScheduler } from "../../../../services/kernel/scheduler.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";
import {
  agentCaller,
  IrcUser,
  openServer,
  OPERATOR_CALLER,
  testBridge,
  WAYS,
  wayTo,
  withBridge,
  type World,
} from "./support.ts";

const BUFFER = 5;

testBridge(
  "Bridge reads further back than it keeps, with the times and ids that it showed",
  async ({ bridge, server, scheduler }) => {
    const shown: ChannelMessage[] = [];
    await bridge.follow("room", {}, { message: (message) => shown.push(message), end() {} });
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    for (let index = 0; index < 300; index++) {
      // Several in a millisecond, as many as fill a page, and alone.
      if (index % 7 === 0 && index < 200 || index > 290) scheduler.advance(1);
      bob.send(`PRIVMSG #room :${index}`, "PRIVMSG #room :\x01VERSION\x01");
    }
    await bob.sync();
    await bridge.post("room", { nick: "carol", text: "as carol" }, OPERATOR_CALLER);
    assert.equal(shown.length, 301);
    const at = (index: number) => shown.at(index)?.timestamp ?? assert.fail();
    const id = (index: number) => shown.at(index)?.id ?? assert.fail();
    for (const index of [300, 297, 295, 290, 250, 205, 100, 8, 7, 1]) {
      for (const before of [at(index), id(index)]) {
        const found = await bridge.messages("room", { before, limit: 4 });
        assert.deepEqual(found, shown.slice(Math.max(0, index - 4), index), `before ${index}`);
      }
    }
    for (const index of [0, 6, 99, 150, 230, 291, 294, 297, 299]) {
      for (const since of [at(index), id(index)]) {
        const found = await bridge.messages("room", { since, limit: 4 });
        assert.deepEqual(found, shown.slice(index + 1, index + 5), `after ${index}`);
      }
    }
    assert.deepEqual(await bridge.messages("room", { before: at(0) }), []);
    const read: ChannelMessage[] = [];
    for (let since = "1999-01-01T00:00:00Z";;) {
      const page = await bridge.messages("room", { since });
      if (page.length === 0) break;
      read.push(...page);
      since = page.at(-1)?.timestamp ?? assert.fail();
    }
    assert.deepEqual(read, shown);
    for (
      const query of [{ before: "nowhere" }, { since: "nowhere" }, { before: at(1), since: at(0) }]
    ) {
      await assert.rejects(bridge.messages("room", query), Invalid);
    }
  },
  { bridge: { bufferSize: BUFFER } },
);

testBridge(
  "Bridge starts with the earlier messages as it showed them",
  async ({ bridge, server, scheduler, way }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    bob.send("PRIVMSG #room :before the bridge");
    await bob.sync();
    await bridge.post("room", { nick: "al\\ice", text: "[x] y" }, OPERATOR_CALLER);
    await bridge.post("room", { text: "[bob] not his" }, OPERATOR_CALLER);
    bob.send("PRIVMSG #room :\x01ACTION waves\x01", "PRIVMSG #room :[bridge] not its");
    await bob.sync();
    const shown = await bridge.messages("room", {});
    assert.deepEqual(shown.map(({ nick, text }) => `${nick}: ${text}`), [
      "bob: before the bridge",
      "al\\ice: [x] y",
      "bridge: [bob] not his",
      "bob: * bob waves",
      "bob: [bridge] not its",
    ]);
    await bridge.stop();
    const again = new Bridge({
      nick: "bridge",
      channels: ["room"],
      bufferSize: BUFFER,
      maxChannels: 3,
      maxChannelsPerAgent: 3,
      webUserTtlMilliseconds: () => 1000,
      connect: wayTo(server, way),
      log: silentLog,
      scheduler,
    });
    again.start();
    try {
      assert.deepEqual(await again.messages("room", {}), shown);
      bob.send("PRIVMSG #room :next");
      await bob.sync();
      const since = shown.at(-1)?.timestamp ?? assert.fail();
      assert.deepEqual((await again.messages("room", { since })).map(({ text }) => text), ["next"]);
    } finally {
      await again.stop();
    }
  },
  { bridge: { bufferSize: BUFFER } },
);

for (const way of WAYS) {
  Deno.test(`Bridge ignores messages of an earlier user of its nick (${way})`, async () => {
    const scheduler = new TestScheduler();
    const server = openServer(scheduler);
    await new IrcUser(server, "bob").join("#general");
    const impostor = new IrcUser(server, "bridge", { capabilities: "message-tags" });
    await impostor.join("#general");
    impostor.send("@+muster/nick=alice;+muster/account=alice PRIVMSG #general :[alice] not hers");
    impostor.send("QUIT");
    await until(() => !impostor.connected);
    await withBridge(async ({ bridge }) => {
      const [message] = await bridge.messages("general", { before: "2099-01-01T00:00:00Z" });
      assert.deepEqual(
        [message?.nick, message?.account, message?.via, message?.text],
        ["bridge", null, undefined, "[alice] not hers"],
      );
    }, {
      bridge: { scheduler, connect: wayTo(server, way) },
    });
    await server.close();
  });
}

testBridge(
  "Bridge names the account of a message, live and in history",
  async ({ bridge, server, scheduler, way }) => {
    await new IrcUser(server, "bob").join("#room");
    await bridge.post("room", { nick: "alice", text: "operator" }, OPERATOR_CALLER);
    await bridge.post("room", { text: "agent" }, agentCaller("worker"));
    await bridge.post("room", { text: "bridge" }, OPERATOR_CALLER);
    const shown = await bridge.messages("room", {});
    assert.deepEqual(shown.map(({ nick, account, via }) => ({ nick, account, via })), [
      { nick: "alice", account: null, via: "bridge" },
      { nick: "worker", account: "worker", via: undefined },
      { nick: "bridge", account: "bridge", via: undefined },
    ]);
    await bridge.stop();
    const again = new Bridge({
      nick: "bridge",
      channels: ["room"],
      bufferSize: BUFFER,
      maxChannels: 3,
      maxChannelsPerAgent: 3,
      webUserTtlMilliseconds: () => 1000,
      connect: wayTo(server, way),
      log: silentLog,
      scheduler,
    });
    again.start();
    try {
      assert.deepEqual(await again.messages("room", {}), shown);
    } finally {
      await again.stop();
    }
  },
  { bridge: { bufferSize: BUFFER } },
);

testBridge(
  "Bridge skips joins and parts among old messages",
  async ({ bridge, server }) => {
    const [bob, teller] = [new IrcUser(server, "bob"), new IrcUser(server, "HistServ")];
    for (const user of [bob, teller]) await user.join("#room");
    teller.send("PRIVMSG #room :bob joined the channel");
    await teller.sync();
    bob.send("PRIVMSG #room :hello");
    await bob.sync();
    const shown = await bridge.messages("room", {});
    assert.deepEqual(shown.map(({ nick, text }) => `${nick}: ${text}`), ["bob: hello"]);
  },
);

testBridge(
  "Bridge gives its readers the messages of the time that it was away",
  async ({ bridge, server, scheduler, connection }) => {
    const got: string[] = [];
    await bridge.follow("room", {}, { message: ({ text }) => got.push(text), end() {} });
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    bob.send("PRIVMSG #room :one");
    await bob.sync();
    connection().close();
    bob.send("PRIVMSG #room :two", "PRIVMSG #room :three");
    await bob.sync();
    scheduler.advance(30_000);
    await bridge.whenReady();
    await bridge.join("room");
    assert.deepEqual(got, ["one", "two", "three"]);
  },
);

testBridge(
  "Bridge reads back a message of several lines as it showed it",
  async ({ bridge, server, scheduler }) => {
    const shown: ChannelMessage[] = [];
    await bridge.follow("room", {}, { message: (message) => shown.push(message), end() {} });
    const bob = new IrcUser(server, "bob", { capabilities: "message-tags batch draft/multiline" });
    await bob.join("#room");
    for (let index = 0; index < 5; index++) {
      bob.send("BATCH +1 draft/multiline #room", `@batch=1 PRIVMSG #room :one ${index}`);
      bob.send(`@batch=1 PRIVMSG #room :two ${index}`, "BATCH -1");
      if (index % 2 === 0) scheduler.advance(1);
    }
    await bob.sync();
    for (const index of [9, 7, 4, 1]) {
      const before = shown[index]?.id ?? assert.fail();
      const found = await bridge.messages("room", { before, limit: 2 });
      assert.deepEqual(found, shown.slice(Math.max(0, index - 2), index), `before ${index}`);
      const after = await bridge.messages("room", { since: before, limit: 2 });
      assert.deepEqual(after, shown.slice(index + 1, index + 3), `after ${index}`);
    }
  },
  { bridge: { bufferSize: 2 } },
);

testBridge(
  "Bridge tells a reader that continues that it may miss messages, if nobody has them",
  async ({ bridge, server }) => {
    const heard: ChannelMessage[] = [];
    await bridge.follow("room", {}, { message: (message) => heard.push(message), end() {} });
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    bob.send(...Array.from({ length: 30 }, (_, index) => `PRIVMSG #room :${index}`));
    await bob.sync();
    await bridge.post("room", { text: "last" }, OPERATOR_CALLER);
    const oldest = heard.at(-BUFFER)?.timestamp;
    const at = (index: number) => heard.at(index) ?? assert.fail();
    const resume = async (start: { since?: string; lastEventId?: string }) => {
      const shown: unknown[] = [];
      const following = await bridge.follow("room", start, {
        gap: (gap) => shown.push(gap),
        message: ({ text }) => shown.push(text),
        end() {},
      });
      following.close();
      return shown;
    };
    const kept = heard.slice(-BUFFER).map(({ text }) => text);
    for (const lastEventId of [at(2).id, "unknown"]) {
      const gap = { from: lastEventId, to: oldest };
      assert.deepEqual(await resume({ lastEventId }), [gap, ...kept]);
    }
    const since = at(2).timestamp;
    assert.deepEqual(await resume({ since }), [{ from: since, to: oldest }, ...kept]);
    for (const whole of [at(-BUFFER - 1).timestamp, at(-BUFFER).timestamp]) {
      const [first] = await resume({ since: whole });
      assert.equal(typeof first, "string", "nothing is missing after it");
    }
    const gaps: unknown[] = [];
    await bridge.messages("room", { since, onGap: (gap) => gaps.push(gap) });
    await bridge.messages("room", { since: at(-2).id, onGap: (gap) => gaps.push(gap) });
    assert.deepEqual(gaps, [{ from: since, to: oldest }]);
  },
  { bridge: { bufferSize: BUFFER }, server: { limits: { historyMessages: 0 } } },
);

testBridge(
  "Bridge reads further back for a reader that continues, and then tells of no gap",
  async ({ bridge, server, scheduler }) => {
    const heard: ChannelMessage[] = [];
    await bridge.follow("room", {}, { message: (message) => heard.push(message), end() {} });
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    for (let index = 0; index < 30; index++) {
      scheduler.advance(1);
      bob.send(`PRIVMSG #room :${index}`);
      await bob.sync();
    }
    await bridge.post("room", { text: "last" }, OPERATOR_CALLER);
    for (const start of [{ lastEventId: heard[2]?.id }, { since: heard[2]?.timestamp }]) {
      const shown: unknown[] = [];
      const following = await bridge.follow("room", start, {
        gap: (gap) => shown.push(gap),
        message: (message) => shown.push(message),
        end() {},
      });
      following.close();
      assert.deepEqual(shown, heard.slice(3));
    }
  },
  { bridge: { bufferSize: BUFFER } },
);

/** Runs a test with a bridge whose server stores its history on disk. */
function withArchive(
  test: (world: World, archive: HistoryArchive) => Promise<void>,
  options: Partial<BridgeOptions> = {},
): Promise<void> {
  return withFolder(async (folder) => {
    const archive = await HistoryArchive.open({
      path: join(folder, "history.db"),
      retention: { age: null, records: null, bytes: null },
      speakerTag: SPEAKER_TAG,
      scheduler: systemScheduler,
      log: new TestLog(),
    });
    try {
      await withBridge((world) => test(world, archive), {
        way: "direct",
        bridge: { archive, bufferSize: 3, ...options },
        server: { historyStore: archive },
      });
    } finally {
      await archive.close();
    }
  });
}

/** Everything that a search finds, page by page. */
async function findAll({ bridge }: World, text: string, limit: number) {
  const found: ChannelMessage[] = [];
  let before: string | undefined;
  do {
    const wanted = { sought: parseSearch(text), before, limit };
    const { messages, searchedTo } = await bridge.search("room", wanted, OPERATOR_CALLER);
    assert.ok(messages.length <= limit);
    found.push(...messages);
    before = searchedTo ?? undefined;
  } while (before !== undefined);
  return found;
}

Deno.test("a search on disk shows messages as the channel shows them, and misses none", () =>
  withArchive(async (world) => {
    const { bridge, server, scheduler } = world;
    const shown: ChannelMessage[] = [];
    await bridge.follow("room", {}, { message: (message) => shown.push(message), end() {} });
    const bob = new IrcUser(server, "bob", { capabilities: "message-tags batch draft/multiline" });
    await bob.join("#room");
    for (let index = 0; index < 40; index++) {
      if (index % 5 === 0) scheduler.advance(1);
      bob.send(`PRIVMSG #room :Needle ${index}`, "PRIVMSG #room :\x01VERSION\x01");
      bob.send("PRIVMSG #room :\x01ACTION waves a needle\x01");
      bob.send("BATCH +1 draft/multiline #room", `@batch=1 PRIVMSG #room :one needle ${index}`);
      bob.send("@batch=1 PRIVMSG #room :two hay", "@batch=1 PRIVMSG #room :three needle");
      bob.send("BATCH -1", "NOTICE #room :a hay of notices");
      await bob.sync();
      await bridge.post(
        "room",
        { nick: "carol", text: `[carol] needle ${index}` },
        OPERATOR_CALLER,
      );
    }
    const queries = ["needle", "NEEDLE two", "hay", "from:carol needle", "from:bob", "carol", "*"];
    for (const query of [...queries, "waves bob", "from:bridge", "nowhere", "needle 3", ""]) {
      const expected = shown.filter((message) => isSought(parseSearch(query), message)).reverse();
      for (const limit of [3, 50]) {
        assert.deepEqual(await findAll(world, query, limit), expected, `${query} by ${limit}`);
      }
    }
    const id = shown[100]?.id ?? assert.fail();
    const wanted = { sought: parseSearch("needle"), before: id, limit: 1 };
    const { messages } = await bridge.search("room", wanted);
    const older = shown.slice(0, 100).filter(({ text }) => text.toLowerCase().includes("needle"));
    assert.deepEqual(messages, older.slice(-1));
    await assert.rejects(bridge.search("room", { ...wanted, before: "nowhere" }), Invalid);
  }));

Deno.test("a search finds nothing that was redacted, and makes no channel", () =>
  withArchive(async (world) => {
    const { bridge, server } = world;
    const bob = new IrcUser(server, "bob", {
      capabilities: "message-tags echo-message draft/message-redaction",
    });
    await bob.join("#room");
    bob.send("PRIVMSG #room :a needle");
    const [, id = ""] = /msgid=([^; ]+)/.exec(await bob.expect(/needle/)) ?? [];
    const find = async () => (await findAll(world, "needle", 5)).map(({ text }) => text);
    assert.deepEqual(await find(), ["a needle"]);
    bob.send(`REDACT #room ${id}`);
    await bob.sync();
    assert.deepEqual(await find(), []);
    const wanted = { sought: parseSearch("needle"), limit: 5 };
    const nothing = { messages: [], searchedTo: null };
    assert.deepEqual(await bridge.search("empty", wanted), nothing);
    assert.ok(!bridge.channels().includes("#empty"), "a search makes no channel");
  }));

/** Speakers of whom each has this relation to a channel. */
function speakersWith(standing: ChannelStanding): Speakers {
  return {
    standing: () => standing,
    speaker: () => null,
    requireVoice: () => {},
    requireGoing: () => {},
    admit: () => {},
    keepsAlone: () => false,
    isAgent: () => true,
    onAccessChanged: () => () => {},
  };
}

Deno.test("a search refuses whom the channel refuses", () => {
  const standing = { exists: true, member: false, visible: true, refusal: "it is invite-only" };
  return withArchive(async ({ bridge, server }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    const wanted = { sought: parseSearch("needle"), limit: 5 };
    await assert.rejects(bridge.search("room", wanted, agentCaller("eve")), Forbidden);
  }, { speakers: speakersWith(standing) });
});

Deno.test("whom a channel refuses while the archive is read gets nothing of it", () => {
  const open = { exists: true, member: false, visible: true, refusal: null };
  const standing: { refusal: string | null } & ChannelStanding = { ...open };
  return withArchive(async ({ bridge, server }, archive) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    // The archive is not read for a channel in which nobody has spoken.
    bob.send("PRIVMSG #room :hello");
    await bob.sync();
    await bridge.messages("room", {}, OPERATOR_CALLER);
    const [search, select] = [archive.search.bind(archive), archive.select.bind(archive)];
    archive.search = (...sought) => {
      standing.refusal = "you are banned";
      return search(...sought);
    };
    archive.select = (...selected) => {
      standing.refusal = "you are banned";
      return select(...selected);
    };
    const eve = agentCaller("eve");
    const wanted = { sought: parseSearch("needle"), limit: 5 };
    await assert.rejects(bridge.search("room", wanted, eve), Forbidden);
    standing.refusal = null;
    const before = "2001-01-01T00:00:00Z";
    await assert.rejects(bridge.messages("room", { before, limit: 3 }, eve), Forbidden);
  }, { speakers: speakersWith(standing) });
});

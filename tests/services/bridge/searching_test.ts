import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type BridgeOptions,
  type ChannelMessage,
  SPEAKER_TAG,
  type Speakers,
} from "../../../services/bridge/mod.ts";
import { Forbidden, Invalid } from "../../../services/errors.ts";
import type { ChannelStanding } from "../../../services/irc/mod.ts";
import { HistoryArchive } from "../../../services/irc_server/history/mod.ts";
import { isSought, parseSearch } from "../../../services/messages/mod.ts";
import { systemScheduler } from "../../../services/scheduler.ts";
import { TestLog } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";
import { agentCaller, IrcUser, OPERATOR_CALLER, withBridge, type World } from "./support.ts";

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

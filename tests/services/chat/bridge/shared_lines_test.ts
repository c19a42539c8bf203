/** The one order of lines, on nodes that hear them at different times and in different orders. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Channel } from "../../../../services/chat/bridge/channel.ts";
import {
  type NewLine,
  type StoredLine,
  StoredLines,
} from "../../../../services/chat/bridge/mod.ts";
import {
  LineCredits,
  type LineOwner,
  SharedLines,
} from "../../../../services/chat/bridge/shared_lines.ts";
import type { ChannelText } from "../../../../services/chat/bridge/types.ts";
import { type Database, openSqlite, statement } from "../../../../services/engines/database/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { MessageLog } from "../../../../services/chat/messages/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";

const BUFFER = 10_000;

const KIND = { isOurs: false, isQuiet: false, isNotice: false, isBot: false, isPast: false };

interface Surroundings {
  readonly database: Database;
  readonly scheduler: TestScheduler;
  readonly store?: StoredLines;
}

/** A node that listens to one channel. */
class Listener {
  readonly channel: Channel;
  readonly lines: SharedLines;
  /** Whether the leading node's bridge is in the channel. */
  isLeaderThere = true;

  constructor(
    surroundings: Surroundings,
    isLeading: boolean,
    options: { seen?: number; bufferSize?: number } = {},
  ) {
    const { seen = 0, bufferSize = BUFFER } = options;
    const { database, scheduler, store = new StoredLines(database) } = surroundings;
    const log = new MessageLog<ChannelText>({
      capacity: bufferSize,
      onFailure: (error) => {
        throw error;
      },
    });
    this.channel = new Channel("#room", log, 0);
    this.lines = new SharedLines({
      store,
      seen,
      isLeading: () => isLeading,
      isLeaderIn: () => this.isLeaderThere,
      gatherMilliseconds: 0,
      hasPeers: () => true,
      find: () => this.channel,
      onLine: (channel, line) => append(channel, line),
      onPast: (channel, line) => append(channel, line),
      bufferSize,
      scheduler,
      log: silentLog,
    });
  }

  get shown(): string[] {
    const { log } = this.channel;
    return log.read(undefined, BUFFER).map(({ timestamp, id, text }) =>
      `${timestamp} ${id} ${text}`
    );
  }

  get texts(): string[] {
    return this.channel.log.read(undefined, BUFFER).map(({ text }) => text);
  }
}

function append({ log }: Channel, { message, microseconds }: StoredLine): void {
  assert.ok(microseconds > (log.newest ?? 0));
  log.appendAt(message, microseconds);
}

interface Said {
  readonly time: number;
  readonly text: string;
  /** The network's id; null if it gives none. */
  readonly id: string | null;
}

/** A line as a node hears it: without an id from the network, each node makes one up. */
function heard({ time, text, id }: Said, unique: string): NewLine {
  return {
    channel: "#room",
    mark: id ?? `ann ${text}`,
    time,
    message: { id: id ?? unique, nick: "ann", account: null, text },
    as: KIND,
  };
}

/** A generator of numbers from 0 to below 1 that begins with a seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function withDatabase(run: (database: Database) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    try {
      await database.commit({
        statements: [statement(
          database.tables.insertInto("bridge_channels")
            .values({ name: "#room", name_folded: "#room", opener_id: null }),
        )],
      });
      await run(database);
    } finally {
      await database.close();
    }
  });
}

/** What a person says: often the same again, in one millisecond, at times with a clock set back. */
function speech(random: () => number, hasIds: boolean): Said[] {
  let time = 1_800_000_000_000;
  return Array.from({ length: 60 }, (_, index) => {
    time += random() < 0.1 ? -3 : random() < 0.5 ? 0 : 1;
    return { time, text: `text ${Math.floor(random() * 4)}`, id: hasIds ? `id-${index}` : null };
  });
}

/** The same, as a server of the network passes it on that is far from the speakers. */
function asFarAway(said: readonly Said[], random: () => number): Said[] {
  const order = [...said];
  for (let index = 1; index < order.length; index++) {
    const [before, after] = [order[index - 1], order[index]];
    if (random() < 0.3 && before !== undefined && after !== undefined) {
      [order[index - 1], order[index]] = [after, before];
    }
  }
  return order;
}

for (const hasIds of [true, false]) {
  const ids = hasIds ? "with" : "without";
  Deno.test(`every node has each line once, in one order, on networks ${ids} ids`, () =>
    withDatabase(async (database) => {
      for (let seed = 1; seed <= 12; seed++) {
        await database.commit({
          statements: [statement(database.tables.deleteFrom("channel_lines"))],
        });
        const random = numbers(seed);
        const scheduler = new TestScheduler();
        const nodes = [0, 1, 2].map((one) => new Listener({ database, scheduler }, one === 0));
        for (const { lines, channel } of nodes) await lines.fill(channel);
        const said = speech(random, hasIds);
        // One person's lines keep their order everywhere, those of several need not.
        const orders = nodes.map(() => hasIds ? asFarAway(said, random) : said);
        const heardBy = nodes.map(() => 0);
        while (heardBy.some((count) => count < said.length)) {
          const which = Math.floor(random() * nodes.length);
          const line = orders[which]?.[heardBy[which] ?? 0];
          if (line === undefined) continue;
          const unique = `node ${which}, ${heardBy[which]}`;
          heardBy[which] = (heardBy[which] ?? 0) + 1;
          const owner: LineOwner = random() < 0.2 ? "self" : random() < 0.2 ? "other" : "anybody";
          const hearing = nodes[which]?.lines.hear(heard(line, unique), owner);
          if (random() < 0.3) scheduler.advance(random() * 100);
          if (random() < 0.3) await nodes[Math.floor(random() * 3)]?.lines.refresh();
          if (owner === "self") await hearing;
        }
        scheduler.advance(4000);
        const late = new Listener({ database, scheduler }, false);
        await late.lines.fill(late.channel);
        const all = [...nodes, late];
        for (let round = 0; round < 3; round++) {
          for (const { lines } of all) await lines.refresh();
        }
        const [first, ...others] = all;
        assert.deepEqual(first?.texts.toSorted(), said.map(({ text }) => text).toSorted());
        for (const other of others) assert.deepEqual(other.shown, first?.shown, `seed ${seed}`);
        for (const { lines } of all) lines.close();
      }
    }));
}

Deno.test("lines that all nodes hear in one order stay in it, and get the time of the network", () =>
  withDatabase(async (database) => {
    const random = numbers(7);
    const scheduler = new TestScheduler();
    const nodes = [0, 1, 2].map((one) => new Listener({ database, scheduler }, one === 0));
    for (const { lines, channel } of nodes) await lines.fill(channel);
    const said = speech(random, true);
    const heardBy = nodes.map(() => 0);
    while (heardBy.some((count) => count < said.length)) {
      const which = Math.floor(random() * nodes.length);
      const line = said[heardBy[which] ?? 0];
      if (line === undefined) continue;
      heardBy[which] = (heardBy[which] ?? 0) + 1;
      void nodes[which]?.lines.hear(heard(line, ""), random() < 0.3 ? "self" : "anybody");
      if (random() < 0.2) scheduler.advance(30);
      if (random() < 0.2) await nodes[which]?.lines.refresh();
    }
    scheduler.advance(250);
    for (const { lines } of nodes) await lines.refresh();
    let last = 0;
    const expected = said.map(({ time }) => last = Math.max(time * 1000, last + 1));
    for (const { channel, lines } of nodes) {
      await lines.refresh();
      const read = channel.log.read(undefined, BUFFER);
      assert.deepEqual(read.map(({ id }) => id), said.map(({ id }) => id));
      assert.deepEqual(read.map(({ id }) => channel.log.microsecondsOf(id)), expected);
      lines.close();
    }
  }));

Deno.test("a line is stored by another node if the one that should have stored it is gone", () =>
  withDatabase(async (database) => {
    const scheduler = new TestScheduler();
    const node = new Listener({ database, scheduler }, false);
    await node.lines.fill(node.channel);
    const line = (text: string) => heard({ time: 1_800_000_000_000, text, id: text }, "");
    void node.lines.hear(line("theirs"), "other");
    const second = node.lines.hear(line("after it"), "anybody");
    await node.lines.hear(line("own"), "self");
    assert.deepEqual(node.texts, ["own"]);
    scheduler.advance(3000);
    await second;
    assert.deepEqual(node.texts, ["own", "theirs", "after it"]);
    await node.lines.redact("#room", "theirs");
    const late = new Listener({ database, scheduler }, false, { seen: 3 });
    await late.lines.fill(late.channel);
    assert.deepEqual(late.texts, ["own", "after it"]);
    for (const { lines } of [node, late]) lines.close();
  }));

Deno.test("the leader stores what a bridge says, or that bridge's node if the leader does not", () =>
  withDatabase(async (database) => {
    const scheduler = new TestScheduler();
    const [leader, speaker] = [true, false].map((isLeading) =>
      new Listener({ database, scheduler }, isLeading)
    ) as [Listener, Listener];
    for (const { lines, channel } of [leader, speaker]) await lines.fill(channel);
    const line = (text: string) => heard({ time: 1_800_000_000_000, text, id: text }, "");
    const first = speaker.lines.hear(line("first"), "shared");
    await speaker.lines.refresh();
    assert.deepEqual(speaker.texts, []);
    await leader.lines.hear(line("first"), "anybody");
    await speaker.lines.refresh();
    await first;
    const second = speaker.lines.hear(line("second"), "shared");
    scheduler.advance(250);
    await second;
    speaker.isLeaderThere = false;
    await speaker.lines.hear(line("third"), "shared");
    assert.deepEqual(speaker.texts, ["first", "second", "third"]);
    for (const { lines } of [leader, speaker]) lines.close();
  }));

Deno.test("lines that nodes tell each other need no query, once all before them are read", () =>
  withDatabase(async (database) => {
    const store = new StoredLines(database);
    const line = (text: string) => heard({ time: 1_800_000_000_000, text, id: text }, "");
    await store.add(["stored", "told"].map(line), 0).stored;
    const [, told] = await store.after(0, 10);
    assert.ok(told !== undefined);
    let queries = 0;
    const after: StoredLines["after"] = (...place) => (queries++, store.after(...place));
    const counting = Object.assign(new StoredLines(database), { after });
    const node = new Listener({ database, scheduler: new TestScheduler(), store: counting }, false);
    node.channel.isFilled = true;
    const confirmed = () => Promise.resolve();
    await node.lines.take({ lines: [told], confirmed });
    assert.deepEqual([node.texts, queries], [["stored", "told"], 1]);
    const next = { ...told, seq: 3, microseconds: told.microseconds + 1 };
    const own = node.lines.hear(line("told"), "shared");
    const lines = [told, { ...next, mark: "next", message: { ...told.message, text: "next" } }];
    const isConfirmed = Promise.withResolvers<void>();
    await node.lines.take({ lines, confirmed: () => isConfirmed.promise });
    assert.deepEqual([node.texts, queries], [["stored", "told", "next"], 1]);
    await own;
    let isAcknowledged = false;
    const acknowledged = node.lines.hear(line("next"), "shared").then(() => isAcknowledged = true);
    await node.lines.take({ lines: [], confirmed });
    assert.equal(isAcknowledged, false);
    isConfirmed.resolve();
    await acknowledged;
    assert.equal(queries, 1);
    node.lines.close();
  }));

Deno.test("a node waits until all have its line that another one has stored", () =>
  withDatabase(async (database) => {
    const scheduler = new TestScheduler();
    const store = new StoredLines(database);
    const confirmed = Promise.withResolvers<void>();
    let asked = 0;
    const confirm = () => (asked++, confirmed.promise);
    const node = new Listener(
      { database, scheduler, store: Object.assign(new StoredLines(database), { confirm }) },
      false,
    );
    await node.lines.fill(node.channel);
    const line = (text: string) => heard({ time: 1_800_000_000_000, text, id: text }, "");
    await store.add([line("before it is heard"), line("meanwhile")], 0).stored;
    let acknowledged = 0;
    const first = node.lines.hear(line("meanwhile"), "self").then(() => acknowledged++);
    await node.lines.refresh();
    const second = node.lines.hear(line("before it is heard"), "self").then(() => acknowledged++);
    await node.lines.refresh();
    // Both were read at once, so one question is about both.
    assert.deepEqual([asked, acknowledged], [1, 0]);
    assert.deepEqual(node.texts, ["before it is heard", "meanwhile"]);
    confirmed.resolve();
    await Promise.all([first, second]);
    node.lines.close();
  }));

Deno.test("a reader that refers to a message the log does not have yet waits for it", () =>
  withDatabase(async (database) => {
    const node = new Listener({ database, scheduler: new TestScheduler() }, false);
    await node.lines.fill(node.channel);
    const line = heard({ time: 1_800_000_000_000, text: "new", id: "new" }, "");
    await new StoredLines(database).add([line], 0).stored;
    await node.lines.reach(node.channel);
    assert.deepEqual(node.texts, []);
    await node.lines.reach(node.channel, "new");
    assert.deepEqual(node.texts, ["new"]);
    node.lines.close();
  }));

Deno.test("a channel keeps its newest lines, and none once all bridges have left it", () =>
  withDatabase(async (database) => {
    const scheduler = new TestScheduler();
    const store = new StoredLines(database);
    const node = new Listener({ database, scheduler }, true);
    await node.lines.fill(node.channel);
    for (let index = 0; index < 10; index++) {
      await node.lines.hear(heard({ time: 1, text: `${index}`, id: `${index}` }, ""), "anybody");
    }
    await store.trim(3);
    const kept = await store.newestOf("#room", Infinity, 100);
    assert.deepEqual(kept.map(({ message: { text } }) => text), ["7", "8", "9"]);
    await database.commit({
      statements: [statement(database.tables.deleteFrom("bridge_channels"))],
    });
    await store.trim(3);
    assert.deepEqual(await store.after(0, 100), []);
    node.lines.close();
  }));

Deno.test("lines that wait take bounded memory over all channels, and the oldest go first", () =>
  withDatabase(async (database) => {
    const scheduler = new TestScheduler();
    const listener = new Listener({ database, scheduler }, true);
    const text = "x".repeat(1_000_000);
    const fates = Array.from({ length: 12 }, (_, index) => {
      const said = { time: 1_800_000_000_000 + index, text, id: `id-${index}` };
      const line = { ...heard(said, ""), channel: `#room-${index % 4}` };
      const fate: { isDropped?: boolean } = {};
      listener.lines.hear(line, "other").catch(() => fate.isDropped = true);
      return fate;
    });
    await until(() => fates.some(({ isDropped }) => isDropped === true));
    listener.lines.close();
    const kept = fates.map(({ isDropped }) => isDropped !== true);
    assert.deepEqual(kept, [...Array(4).fill(false), ...Array(8).fill(true)]);
  }));

Deno.test("a node that was away for longer than the buffer ends its streams, which then learn of a gap", () =>
  withDatabase(async (database) => {
    const [scheduler, bufferSize] = [new TestScheduler(), 5];
    const away = new Listener({ database, scheduler }, false, { bufferSize });
    const other = new Listener({ database, scheduler }, true, { bufferSize });
    const store = new StoredLines(database);
    for (const node of [away, other]) await node.lines.fill(node.channel);
    const say = async (index: number) => {
      const said = { time: 1000 + index, text: `${index}`, id: `${index}` };
      await other.lines.hear(heard(said, ""), "anybody");
    };
    await say(0);
    await away.lines.refresh();
    const { log } = away.channel;
    const ends: string[] = [];
    log.follow(undefined, { message() {}, end: (reason) => void ends.push(reason) });
    const [last] = log.read(undefined, 1);
    for (let index = 1; index <= 4; index++) await say(index);
    await store.trim(bufferSize);
    await away.lines.refresh();
    assert.deepEqual([ends.length, log.gapAfter(log.oldest ?? 0, "0")], [0, null]);

    for (let index = 5; index < 20; index++) await say(index);
    await store.trim(bufferSize);
    await away.lines.refresh();
    assert.equal(ends.length, 1);
    const microseconds = log.microsecondsOf(last?.timestamp ?? "") ?? 0;
    assert.notEqual(log.gapAfter(microseconds, "0"), null);
    for (const node of [away, other]) node.lines.close();
  }));

const LINE = { channel: "#room", mark: "ann again" };
const isConfirmed = () => Promise.resolve();

Deno.test("a stored line stands for one heard line", () => {
  const credits = new LineCredits(() => 0);
  credits.add(LINE, isConfirmed);
  credits.add(LINE, isConfirmed);
  assert.deepEqual([1, 2, 3].map(() => credits.spend(LINE) !== null), [true, true, false]);
});

Deno.test("a line that was stored long ago is not on its way, although others of its mark are", () => {
  let now = 0;
  const credits = new LineCredits(() => now);
  for (; now < 600_000; now += 10_000) credits.add(LINE, isConfirmed);
  const spent = Array.from({ length: 60 }, () => credits.spend(LINE));
  assert.equal(spent.filter(Boolean).length, 5);
});

import assert from "node:assert/strict";
import { Conflict, TimedOut, Unavailable } from "../../../../services/kernel/errors.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { until } from "../../../support/until.ts";
import {
  IrcUser,
  openServer,
  OPERATOR_CALLER,
  WAYS,
  wayTo,
  withBridge,
  type World,
} from "./support.ts";
import { ECHOES_ONLY, NOTHING, Veil } from "./veil.ts";

interface PlainWorld extends Omit<World, "connection" | "way"> {
  readonly veil: () => Veil;
}

/** Runs a test with a bridge on a server that hides capabilities. */
async function withPlainBridge(
  hidden: readonly string[],
  run: (world: PlainWorld) => Promise<void>,
  bridge: Parameters<typeof withBridge>[1] = {},
): Promise<void> {
  const scheduler = new TestScheduler();
  const server = openServer(scheduler);
  let veil: Veil | null = null;
  const connect = () => veil = new Veil(server, hidden);
  await withBridge(
    async ({ bridge }) => {
      await bridge.whenReady();
      await run({ bridge, server, scheduler, veil: () => veil as unknown as Veil });
    },
    { bridge: { connect, scheduler, ...bridge.bridge } },
  );
  await server.close();
}

for (const [name, hidden] of [["labels", ECHOES_ONLY], ["labels and echoes", NOTHING]] as const) {
  Deno.test(`Bridge on a server without ${name} knows what became of each post`, () =>
    withPlainBridge(hidden, async ({ bridge, server }) => {
      const bob = new IrcUser(server, "bob");
      await bob.join("#quiet");
      await bridge.join("quiet");
      await bob.join("#general");
      bob.send("MODE #quiet +m");
      await bob.sync();
      const posts = await Promise.allSettled([
        bridge.post("general", { nick: "alice", text: "one\ntwo" }, OPERATOR_CALLER),
        bridge.post("quiet", { nick: "alice", text: "unheard" }, OPERATOR_CALLER),
        bridge.post("general", { text: "three" }, OPERATOR_CALLER),
      ]);
      assert.deepEqual(posts.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
      const [, refused] = posts;
      assert.ok(refused?.status === "rejected" && refused.reason instanceof Conflict);
      bob.send("PRIVMSG #general :four");
      await bob.sync();
      const messages = await bridge.messages("general", {});
      assert.deepEqual(
        messages.map(({ nick, text }) => `${nick}: ${text}`),
        ["alice: one", "alice: two", "bridge: three", "bob: four"],
      );
      assert.equal(new Set(messages.map(({ id }) => id)).size, 4);
      assert.deepEqual(await bridge.messages("quiet", {}), []);
      assert.deepEqual(
        bob.lines.filter((line) => line.startsWith(":bridge") && line.includes("PRIVMSG"))
          .map((line) => line.slice(line.indexOf("PRIVMSG"))),
        [
          "PRIVMSG #general :[alice] one",
          "PRIVMSG #general :[alice] two",
          "PRIVMSG #general :three",
        ],
      );
      assert.equal(bridge.stats().posted, 3);
    }));
}

Deno.test("Bridge notices that a server which echoes has swallowed a message", () =>
  withPlainBridge(ECHOES_ONLY, async ({ bridge, veil }) => {
    veil().swallows = (line) => line.includes("lost");
    const lost = bridge.post("general", { text: "lost" }, OPERATOR_CALLER);
    const kept = bridge.post("general", { text: "kept" }, OPERATOR_CALLER);
    await assert.rejects(lost, Conflict);
    await kept;
    assert.deepEqual((await bridge.messages("general", {})).map(({ text }) => text), ["kept"]);
  }));

Deno.test("Bridge claims no success when a server without echoes does not answer", () =>
  withPlainBridge(NOTHING, async ({ bridge, scheduler, veil }) => {
    veil().hides = (line) => line.includes(" PONG ");
    const post = bridge.post("general", { text: "heard?" }, OPERATOR_CALLER);
    await until(() => veil().sent.some((line) => line.includes("heard?")));
    scheduler.advance(5000);
    await assert.rejects(post, TimedOut);
    assert.deepEqual(await bridge.messages("general", {}), []);
  }));

Deno.test("Bridge keeps to its network's pace, and refuses messages that would wait too long", () =>
  withPlainBridge([], async ({ bridge, server, scheduler, veil }) => {
    const said = () => veil().sent.filter((line) => line.includes("PRIVMSG")).length;
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    scheduler.advance(60_000);
    await bob.sync();
    const lines = (count: number) =>
      Array.from({ length: count }, (_, i) => `line ${i}`).join("\n");
    const post = bridge.post("general", { text: lines(8) }, OPERATOR_CALLER);
    await until(() => said() === 3);
    for (let second = 1; second <= 5; second++) {
      scheduler.advance(999);
      assert.equal(said(), 2 + second);
      scheduler.advance(1);
      assert.equal(said(), 3 + second);
    }
    await post;

    scheduler.advance(1000);
    const long = bridge.post("general", { text: lines(40) }, OPERATOR_CALLER);
    await until(() => said() > 8);
    await assert.rejects(bridge.post("general", { text: "late" }, OPERATOR_CALLER), Unavailable);
    for (const before of Array.from({ length: 39 }, (_, sent) => 9 + sent)) {
      await until(() => said() === before);
      scheduler.advance(1000);
    }
    await long;
    scheduler.advance(1000);
    await bridge.post("general", { text: "in time" }, OPERATOR_CALLER);
  }, { bridge: { pace: { perSecond: 1, burst: 3 } } }));

Deno.test("Bridge joins many channels in few lines on a paced network", () =>
  withPlainBridge([], ({ bridge, veil }) => {
    const joins = veil().sent.filter((line) => line.startsWith("JOIN "));
    assert.equal(bridge.channels().length, 15);
    assert.ok(joins.length <= 3, joins.join("\n"));
    return Promise.resolve();
  }, {
    bridge: {
      pace: { perSecond: 1, burst: 3 },
      channels: Array.from({ length: 15 }, (_, index) => `room${index}`),
    },
  }));

for (const way of WAYS) {
  Deno.test(`Bridge takes another nick if its own is in use, and its own when it is free (${way})`, async () => {
    const scheduler = new TestScheduler();
    const server = openServer(scheduler);
    const holder = new IrcUser(server, "bridge");
    await holder.sync();
    await withBridge(async ({ bridge }) => {
      await bridge.whenReady();
      await bridge.post("general", { nick: "alice", text: "hello" }, OPERATOR_CALLER);
      assert.deepEqual(await bridge.users("general"), ["alice", "bridge_"]);
      scheduler.advance(60_000);
      holder.send("QUIT");
      await until(() => !holder.connected);
      scheduler.advance(60_000);
      const bob = new IrcUser(server, "bob");
      await bob.join("#general");
      assert.deepEqual(await bridge.users("general"), ["alice", "bob", "bridge"]);
    }, { bridge: { scheduler, connect: wayTo(server, way, { privileged: false }) } });
    await server.close();
  });
}

Deno.test("Bridge leaves a server that sends an endless list", () =>
  withPlainBridge([], async ({ bridge, scheduler, veil }) => {
    const first = veil();
    for (let count = 0; count < 30_000 && !first.closed; count++) {
      first.onLine?.(`:irc.test 310 bridge nick${count} :is available for help`);
      first.onLine?.(`:irc.test 353 bridge = #general :nick${count}`);
    }
    assert.equal(first.closed, true);
    await until(() => !bridge.ready);
    scheduler.advance(30_000);
    await bridge.whenReady();
    assert.deepEqual(await bridge.users("general"), ["bridge"]);
  }));

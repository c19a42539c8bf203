import assert from "node:assert/strict";
import { Bridge, type LineConnection } from "../../../../services/chat/bridge/mod.ts";
import { Conflict, TimedOut, Unavailable } from "../../../../services/kernel/errors.ts";
import type {
  DirectCommand,
  DirectConnection,
  DirectReceiver,
  IrcServer,
} from "../../../../services/engines/irc/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { until } from "../../../support/until.ts";
import {
  IrcUser,
  openServer,
  OPERATOR_CALLER,
  testBridge,
  type Way,
  WAYS,
  withBridge,
  type World,
} from "./support.ts";

/** A connection between the bridge and the server on which a test can hold lines back. */
abstract class Tap {
  /** Whether a line from the server is held back. */
  holds: (line: string) => boolean = () => false;
  readonly held: (() => void)[] = [];
  /** What the bridge has sent. */
  readonly sent: string[] = [];

  abstract get closed(): boolean;

  /** Lets through what was held back. */
  release(): void {
    this.holds = () => false;
    for (const pass of this.held.splice(0)) pass();
  }

  protected pass(line: string, pass: () => void): void {
    if (this.holds(line)) this.held.push(pass);
    else pass();
  }
}

class LineTap extends Tap implements LineConnection {
  onLine: ((line: string) => void) | null = null;
  onClose: ((reason: string) => void) | null = null;
  readonly #inner: LineConnection;

  constructor(inner: LineConnection) {
    super();
    this.#inner = inner;
    inner.onLine = (line) => this.pass(line, () => this.onLine?.(line));
    inner.onClose = (reason) => this.onClose?.(reason);
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  send(line: string): void {
    this.sent.push(line);
    this.#inner.send(line);
  }

  close(): void {
    this.#inner.close();
  }
}

class DirectTap extends Tap implements DirectConnection {
  readonly #inner: DirectConnection;

  constructor(server: IrcServer, receiver: DirectReceiver) {
    super();
    this.#inner = server.connectDirect({
      message: (message, tags) => {
        const { source, command, params, text } = message;
        const line = `:${source} ${command} ${params.join(" ")} :${text}`;
        this.pass(line, () => receiver.message(message, tags));
      },
      closed: (reason) => receiver.closed(reason),
    }, { account: "bridge", privileged: true });
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  send(command: DirectCommand): void {
    this.sent.push(`@ ${command.command} ${command.params.join(" ")}`);
    this.#inner.send(command);
  }

  close(): void {
    this.#inner.close();
  }
}

/** Declares a test with a bridge whose connections go through a {@linkcode Tap}, for each way. */
function testTap(
  name: string,
  run: (world: Omit<World, "connection">, tap: () => Tap) => Promise<void>,
): void {
  for (const way of WAYS) Deno.test(`${name} (${way})`, () => withTap(way, run));
}

async function withTap(
  way: Way,
  run: (world: Omit<World, "connection">, tap: () => Tap) => Promise<void>,
): Promise<void> {
  const scheduler = new TestScheduler();
  const server = openServer(scheduler, { limits: { sendQueueBytes: null } });
  const taps: Tap[] = [];
  function noted<Made extends Tap>(tap: Made): Made {
    taps.push(tap);
    return tap;
  }
  const connect = way === "lines"
    ? () => noted(new LineTap(server.connect({ account: "bridge", privileged: true })))
    : { direct: (receiver: DirectReceiver) => noted(new DirectTap(server, receiver)) };
  await withBridge(
    async ({ bridge }) => {
      await bridge.whenReady();
      await run({ bridge, server, scheduler, way }, () => taps.at(-1) as Tap);
    },
    { bridge: { scheduler, connect } },
  );
  await server.close();
}

testBridge(
  "Bridge returns to its channels and readers after the IRC server was away",
  async ({ bridge, server, scheduler, connection }) => {
    const got: string[] = [];
    await bridge.follow("room", {}, {
      message: ({ text }) => got.push(text),
      end: (reason) => got.push(`end: ${reason}`),
    });
    await bridge.post("room", { text: "before" }, OPERATOR_CALLER);
    for (let round = 0; round < 3; round++) {
      const broken = connection();
      const lost = bridge.post("room", { text: "lost" }, OPERATOR_CALLER);
      const join = bridge.join("unconfirmed");
      broken.close();
      await Promise.all([lost, join].map((asked) => assert.rejects(asked, Unavailable)));
      assert.equal(bridge.ready, false);
      scheduler.advance(30_000);
      await bridge.whenReady();
    }
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    bob.send("PRIVMSG #room :after");
    await bob.sync();
    await bridge.join("room");
    assert.deepEqual(got, ["before", "after"]);
    assert.deepEqual(bridge.channels(), ["#general", "#room"]);
    assert.equal(bridge.stats().disconnects, 3);
  },
);

Deno.test("Bridge tries again after a time that doubles", async () => {
  const scheduler = new TestScheduler();
  let attempts = 0;
  const bridge = new Bridge({
    nick: "bridge",
    channels: [],
    bufferSize: 10,
    maxChannels: 10,
    maxChannelsPerAgent: 3,
    webUserTtlMilliseconds: () => 1000,
    connect() {
      attempts++;
      throw new Error("refused");
    },
    log: silentLog,
    scheduler,
    random: () => 0,
  });
  bridge.start();
  await until(() => attempts === 1 && scheduler.pending === 1);
  let made = 1;
  for (const delay of [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    scheduler.advance(delay - 1);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(attempts, made);
    scheduler.advance(1);
    made++;
    await until(() => attempts === made && scheduler.pending === 1);
  }
  const waiting = bridge.join("room");
  scheduler.advance(5000);
  await assert.rejects(waiting, Unavailable);
  await bridge.stop();
  assert.equal(scheduler.pending, 0);
});

testTap(
  "Bridge answers a post only when IRC has confirmed it",
  async ({ bridge, server, scheduler }, tap) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    tap().holds = (line) => line.includes("PRIVMSG");
    const post = bridge.post("general", { nick: "alice", text: "hello" }, OPERATOR_CALLER);
    await bob.expect(/PRIVMSG/);
    assert.deepEqual(await bridge.messages("general", {}), []);
    scheduler.advance(5000);
    await assert.rejects(post, TimedOut);
    tap().release();
    const [late] = await bridge.messages("general", {});
    assert.equal(late?.nick, "alice", "a late echo is still the post");
    assert.equal(late?.text, "hello");
  },
);

testTap(
  "Bridge gives up missing echoes, frees their room, and is not ready meanwhile",
  async ({ bridge, scheduler }, tap) => {
    const deaf = tap();
    const text = `${"x".repeat(1000)}\n`.repeat(60);
    const said = (target: string) =>
      deaf.sent.filter((line) => line.includes(` PRIVMSG ${target} `)).length;
    deaf.holds = (line) => line.includes("PRIVMSG");
    // Together more than what may wait at once: 8 MiB.
    for (let round = 0; round < 3; round++) {
      const posts = Array.from(
        { length: 30 },
        () => bridge.post("general", { text }, OPERATOR_CALLER),
      );
      const lost = Promise.all(posts.map((post) => assert.rejects(post, TimedOut)));
      await until(() => said("#general") === 60 * 30 * (round + 1));
      scheduler.advance(5000);
      await lost;
      await until(() => said("bridge") === round + 1);
      assert.equal(bridge.ready, false);
      assert.equal(deaf.closed, false);
    }
    scheduler.advance(5000);
    await until(() => deaf.closed);
    await until(() => scheduler.pending > 0);
    scheduler.advance(30_000);
    await bridge.whenReady();
    assert.notEqual(tap(), deaf);
    assert.equal(bridge.ready, true);
    await bridge.post("general", { text: "heard" }, OPERATOR_CALLER);
  },
);

testTap("Bridge is ready again when it hears itself", async ({ bridge, scheduler }, tap) => {
  const deaf = tap();
  deaf.holds = (line) => line.includes("lost");
  const lost = bridge.post("general", { text: "lost" }, OPERATOR_CALLER);
  await until(() => deaf.held.length > 0);
  scheduler.advance(5000);
  await assert.rejects(lost, TimedOut);
  await until(() => bridge.ready);
  assert.equal(deaf.closed, false, "one message that is lost is no reason to leave");
  assert.equal(bridge.stats().posted, 0);
});

testTap(
  "Bridge answers join and part only when IRC has confirmed them",
  async ({ bridge, server, scheduler }, tap) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    tap().holds = (line) => line.includes("#room");
    const join = bridge.join("room");
    await bob.expect(/^:bridge\S* JOIN/);
    scheduler.advance(5000);
    await assert.rejects(join, TimedOut);
    assert.deepEqual(bridge.channels(), ["#general"]);
    tap().release();
    assert.deepEqual(bridge.channels(), ["#general", "#room"], "a late confirmation counts");

    tap().holds = (line) => line.includes("PART");
    const part = bridge.part("room");
    await bob.expect(/^:bridge\S* PART/);
    scheduler.advance(5000);
    await assert.rejects(part, TimedOut);
    tap().release();
    assert.deepEqual(bridge.channels(), ["#general"]);
  },
);

Deno.test("Bridge survives malformed lines", () =>
  withTap("lines", async ({ bridge }, tap) => {
    const lines = tap() as LineTap;
    for (
      const line of ["PRIVMSG", ":x PRIVMSG", "CAP", "JOIN", ":bridge PART", "353", "366", "@"]
    ) {
      lines.onLine?.(line);
    }
    for (
      const line of [":bridge!b@h JOIN &odd", ":bridge!b@h KICK", "BATCH", "NICK", "FAIL", "473"]
    ) {
      lines.onLine?.(line);
    }
    await bridge.post("general", { text: "alive" }, OPERATOR_CALLER);
    assert.deepEqual(bridge.channels(), ["#general"]);
  }));

testBridge(
  "Bridge without privileges explains why a channel or a message is refused",
  async ({ bridge, server, scheduler }) => {
    await bridge.whenReady();
    const bob = new IrcUser(server, "bob");
    await bob.join("#closed");
    bob.send("MODE #closed +i");
    await bob.join("#quiet");
    bob.send("MODE #quiet +m");
    await bob.sync();
    await assert.rejects(bridge.join("closed"), Conflict);
    await bridge.join("quiet");
    const post = bridge.post("quiet", { nick: "alice", text: "hello" }, OPERATOR_CALLER);
    await assert.rejects(post, Conflict);
    bob.send("KICK #quiet bridge :out");
    await bob.expect(/KICK/);
    await bob.sync();
    assert.deepEqual(bridge.channels(), ["#general"]);

    await bob.join("#general");
    bob.send("PRIVMSG #general :hi");
    await bob.sync();
    scheduler.advance(60_000);
    assert.deepEqual(bridge.channels(), ["#general"]);
  },
  { privileged: false },
);

import assert from "node:assert/strict";
import { Unauthorized, Unavailable } from "../../../../services/kernel/errors.ts";
import { type EndedListener, Revocations } from "../../../../services/people/identity/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { agentCaller, IrcUser, withBridge, type World } from "./support.ts";

/** A bridge that sends one line per second, and whose callers' credentials may end. */
function withSlowBridge(
  run: (world: World & { revocations: Revocations; cutOff(isCut: boolean): void }) => Promise<void>,
): Promise<void> {
  const revocations = new Revocations(silentLog);
  let isCurrent = true;
  const cutOff = (isCut: boolean) => {
    isCurrent = !isCut;
  };
  const credentials = {
    onEnded: (listener: EndedListener) => revocations.subscribe(listener),
    isCurrent: () => isCurrent,
  };
  return withBridge(
    async (world) => {
      await world.bridge.whenReady();
      await run({ ...world, revocations, cutOff });
    },
    { bridge: { pace: { perSecond: 1, burst: 2 }, credentials } },
  );
}

/** What somebody has heard the bridge say. */
function heard({ lines }: IrcUser): string[] {
  return lines.flatMap((line) => / PRIVMSG #general :(.*)$/.exec(line)?.[1] ?? []);
}

Deno.test("lines that wait do not go once their caller's credential has ended", () =>
  withSlowBridge(async ({ bridge, server, scheduler, revocations }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    scheduler.advance(10_000);
    const ended = bridge.post(
      "general",
      { nick: "scout", text: "1\n2\n3\n4" },
      agentCaller("scout"),
    );
    const other = bridge.post("general", { nick: "coder", text: "5" }, agentCaller("coder"));
    await bob.expect(/:\[scout\] 2$/);
    const [accountId, tokenId] = ["id of scout", "token of scout"];
    revocations.announce({ kind: "token", accountId, tokenId });
    await assert.rejects(async () => {
      for (let second = 0; second < 5; second++) scheduler.advance(1000);
      await ended;
    }, Unauthorized);
    await other;
    await bob.sync();
    assert.deepEqual(heard(bob), ["[scout] 1", "[scout] 2", "[coder] 5"]);
  }));

Deno.test("a node that does not know what others end sends nothing that waits", () =>
  withSlowBridge(async ({ bridge, server, scheduler, cutOff }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#general");
    scheduler.advance(10_000);
    const post = bridge.post("general", { nick: "scout", text: "1\n2\n3" }, agentCaller("scout"));
    const unannounced = assert.rejects(bridge.announce("general", "4"), Unavailable);
    await bob.expect(/:\[scout\] 2$/);
    cutOff(true);
    await assert.rejects(async () => {
      for (let second = 0; second < 5; second++) scheduler.advance(1000);
      await post;
    }, Unavailable);
    await unannounced;
    cutOff(false);
    await bridge.post("general", { nick: "scout", text: "5" }, agentCaller("scout"));
    await bob.sync();
    assert.deepEqual(heard(bob), ["[scout] 1", "[scout] 2", "[scout] 5"]);
  }));

Deno.test("a credential that ends while its post waits to enter a channel says nothing there", () =>
  withSlowBridge(async ({ bridge, server, scheduler, revocations }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#new");
    scheduler.advance(10_000);
    const post = bridge.post("new", { nick: "scout", text: "1" }, agentCaller("scout"));
    const [accountId, tokenId] = ["id of scout", "token of scout"];
    revocations.announce({ kind: "token", accountId, tokenId });
    await assert.rejects(post, Unauthorized);
    await bob.sync();
    assert.ok(bob.lines.every((line) => !line.includes("[scout]")));
  }));

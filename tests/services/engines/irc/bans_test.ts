import assert from "node:assert/strict";
import type { Ban, Bans, BanSubject, BanWish } from "../../../../services/engines/irc/mod.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

/** Bans in memory: a mask matches where a text begins with it, an account by its name. */
class TestBans implements Bans {
  readonly bans: Ban[] = [];
  /** Ends banned connections; set once there is a server. */
  enforce: () => void = () => {};

  findByAddress(address: string): Ban | null {
    return this.bans.find(({ mask }) => mask === address) ?? null;
  }

  find({ masks, account }: BanSubject): Ban | null {
    return this.bans.find(({ mask }) =>
      mask === `account:${account}` || masks.some((text) => text.startsWith(mask))
    ) ?? null;
  }

  all(): readonly Ban[] {
    return this.bans;
  }

  async add({ mask, reason, duration }: BanWish, { nick }: { nick: string }) {
    await Promise.resolve();
    if (mask === "*@*") return "It would ban far too many";
    const expiresAt = duration === null ? null : Date.UTC(2030, 0, 1) + duration;
    this.bans.push({ mask, reason, setBy: nick, setAt: 0, expiresAt });
    this.enforce();
    return null;
  }

  async remove(mask: string) {
    await Promise.resolve();
    const index = this.bans.findIndex((ban) => ban.mask === mask);
    if (index === -1) return "There is no such ban";
    this.bans.splice(index, 1);
    return null;
  }
}

function banningServer(): { bans: TestBans; server: TestServer } {
  const bans = new TestBans();
  const accounts = new TestAccounts({ Admin: "secret", ann: "secret" });
  const server = startServer({ bans, accounts });
  bans.enforce = () => server.server.enforceBans();
  return { bans, server };
}

const REFUSED = [
  "465 * You are banned: go away",
  "ERROR Closing link: * (Banned from this server)",
];

Deno.test("KLINE ends matching clients and keeps them out until UNKLINE", async () => {
  const { server } = banningServer();
  await using _ = server;
  const operator = await server.client("op");
  operator.send("OPER admin secret");
  await operator.sync();
  const friend = await server.client("friend");
  const victim = await server.client("victim");
  for (const client of [friend, victim]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await friend.sync();
  friend.send("KLINE victim! :no");
  assert.deepEqual((await friend.sync()).map((line) => line.split(" ")[0]), ["481"]);

  operator.send("KLINE *@* :all", "KLINE 1h victim! :go away", "STATS k");
  assert.deepEqual(await operator.sync(), [
    "FAIL KLINE INVALID_MASK *@* It would ban far too many",
    "NOTICE op victim! is banned from irc.test, for 60 minutes",
    "216 op K victim! go away (by op, until 2030-01-01T01:00:00.000Z)",
    "219 op k End of /STATS report",
  ]);
  assert.deepEqual(await victim.untilClosed(), [
    "465 victim You are banned: go away",
    "ERROR Closing link: victim (Banned from this server)",
  ]);
  assert.deepEqual(await friend.sync(), ["victim QUIT Banned from this server"]);
  const again = await server.dial();
  again.send("NICK victim", "USER x 0 * :x");
  assert.deepEqual(await again.untilClosed(), REFUSED);
  assert.equal(server.server.stats().banHits, 2);

  operator.send("UNKLINE other!", "UNKLINE victim!", "STATS k");
  assert.deepEqual(await operator.sync(), [
    "FAIL UNKLINE INVALID_MASK other! There is no such ban",
    "NOTICE op victim! is banned no longer",
    "219 op k End of /STATS report",
  ]);
  await server.client("victim");
});

Deno.test("a ban also hits clients that log in or change their nick later", async () => {
  const { bans, server } = banningServer();
  await using _ = server;
  const ban = { reason: "go away", setBy: "root", setAt: 0, expiresAt: null };
  bans.bans.push({ mask: "account:ann", ...ban }, { mask: "bad!", ...ban });
  const member = await server.dial();
  member.send("CAP REQ :sasl", "NICK x", "USER x 0 * :x");
  member.logIn("ann", "secret");
  member.send("CAP END");
  assert.deepEqual((await member.untilClosed()).slice(-2), REFUSED);

  const late = await server.client("late", "sasl");
  late.logIn("ann", "secret");
  assert.deepEqual((await late.untilClosed()).slice(-2), [
    "465 late You are banned: go away",
    "ERROR Closing link: late (Banned from this server)",
  ]);
  const renamed = await server.client("good");
  renamed.send("NICK bad");
  assert.equal((await renamed.untilClosed())[0], "465 good You are banned: go away");
});

Deno.test("a ban hits none of the server's own users", async () => {
  const { bans, server } = banningServer();
  await using _ = server;
  const bridge = await server.internal("bridge", { privileged: true });
  assert.ok(server.server.addUser({ nick: "ann", account: "ann", realname: "" }));
  const ban = { reason: "", setBy: "root", setAt: 0, expiresAt: null };
  bans.bans.push({ mask: "bridge!", ...ban }, { mask: "account:ann", ...ban });
  assert.equal(server.server.enforceBans(), 0);
  bridge.send("ISON bridge ann");
  assert.deepEqual(await bridge.sync(), ["303 bridge bridge ann"]);
});

Deno.test("only operators may use STATS k", async () => {
  const { server } = banningServer();
  await using _ = server;
  const client = await server.client("bob");
  client.send("STATS k");
  assert.deepEqual((await client.sync()).map((line) => line.split(" ")[0]), ["481"]);
});

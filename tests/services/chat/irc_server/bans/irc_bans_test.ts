import assert from "node:assert/strict";
import type { BanSubject } from "../../../../../services/engines/irc/mod.ts";
import { banRequestSchema } from "../../../../../services/chat/irc_server/bans/schemas.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../../support/services.ts";
import { withFolder } from "../../../../support/temporary.ts";

const OPERATOR = { nick: "op", account: null, address: "127.0.0.1" };

function ban(services: TestServices, mask: string, more: Record<string, unknown> = {}) {
  return services.ircBans.create(banRequestSchema.parse({ mask, ...more }), BY_OPERATOR);
}

function subject(more: Partial<BanSubject>): BanSubject {
  const masks = ["bob!~b@1234.ip", "bob!~b@192.0.2.7"];
  return { masks, address: "192.0.2.7", account: null, ...more };
}

Deno.test("each kind of mask hits its targets, and is kept in a canonical form", async () => {
  const table: readonly (readonly [mask: string, kept: string, hits: string[], not: string[]])[] = [
    ["192.0.2.7", "192.0.2.7", ["192.0.2.7", "::ffff:192.0.2.7"], ["192.0.2.8"]],
    ["*@192.0.2.9/24", "192.0.2.0/24", ["192.0.2.1", "192.0.2.255"], ["192.0.3.1"]],
    ["*!*@192.0.2.7", "192.0.2.7", ["192.0.2.7"], ["192.0.2.77"]],
    ["2001:DB8:0:0::1", "2001:db8::1", ["2001:db8::1"], ["2001:db8::2", "192.0.2.7"]],
    ["2001:db8::/32", "2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::1"]],
  ];
  for (const [mask, kept, hits, misses] of table) {
    await withServices(async (services) => {
      assert.equal((await ban(services, mask)).mask, kept);
      for (const address of hits) assert.ok(services.ircBans.findByAddress(address), address);
      for (const address of misses) assert.equal(services.ircBans.findByAddress(address), null);
    });
  }
  await withServices(async (services) => {
    assert.equal((await ban(services, "~B@*.ip")).mask, "*!~B@*.ip");
    assert.equal((await ban(services, "Evil!*@*")).mask, "Evil!*@*");
    assert.ok(services.ircBans.find(subject({})));
    assert.ok(services.ircBans.find(subject({ masks: ["EVIL!x@y"] })));
    assert.equal(services.ircBans.find(subject({ masks: ["good!x@y"] })), null);
  });
});

Deno.test("a ban on an account ends with it, and spares the next owner of the name", async () => {
  await withServices(async (services) => {
    const account = { account: "Ann", password: "correct horse" };
    await services.ircAccounts.create(account, BY_OPERATOR);
    assert.equal((await ban(services, "account:ANN")).mask, "account:Ann");
    const ann = subject({ masks: ["a!a@a"], account: "ann" });
    assert.equal(services.ircBans.find(ann)?.mask, "account:Ann");
    await services.ircAccounts.delete("ann", BY_OPERATOR);
    assert.deepEqual(services.ircBans.list(), []);
    await services.ircAccounts.create(account, BY_OPERATOR);
    assert.equal(services.ircBans.find(ann), null);
    await anAgent(services, "scout");
    await assert.rejects(ban(services, "account:scout"), /agent: pause it or revoke it/);
    await assert.rejects(ban(services, "account:nobody"), /no account "nobody"/);
  });
});

Deno.test("malformed masks and masks that hit too many are refused", async () => {
  await withServices(async (services) => {
    for (const mask of ["*@*", "*!*@*.*", "ab@*", "0.0.0.0/0", "10.0.0.0/7", "::/0"]) {
      await assert.rejects(ban(services, mask), /far too wide/, mask);
    }
    for (const mask of ["nick", "192.0.2.0/33", "bob@192.0.2.0/24", "a b@host", "1.2.3", "x@y,z"]) {
      await assert.rejects(ban(services, mask), /must be user@host/, mask);
    }
    assert.deepEqual(services.ircBans.list(), []);
    assert.equal(services.sessions.banned, 0);
  });
});

Deno.test("a ban on a network spares the addresses of this machine", async () => {
  await withServices(async (services) => {
    await ban(services, "127.0.0.0/8");
    const local = subject({ masks: ["bob!b@local.ip"], address: "127.0.0.1" });
    assert.equal(services.ircBans.find(local), null);
  });
});

Deno.test("a ban survives a restart, expires on time, and can be changed and removed", async () => {
  await withFolder(async (folder) => {
    const first = await openServices(folder);
    const { clock } = first;
    await ban(first, "192.0.2.7", { reason: "flooding", duration_seconds: 60 });
    await ban(first, "192.0.2.7", { reason: "spam", duration_seconds: 120 });
    await ban(first, "evil@*");
    assert.equal(first.sessions.banned, 3);
    await first.close();

    const services = await openServices(folder, {}, clock);
    try {
      const found = () => services.ircBans.findByAddress("192.0.2.7");
      assert.deepEqual(found(), {
        mask: "192.0.2.7",
        reason: "spam",
        setBy: "operator",
        setAt: clock.now(),
        expiresAt: clock.now() + 120_000,
      });
      clock.advance(120_000);
      assert.equal(found(), null);
      const [evil, ...more] = services.ircBans.list();
      assert.deepEqual([evil?.mask, evil?.expires_at, more], ["*!evil@*", null, []]);
      await services.ircBans.delete(evil?.id ?? "", BY_OPERATOR);
      await assert.rejects(services.ircBans.delete(evil?.id ?? "", BY_OPERATOR), /no such ban/);
      assert.deepEqual(services.ircBans.all(), []);
    } finally {
      await services.close();
    }
  });
});

Deno.test("IRC operators get a sentence as the answer, and the log names them", async () => {
  await withServices(async (services) => {
    const { ircBans, database } = services;
    const spares = subject({ masks: ["op!~o@here.ip"], address: "198.51.100.1" });
    const wish = { mask: "*@192.0.2.7", reason: "spam", duration: 90_500, spares };
    assert.equal(await ircBans.add(wish, OPERATOR), null);
    assert.match(await ircBans.add({ ...wish, mask: "*@*" }, OPERATOR) ?? "", /far too wide/);
    for (const mask of ["*!*@here.ip", "198.51.100.0/24", "~o@here*"]) {
      assert.equal(await ircBans.add({ ...wish, mask }, OPERATOR), "This ban would hit you");
    }
    assert.match(await ircBans.add({ ...wish, mask: "" }, OPERATOR) ?? "", /must not be empty/);
    assert.equal(await ircBans.remove("192.0.2.8", OPERATOR), "There is no such ban");
    assert.equal(await ircBans.remove("192.0.2.7", OPERATOR), null);
    const rows = await database.tables.selectFrom("events").select(["type", "actor", "data"])
      .where("type", "like", "irc.%").orderBy("seq").execute();
    const expires_at = new Date(services.clock.now() + 91_000).toISOString();
    assert.deepEqual(rows.map((row) => ({ ...row, data: JSON.parse(row.data) })), [
      {
        type: "irc.banned",
        actor: "guest:op",
        data: { mask: "192.0.2.7", reason: "spam", expires_at },
      },
      { type: "irc.unbanned", actor: "guest:op", data: { mask: "192.0.2.7" } },
    ]);
  });
});

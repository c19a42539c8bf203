import assert from "node:assert/strict";
import { statement } from "../../../../services/engines/database/mod.ts";
import { adoptionSchema } from "../../../../services/people/agents/schemas.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR, eventTypes } from "../../../support/services.ts";
import { FakeErgo } from "../../../support/fake_ergo.ts";
import { withFolder } from "../../../support/temporary.ts";
import { openNetworked, takes, withNetwork } from "./support.ts";
import { THOROUGH } from "../../../support/level.ts";

Deno.test("while the network is away, every change is refused", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo, ircAccounts } = services;
    const passphrase = await anAgent(services, "coder");
    const before = await eventTypes(services);
    ergo.away = true;
    await assert.rejects(anAgent(services, "other"), Unavailable);
    await assert.rejects(agents.rotate("coder", BY_OPERATOR), Unavailable);
    await assert.rejects(agents.revoke("coder", BY_OPERATOR), Unavailable);
    await assert.rejects(agents.delete("coder", BY_OPERATOR), Unavailable);
    await assert.rejects(agents.adopt("ann", adoptionSchema.parse({}), BY_OPERATOR), Unavailable);
    const person = { account: "ann", password: "correct horse" };
    await assert.rejects(ircAccounts.create(person, BY_OPERATOR), Unavailable);
    assert.deepEqual(agents.counts(), { active: 1, total: 1 });
    await services.pass(0);
    assert.equal(services.sync.stats().reachable, false);
    assert.deepEqual(await eventTypes(services), before);

    ergo.away = false;
    await services.pass(1000);
    assert.deepEqual(await takes(services, "coder", passphrase), [true, true]);
    assert.deepEqual(services.sync.stats(), { unsettled: 0, repaired: 0, reachable: true });
    await anAgent(services, "other");
  });
});

Deno.test("an absent network is tried again at growing intervals", async () => {
  await withNetwork(async (services) => {
    const { ergo, sync } = services;
    const asked = async (milliseconds: number) => {
      const before = ergo.asked.length;
      await services.pass(milliseconds);
      return ergo.asked.length - before;
    };
    ergo.away = true;
    sync.compare();
    assert.ok(await asked(0) > 0);
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      assert.equal(await asked(wait - 1), 0);
      assert.ok(await asked(1) > 0);
    }
    ergo.away = false;
    await services.pass(60_000);
    assert.equal(sync.stats().reachable, true);
  });
});

Deno.test("a network that answers is reachable while accounts are still compared", async () => {
  await withNetwork(async (services) => {
    const { ergo, sync, clock } = services;
    ergo.away = true;
    sync.compare();
    await services.pass(0);
    assert.equal(sync.reachable, false);
    ergo.away = false;
    const comparing = ergo.failNext("/v1/ns/list", "silent");
    clock.advance(1000);
    await comparing;
    assert.deepEqual([sync.reachable, sync.trouble], [true, null]);
    // It gives up waiting for the list.
    await services.pass(60_000);
  });
});

Deno.test(
  "after a long absence, all accounts are settled, a thousand at a time",
  THOROUGH,
  async () => {
    await using ergo = new FakeErgo();
    await withFolder(async (folder) => {
      const before = await openNetworked(folder, ergo);
      const names = Array.from({ length: 2500 }, (_, index) => `gone${index}`);
      for (let start = 0; start < names.length; start += 500) {
        const rows = names.slice(start, start + 500).map((name, index) => ({
          name,
          name_folded: name,
          account_id: null,
          made: 1,
          marked: 1,
          salt: "salt",
          next_salt: null,
          // Many have waited equally long.
          unsettled_since: index % 3,
          channels: "[]",
        }));
        await before.database.commit({
          statements: [
            statement(before.database.tables.insertInto("network_accounts").values(rows)),
          ],
        });
      }
      await before.close();

      const services = await openNetworked(folder, ergo, before.clock);
      try {
        services.sync.start();
        const unsettled = async (milliseconds: number) => {
          await services.pass(milliseconds);
          return services.sync.stats().unsettled;
        };
        assert.equal(await unsettled(0), 1500);
        assert.equal(services.sync.reachable, true);
        assert.equal(await unsettled(999), 1500, "there is a pause");
        assert.equal(await unsettled(1), 500);
        assert.equal(await unsettled(1000), 0);
        const asked = ergo.asked.length;
        await services.pass(60_000);
        assert.equal(ergo.asked.length, asked);
      } finally {
        await services.close();
      }
    });
  },
);

Deno.test("calls of the API have bounds, follow no redirects, and never show the token", async () => {
  await withNetwork(async (services) => {
    const { ergo, log } = services;
    for (const fault of ["nonsense", "redirected", "endless", "refused"] as const) {
      ergo.failNext("/v1/ns/info", fault);
      await assert.rejects(anAgent(services, "coder"), Unavailable, fault);
    }
    assert.equal(ergo.asked.includes("/elsewhere"), false);
    const silence = ergo.failNext("/v1/ns/info", "silent");
    const waiting = assert.rejects(anAgent(services, "coder"), /does not answer in time/);
    await silence;
    services.clock.advance(5000);
    await waiting;
    const passphrase = await anAgent(services, "coder");
    await services.pass(0);
    const rows = await services.database.tables.selectFrom("network_accounts").selectAll()
      .execute();
    const told = JSON.stringify(rows) + log.lines.join("\n");
    for (const secret of [ergo.token, passphrase]) assert.equal(told.includes(secret), false);
  });
});

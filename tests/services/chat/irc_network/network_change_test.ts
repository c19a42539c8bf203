/** What becomes of accounts when the network, or what muster knows of it, is another one. */
import assert from "node:assert/strict";
import { adoptionSchema } from "../../../../services/people/agents/schemas.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR, openServices } from "../../../support/services.ts";
import { FakeErgo } from "../../../support/fake_ergo.ts";
import { withFolder } from "../../../support/temporary.ts";
import { openNetworked, takes } from "./support.ts";

Deno.test("on another network agents keep their passphrases and others their accounts", async () => {
  await using ergo = new FakeErgo();
  await using other = new FakeErgo();
  await withFolder(async (folder) => {
    const before = await openNetworked(folder, ergo);
    before.sync.start();
    await before.pass(0);
    const passphrase = await anAgent(before, "moved");
    for (const nick of ["active", "revoked", "deleted"]) await anAgent(before, nick);
    await before.agents.revoke("revoked", BY_OPERATOR);
    before.ergo.add("adopted", "its own");
    await before.agents.adopt("adopted", adoptionSchema.parse({}), BY_OPERATOR);
    await before.close();
    for (const nick of ["active", "revoked", "deleted"]) other.add(nick, "somebody's own");
    other.add("adopted", "its own");

    const services = await openNetworked(folder, other, before.clock);
    services.sync.start();
    await services.pass(0);
    assert.deepEqual(await takes(services, "moved", passphrase), [true, true]);
    await services.agents.revoke("active", BY_OPERATOR);
    await services.agents.delete("deleted", BY_OPERATOR);
    await services.agents.revoke("adopted", BY_OPERATOR);
    for (const nick of ["active", "revoked", "deleted"]) {
      assert.equal(other.takes(nick, "somebody's own"), true, nick);
    }
    assert.equal(other.get("adopted")?.suspended, true);
    assert.equal(services.sync.stats().unsettled, 0);
    await services.close();
  });
});

Deno.test("without the key file, no unknown password is sent to the network", async () => {
  await using ergo = new FakeErgo();
  await withFolder(async (folder) => {
    const before = await openNetworked(folder, ergo);
    const passphrase = await anAgent(before, "coder");
    await anAgent(before, "lost");
    await before.close();
    ergo.accounts.delete("lost");

    const services = await openNetworked(folder, ergo, before.clock, { key: "6".repeat(64) });
    services.sync.start();
    await services.pass(0);
    assert.deepEqual(await takes(services, "coder", passphrase), [true, true]);
    assert.equal(ergo.get("lost"), undefined);
    assert.equal(services.sync.stats().unsettled, 1);
    const { credentials } = await services.agents.rotate("lost", BY_OPERATOR);
    assert.deepEqual(await takes(services, "lost", credentials.passphrase), [true, true]);
    assert.equal(services.sync.stats().unsettled, 0);
    await services.close();
  });
});

Deno.test("agents from before the network reach it when they are rotated", async () => {
  await using ergo = new FakeErgo();
  await withFolder(async (folder) => {
    const before = await openServices(folder);
    await anAgent(before, "coder", { channels: ["#ops"] });
    await anAgent(before, "taken");
    await before.close();
    ergo.add("taken", "somebody's own");

    const services = await openNetworked(folder, ergo, before.clock);
    services.sync.start();
    await services.pass(0);
    assert.equal(ergo.get("coder"), undefined);
    assert.ok(services.log.lines.some((line) => /have no account on the IRC network/.test(line)));
    const { credentials } = await services.agents.rotate("coder", BY_OPERATOR);
    assert.deepEqual(await takes(services, "coder", credentials.passphrase), [true, true]);
    await services.pass(0);
    assert.deepEqual(ergo.statuses, ["#ops +v coder"]);
    await assert.rejects(services.agents.rotate("taken", BY_OPERATOR), Conflict);
    await services.agents.delete("taken", BY_OPERATOR);
    assert.equal(ergo.takes("taken", "somebody's own"), true);
    await services.close();
  });
});

import assert from "node:assert/strict";
import type { KeptChannel } from "../../../../../services/engines/irc/mod.ts";
import { UnregisteredChannels } from "../../../../../services/chat/irc_server/services/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../../support/services.ts";

const DAY = 24 * 60 * 60 * 1000;

function channel(name: string, flags: string, founder: string | null): KeptChannel {
  const modes = { flags, key: null, userLimit: null, lists: {} };
  return { name, createdAt: 0, topic: null, ...modes, unregistered: { founder, members: [] } };
}

/** The store, and the names of the channels whose messages it has let go. */
async function openChannels(services: TestServices) {
  const forgotten: string[] = [];
  const channels = await UnregisteredChannels.open({
    ...services,
    owns: (name) => name === "#general",
    onForgotten: (name) => forgotten.push(name),
    secret: new Uint8Array(32),
    scheduler: services.clock,
  });
  return { channels, forgotten };
}

Deno.test("twenty empty channels wait for an account, thirty days each", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { channels, forgotten } = await openChannels(services);
    for (let number = 0; number < 21; number++) {
      const made = channel(`#${number}`, "int", "scout");
      await channels.changed(made);
      services.clock.advance(1000);
      assert.equal(channels.emptied(made), true);
    }
    assert.deepEqual(forgotten, ["#0"]);
    assert.equal(channels.find("#0"), null);
    assert.equal(channels.find("#1")?.unregistered?.founder, "scout");
    services.clock.advance(31 * DAY);
    assert.equal(channels.find("#1"), null);
    assert.deepEqual(forgotten, ["#0", "#1"]);
    await channels.close();
    const rows = await services.database.tables.selectFrom("irc_unregistered_channels")
      .select("name").execute();
    assert.equal(rows.length, 19);
  }));

Deno.test("a channel that is open, or that has no founder, does not wait; one of muster's always does", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { channels } = await openChannels(services);
    const table: readonly [KeptChannel, boolean][] = [
      [channel("#open", "mnt", "scout"), false],
      [channel("#secret", "nst", "scout"), false],
      [channel("#guests", "int", null), false],
      [channel("#general", "mnt", null), true],
      [{ ...channel("#banned", "nt", "scout"), lists: { b: [entry("a:eve")] } }, true],
      [{ ...channel("#muted", "nt", "scout"), lists: { b: [entry("m:a:eve")] } }, false],
    ];
    for (const [made, waits] of table) {
      await channels.changed(made);
      assert.equal(channels.emptied(made), waits, made.name);
      assert.equal(channels.find(made.name) !== null, waits, made.name);
    }
    await channels.close();
  }));

Deno.test("the next owner of a founder's name inherits no channel", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { channels, forgotten } = await openChannels(services);
    const made = channel("#vault", "int", "scout");
    await channels.changed(made);
    channels.emptied(made);
    await services.agents.delete("scout", BY_OPERATOR);
    await anAgent(services, "scout");
    assert.equal(channels.find("#vault"), null);
    assert.deepEqual(forgotten, ["#vault"]);
    await channels.close();
  }));

Deno.test("an account cannot fill the store", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { channels } = await openChannels(services);
    const made = Array.from({ length: 101 }, (_, number) => channel(`#${number}`, "mnt", "scout"));
    const outcomes = await Promise.all(made.map((one) => channels.changed(one)));
    assert.deepEqual(outcomes.slice(98), ["stored", "stored", "full"]);
    assert.notEqual(channels.find("#99"), null);
    assert.equal(channels.find("#100"), null);
    await channels.changed(channel("#other", "mnt", null));
    assert.notEqual(channels.find("#other"), null);
    await channels.changed(channel("#99", "nt", "scout"));
    assert.equal(channels.find("#99"), null, "it has no modes to keep");
    await channels.close();
  }));

function entry(mask: string) {
  return { mask, setBy: "scout", setAt: 0 };
}

import assert from "node:assert/strict";
import { NotFound } from "../../../../services/kernel/errors.ts";
import { MARKED_TARGETS } from "../../../../services/engines/irc/mod.ts";
import { ReadMarkers } from "../../../../services/chat/irc_server/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

function markersOf({ database, accounts, log }: TestServices): Promise<ReadMarkers> {
  return ReadMarkers.open({ database, accounts, log });
}

Deno.test("markers are stored per account and conversation, and only move forward", async () => {
  await withServices(async (services) => {
    await anAgent(services, "Scout");
    await anAgent(services, "other");
    const markers = await markersOf(services);
    assert.equal(markers.read("scout", "#c"), null);
    assert.equal(await markers.advance("scout", "#c", 2000), 2000);
    const times = [1000, 4000, 3000];
    await Promise.all(times.map((time) => markers.advance("scout", "#c", time)));
    const reopened = await markersOf(services);
    assert.equal(reopened.read("scout", "#c"), 4000);
    assert.equal(reopened.read("other", "#c"), null);
    assert.equal(reopened.read("scout", "#d"), null);
    await assert.rejects(markers.advance("nobody", "#c", 1), NotFound);
    assert.equal(markers.read("nobody", "#c"), null);
  });
});

Deno.test("markers follow a channel's name and end with the account", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    await anAgent(services, "other");
    const markers = await markersOf(services);
    await markers.advance("scout", "#new", 1);
    await markers.advance("scout", "#old", 5);
    await markers.advance("other", "#old", 6);
    markers.rename("#old", "#new");
    await services.database.commit({});
    assert.deepEqual([markers.read("scout", "#old"), markers.read("scout", "#new")], [null, 5]);
    assert.equal(markers.read("other", "#new"), 6);
    markers.forget("other");
    await services.database.commit({});
    assert.equal(markers.read("other", "#new"), null);
    await services.agents.delete("scout", BY_OPERATOR);
    await anAgent(services, "scout");
    assert.equal(markers.read("scout", "#new"), null);
  });
});

Deno.test("an account has a bounded number of markers, and loses the least recently used", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const markers = await markersOf(services);
    const targets = Array.from({ length: MARKED_TARGETS }, (_, index) => `#c${index}`);
    await Promise.all(targets.map((target, index) => markers.advance("scout", target, index + 10)));
    await markers.advance("scout", "#c0", 5000);
    await markers.advance("scout", "#more", 5001);
    assert.deepEqual(
      ["#c0", "#c1", "#c2", "#more"].map((target) => markers.read("scout", target)),
      [5000, null, 12, 5001],
    );
  });
});

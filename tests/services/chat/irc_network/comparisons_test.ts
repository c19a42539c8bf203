/** When the leader of several nodes compares all accounts, and when the earlier one did. */
import assert from "node:assert/strict";
import { Comparisons } from "../../../../services/chat/irc_network/comparisons.ts";
import { anAgent } from "../../../support/services.ts";
import { type Networked, withNetwork } from "./support.ts";

const MINUTE = 60_000;

/** A node, and what it is told of the others. */
interface World {
  readonly services: Networked;
  /** What another node notes. */
  readonly other: Comparisons;
  /** Since when at least one of the nodes has been running. */
  runningSince: number;
  isLeading: boolean;
  /** How often accounts are compared while time passes. */
  comparisons(milliseconds: number): Promise<number>;
  /** Lets another node compare. */
  compareElsewhere(): Promise<void>;
}

/** Runs a test on a node that has run for an hour and does not lead. */
function withNode(run: (world: World) => Promise<void>): Promise<void> {
  const state = { runningSince: 0, isLeading: false };
  const nodes = {
    self: "one",
    running: () => new Set(["one"]),
    runningSince: () => state.runningSince,
    isLeading: () => state.isLeading,
  };
  return withNetwork(async (services) => {
    const { database, clock, ergo } = services;
    state.runningSince = clock.now();
    // One request after the other: their limits are times of this clock, too.
    for (let time = 0; time < 6; time++) await services.pass(10 * MINUTE);
    const other = new Comparisons({
      database,
      runningSince: () => state.runningSince,
      clock: clock.now,
    });
    const world = Object.assign(state, {
      services,
      other,
      async comparisons(milliseconds: number) {
        const before = ergo.asked.length;
        await services.pass(milliseconds);
        return ergo.asked.slice(before).filter((what) => what === "/v1/ns/list").length;
      },
      async compareElsewhere() {
        const finish = await other.begin();
        await finish();
      },
    });
    await run(world);
  }, { nodes });
}

function lead(world: World): void {
  world.isLeading = true;
  world.services.sync.takeOver();
}

Deno.test("a new leader settles what is unsettled, and compares when that is due", () =>
  withNode(async (world) => {
    const { services } = world;
    await anAgent(services, "coder", { channels: ["#ops"] });
    await services.pass(0);
    assert.deepEqual([services.sync.stats().unsettled, services.ergo.statuses], [1, []]);
    await world.compareElsewhere();
    await services.pass(4 * MINUTE);
    lead(world);
    assert.equal(await world.comparisons(0), 0);
    assert.deepEqual([services.sync.stats().unsettled, services.ergo.statuses], [0, [
      "#ops +v coder",
    ]]);
    assert.equal(await world.comparisons(6 * MINUTE - 1), 0);
    assert.equal(await world.comparisons(1), 1);
    assert.equal(await world.comparisons(10 * MINUTE), 1);
  }));

Deno.test("a new leader compares if no comparison is known, or one is late or has not ended", () =>
  withNode(async (world) => {
    const { services, other } = world;
    const takeOver = async () => {
      lead(world);
      const count = await world.comparisons(0);
      world.isLeading = false;
      services.sync.resign();
      return count;
    };
    assert.equal(await takeOver(), 1);
    assert.equal(await takeOver(), 0);
    await other.begin();
    assert.equal(await takeOver(), 1);
    await services.pass(10 * MINUTE);
    assert.equal(await takeOver(), 1);
    await other.doubt();
    assert.equal(await takeOver(), 1);
    const finish = await other.begin();
    await other.doubt();
    await finish();
    assert.equal(await takeOver(), 1);
  }));

Deno.test("a new leader compares if no node has been running since the last comparison", () =>
  withNode(async (world) => {
    await world.compareElsewhere();
    world.runningSince = world.services.clock.now();
    lead(world);
    assert.equal(await world.comparisons(0), 1);
  }));

Deno.test("a node notes that the network was away, and compares when it leads", () =>
  withNode(async (world) => {
    const { services, other } = world;
    // The first time is its start.
    services.sync.returned();
    await world.compareElsewhere();
    await services.pass(0);
    assert.notEqual(await other.last(), null);
    services.sync.returned();
    await services.pass(0);
    assert.equal(await other.last(), null);
    await world.compareElsewhere();
    services.sync.returned();
    lead(world);
    assert.equal(await world.comparisons(0), 1);
    assert.notEqual(await other.last(), null);
    services.ergo.away = true;
    assert.equal(await world.comparisons(10 * MINUTE), 0);
    assert.equal(await other.last(), null);
  }));

Deno.test("a comparison that another node takes over in the middle does not count", () =>
  withNode(async (world) => {
    const { services, other } = world;
    const listing = services.ergo.failNext("/v1/ns/list", "silent");
    lead(world);
    services.clock.advance(0);
    await listing;
    world.isLeading = false;
    services.sync.resign();
    await services.pass(MINUTE);
    assert.equal(await other.last(), null);
  }));

/** Followers of the event log that go on where an earlier process ended. */
import assert from "node:assert/strict";
import { LastingFollowing } from "../../../services/events/mod.ts";
import { silentLog } from "../../../services/log.ts";
import { type LogWorld, withLog } from "./support.ts";

/** Follows under a name until there is nothing more, and gives what it was told. */
async function followed(world: LogWorld, name: string, append: readonly string[] = []) {
  const { database, eventLog, scheduler } = world;
  const taken: string[] = [];
  const following = new LastingFollowing({
    name,
    types: ["*"],
    take(events) {
      taken.push(...events.map(({ type }) => type));
      return Promise.resolve({});
    },
    database,
    eventLog,
    scheduler,
    log: silentLog,
  });
  await following.start();
  await world.append(append);
  await following.idle();
  await following.close();
  return taken;
}

Deno.test("a follower begins with what is new, and goes on where it ended", async () => {
  await withLog(async (world) => {
    await world.append(["test.before"]);
    assert.deepEqual(await followed(world, "notices", ["test.one"]), ["test.one"]);
    await world.append(["test.two"]);
    assert.deepEqual(await followed(world, "notices"), ["test.two"]);
  });
});

Deno.test("a server that is alone goes on where the nodes before it ended", async () => {
  await withLog(async (world) => {
    await followed(world, "notices", ["test.alone"]);
    assert.deepEqual(await followed(world, "notices@a", ["test.nodes"]), ["test.nodes"]);
    assert.deepEqual(await followed(world, "notices@b", ["test.more"]), ["test.more"]);
    await world.append(["test.later"]);
    assert.deepEqual(await followed(world, "notices"), ["test.later"]);
    // Nodes with the same names begin anew.
    await world.append(["test.meanwhile"]);
    assert.deepEqual(await followed(world, "notices@a", ["test.again"]), ["test.again"]);
  });
});

/** Followers of the event log that go on where an earlier process ended. */
import assert from "node:assert/strict";
import type { Database } from "../../../../services/engines/database/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import {
  type Handled,
  LastingFollowing,
  type LoggedEvent,
} from "../../../../services/engines/events/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { type LogWorld, types, withLog } from "./support.ts";

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

Deno.test("after a kill, a follower gets again only what was not done yet", async () => {
  await withLog(async (world) => {
    const held = new Map<string, PromiseWithResolvers<void>>();
    const taken: string[] = [];
    const follower = () =>
      new LastingFollowing({
        ...world,
        name: "announcements",
        types: ["test.*"],
        take(events) {
          taken.push(...events.map(({ type }) => type));
          return Promise.resolve({
            begun: events.map(({ seq, type }) => {
              const done = Promise.withResolvers<void>();
              held.set(type, done);
              return { seq, done: done.promise };
            }),
          });
        },
        log: silentLog,
      });
    const killed = follower();
    await killed.start();
    await world.append(["test.one", "test.two", "test.three"]);
    await killed.idle();
    assert.deepEqual(taken.splice(0), ["test.one", "test.two", "test.three"]);
    for (const type of ["test.one", "test.three"]) held.get(type)?.resolve();
    await killed.idle();
    const next = follower();
    await next.start();
    await next.idle();
    assert.deepEqual(taken.splice(0), ["test.two", "test.three"]);
    for (const type of ["test.two", "test.three"]) held.get(type)?.resolve();
    await next.idle();
    const last = follower();
    await last.start();
    await last.idle();
    assert.deepEqual(taken, []);
    for (const following of [killed, next, last]) await following.close();
  });
});

/** A follower whose commits fail as often as it is told, after its first start. */
function failing(
  { database, ...world }: LogWorld,
  take: (events: readonly LoggedEvent[]) => Handled | null,
) {
  let failures = 0;
  const commit: Database["commit"] = (change) =>
    failures-- > 0 ? Promise.reject(new Unavailable("The disk is full")) : database.commit(change);
  const following = new LastingFollowing({
    ...world,
    name: "notices",
    types: ["test.*"],
    take: (events) => Promise.resolve(take(events)),
    database: { tables: database.tables, commit },
    log: silentLog,
  });
  return { following, fail: (times: number) => failures = times };
}

Deno.test("what must not be done twice is done once the place is stored, and not with each try before", async () => {
  await withLog(async (world) => {
    const told: string[] = [];
    const { following, fail } = failing(world, (events) => ({
      committed: () => told.push(...events.map(({ type }) => type)),
    }));
    await following.start();
    fail(2);
    await world.append(["test.one"]);
    await following.idle();
    assert.deepEqual(told, []);
    for (let tries = 0; tries < 3; tries++) {
      world.scheduler.advance(5000);
      await following.idle();
    }
    assert.deepEqual(told, ["test.one"]);
    await following.close();
  });
});

Deno.test("a place that once could not be stored passes what was begun before", async () => {
  await withLog(async (world) => {
    const begun = new Set<number>();
    const { following, fail } = failing(world, (events) => {
      const fresh = events.filter(({ seq }) => !begun.has(seq)).map(({ seq }) => seq);
      for (const seq of fresh) begun.add(seq);
      return fresh.length === 0
        ? null
        : { begun: fresh.map((seq) => ({ seq, done: Promise.resolve() })) };
    });
    await following.start();
    fail(Infinity);
    await world.append(types(1200));
    await following.idle();
    fail(0);
    world.scheduler.advance(5000);
    await world.append(["test.last"]);
    await following.idle();
    await following.close();
    assert.equal(
      (await world.database.tables.selectFrom("event_cursors").select("seq").executeTakeFirst())
        ?.seq,
      world.eventLog.newest,
    );
  });
});

import assert from "node:assert/strict";
import type { Change } from "../../../../../services/engines/database/mod.ts";
import type { KeptChannel } from "../../../../../services/engines/irc/mod.ts";
import { KeySeal } from "../../../../../services/chat/irc_server/services/channel_states.ts";
import {
  ChannelDirectory,
  KeptChannels,
} from "../../../../../services/chat/irc_server/services/registered_channels.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import { TestLog, withServices } from "../../../../support/services.ts";
import { until } from "../../../../support/until.ts";

const DEN: KeptChannel = {
  name: "#den",
  createdAt: 0,
  topic: null,
  flags: "nt",
  key: null,
  userLimit: null,
  lists: {},
};

/** A database whose writes wait to be settled. */
class SlowDatabase {
  readonly waiting: PromiseWithResolvers<void>[] = [];
  commits = 0;

  async commit(_: Change) {
    this.commits++;
    const wait = Promise.withResolvers<void>();
    this.waiting.push(wait);
    await wait.promise;
    return { changes: [], sequence: [] };
  }
}

async function withKept(
  run: (kept: KeptChannels, database: SlowDatabase, clock: TestScheduler) => Promise<void>,
): Promise<void> {
  await withServices(async (services) => {
    const database = new SlowDatabase();
    const clock = new TestScheduler();
    const options = { secret: new Uint8Array(32), scheduler: clock, log: new TestLog() };
    const directory = await ChannelDirectory.open(services);
    await run(new KeptChannels({ ...options, database, directory }), database, clock);
  });
}

Deno.test("changes during a write are written together, and none is lost", async () => {
  await withKept(async (kept, database) => {
    const first = kept.put(DEN);
    const others = ["a", "b", "c"].map((flags) => kept.put({ ...DEN, flags }));
    assert.equal(kept.find("#den")?.flags, "c");
    assert.equal(database.commits, 1);
    let chained = false;
    const last = first.then(() => {
      chained = true;
      return kept.put({ ...DEN, flags: "d" });
    });
    database.waiting.shift()?.resolve();
    await until(() => database.waiting.length > 0);
    assert.equal(chained, false, "it is done when the last change is on disk");
    database.waiting.shift()?.resolve();
    assert.deepEqual(await Promise.all([first, ...others]), [true, true, true, true]);
    await until(() => database.waiting.length > 0);
    database.waiting.shift()?.resolve();
    await last;
    assert.equal(database.commits, 3);
    assert.equal(kept.find("#den"), null);
  });
});

Deno.test("unwritten changes are read from memory and tried again", async () => {
  await withKept(async (kept, database, clock) => {
    const put = kept.put(DEN);
    database.waiting.shift()?.reject(new Error("The disk is full"));
    assert.equal(await put, false);
    const again = kept.put({ ...DEN, flags: "m" });
    assert.equal(database.commits, 2);
    database.waiting.shift()?.reject(new Error("The disk is full"));
    assert.equal(await again, false);
    assert.equal(kept.find("#den")?.flags, "m");
    clock.advance(5000);
    assert.equal(database.commits, 3);
    const closing = kept.close();
    database.waiting.shift()?.resolve();
    await closing;
    assert.equal(kept.find("#den"), null);
    assert.equal(clock.pending, 0);
  });
});

Deno.test("only the secret that sealed a channel's key opens it", () => {
  const seal = new KeySeal(new Uint8Array(32));
  const sealed = seal.seal("päss");
  assert.notEqual(seal.seal("päss"), sealed);
  assert.equal(seal.open(sealed), "päss");
  assert.equal(new KeySeal(new Uint8Array(32).fill(1)).open(sealed), null);
  assert.equal(seal.open(sealed.slice(0, 10)), null);
});

import assert from "node:assert/strict";
import {
  isMalformed,
  type Presence,
  Watched,
  Windows,
} from "../../../../services/chat/bots/snitch.ts";

Deno.test("a window counts what happened within its span", () => {
  const windows = new Windows();
  const counts = [0, 400, 800, 1500, 1600].map((time) => windows.add("a", 3, 1000, time));
  assert.deepEqual(counts, [null, null, 3, null, 3]);
  assert.equal(windows.add("b", 1, 1000, 0), 1);
  assert.equal(windows.add("c", 0, 1000, 0), null);
});

function changes(watched: Watched, now: Record<string, Presence>, isSettling = false): string[] {
  const nicks = Object.keys(now);
  return watched.compare(nicks, (nick) => now[nick] ?? "gone", isSettling)
    .map(({ nick, kind }) => `${nick} ${kind}`);
}

Deno.test("an agent that was never seen causes no alarm; one that was seen does", () => {
  const watched = new Watched(null);
  assert.deepEqual(changes(watched, { ann: "gone", bob: "here" }), []);
  assert.deepEqual(changes(watched, { ann: "gone", bob: "gone" }), ["bob gone"]);
  assert.deepEqual(changes(watched, { ann: "here", bob: "gone" }), []);
  assert.deepEqual(changes(watched, { ann: "away", bob: "here" }), ["ann away", "bob back"]);
  assert.deepEqual(changes(watched, { ann: "here" }), ["ann back"]);
});

Deno.test("after a restart, who was there before may take a while to come back", () => {
  const watched = new Watched(null);
  changes(watched, { ann: "here", bob: "here" });
  const restored = new Watched(watched.state);
  assert.deepEqual(changes(restored, { ann: "gone", bob: "here" }, true), []);
  assert.deepEqual(changes(restored, { ann: "gone", bob: "here" }), ["ann gone"]);
});

Deno.test("watched nicks are those of the settings and the added ones, bounded", () => {
  const watched = new Watched(null);
  assert.equal(watched.add("Bob"), true);
  assert.equal(watched.add("bob"), false);
  assert.deepEqual(watched.nicks(["ann", "BOB"]), ["ann", "Bob"]);
  assert.equal(watched.remove("BOB"), true);
  assert.equal(watched.remove("bob"), false);
  for (let index = 0; index < 200; index++) assert.equal(watched.add(`n${index}`), true);
  assert.equal(watched.add("more"), null);
});

Deno.test("a malformed envelope begins like one and is none", () => {
  assert.equal(isMalformed('{"v":1,"type":"x","id":"1","from":"a"}'), false);
  assert.equal(isMalformed('{"v":1,"type":"x"'), true);
  assert.equal(isMalformed(' {"type":"x"}'), true);
  assert.equal(isMalformed("well {"), false);
});

import assert from "node:assert/strict";
import { ConnectRate } from "../../../services/irc/admission/connect_rate.ts";

Deno.test("an address has a burst of connections that refills with time", () => {
  const rate = new ConnectRate();
  const take = (now: number, place = "192.0.2.1") => rate.take(place, 3, now);
  assert.deepEqual([take(0), take(0), take(0), take(0)], [true, true, true, false]);
  assert.equal(take(0, "192.0.2.2"), true);
  assert.deepEqual([take(19_000), take(20_000), take(20_000)], [false, true, false]);
  assert.deepEqual([take(600_000), take(600_000)], [true, true]);
  assert.equal(rate.take("192.0.2.1", null, 600_000), true);
});

Deno.test("the address with the oldest connection is forgotten first", () => {
  const rate = new ConnectRate();
  rate.take("first", 1, 0);
  for (let count = 0; count < 10_000; count++) rate.take(`other-${count}`, 1, 0);
  assert.equal(rate.take("first", 1, 0), true);
  assert.equal(rate.take("other-9999", 1, 0), false);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { MessageClock } from "../../../../services/engines/irc/history/message_clock.ts";

Deno.test("a timestamp is as Date writes it, in every second and millisecond", () => {
  const steps = fc.array(fc.oneof(fc.nat(3), fc.nat(2000), fc.nat(100_000_000)));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), steps, (start, list) => {
      let now = start;
      const clock = new MessageClock(() => now, 0);
      for (const step of list) {
        now += step;
        assert.equal(clock.timestamp(), new Date(now).toISOString());
        assert.equal(clock.stampedAt, now);
      }
    }),
  );
});

Deno.test("ids count in base 36, after a beginning that is random per start", () => {
  const clock = new MessageClock(() => 0, 0);
  const first = clock.nextId();
  assert.match(first, /^[0-9a-z]+-1$/);
  for (let count = 2; count < 4000; count++) {
    assert.equal(clock.nextId(), first.slice(0, -1) + count.toString(36));
  }
  assert.notEqual(new MessageClock(() => 0, 0).nextId(), first);
});

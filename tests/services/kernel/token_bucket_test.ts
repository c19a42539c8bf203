import assert from "node:assert/strict";
import fc from "fast-check";
import { type Rate, TokenBucket } from "../../../services/kernel/token_bucket.ts";

/** What somebody does with a bucket, some milliseconds after the step before. */
interface Step {
  readonly after: number;
  readonly amount: number;
  readonly way: "tryTake" | "take";
}

const rates: fc.Arbitrary<Rate> = fc.record({
  perSecond: fc.integer({ min: 0, max: 50 }),
  burst: fc.integer({ min: 0, max: 50 }),
});

const steps: fc.Arbitrary<Step> = fc.record({
  after: fc.integer({ min: -100, max: 5000 }),
  amount: fc.integer({ min: 0, max: 60 }),
  way: fc.constantFrom("tryTake", "take"),
});

Deno.test("a token bucket does what its model in thousandths of tokens does", () => {
  fc.assert(fc.property(rates, fc.array(steps, { maxLength: 30 }), (rate, taken) => {
    const most = Math.max(rate.burst, 1) * 1000;
    const bucket = new TokenBucket(rate, 0);
    let [now, model] = [0, most];
    for (const { after, amount, way } of taken) {
      now += after;
      model = Math.min(most, model + Math.max(0, after) * rate.perSecond);
      const missing = amount * 1000 - model;
      const delay = missing <= 0 ? 0 : Math.ceil(missing / rate.perSecond);
      if (way === "tryTake") {
        const got = bucket.tryTake(now, amount);
        assert.ok(got === delay || Math.abs(got - delay) <= 1, `${got} is not ${delay}`);
        if (got === 0) model -= amount * 1000;
      } else {
        bucket.take(now, amount);
        model = Math.max(model - amount * 1000, -most);
      }
    }
  }));
});

Deno.test("a token bucket is full again under another rate, and not under an equal one", () => {
  const bucket = new TokenBucket({ perSecond: 1, burst: 2 }, 0);
  bucket.take(0, 2);
  bucket.follow({ perSecond: 1, burst: 2 }, 0);
  assert.equal(bucket.delay(0), 1000);
  bucket.follow({ perSecond: 1, burst: 3 }, 0);
  assert.equal(bucket.delay(0, 3), 0);
});

Deno.test("an allowance after a delay is there when the delay has passed", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 9 }),
      (perSecond, amount) => {
        const bucket = new TokenBucket({ perSecond, burst: 10 }, 0);
        bucket.take(0, 20);
        const delay = bucket.tryTake(0, amount);
        assert.equal(bucket.tryTake(delay, amount), 0);
      },
    ),
  );
});

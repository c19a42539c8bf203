import assert from "node:assert/strict";
import fc from "fast-check";
import { KeyedSemaphore, Semaphore } from "../../../services/kernel/semaphore.ts";

const full = () => new RangeError("full");

/** Lets everything run that waits for nothing else. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a semaphore does what its model does", async () => {
  const acts = fc.array(fc.constantFrom("acquire", "release", "abort"), { maxLength: 40 });
  const sizes = fc.record({
    permits: fc.integer({ min: 1, max: 3 }),
    maxWaiting: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(sizes, acts, async ({ permits, maxWaiting }, done) => {
      const semaphore = new Semaphore({ permits, maxWaiting, refusal: full });
      const held: { readonly name: number; readonly permit: Disposable }[] = [];
      const ends: string[] = [];
      const modelHeld: number[] = [];
      const modelWaiting: { readonly name: number; readonly gone: AbortController }[] = [];
      const modelEnds: string[] = [];
      for (const [name, act] of done.entries()) {
        if (act === "acquire") {
          const gone = new AbortController();
          semaphore.acquire(gone.signal).then(
            (permit) => held.push({ name, permit }),
            (error) => ends.push(`${name} ${error.name}`),
          );
          if (modelHeld.length < permits) modelHeld.push(name);
          else if (modelWaiting.length < maxWaiting) modelWaiting.push({ name, gone });
          else modelEnds.push(`${name} RangeError`);
        } else if (act === "release") {
          const first = held.shift();
          first?.permit[Symbol.dispose]();
          // A permit is given back once.
          first?.permit[Symbol.dispose]();
          modelHeld.shift();
          const next = first === undefined ? undefined : modelWaiting.shift();
          if (next !== undefined) modelHeld.push(next.name);
        } else {
          const [one] = modelWaiting.splice(-1, 1);
          one?.gone.abort();
          if (one !== undefined) modelEnds.push(`${one.name} AbortError`);
        }
        await settled();
        assert.deepEqual(held.map((one) => one.name), modelHeld);
        assert.deepEqual(ends, modelEnds);
        assert.equal(semaphore.isIdle, modelHeld.length === 0);
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("permits of different keys do not wait for each other", async () => {
  const keyed = new KeyedSemaphore({ permits: 1, maxWaiting: 1, refusal: full });
  const order: string[] = [];
  const run = async (key: string, name: string, gate: Promise<void>) => {
    using _permit = await keyed.acquire(key);
    await gate;
    order.push(name);
  };
  const gate = Promise.withResolvers<void>();
  const first = run("a", "a1", gate.promise);
  const second = run("a", "a2", Promise.resolve());
  await assert.rejects(run("a", "a3", Promise.resolve()), RangeError);
  await run("b", "b1", Promise.resolve());
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(order, ["b1", "a1", "a2"]);
});

Deno.test("a keyed semaphore is idle when the last permit of any key is given back", async () => {
  const keyed = new KeyedSemaphore({ permits: 1, maxWaiting: 1, refusal: full });
  await keyed.idle();
  const one = await keyed.acquire("a");
  const other = keyed.acquire("a");
  let isIdle = false;
  const idle = keyed.idle().then(() => isIdle = true);
  one[Symbol.dispose]();
  const permit = await other;
  await settled();
  assert.equal(isIdle, false);
  permit[Symbol.dispose]();
  await idle;
});

Deno.test("a caller that has gone before it asks takes no permit", async () => {
  const keyed = new KeyedSemaphore({ permits: 1, maxWaiting: 1, refusal: full });
  await assert.rejects(keyed.acquire("a", AbortSignal.abort()), { name: "AbortError" });
  await keyed.idle();
});

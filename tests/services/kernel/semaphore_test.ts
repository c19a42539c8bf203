import assert from "node:assert/strict";
import fc from "fast-check";
import { Semaphore } from "../../../services/kernel/semaphore.ts";
import { THOROUGH } from "../../support/level.ts";

const full = () => new RangeError("full");

/** Lets everything run that waits for nothing else. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a semaphore does what its model does", THOROUGH, async () => {
  const act = fc.record({
    kind: fc.constantFrom("acquire", "acquire", "release", "abort"),
    key: fc.constantFrom("a", "b", "c"),
    isUrgent: fc.boolean(),
    index: fc.nat(5),
  });
  const bound = (min: number) => fc.integer({ min, max: 3 });
  const bounds = fc.record({
    permits: bound(1),
    permitsPerKey: bound(1),
    maxWaiting: bound(0),
    maxWaitingPerKey: bound(0),
  });
  interface One {
    readonly name: number;
    readonly key: string;
    readonly isUrgent: boolean;
  }
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(act, { maxLength: 40 }), async (bounds, acts) => {
      const semaphore = new Semaphore({ ...bounds, refusal: full });
      const held: (One & { readonly permit: Disposable })[] = [];
      const ends: string[] = [];
      let waiting: (One & { readonly gone: AbortController })[] = [];
      const expected: string[] = [];
      for (const [name, { kind, key, isUrgent, index }] of acts.entries()) {
        const heldBy = (key: string) => held.filter((one) => one.key === key).length;
        const isFree = (key: string) =>
          held.length < bounds.permits && heldBy(key) < bounds.permitsPerKey;
        const before = held.map((one) => one.name);
        /** Those of whom one must get a permit now. */
        let candidates: readonly One[] = [];
        if (kind === "acquire") {
          const gone = new AbortController();
          const one = { name, key, isUrgent };
          if (isFree(key)) candidates = [one];
          else {
            const ofKey = waiting.filter((other) =>
              other.key === key && other.isUrgent === isUrgent
            );
            const isFull = waiting.length >= bounds.maxWaiting ||
              ofKey.length >= Math.min(bounds.maxWaitingPerKey, bounds.maxWaiting);
            if (isFull) expected.push(`${name} RangeError`);
            else waiting.push({ ...one, gone });
          }
          semaphore.acquire(key, { signal: gone.signal, isUrgent }).then(
            (permit) => held.push({ ...one, permit }),
            (error) => ends.push(`${name} ${error.name}`),
          );
        } else if (kind === "release" && held.length > 0) {
          const [one] = held.splice(index % held.length, 1);
          one?.permit[Symbol.dispose]();
          // A permit is given back once.
          one?.permit[Symbol.dispose]();
          const free = waiting.filter(({ key }) => isFree(key));
          const urgent = free.filter((one) => one.isUrgent);
          candidates = urgent.length > 0 ? urgent : free;
          before.splice(0, before.length, ...held.map((one) => one.name));
        } else if (kind === "abort" && waiting.length > 0) {
          const [one] = waiting.splice(index % waiting.length, 1);
          one?.gone.abort();
          expected.push(`${one?.name} AbortError`);
        }
        await settled();
        const begun = held.filter((one) => !before.includes(one.name));
        assert.equal(begun.length, candidates.length > 0 ? 1 : 0, "one that can begin does");
        for (const one of begun) {
          const first = candidates.find(({ key }) => key === one.key);
          assert.equal(one.name, first?.name, "those of one key begin in their order");
          waiting = waiting.filter(({ name }) => name !== one.name);
        }
        assert.deepEqual(ends, expected);
        assert.equal(semaphore.held, held.length);
        assert.equal(semaphore.waiting, waiting.length);
        assert.equal(
          semaphore.countOf(key),
          [...held, ...waiting].filter((one) => one.key === key).length,
        );
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("keys take turns, however many of one wait", async () => {
  const semaphore = new Semaphore({ permits: 1, refusal: full });
  const order: string[] = [];
  const run = async (key: string) => {
    using _permit = await semaphore.acquire(key);
    await settled();
    order.push(key);
  };
  await Promise.all(["a", "a", "a", "b", "c", "b"].map(run));
  assert.deepEqual(order, ["a", "a", "b", "c", "a", "b"]);
});

Deno.test("one that has waited too long is refused, and takes no permit later", async () => {
  const semaphore = new Semaphore({ permits: 1, maxWaitMs: 1, refusal: full });
  const permit = await semaphore.acquire();
  await assert.rejects(semaphore.acquire(), RangeError);
  assert.equal(semaphore.waiting, 0);
  permit[Symbol.dispose]();
  assert.equal(semaphore.held, 0);
});

Deno.test("a semaphore is idle when the last permit of any key is given back", async () => {
  const semaphore = new Semaphore({ permitsPerKey: 1, refusal: full });
  await semaphore.idle();
  const one = await semaphore.acquire("a");
  const other = semaphore.acquire("a");
  let isIdle = false;
  const idle = semaphore.idle().then(() => isIdle = true);
  one[Symbol.dispose]();
  const permit = await other;
  await settled();
  assert.equal(isIdle, false);
  permit[Symbol.dispose]();
  await idle;
});

Deno.test("a caller that has gone before it asks takes no permit", async () => {
  const semaphore = new Semaphore({ permits: 1, refusal: full });
  await assert.rejects(semaphore.acquire("a", { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
  await semaphore.idle();
});

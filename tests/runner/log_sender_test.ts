import assert from "node:assert/strict";
import fc from "fast-check";
import { LogSender } from "../../runner/client/log_sender.ts";
import { Away, Refused } from "../../runner/client/server.ts";
import type { LogLine } from "../../services/work/runs/assignment.ts";

const LEASE = { id: "job", generation: 1 };

/** A server that keeps lines, and does what a list says with each request. */
class FakeServer {
  readonly lines: LogLine[] = [];
  readonly #moods: string[];
  #highest = 0;

  constructor(moods: readonly string[]) {
    this.#moods = [...moods];
  }

  log(_lease: unknown, from: number, lines: readonly LogLine[]): Promise<number> {
    const mood = this.#moods.shift() ?? "fine";
    if (mood === "away") return Promise.reject(new Away("It is away"));
    if (from > this.lines.length + 1) {
      return Promise.reject(new Refused("A gap", 409, this.lines.length + 1));
    }
    const fresh = lines.slice(this.lines.length + 1 - from);
    // It may take a part, or take all and answer nobody.
    this.lines.push(...mood === "part" ? fresh.slice(0, 1) : fresh);
    this.#highest = Math.max(this.#highest, lines.length);
    if (mood === "deaf") return Promise.reject(new Away("The answer is lost"));
    return Promise.resolve(this.lines.length + 1);
  }
}

const line = (number: number): LogLine => ({ at: number, stream: "out", text: `line ${number}` });

Deno.test("the server has each line once and in order, whatever happens on the way", async () => {
  const moods = fc.array(fc.constantFrom("fine", "part", "away", "deaf"), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(moods, fc.integer({ min: 0, max: 3000 }), async (list, count) => {
      const server = new FakeServer(list);
      const { signal } = new AbortController();
      const sender = new LogSender({ server, lease: LEASE, signal, onRefused: assert.fail });
      for (let number = 0; number < count; number++) await sender.write(line(number));
      await sender.close();
      assert.deepEqual(server.lines, Array.from({ length: count }, (_, number) => line(number)));
    }),
    { numRuns: 12 },
  );
});

Deno.test("lines wait for a server that is away, within a bound", async () => {
  const server = new FakeServer([]);
  let isAway = true;
  const stopped = new AbortController();
  const log: FakeServer["log"] = (...request) =>
    isAway ? Promise.reject(new Away("It is away")) : server.log(...request);
  const sender = new LogSender({
    server: { log },
    lease: LEASE,
    signal: stopped.signal,
    onRefused: assert.fail,
  });
  const long = { at: 0, stream: "out", text: "x".repeat(8000) } as const;
  let count = 0;
  let full: Promise<void> | void = undefined;
  for (; full === undefined; count++) full = sender.write(long);
  assert.ok(count > 500 && count < 2000, String(count));
  isAway = false;
  await full;
  await sender.close();
  assert.equal(server.lines.length, count);
});

Deno.test("a server that wants no more lines is told of, and nobody waits for it", async () => {
  const refused: string[] = [];
  const stopped = new AbortController();
  const sender = new LogSender({
    server: { log: () => Promise.reject(new Refused("The lease has ended", 409)) },
    lease: LEASE,
    signal: stopped.signal,
    onRefused: ({ message }) => {
      refused.push(message);
      stopped.abort();
    },
  });
  void sender.write(line(0));
  await sender.close();
  assert.deepEqual(refused, ["The lease has ended"]);
  await sender.write(line(1));
});

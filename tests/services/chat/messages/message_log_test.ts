import fc from "fast-check";
import assert from "node:assert/strict";
import { Invalid } from "../../../../services/kernel/errors.ts";
import { Window } from "../../../../services/chat/messages/message_log.ts";
import {
  type Logged,
  type LoggedMessage,
  MessageLog,
} from "../../../../services/chat/messages/mod.ts";

type TestLog = MessageLog<LoggedMessage>;
type Kept = Logged<LoggedMessage>;

function newLog(capacity: number, maxUnits = Infinity): TestLog {
  return new MessageLog({
    capacity,
    maxUnits,
    onFailure: (error) => {
      throw error;
    },
  });
}

function append(log: TestLog, text: string, time = 0): Kept {
  return log.append({ id: `id-${text}`, text }, time);
}

const capacities = fc.integer({ min: 1, max: 12 });
/** Server times that stand still, jump and run backwards. */
const times = fc.array(fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_003 }), {
  maxLength: 40,
});

type Step =
  | { readonly kind: "append"; readonly time: number }
  /** Follow from a message that many before the newest; 0 is from now on. */
  | {
    readonly kind: "follow";
    readonly back: number;
    readonly by: "id" | "timestamp";
    /** Which of two groups it joins, if any. */
    readonly group: 0 | 1 | null;
  }
  | { readonly kind: "unfollow"; readonly which: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("append" as const), time: fc.integer({ min: 0, max: 5 }) }),
    fc.record({
      kind: fc.constant("follow" as const),
      back: fc.integer({ min: 0, max: 12 }),
      by: fc.constantFrom("id" as const, "timestamp" as const),
      group: fc.constantFrom(null, 0 as const, 1 as const),
    }),
    fc.record({ kind: fc.constant("unfollow" as const), which: fc.nat() }),
  ),
  { maxLength: 60 },
);

interface Reader {
  readonly got: Kept[];
  readonly expected: Kept[];
  open: boolean;
  readonly unfollow: () => void;
}

/** Passes messages on to its members. */
class Group {
  readonly members = new Set<Kept[]>();

  message(message: Kept): void {
    for (const got of this.members) got.push(message);
  }
}

/** Does one step on the log and on a plain list of all messages, which is the model. */
function take(
  step: Step,
  log: TestLog,
  all: Kept[],
  { readers, groups }: { readonly readers: Reader[]; readonly groups: readonly Group[] },
): void {
  if (step.kind === "append") {
    const message = append(log, String(all.length), step.time);
    all.push(message);
    for (const reader of readers) if (reader.open) reader.expected.push(message);
  } else if (step.kind === "unfollow") {
    const reader = readers[step.which % Math.max(readers.length, 1)];
    if (reader === undefined) return;
    reader.unfollow();
    reader.open = false;
  } else {
    const back = Math.min(step.back, log.size - 1);
    const from = back > 0 ? all.at(-1 - back) : undefined;
    const got: Kept[] = [];
    const group = groups[step.group ?? groups.length];
    const follower = { message: (message: Kept) => got.push(message), end() {} };
    const join = (group: Group) => {
      group.members.add(got);
      return group;
    };
    const since = step.by === "id" ? from?.id : from?.timestamp;
    const unfollow = log.follow(since, group ? { ...follower, join: () => join(group) } : follower);
    const expected = from ? all.slice(-back) : [];
    readers.push({
      got,
      expected,
      open: true,
      unfollow() {
        group?.members.delete(got);
        unfollow();
      },
    });
  }
}

Deno.test("MessageLog gives every follower its messages without gap or repeat", () => {
  fc.assert(fc.property(capacities, steps, (capacity, todo) => {
    const log = newLog(capacity);
    const all: Kept[] = [];
    const readers: Reader[] = [];
    const groups = [new Group(), new Group()];
    for (const step of todo) take(step, log, all, { readers, groups });
    for (const { got, expected } of readers) assert.deepEqual(got, expected);
    assert.deepEqual(log.read(undefined, capacity), all.slice(-capacity));
  }));
});

Deno.test("MessageLog gives strictly increasing timestamps, even when the server's clock goes back", () => {
  fc.assert(fc.property(times, (list) => {
    const log = newLog(100);
    const stamps = list.map((time, index) => append(log, String(index), time).timestamp);
    assert.deepEqual(stamps, [...new Set(stamps)].sort());
    for (const stamp of stamps) assert.match(stamp, /^2023-.*T.*\.\d{6}Z$/);
  }));
});

Deno.test("MessageLog writes the server's time of a message, in whichever second it is", () => {
  const any = fc.integer({ min: 0, max: Date.parse("2255-01-01T00:00:00Z") });
  fc.assert(fc.property(any, fc.array(fc.nat(5000)), (start, steps) => {
    const log = newLog(1000);
    let time = start;
    for (const [index, step] of steps.entries()) {
      time += step + 1;
      const { timestamp } = append(log, String(index), time);
      assert.equal(timestamp, `${new Date(time).toISOString().slice(0, -1)}000Z`);
    }
  }));
});

Deno.test("MessageLog read page by page gives every message once", () => {
  const limits = fc.integer({ min: 1, max: 7 });
  fc.assert(fc.property(times, limits, fc.boolean(), (list, limit, byId) => {
    const log = newLog(40);
    list.forEach((time, index) => append(log, String(index), time));
    const pages: string[] = [];
    let since = "1970-01-01T00:00:00Z";
    for (;;) {
      const page = log.read(since, limit);
      const last = page.at(-1);
      if (last === undefined) break;
      pages.push(...page.map(({ text }) => text));
      since = byId ? last.id : last.timestamp;
    }
    assert.deepEqual(pages, list.map((_, index) => String(index)));
  }));
});

Deno.test("MessageLog takes a time in any zone and precision for since", () => {
  const log = newLog(10);
  const time = Date.parse("2026-11-20T12:00:00.123Z");
  append(log, "a", time);
  append(log, "b", time);
  const texts = (since: string) => log.read(since, 10).map(({ text }) => text);
  assert.deepEqual(texts("2026-11-20T12:00:00Z"), ["a", "b"]);
  assert.deepEqual(texts("2026-11-20T12:00:00.123Z"), ["b"]);
  assert.deepEqual(texts("2026-11-20T13:00:00.123000999+01:00"), ["b"]);
  assert.deepEqual(texts("2026-11-20T12:00:00.123001Z"), []);
});

Deno.test("MessageLog refuses a since that is neither a time nor a message it keeps", () => {
  const log = newLog(1);
  append(log, "a");
  append(log, "b");
  for (const since of ["", "id-a", "yesterday", "2026-13-01T00:00:00Z", "2026-11-20"]) {
    assert.throws(() => log.read(since, 10), Invalid, since);
  }
});

Deno.test("MessageLog gives a failing follower up and serves the others", () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const log: TestLog = new MessageLog({ capacity: 10, onFailure });
  const got: string[] = [];
  const fault = new Error("fault");
  log.follow(undefined, {
    message() {
      throw fault;
    },
    end: () => assert.fail("It was given up"),
  });
  log.follow(undefined, { message: ({ text }) => got.push(text), end: (why) => got.push(why) });
  append(log, "a");
  append(log, "b");
  log.end("over");
  assert.deepEqual(got, ["a", "b", "over"]);
  assert.deepEqual(failures, [fault]);
});

Deno.test("MessageLog passes a message once to a group, while the group has followers", () => {
  const failures: unknown[] = [];
  const log: TestLog = new MessageLog({ capacity: 10, onFailure: (why) => failures.push(why) });
  const got: string[] = [];
  const group = {
    message({ text }: Kept) {
      if (text === "fault") throw text;
      got.push(text);
    },
  };
  const follow = () => log.follow(undefined, { message() {}, end() {}, join: () => group });
  const [unfollow, unfollowOther] = [follow(), follow()];
  append(log, "to both");
  unfollow();
  append(log, "to the other");
  unfollowOther();
  append(log, "to nobody");
  follow();
  for (const text of ["fault", "after its fault"]) append(log, text);
  assert.deepEqual(got, ["to both", "to the other"]);
  assert.deepEqual(failures, ["fault"]);
  assert.equal(log.followers, 0);
});

Deno.test("MessageLog keeps to its bound of text, but always the newest message", () => {
  const log = newLog(10, 5);
  for (const text of ["one", "two", "six"]) append(log, text);
  assert.deepEqual(log.read(undefined, 10).map(({ text }) => text), ["six"]);
  append(log, "no");
  assert.deepEqual(log.read(undefined, 10).map(({ text }) => text), ["six", "no"]);
  append(log, "longer than all");
  assert.deepEqual(log.read(undefined, 10).map(({ text }) => text), ["longer than all"]);
});

Deno.test("MessageLog does not return a removed message, and continues from its place", () => {
  const log = newLog(10);
  for (const text of ["a", "b", "c", "d"]) append(log, text);
  log.remove(({ id }) => id === "id-b");
  const texts = (since?: string) => log.read(since, 10).map(({ text }) => text);
  assert.deepEqual(texts(), ["a", "c", "d"]);
  assert.deepEqual(texts("id-b"), ["c", "d"]);
  assert.equal(log.size, 3);
  log.remove(() => true);
  assert.deepEqual(texts("id-d"), []);
});

/** What a test does to a window and to an array. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant("push" as const) },
  { weight: 4, arbitrary: fc.constant("shift" as const) },
  fc.record({ index: fc.nat(60), count: fc.nat(5) }),
);

Deno.test("a window has what an array has", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300, size: "max" }), (steps) => {
      const window = new Window<{ readonly number: number }>();
      const array: { readonly number: number }[] = [];
      for (const [number, step] of steps.entries()) {
        if (step === "push") {
          window.push({ number });
          array.push({ number });
        } else if (step === "shift") {
          assert.deepEqual(window.shift(), array.shift());
        } else {
          const { index, count } = step;
          assert.deepEqual(window.slice(index), array.slice(index));
          assert.deepEqual(window.slice(index, index + count), array.slice(index, index + count));
          assert.deepEqual(window.remove(index, count), array.splice(index, count));
        }
        assert.equal(window.length, array.length);
        assert.deepEqual(window.last, array.at(-1));
        assert.deepEqual(window.at(0), array[0]);
        assert.deepEqual(window.slice(0), array);
      }
    }),
  );
});

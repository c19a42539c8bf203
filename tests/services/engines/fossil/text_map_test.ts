/** Names that are digits, which a table of the runtime would put into one place. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { takeDefinitions } from "../../../../services/engines/fossil/crosslink/markup/markdown_references.ts";
import { readDiff, Reader, readTree, writeMerge } from "../../../../services/engines/fossil/mod.ts";
import { Moves, type Rename } from "../../../../services/engines/fossil/graph/mod.ts";
import { TextMap, TextSet } from "../../../../services/engines/fossil/text/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { Fixture, put } from "./support/fixture.ts";
import { THOROUGH } from "../../../support/level.ts";

const COUNT = 5_000;

/** Texts whose digits have the same low bits. */
const COLLIDING = Array.from({ length: COUNT }, (_, index) => `${(index + 1) * 65_536}`);

const text = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom("0", "65536", "\0", "\x0065536", "\0\x0065536", "4294967295", "42949672950", ""),
);

Deno.test("a map of texts holds what a Map does", () => {
  fc.assert(fc.property(fc.array(fc.tuple(text, fc.nat())), fc.array(text), (entries, gone) => {
    const [ours, theirs] = [new TextMap(entries), new Map(entries)];
    const set = new TextSet(ours.keys());
    for (const key of gone) {
      assert.equal(ours.has(key), theirs.has(key));
      assert.equal(set.has(key), theirs.has(key));
      assert.deepEqual([ours.delete(key), set.delete(key)], Array(2).fill(theirs.delete(key)));
    }
    const all: [string, number][] = [];
    ours.forEach((value, key) => all.push([key, value]));
    const expected = [...theirs];
    assert.deepEqual([[...ours], all, [...ours.entries()]], [expected, expected, expected]);
    assert.deepEqual([[...set], [...ours.keys()]], Array(2).fill([...theirs.keys()]));
    assert.deepEqual([ours.size, set.size], [theirs.size, theirs.size]);
    for (const [key, value] of theirs) assert.equal(ours.get(key), value);
  }));
});

Deno.test(
  "a repository of files named by digits takes about as long as any other",
  THOROUGH,
  () => {
    const times = (nameOf: (digits: string) => string) => {
      using fixture = new Fixture();
      const { repository } = fixture;
      const names = COLLIDING.map(nameOf);
      const reader = new Reader(repository);
      const start = fixture.commit(names.map((name) => put(name, "")));
      const taken = (work: () => unknown) => cpuTimeOf(() => void work());
      return {
        commit: taken(() => fixture.commit([put("c", "")])),
        tree: taken(() => readTree(reader, {})),
        merge: taken(() => {
          const theirs = fixture.commit([put("b", "")], { parent: start, branch: "side" });
          writeMerge(repository, { ...fixture.author(), ours: fixture.tip(), theirs });
        }),
      };
    };
    const usual = times((digits) => `a${digits}`);
    const digits = times((name) => name);
    for (const what of ["commit", "tree", "merge"] as const) {
      assert.ok(
        digits[what] < 100 + 2 * usual[what],
        `${what}: ${digits[what]}, ${usual[what]} ms`,
      );
    }
  },
);

Deno.test("lines and definitions of digits are compared about as fast as any other", () => {
  using fixture = new Fixture();
  const times = (nameOf: (digits: string) => string) => {
    const names = COLLIDING.map(nameOf);
    const from = fixture.commit([put("a", `${names.join("\n")}\n`)]);
    const to = fixture.commit([put("a", `x\n${names.toReversed().join("\n")}\n`)]);
    const definitions = names.map((label) => `[${label}]: /a\n`).join("");
    return {
      diff: cpuTimeOf(() => {
        readDiff(new Reader(fixture.repository), { from, to, ignoresWhitespace: true });
      }),
      references: cpuTimeOf(() => {
        assert.equal(takeDefinitions(definitions).references.size, COUNT);
      }),
    };
  };
  const usual = times((digits) => `a${digits}`);
  const digits = times((name) => name);
  for (const what of ["diff", "references"] as const) {
    assert.ok(digits[what] < 60 + 2 * usual[what], `${what}: ${digits[what]}, ${usual[what]} ms`);
  }
});

Deno.test("a merge of files that differ in case takes time for each file", () => {
  using fixture = new Fixture();
  const names = Array.from({ length: 1500 }, (_, index) => [`a${index}`, `A${index}`]).flat();
  const pair = (text: string) => names.map((name) => put(name, text));
  const start = fixture.commit(pair("1"), { anyNames: true });
  const ours = fixture.commit([put("b", "")], { anyNames: true });
  const theirs = fixture.commit([put("c", "")], { parent: start, branch: "side", anyNames: true });
  const taken = cpuTimeOf(() => {
    writeMerge(fixture.repository, { ...fixture.author(), ours, theirs });
  });
  assert.ok(taken < 1000, `${taken} ms`);
});

/** What {@link Moves} tells, in time for every file at each step. */
function movesOf(steps: readonly (readonly Rename[])[]): Map<string, string> {
  const paths = new Map<string, string>();
  for (const renames of steps) {
    const origins = new Map(Array.from(paths, ([start, now]) => [now, start]));
    const found = renames.map(({ from, to }) => ({
      start: origins.get(from) ?? (paths.has(from) ? null : from),
      to,
    }));
    for (const { start, to } of found) if (start !== null) paths.set(start, to);
  }
  return paths;
}

Deno.test("renames of many check-ins are followed in time for each of them", () => {
  const renames = fc.shuffledSubarray(["a", "b", "c", "d", "e", "65536"]).map((paths) =>
    paths.map((from, index) => ({ from, to: paths[(index + 1) % paths.length] ?? "" }))
  );
  fc.assert(fc.property(fc.array(renames), (steps) => {
    const moves = new Moves();
    for (const step of steps) moves.add(step);
    assert.deepEqual([...moves.paths], [...movesOf(steps)]);
  }));
  const moves = new Moves();
  const taken = cpuTimeOf(() => {
    for (let step = 0; step < 20_000; step++) {
      moves.add([{ from: `a${step}`, to: `b${step}` }]);
      moves.add([]);
    }
  });
  assert.ok(taken < 500, `${taken} ms`);
});

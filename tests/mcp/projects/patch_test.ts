/** Patches and edits cost no more than a few times what they and the file are long. */
import assert from "node:assert/strict";
import { applyHunks, parsePatch } from "../../../mcp/projects/patch.ts";
import { occurrencesOf, placesIn } from "../../../mcp/projects/places.ts";
import { cpuTimeDuring, cpuTimeOf } from "../../support/cpu_time.ts";

/** What a few passes over a mebibyte take at most, in milliseconds; the quadratic way took seconds. */
const LINEAR = 1000;

/** Applies a patch of one file, and counts how often the text is searched. */
async function patched(text: string, patch: string) {
  const [file] = parsePatch(patch);
  assert.ok(file !== undefined);
  let searches = 0;
  const search = () => Promise.resolve(void searches++);
  try {
    return { ...await applyHunks("a", file.hunks, { text, search }), searches };
  } catch (error) {
    return { error: String(error), searches };
  }
}

function hunk(start: number, lines: readonly string[]): string {
  const count = (mark: string) => lines.filter((line) => line[0] !== mark).length;
  return `@@ -${start},${count("+")} +${start},${count("-")} @@\n${lines.join("\n")}\n`;
}

const HEAD = "--- a/a\n+++ b/a\n";

Deno.test("a hunk whose lines nearly stand everywhere is sought in linear time", async () => {
  const text = "a\n".repeat(100_000);
  const lines = [...Array<string>(40_000).fill("-a"), "-b", ...Array<string>(40_000).fill("-a")];
  const patch = HEAD + hunk(1, lines);
  const ms = await cpuTimeDuring(async () => {
    const { error = "", searches } = await patched(text, patch);
    assert.match(error, /line 40001 is "a", and the patch expects "b"/);
    assert.equal(searches, 1);
  });
  assert.ok(ms < LINEAR, `${ms} ms`);
});

Deno.test("of hunks that do not apply, only the first are sought", async () => {
  const hunks = Array.from({ length: 3000 }, (_, index) => hunk(3 * index + 1, [" a", "-b", " a"]));
  const { error = "", searches } = await patched("a\n".repeat(10_000), HEAD + hunks.join(""));
  assert.equal(searches, 5);
  assert.match(error, /the 2995 hunks after that may not apply either/);
});

Deno.test("a long file is patched at its end", async () => {
  const text = "a\n".repeat(300_000) + "b\n";
  const { text: after } = await patched(text, HEAD + hunk(300_001, ["-b", "+c"])) as {
    text: string;
  };
  assert.ok(after === "a\n".repeat(300_000) + "c\n");
});

Deno.test("an old text that nearly stands everywhere is sought in linear time", () => {
  const text = "a".repeat(900_000);
  const half = "a".repeat(50_000);
  const ms = cpuTimeOf(() => {
    assert.deepEqual(occurrencesOf(text, `${half}b${half}`), { first: -1, count: 0 });
    assert.deepEqual(occurrencesOf(text, half), { first: 0, count: 18 });
  });
  assert.ok(ms < LINEAR, `${ms} ms`);
});

Deno.test("places of a long text are those of a short one", () => {
  for (const sought of ["ab", "aab", "b".repeat(300), `${"ab".repeat(200)}a`]) {
    const text = `x${sought}yy${sought}${sought.slice(0, -1)}`;
    const expected = { first: text.indexOf(sought), count: text.split(sought).length - 1 };
    assert.deepEqual(occurrencesOf(text, sought), expected);
  }
  assert.deepEqual(placesIn([..."aabaabaa"], [..."aabaa"]), [0, 3]);
  assert.deepEqual(placesIn([..."aabaabaa"], [..."aabaa"], 1), [3]);
  assert.deepEqual(placesIn(["a"], ["a", "a"]), []);
});

import assert from "node:assert/strict";
import { Diff, type DiffFile, partsOf } from "../../web/parts/diff.tsx";
import { hunksOf, pairsOf, WordMarks } from "../../web/parts/diff_rows.ts";
import { findLive, HOSTILE_LINES } from "../support/hostile_texts.ts";

const TEXT = `--- a/x.ts
+++ b/x.ts
@@ -1,4 +1,5 @@
 one
-const two = 2;
+const two = 22;
+const three = 3;
 four
-five
\\ No newline at end of file
+five
`;

function file(changes: Partial<DiffFile> = {}): DiffFile {
  return {
    name: "x.ts",
    change_type: "modified",
    prev_name: null,
    uuid: "b",
    prev_uuid: "a",
    is_binary: false,
    added: 3,
    deleted: 2,
    diff: TEXT,
    is_truncated: false,
    total_lines: 9,
    unreadable: null,
    prev_lfs: null,
    lfs: null,
    ...changes,
  };
}

const aloneAt = ({ name }: DiffFile) => `/alone?path=${encodeURIComponent(name)}`;

async function htmlOf(...[props]: Parameters<typeof Diff>): Promise<string> {
  return String(await Diff(props));
}

Deno.test("a diff has the numbers of both sides, and the words that changed", () => {
  const [hunk] = hunksOf(TEXT);
  assert.deepEqual(hunk?.lines.map(({ kind, old, new: next }) => [kind, old, next]), [
    ["same", 1, 1],
    ["deleted", 2, null],
    ["added", null, 2],
    ["added", null, 3],
    ["same", 3, 4],
    ["deleted", 4, null],
    ["added", null, 5],
  ]);
  assert.ok(hunk !== undefined);
  const changed = new WordMarks().mark(hunk).lines[2]?.words.filter(({ isChanged }) => isChanged);
  assert.deepEqual(changed?.map(({ text }) => text), ["22"]);
  assert.equal(hunk?.lines[5]?.isUnended, true);
});

Deno.test("the words of long lines are compared within one bound for all files of a page", async () => {
  const words = (letter: string) => Array.from({ length: 190 }, (_, n) => n % 8 ? "a" : letter);
  const line = (mark: string, letter: string) => `${mark}${words(letter).join(" ")}\n`;
  const lines = line("-", "b").repeat(100) + line("+", "c").repeat(100);
  const files = Array.from(
    { length: 5 },
    (_, index) => file({ name: `${index}.txt`, diff: `@@ -1,100 +1,100 @@\n${lines}` }),
  );
  const html = await htmlOf({ files, layout: "unified", aloneAt });
  const marked = html.match(/<tr class="deleted">(?:(?!<\/tr>).)*<del>/gs) ?? [];
  assert.ok(marked.length > 50 && marked.length < 100, `${marked.length} lines`);
});

Deno.test("deleted lines stand beside the added ones in their place", () => {
  const pairs = pairsOf(hunksOf(TEXT)[0]?.lines ?? []);
  assert.deepEqual(pairs.map((pair) => [pair.old?.old ?? null, pair.new?.new ?? null]), [
    [1, 1],
    [2, 2],
    [null, 3],
    [3, 4],
    [4, 5],
  ]);
});

Deno.test("a page adds comments below lines, and links to their numbers", async () => {
  for (const layout of ["unified", "split"] as const) {
    const html = await htmlOf({
      files: [file()],
      layout,
      aloneAt,
      below: (_name, side, line) => side === "new" && line === 2 ? <b>a comment</b> : null,
      to: (_name, side, line) => `#${side}${line}`,
    });
    assert.equal(html.split("<b>a comment</b>").length, 2, layout);
    assert.match(html, /href="#new2"/);
    assert.match(html, /href="#old2"/);
    assert.match(html, /<ins>22<\/ins>/);
  }
});

Deno.test("both numbers of an unchanged line lead to the comments below it", async () => {
  for (const layout of ["unified", "split"] as const) {
    const html = await htmlOf({
      files: [file()],
      layout,
      aloneAt,
      below: (_name, side, line) => <b>{`below ${side}${line}`}</b>,
      to: (_name, side, line) => `#${side}${line}`,
    });
    for (const [, place] of html.matchAll(/href="#([a-z]+\d+)"/g)) {
      assert.ok(html.includes(`<b>below ${place}</b>`), `${layout}: ${place}`);
    }
  }
});

Deno.test("a long diff is on a page of its own, in parts", async () => {
  const lines = Array.from({ length: 4000 }, (_, i) => `+line ${i}\n`).join("");
  const long = file({ diff: `--- a/x\n+++ b/x\n@@ -0,0 +1,4000 @@\n${lines}`, added: 4000 });
  const folded = await htmlOf({ files: [long], layout: "unified", aloneAt });
  assert.match(folded, /4000 lines.*href="\/alone\?path=x\.ts"/s);
  assert.doesNotMatch(folded, /line 17/);
  assert.equal(partsOf(long), 3);
  const last = await htmlOf({ files: [long], layout: "unified", aloneAt, part: 3 });
  assert.doesNotMatch(last, /line 2999\b/);
  assert.match(last, /line 3000\b.*line 3999\b/s);
  assert.equal(hunksOf(long.diff, 3000, 1500)[0]?.lines.length, 1000);
});

Deno.test("a diff says why a file has no lines", async () => {
  const cases: [Partial<DiffFile>, RegExp][] = [
    [{ diff: "", is_binary: true }, /Binary files/],
    [{ diff: "", unreadable: "It is shunned" }, /It is shunned\./],
    [{ diff: "", change_type: "renamed", prev_name: "y.ts" }, /y\.ts → x\.ts.*without a change/s],
    [{ diff: "", is_truncated: true }, /Show it/],
    [{ diff: "", uuid: "a" }, /Only the mode/],
    [{ diff: "", prev_uuid: null, change_type: "added" }, /file is empty/],
  ];
  for (const [changes, pattern] of cases) {
    const files = [file(changes)];
    assert.match(await htmlOf({ files, layout: "unified", aloneAt }), pattern);
  }
});

Deno.test("nothing in the names or lines of a diff is live", async () => {
  for (const { aim, text } of HOSTILE_LINES) {
    const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old ${text}\n+new ${text}\n`;
    const files = [file({ name: text, prev_name: `${text}2`, change_type: "renamed", diff })];
    for (const layout of ["unified", "split"] as const) {
      assert.deepEqual(findLive(await htmlOf({ files, layout, aloneAt })), [], aim);
    }
  }
});

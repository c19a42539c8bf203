/** Blame, and the lines of versions that are stored as deltas. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  createDelta,
  encodeUtf8,
  FossilError,
  readBlame,
  Reader,
  writeBranch,
} from "../../../../services/engines/fossil/mod.ts";
import { type Lines, LineTable, sliceLines } from "../../../../services/engines/fossil/text/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { Fixture, put } from "./support/fixture.ts";

const MAX_BYTES = 1_000_000;

/** Long enough lines that a delta copies parts of them, with all kinds of ends. */
const line = fc.tuple(
  fc.constantFrom("", "a line that many a text has ", "another line of the same length "),
  fc.constantFrom("", "1", "22", "a line that many a text has "),
  fc.constantFrom("\n", "\n", "\r\n", "\r", ""),
).map((parts) => parts.join(""));

const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join(""));

function plain({ ids, offsets }: Lines) {
  return { ids: [...ids], offsets: [...offsets] };
}

Deno.test("equal lines have equal numbers, in whatever way a text is read", () => {
  fc.assert(fc.property(text, text, (before, after) => {
    const table = new LineTable();
    const [source, target] = [encodeUtf8(before), encodeUtf8(after)];
    const known = table.split(source);
    const split = table.split(target);
    const lines = Array.from(split.ids, (_, i) => sliceLines(split, i, i + 1));
    assert.deepEqual(
      lines.map((bytes) => new TextDecoder().decode(bytes)),
      after.match(/[^\n]*\n|[^\n]+$/g) ?? [],
    );
    const names = new Map(split.ids.entries().map(([i, id]) => [id, `${lines[i]}`]));
    assert.deepEqual(Array.from(split.ids, (id) => names.get(id)), lines.map(String));
    assert.equal(new Set(names.values()).size, names.size);
    assert.deepEqual(plain(table.splitLike(known, target)), plain(split));
    const patched = table.patch(known, createDelta(source, target), MAX_BYTES);
    assert.deepEqual(patched && plain(patched), plain(split));
  }));
});

/** Parts of a target: copies from anywhere, and texts. */
const parts = fc.array(
  fc.oneof(
    fc.tuple(fc.nat(999), fc.nat(60)).map(([at, count]) => ({ at, count })),
    fc.constantFrom("", "x", "\n", "a\nb", "\n\n", "a line\r\n"),
  ),
  { maxLength: 12 },
);

const number = (value: number): string =>
  (value > 63 ? number(value >> 6) : "") +
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"[value & 63];

Deno.test("a delta may cut lines anywhere", () => {
  fc.assert(fc.property(text, parts, (source, all) => {
    let [target, operations] = ["", ""];
    for (const part of all) {
      if (typeof part === "string") {
        target += part;
        operations += `${number(part.length)}:${part}`;
        continue;
      }
      const at = part.at % (source.length + 1);
      const copy = source.slice(at, at + part.count);
      target += copy;
      operations += `${number(copy.length)}@${number(at)},`;
    }
    const delta = encodeUtf8(`${number(target.length)}\n${operations}0;`);
    const table = new LineTable();
    const patched = table.patch(table.split(encodeUtf8(source)), delta, MAX_BYTES);
    assert.deepEqual(patched && plain(patched), plain(table.split(encodeUtf8(target))));
  }));
});

Deno.test("the lines of a delta with a NUL, or of one that lies, are not given", () => {
  const table = new LineTable();
  const source = table.split(encodeUtf8("a\nb\n"));
  assert.equal(table.patch(source, encodeUtf8("3\n3:a\0b0;"), MAX_BYTES), null);
  for (const delta of ["9\n4@0,0;", "5\n5@0,0;", "4\n4@0", "2\n4@0,0;"]) {
    assert.throws(
      () => table.patch(source, encodeUtf8(delta), MAX_BYTES),
      (error: unknown) => error instanceof FossilError && error.code === "corrupt",
    );
  }
  assert.throws(() => table.patch(source, encodeUtf8("9\n4@0,5:xxxxx0;"), 8), FossilError);
});

Deno.test("to number lines takes linear time", () => {
  const texts = [
    "\n".repeat(2_000_000),
    Array.from({ length: 400_000 }, (_, i) => `${i}\n`).join(""),
    "x".repeat(4_000_000),
  ].map(encodeUtf8);
  const milliseconds = cpuTimeOf(() => texts.forEach((bytes) => new LineTable().split(bytes)));
  assert.ok(milliseconds < 4000, `${milliseconds} ms`);
});

/** What one check-in does to a file whose lines are all different. */
const edits = fc.array(
  fc.record({
    at: fc.nat(15),
    drop: fc.nat(8),
    ends: fc.array(fc.constantFrom("\n", "\n", "\r\n"), { maxLength: 4 }),
    lacksEnd: fc.boolean(),
    kind: fc.constantFrom("edit", "edit", "edit", "rename", "branch", "merge"),
  }),
  { minLength: 2, maxLength: 12 },
);

/** A line of the model, and where it comes from. */
interface Origin {
  readonly text: string;
  readonly uuid: string;
}

/** A version of the file, and where it is. */
interface Version {
  readonly checkin: string;
  readonly path: string;
  readonly lines: readonly Origin[];
}

/** The version that an edit makes of another one: `commit` makes its check-in. */
function edited(
  before: Version,
  edit: { readonly at: number; readonly drop: number; readonly texts: readonly string[] },
  commit: (text: string) => string,
): readonly Origin[] {
  const texts = before.lines.map(({ text }) => text);
  const start = Math.min(edit.at, texts.length);
  texts.splice(start, edit.drop, ...edit.texts);
  const last = texts.length - 1;
  // Only the last line may have no end.
  const whole = texts.map((text, i) => i < last && !text.endsWith("\n") ? `${text}\n` : text);
  const uuid = commit(whole.join(""));
  const known = new Map(before.lines.map((origin) => [origin.text, origin]));
  return whole.map((text) => known.get(text) ?? { text, uuid });
}

function expectBlame(reader: Reader, { checkin, path, lines }: Version): void {
  const blame = readBlame(reader, { checkin, path });
  assert.deepEqual(
    blame.lines.map(({ number, text, uuid }) => [number, text, uuid]),
    lines.map(({ text, uuid }, i) => [i + 1, text.replace(/\r?\n$/, ""), uuid]),
  );
}

Deno.test("each line is blamed on the check-in that brought it, at every check-in", () => {
  fc.assert(
    fc.property(edits, (steps) => {
      using fixture = new Fixture();
      const { repository } = fixture;
      // One reader sees the history grow; others see it at once.
      const reader = new Reader(repository);
      const first = fixture.commit([put("f0", "")]);
      const versions: Version[] = [{ checkin: first, path: "f0", lines: [] }];
      let [now, main, serial] = [versions[0]!, versions[0]!, 0];
      for (const { at, drop, ends, lacksEnd, kind } of steps) {
        const texts = [...ends, "\n"].map((end) => `line number ${++serial} of this text${end}`);
        if (lacksEnd) texts.push(`line number ${++serial} without an end`);
        let { checkin: parent, path } = now;
        if (kind === "branch") {
          const name = `branch ${serial}`;
          parent = writeBranch(repository, { ...fixture.author(), from: parent, name });
        }
        const isMerge = kind === "merge" && main !== now;
        const merged = isMerge ? { merged: [parent] } : {};
        if (isMerge) ({ checkin: parent, path } = main);
        const to = kind === "rename" ? `f${serial}` : path;
        let checkin = "";
        const lines = edited(isMerge ? main : now, { at, drop, texts }, (text) => {
          const content = encodeUtf8(text);
          const change = to === path
            ? put(path, text)
            : { kind: "move", from: path, path: to, content } as const;
          return checkin = fixture.commit([change], { parent, allowFork: true, ...merged });
        });
        now = { checkin, path: to, lines };
        if (kind !== "branch") main = now;
        versions.push(now);
        expectBlame(reader, now);
      }
      for (const version of versions) expectBlame(reader, version);
      const other = new Reader(repository);
      for (const version of versions.toReversed()) expectBlame(other, version);
    }),
    { numRuns: 25 },
  );
});

Deno.test("lines that have gone again are blamed on nobody", () => {
  using fixture = new Fixture();
  const texts = ["1 2", "1 2 d", "1 2 b c d", "1 2"];
  const [first] = texts.map((text) => fixture.commit([put("f", text.replace(/ |$/g, "\n"))]));
  const { lines } = readBlame(new Reader(fixture.repository), { path: "f" });
  assert.deepEqual(lines.map(({ text, uuid }) => [text, uuid]), [["1", first], ["2", first]]);
});

Deno.test("blame does not depend on how versions are stored", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 8 }), (texts) => {
      using fixture = new Fixture();
      const { repository } = fixture;
      const checkins = texts.map((text, i) => {
        // The second file makes each check-in one with a change.
        return fixture.commit([put("f", text), put("g", `${i}`)]);
      });
      const all = () => {
        const reader = new Reader(repository);
        return checkins.map((checkin) => readBlame(reader, { checkin, path: "f" }));
      };
      const before = all();
      const rows = repository.db.rows<{ rid: number }>("SELECT rid FROM delta");
      repository.write({ user: "alice", ip: null }, () => {
        for (const { rid } of rows) repository.store.undelta(rid);
      });
      assert.equal(repository.db.value("SELECT count(*) FROM delta"), 0);
      assert.deepEqual(all(), before);
    }),
    { numRuns: 40 },
  );
});

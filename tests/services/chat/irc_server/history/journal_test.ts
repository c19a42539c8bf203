import assert from "node:assert/strict";
import { join } from "node:path";
import { HistoryKind } from "../../../../../services/engines/irc/mod.ts";
import { Journal } from "../../../../../services/chat/irc_server/history/journal.ts";
import {
  emptyFiles,
  readJournal,
} from "../../../../../services/chat/irc_server/history/journal_files.ts";
import { TestLog } from "../../../../support/services.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { groupOf } from "./support.ts";
import type { Operation } from "../../../../../services/chat/irc_server/history/changes.ts";

/** A record with this number, or with a deletion's every third one. */
function change(sequence: number): Operation {
  if (sequence % 3 === 0) return { kind: "redact", sequence, id: `id-${sequence - 1}` };
  const said = { time: sequence, id: `id-${sequence}`, kind: HistoryKind.MESSAGE } as const;
  const target = { account: ["ann", null, ""][sequence % 4] ?? null, name: "#r\nöm" };
  const content = `${sequence} 1\n"\0\ufeffé€😀`;
  const record = { ...said, target, title: "#RÖM", confined: sequence % 2 === 0, content };
  return { kind: "append", sequence, record };
}

function changes(from: number, to: number): Operation[] {
  return Array.from({ length: to - from + 1 }, (_, index) => change(from + index));
}

/** What an archive names before it has a change of a named journal. */
const FIRST = "first-0";

const NOW = Date.parse("2026-11-27T03:00:00Z");

function open(path: string, sequence: number, journal = FIRST, log = new TestLog()) {
  return Journal.open({ path, last: { sequence, journal }, now: NOW, log });
}

function read(path: string, sequence: number, journal = FIRST) {
  const { operations, torn } = readJournal(path, { sequence, journal });
  return { operations, torn };
}

function numbersIn(path: string, after = 0, journal = FIRST): number[] {
  return read(path, after, journal).operations.map(({ sequence }) => sequence);
}

Deno.test("a journal is read as it was written, in groups of any size", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    assert.deepEqual(read(path, 0), { operations: [], torn: 0 });
    const { journal, operations } = open(path, 0);
    assert.deepEqual(operations, []);
    for (const [from, to] of [[1, 1], [2, 7], [8, 1000], [1001, 1001]] as const) {
      assert.equal(journal.add(changes(from, to)), true);
    }
    assert.deepEqual(read(path, 0), { operations: changes(1, 1001), torn: 0 });
    assert.deepEqual(numbersIn(path, 999), [1000, 1001]);
    assert.deepEqual(numbersIn(path, 1001), []);
    assert.equal(Deno.statSync(join(folder, "history.journal1")).mode ?? 0, 0o100600);
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("what is torn or damaged ends a journal, wherever it is", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const { journal } = open(path, 0);
    const file = join(folder, "history.journal1");
    const ends: number[] = [];
    for (let number = 1; number <= 4; number++) {
      journal.add([change(number)]);
      ends.push(Deno.statSync(file).size);
    }
    journal.close(false);
    const whole = Deno.readFileSync(file);
    // A file begins with the group that names the journal.
    const head = new DataView(whole.buffer).getUint32(0, true) + 8;
    const wholeAt = (at: number) => [0, head, ...ends].findLast((end) => end <= at) ?? 0;
    const changesAt = (at: number) => changes(1, ends.findLastIndex((end) => end <= at) + 1);
    for (let length = 0; length < whole.length; length++) {
      Deno.writeFileSync(file, whole.subarray(0, length));
      const { operations, torn } = read(path, 0);
      assert.deepEqual(operations, changesAt(length));
      assert.equal(torn, length - wholeAt(length));
    }
    for (let at = 0; at < whole.length; at++) {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      Deno.writeFileSync(file, damaged);
      assert.deepEqual(read(path, 0).operations, changesAt(at));
    }
    Deno.writeFileSync(file, new Uint8Array([...whole, ...new Uint8Array(4096)]));
    assert.deepEqual(read(path, 0), { operations: changes(1, 4), torn: 4096 });
    return Promise.resolve();
  }));

Deno.test("a journal goes on in its other file, and each is emptied in its turn", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const { journal } = open(path, 0);
    journal.add(changes(1, 3));
    const [first = ""] = journal.turn(3);
    assert.equal(first, join(folder, "history.journal1"));
    journal.add(changes(4, 5));
    assert.deepEqual(numbersIn(path), [1, 2, 3, 4, 5]);
    // The archive refused: the file is not empty yet, so the other one grows.
    assert.deepEqual(journal.turn(2), []);
    journal.add([change(6)]);
    assert.deepEqual(journal.turn(4), [first]);
    journal.emptied(emptyFiles([first]));
    assert.deepEqual(numbersIn(path), []);
    assert.deepEqual(numbersIn(path, 3), [4, 5, 6]);
    const [second = ""] = journal.turn(6);
    assert.equal(second, join(folder, "history.journal2"));
    journal.add([change(7)]);
    journal.emptied(emptyFiles([second]));
    assert.deepEqual(numbersIn(path, 6), [7]);
    const last = journal.turn(7);
    journal.emptied(emptyFiles(last));
    journal.close(true);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    return Promise.resolve();
  }));

Deno.test("a journal with changes takes no others before it was emptied", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const before = open(path, 0).journal;
    before.add(changes(1, 4));
    before.close(false);
    const { journal, operations } = open(path, 1);
    assert.deepEqual(operations, changes(2, 4));
    assert.equal(journal.add([change(5)]), false);
    assert.deepEqual(journal.turn(3), []);
    const paths = journal.turn(4);
    assert.equal(journal.add([change(5)]), false);
    journal.emptied(emptyFiles(paths));
    assert.equal(journal.add([change(6)]), true);
    assert.deepEqual(numbersIn(path, 5, before.identity), [6]);
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("a journal whose archive has lost what came before it is refused, and stays", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const before = open(path, 0).journal;
    before.add(changes(1, 2));
    before.add(changes(4, 5));
    before.close(false);
    assert.deepEqual(numbersIn(path), [1, 2]);
    assert.throws(() => open(path, 2), /lacks changes that came before the 2 in its journal: put/);
    assert.deepEqual(numbersIn(path, 3), [4, 5]);
    return Promise.resolve();
  }));

Deno.test("a refusal of the disk is logged once, and the journal goes on when it has room", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const told = new TestLog();
    const { journal } = open(path, 0, FIRST, told);
    journal.add([change(1)]);
    fillDisk(20, () => {
      for (let number = 2; number <= 4; number++) {
        assert.equal(journal.add([change(number)]), false);
      }
    });
    assert.equal(told.lines.length, 1);
    assert.match(told.lines[0] ?? "", /^error The history's journal cannot be written/);
    assert.equal(journal.isFailing, true);
    fillDisk(20, () => journal.probe());
    assert.equal(journal.isFailing, true);
    journal.probe();
    assert.equal(journal.isFailing, false);
    assert.equal(journal.add([change(2)]), true, "what was torn is cut off");
    assert.deepEqual(read(path, 0), { operations: changes(1, 2), torn: 0 });
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("a journal goes on from the one that its archive has seen", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const first = open(path, 0).journal;
    first.add(changes(1, 3));
    first.close(false);
    // The archive has none of its changes yet, or some.
    assert.deepEqual(numbersIn(path, 0), [1, 2, 3]);
    const { journal, operations } = open(path, 2, first.identity);
    assert.deepEqual(operations, [change(3)]);
    assert.equal(journal.identity, first.identity, "until the archive has all of them");
    journal.emptied(emptyFiles(journal.turn(3)));
    assert.notEqual(journal.identity, first.identity);
    journal.add([change(4)]);
    journal.close(false);
    assert.deepEqual(numbersIn(path, 3, first.identity), [4]);
    assert.deepEqual(numbersIn(path, 3, journal.identity), [4]);
    assert.deepEqual(numbersIn(path, 3), [], "an archive from before the first one");
    return Promise.resolve();
  }));

Deno.test("what follows a gap in a journal is counted in the log", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const first = open(path, 0).journal;
    first.add(changes(1, 2));
    first.add([change(3)]);
    const [file = ""] = first.turn(3);
    first.add(changes(4, 5));
    first.close(false);
    // The disk has lost the end of one file, and has the other one whole.
    Deno.truncateSync(file, Deno.statSync(file).size - 1);
    const told = new TestLog();
    const { journal, operations } = open(path, 0, FIRST, told);
    assert.deepEqual(operations, changes(1, 2));
    assert.equal(told.lines.length, 1);
    assert.match(told.lines[0] ?? "", /^warn The history's journal has a gap: .* changes: 2 /);
    journal.close(false);
    const whole = new TestLog();
    open(path, 5, FIRST, whole).journal.close(false);
    assert.deepEqual(whole.lines, []);
    return Promise.resolve();
  }));

Deno.test("a journal of another archive is kept aside, and not read", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const other = open(path, 0, "first-1").journal;
    other.add(changes(1, 3));
    other.close(false);
    const bytes = Deno.readFileSync(join(folder, "history.journal1"));
    for (const [round, name] of ["", "-2"].entries()) {
      const told = new TestLog();
      const { journal, operations } = open(path, 0, FIRST, told);
      assert.deepEqual(operations, []);
      const kept = join(folder, `history.journal1.foreign-2026-11-27T03-00-00Z${name}`);
      assert.deepEqual(Deno.readFileSync(kept), bytes, `${round}`);
      assert.equal(Deno.statSync(kept).mode ?? 0, 0o100600);
      assert.equal(told.lines.length, 1);
      assert.match(told.lines[0] ?? "", /^warn A journal of another history .* kept aside/);
      assert.equal(journal.add([change(1)]), true);
      assert.deepEqual(numbersIn(path), [1]);
      journal.close(false);
      Deno.writeFileSync(join(folder, "history.journal1"), bytes);
    }
    return Promise.resolve();
  }));

Deno.test("a journal that went on with another copy of the archive is foreign", () =>
  withFolder((folder) => {
    const [one, other] = [join(folder, "one.db"), join(folder, "other.db")];
    const first = open(one, 0).journal;
    first.add([change(1)]);
    // A copy of the folder of a killed program: both go on with what it has.
    Deno.copyFileSync(join(folder, "one.journal1"), join(folder, "other.journal1"));
    const [ones, others] = [one, other].map((path) => {
      const { journal } = open(path, 0);
      journal.emptied(emptyFiles(journal.turn(1)));
      journal.add([change(2)]);
      return journal;
    });
    for (const journal of [first, ones, others]) journal?.close(false);
    Deno.renameSync(join(folder, "one.journal1"), join(folder, "other.journal2"));
    const seen = { sequence: 1, journal: others?.identity ?? "" };
    const { operations, foreign } = readJournal(other, seen);
    assert.deepEqual([operations, foreign], [[change(2)], [join(folder, "other.journal2")]]);
    return Promise.resolve();
  }));

Deno.test("a journal of a version without identities is taken once", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const file = join(folder, "history.journal1");
    Deno.writeFileSync(file, groupOf(changes(1, 3)));
    const { journal, operations } = open(path, 1);
    assert.deepEqual(operations, changes(2, 3));
    assert.equal(journal.identity, FIRST);
    journal.emptied(emptyFiles(journal.turn(3)));
    assert.notEqual(journal.identity, FIRST);
    journal.close(true);
    Deno.writeFileSync(file, groupOf(changes(4, 5)));
    const last = { sequence: 3, journal: journal.identity };
    const { foreign, operations: more } = readJournal(path, last);
    assert.deepEqual([foreign, more], [[file], []]);
    return Promise.resolve();
  }));

/** Runs what meets a disk with so many bytes left. */
function fillDisk(left: number, run: () => void): void {
  const { writeSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.writeSync = function (bytes) {
    if (left === 0) throw new Error("No space left on device");
    const written = writeSync.call(this, bytes.subarray(0, left));
    left -= written;
    return written;
  };
  try {
    run();
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { HistoryKind } from "../../../../services/irc/mod.ts";
import {
  emptyFiles,
  Journal,
  readJournal,
} from "../../../../services/irc_server/history/journal.ts";
import type { Operation } from "../../../../services/irc_server/history/protocol.ts";
import { TestLog } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

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

function numbersIn(path: string, after = 0): number[] {
  return readJournal(path, after).operations.map(({ sequence }) => sequence);
}

const log = new TestLog();

Deno.test("a journal is read as it was written, in groups of any size", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    assert.deepEqual(readJournal(path, 0), { operations: [], torn: 0 });
    const { journal, operations } = Journal.open(path, 0, log);
    assert.deepEqual(operations, []);
    for (const [from, to] of [[1, 1], [2, 7], [8, 1000], [1001, 1001]] as const) {
      assert.equal(journal.add(changes(from, to)), true);
    }
    assert.deepEqual(readJournal(path, 0), { operations: changes(1, 1001), torn: 0 });
    assert.deepEqual(numbersIn(path, 999), [1000, 1001]);
    assert.deepEqual(numbersIn(path, 1001), []);
    assert.equal(Deno.statSync(join(folder, "history.journal1")).mode ?? 0, 0o100600);
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("what is torn or damaged ends a journal, wherever it is", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const { journal } = Journal.open(path, 0, log);
    const ends = [0];
    const file = join(folder, "history.journal1");
    for (let number = 1; number <= 4; number++) {
      journal.add([change(number)]);
      ends.push(Deno.statSync(file).size);
    }
    journal.close(false);
    const whole = Deno.readFileSync(file);
    for (let length = 0; length < whole.length; length++) {
      Deno.writeFileSync(file, whole.subarray(0, length));
      const groups = ends.findLastIndex((end) => end <= length);
      const { operations, torn } = readJournal(path, 0);
      assert.deepEqual(operations, changes(1, groups));
      assert.equal(torn, length - (ends[groups] ?? 0));
    }
    for (let at = 0; at < whole.length; at++) {
      const damaged = whole.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      Deno.writeFileSync(file, damaged);
      const groups = ends.findLastIndex((end) => end <= at);
      assert.deepEqual(readJournal(path, 0).operations, changes(1, groups));
    }
    Deno.writeFileSync(file, new Uint8Array([...whole, ...new Uint8Array(4096)]));
    assert.deepEqual(readJournal(path, 0), { operations: changes(1, 4), torn: 4096 });
    return Promise.resolve();
  }));

Deno.test("a journal goes on in its other file, and each is emptied in its turn", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const { journal } = Journal.open(path, 0, log);
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
    const before = Journal.open(path, 0, log).journal;
    before.add(changes(1, 4));
    before.close(false);
    const { journal, operations } = Journal.open(path, 1, log);
    assert.deepEqual(operations, changes(2, 4));
    assert.equal(journal.add([change(5)]), false);
    assert.deepEqual(journal.turn(3), []);
    const paths = journal.turn(4);
    assert.equal(journal.add([change(5)]), false);
    journal.emptied(emptyFiles(paths));
    assert.equal(journal.add([change(6)]), true);
    assert.deepEqual(numbersIn(path, 5), [6]);
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("what follows a gap is left out, and does not stay", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const before = Journal.open(path, 0, log).journal;
    before.add(changes(1, 2));
    before.add(changes(4, 5));
    before.close(false);
    assert.deepEqual(numbersIn(path), [1, 2]);
    const { journal, operations } = Journal.open(path, 2, log);
    assert.deepEqual(operations, []);
    assert.equal(journal.add([change(3)]), true);
    assert.deepEqual(numbersIn(path, 2), [3]);
    journal.close(false);
    return Promise.resolve();
  }));

Deno.test("a refusal of the disk is logged once, and the journal goes on when it has room", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const told = new TestLog();
    const { journal } = Journal.open(path, 0, told);
    journal.add([change(1)]);
    fillDisk(20, () => {
      for (let number = 2; number <= 4; number++) {
        assert.equal(journal.add([change(number)]), false);
      }
    });
    assert.equal(told.lines.length, 1);
    assert.match(told.lines[0] ?? "", /^error The history's journal cannot be written/);
    assert.equal(journal.add([change(5)]), false, "nothing follows what is torn");
    assert.equal(readJournal(path, 0).torn, 20);
    assert.deepEqual(numbersIn(path), [1]);
    const paths = journal.turn(5);
    assert.equal(journal.add([change(6)]), true);
    journal.emptied(emptyFiles(paths));
    assert.deepEqual(readJournal(path, 5), { operations: [change(6)], torn: 0 });
    journal.close(false);
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

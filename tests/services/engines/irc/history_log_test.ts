import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type HistoryEntry,
  Log,
  RecentLogs,
} from "../../../../services/engines/irc/history/log.ts";
import { HistoryKind } from "../../../../services/engines/irc/history/store.ts";
import { MessageHead, Outbound } from "../../../../services/engines/irc/outbound.ts";

function entryAt(time: number): HistoryEntry {
  const head = new MessageHead({ source: "ann!a@h", command: "PRIVMSG", params: ["bob"] });
  const message = new Outbound({ head, tags: { time: new Date(time).toISOString() }, text: "hi" });
  return { id: "", time, kind: HistoryKind.MESSAGE, message, extended: null };
}

Deno.test("a log is as an array", () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("push"), value: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("shift"), value: fc.constant(0) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace"), value: fc.nat(20) }) },
    ),
    { maxLength: 200 },
  );
  fc.assert(fc.property(steps, (list) => {
    const log = new Log("bob", () => {});
    const model: HistoryEntry[] = [];
    let time = 0;
    for (const { kind, value } of list) {
      if (kind === "push") {
        const entry = entryAt(time += value);
        log.push(entry);
        model.push(entry);
      } else if (kind === "shift") {
        assert.equal(log.shift(), model.shift());
      } else if (value < model.length) {
        const entry = { ...model[value] as HistoryEntry };
        log.replace(value, entry);
        model[value] = entry;
      }
      assert.equal(log.length, model.length);
      assert.deepEqual(log.entries, model);
      assert.ok(model.every((entry, index) => log.at(index) === entry));
      assert.equal(log.at(model.length), undefined);
      const since = model.findIndex((entry) => entry.time >= time - 2);
      assert.equal(log.firstSince(time - 2), since === -1 ? model.length : since);
    }
  }));
});

Deno.test("logs are in the order in which they were last written to", () => {
  const steps = fc.array(fc.record({ log: fc.nat(4), stays: fc.boolean() }));
  fc.assert(fc.property(steps, (list) => {
    const logs = Array.from({ length: 5 }, (_, index) => new Log(String(index), () => {}));
    const recent = new RecentLogs();
    const model = new Set<Log>();
    for (const { log: index, stays } of list) {
      const log = logs[index] as Log;
      model.delete(log);
      if (stays) {
        recent.touch(log);
        model.add(log);
      } else {
        recent.remove(log);
      }
      assert.deepEqual([...recent], [...model]);
      assert.equal(recent.oldest, [...model][0] ?? null);
    }
  }));
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HistoryKind } from "../../../../../services/engines/irc/mod.ts";
import { ArchiveFile } from "../../../../../services/chat/irc_server/history/archive_file.ts";
import { withFolder } from "../../../../support/temporary.ts";
import type { Operation } from "../../../../../services/chat/irc_server/history/changes.ts";
import { THOROUGH } from "../../../../support/level.ts";

function append(sequence: number): Operation {
  const target = { account: null, name: "#room" };
  const said = { time: sequence, id: `id-${sequence}`, kind: HistoryKind.MESSAGE, content: "{}" };
  return {
    kind: "append",
    sequence,
    record: { ...said, target, title: "#room", confined: false },
  };
}

/** How many entries a process that starts now would find. */
function entriesIn(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("SELECT count(*) AS entries FROM entries").get();
  database.close();
  return row?.["entries"];
}

Deno.test("Messages are in the file at once, and synced on request or after a removal", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const file = new ArchiveFile(path);
    file.write([append(1), append(2)]);
    assert.equal(entriesIn(path), 2);
    assert.equal(file.synced, false);
    file.sync();
    assert.equal(file.synced, true);
    file.write([append(3)]);
    assert.equal(file.synced, false);
    file.write([append(4), { kind: "redact", sequence: 5, id: "id-3" }]);
    assert.equal(file.synced, true);
    assert.equal(file.usedBytes % 4096, 0);
    assert.ok(file.usedBytes > 4096);
    file.close();
    assert.equal(entriesIn(path), 4);
    return Promise.resolve();
  }));

Deno.test("Forgetting what is gone already waits for no disk", () =>
  withFolder((folder) => {
    const path = join(folder, "history.db");
    const target = { account: null, name: "#room" };
    const file = new ArchiveFile(path);
    file.write([
      { kind: "forgetConfined", sequence: 1, target },
      { kind: "forgetAccount", sequence: 2, account: "ann", before: null },
    ]);
    assert.equal(file.synced, false);
    file.write([append(3), { kind: "confine", sequence: 4, target }]);
    assert.equal(file.synced, true);
    file.write([{ kind: "forgetConfined", sequence: 5, target }]);
    assert.equal(file.synced, true);
    assert.equal(entriesIn(path), 0);
    file.write([{ kind: "forgetConfined", sequence: 6, target }]);
    assert.equal(file.synced, false);
    assert.equal(file.newest().last.sequence, 6);
    file.close();
    return Promise.resolve();
  }));

const names = fc.constantFrom("#a", "#b", "#c");
const accounts = fc.constantFrom("ann", "bob");
const titles = fc.constantFrom("A", "B");
type Change =
  | { readonly name: string; readonly title: string; readonly sequence: number }
  | { readonly account: string; readonly sequence: number }
  | { readonly from: string; readonly to: string; readonly sequence: number }
  | { readonly forgotten: string; readonly sequence: number };

const sequence = fc.nat(40);

const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: names, title: titles, sequence }) },
  { weight: 2, arbitrary: fc.record({ account: accounts, sequence }) },
  fc.record({ from: names, to: names, sequence }),
  fc.record({ forgotten: accounts, sequence }),
);

/** A change of the log of a channel or of an account's private messages. */
function operationOf(change: Change): Operation {
  const { sequence } = change;
  if ("from" in change) {
    const [from, to] = [change.from, change.to].map((name) => ({ account: null, name }));
    return { kind: "rename", sequence, from: from ?? fail(), to: to ?? fail(), title: change.to };
  }
  if ("forgotten" in change) {
    return { kind: "forgetAccount", sequence, account: change.forgotten, before: null };
  }
  const appended = append(sequence);
  if (appended.kind !== "append") return fail();
  const log = "account" in change
    ? { target: { account: change.account, name: "carol" }, title: "Carol" }
    : { target: { account: null, name: change.name }, title: change.title };
  return { ...appended, record: { ...appended.record, ...log } };
}

function fail(): never {
  throw new Error("Not a change that a test makes");
}

/** The rows of the file, with the number of records that each log counts and really has. */
function logsIn(path: string) {
  using database = new DatabaseSync(path, { readOnly: true });
  return {
    logs: database.prepare(
      `SELECT account, name, title, records,
         (SELECT count(*) FROM entries WHERE target = targets.id) AS found
       FROM targets WHERE records > 0 ORDER BY account, name`,
    ).all(),
    entries: database.prepare(
      `SELECT sequence, name, account FROM entries JOIN targets ON targets.id = target
       ORDER BY sequence`,
    ).all(),
  };
}

Deno.test(
  "Changes of one transaction do the same as one transaction for each",
  THOROUGH,
  () =>
    withFolder((folder) => {
      let run = 0;
      fc.assert(
        fc.property(fc.array(changes, { maxLength: 12 }), (list) => {
          const [together, alone] = ["together", "alone"].map((name) =>
            join(folder, `${name}-${run}.db`)
          );
          run++;
          const operations = list.map(operationOf);
          const one = new ArchiveFile(together ?? fail());
          one.write(operations);
          one.close();
          const other = new ArchiveFile(alone ?? fail());
          for (const operation of operations) other.write([operation]);
          other.close();
          const { logs, entries } = logsIn(together ?? fail());
          assert.deepEqual({ logs, entries }, logsIn(alone ?? fail()));
          for (const { records, found } of logs) assert.equal(records, found);
        }),
        { numRuns: 60 },
      );
      return Promise.resolve();
    }),
);

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HistoryKind } from "../../../../services/irc/mod.ts";
import { ArchiveFile } from "../../../../services/irc_server/history/archive_file.ts";
import type { Operation } from "../../../../services/irc_server/history/protocol.ts";
import { withFolder } from "../../../support/temporary.ts";

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
    file.write([append(4), { kind: "redact", id: "id-3" }]);
    assert.equal(file.synced, true);
    assert.equal(file.usedBytes % 4096, 0);
    assert.ok(file.usedBytes > 4096);
    file.close();
    assert.equal(entriesIn(path), 4);
    return Promise.resolve();
  }));

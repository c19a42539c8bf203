import assert from "node:assert/strict";
import { join } from "node:path";
import { HistoryKind } from "../../../../../services/engines/irc/mod.ts";
import { archivePart } from "../../../../../services/chat/irc_server/history/mod.ts";
import type { Response } from "../../../../../services/chat/irc_server/history/protocol.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { until } from "../../../../support/until.ts";
import { packOperations } from "../../../../../services/chat/irc_server/history/changes.ts";
import { THOROUGH } from "../../../../support/level.ts";

Deno.test(
  "a file of the journal that is free again keeps what comes to it",
  THOROUGH,
  () =>
    withFolder(async (folder) => {
      let last: Response | null = null;
      const post = archivePart((response) => last = response as Response | null);
      const [first, second] = [1, 2].map((number) => {
        const path = join(folder, `history.journal${number}`);
        Deno.writeTextFileSync(path, "");
        return path;
      });
      assert.ok(first !== undefined && second !== undefined);
      const isEmpty = (path: string) => Deno.statSync(path).size === 0;
      let sequence = 0;
      const write = (journals: readonly string[]): readonly string[] => {
        sequence++;
        const operations = packOperations([append(sequence)]);
        post({ id: sequence, kind: "write", operations, records: null, journals, identity: "one" });
        const written = last;
        assert.equal(written?.kind, "written");
        return written.emptied;
      };

      post({ id: 0, kind: "open", path: join(folder, "history.db"), speakerTag: "" });
      assert.deepEqual(write([]), []);
      Deno.writeTextFileSync(first, "changes");
      assert.deepEqual(write([first]), [], "not before its changes are synced");
      await until(() => isEmpty(first));
      assert.deepEqual(write([first]), [first], "the other side has not known yet");
      Deno.writeTextFileSync(first, "new changes");
      Deno.writeTextFileSync(second, "changes");
      assert.deepEqual(write([second]), []);
      await until(() => isEmpty(second));
      assert.equal(Deno.readTextFileSync(first), "new changes");
      assert.deepEqual(write([second]), [second]);
      post(null);
      assert.equal(Deno.readTextFileSync(first), "new changes");
    }),
);

Deno.test("a file that could not be opened is opened once that is possible", () =>
  withFolder((folder) => {
    const kinds: (string | undefined)[] = [];
    const post = archivePart((response) => kinds.push((response as Response | null)?.kind));
    const later = join(folder, "later");
    post({ id: 0, kind: "open", path: join(later, "history.db"), speakerTag: "" });
    const write = (id: number) => {
      const operations = packOperations([append(id)]);
      post({ id, kind: "write", operations, records: null, journals: [], identity: "one" });
    };
    write(1);
    Deno.mkdirSync(later);
    write(2);
    post(null);
    write(3);
    assert.deepEqual(kinds, ["failed", "failed", "written", undefined, "failed"]);
    return Promise.resolve();
  }));

function append(sequence: number) {
  const said = { time: sequence, id: `id-${sequence}`, kind: HistoryKind.MESSAGE } as const;
  const target = { account: null, name: "#room" };
  const record = { ...said, target, title: "#room", confined: false, content: "text" };
  return { kind: "append", sequence, record } as const;
}

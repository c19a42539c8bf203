import assert from "node:assert/strict";
import { join } from "node:path";
import { HeraldDesk } from "../../../services/bots/mod.ts";
import { openSqlite } from "../../../services/database/mod.ts";
import { Unavailable } from "../../../services/errors.ts";
import { OPERATOR_CALLER } from "../bridge/support.ts";
import { TestScheduler } from "../../support/scheduler.ts";
import { withFolder } from "../../support/temporary.ts";

Deno.test("what is stored for herald outlives a node that has not read it", () =>
  withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    try {
      const open = () =>
        new HeraldDesk({
          database,
          settings: () => ({
            enabled: true,
            channel: "#alerts",
            routes: {},
            rate_limit: 1,
            burst: 5,
          }),
          key: { mac: (purpose, text) => Promise.resolve(purpose + text) },
          scheduler: new TestScheduler(),
        });
      const [first, second] = [open(), open()];
      await first.load();
      await first.addSource({ name: "code", kind: "github" }, OPERATOR_CALLER);
      const detach = first.attach(() => {});
      await first.announce({ type: "deploy", text: "one" });
      detach();
      first.leave();

      second.attach(() => {});
      const source = { name: "other", kind: "github" } as const;
      await assert.rejects(() => second.addSource(source, OPERATOR_CALLER), Unavailable);
      await assert.rejects(() => second.announce({ type: "deploy", text: "two" }), Unavailable);
      await assert.rejects(() => first.addSource(source, OPERATOR_CALLER), Unavailable);
      await second.load();
      await second.announce({ type: "deploy", text: "two" });
      assert.deepEqual(second.sources().map(({ name }) => name), ["code"]);
      assert.deepEqual([await second.take(), await second.take()].map((one) => one?.text), [
        "one",
        "two",
      ]);
    } finally {
      await database.close();
    }
  }));

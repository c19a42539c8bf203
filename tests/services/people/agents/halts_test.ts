import assert from "node:assert/strict";
import { Halts } from "../../../../services/people/agents/mod.ts";
import type { Database } from "../../../../services/engines/database/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR, withServices } from "../../../support/services.ts";

const UNCONFIRMED = /stored, but not confirmed/;

Deno.test("a halt that is stored and not confirmed is not called lost, and a resume is told", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { database, agents, clock } = services;
    const stub: Pick<Database, "tables" | "keepCurrent" | "commit" | "peers"> = {
      tables: database.tables,
      peers: null,
      keepCurrent: (directory) => directory.load(),
      commit: async (transaction) => {
        await database.commit(transaction);
        throw new Unavailable("The change is stored, but not confirmed by: two");
      },
    };
    const halts = await Halts.open({
      database: stub as unknown as Database,
      roster: agents.roster,
      clock: clock.now,
    });
    const told: (string | undefined)[] = [];
    halts.onChanged((change) => told.push(change?.kind));
    await assert.rejects(
      halts.halt({ agents: [], types: [], reason: null }, BY_OPERATOR),
      UNCONFIRMED,
    );
    assert.ok(halts.coversEverybody);
    await assert.rejects(halts.resume({ agents: [], types: [] }, BY_OPERATOR), UNCONFIRMED);
    assert.deepEqual([halts.isAny, told], [false, ["halted", "resumed"]]);
  }));

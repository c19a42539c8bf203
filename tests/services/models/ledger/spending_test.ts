import assert from "node:assert/strict";
import { statement } from "../../../../services/engines/database/mod.ts";
import { Spending } from "../../../../services/models/ledger/spending.ts";
import { withServices } from "../../../support/services.ts";

const ALL = { scope: "all", subject: "" } as const;

Deno.test("what other nodes have spent is read again, and what is reserved stays", () =>
  withServices(async ({ database, clock }) => {
    let behind = 0;
    const spending = new Spending(database, () => clock.now() - behind, 2000);
    const spend = async (ticket: string) => {
      const row = {
        day: Math.floor(clock.now() / 86_400_000),
        caller_key: "a",
        caller_name: "a",
        caller_type: "",
        project_id: "",
        project: "",
        ticket,
        backend: "b",
        model: "m",
        calls: 1,
        failed: 0,
        cancelled: 0,
        input_tokens: 10,
        output_tokens: 5,
        cached_tokens: 0,
        cost: 7,
        unpriced: 0,
        estimated_tokens: 0,
        estimated_cost: 0,
        milliseconds: 1,
      };
      const insertion = database.tables.insertInto("llm_usage").values(row);
      await database.commit({ statements: [statement(insertion)] });
    };
    await spend("1");
    await spending.ready();
    spending.reserve([ALL], { tokens: 3, cost: 2 });
    await spend("2");
    await spending.ready();
    assert.deepEqual(spending.spent(ALL, "day"), { tokens: 15, cost: 7 });

    clock.advance(2000);
    await Promise.all([spending.ready(), spending.ready()]);
    assert.deepEqual(spending.spent(ALL, "day"), { tokens: 30, cost: 14 });
    assert.deepEqual(spending.reserved(ALL), { tokens: 3, cost: 2 });

    await spend("3");
    // Somebody sets the clock back.
    behind = 60_000;
    await spending.ready();
    assert.deepEqual(spending.spent(ALL, "month"), { tokens: 45, cost: 21 });
  }));

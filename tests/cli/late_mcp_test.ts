import assert from "node:assert/strict";
import { prepareForAgents } from "../../cli/late_mcp.ts";
import { silentLog } from "../../services/kernel/log.ts";
import { BY_OPERATOR, withServices } from "../support/services.ts";

const SCOUT = { nick: "scout", type: "worker" as const, channels: [] };

Deno.test("what agents use is prepared once there is one", () =>
  withServices(async ({ accounts, agents, clock, ircAccounts }) => {
    let times = 0;
    const prepare = () => Promise.resolve(void times++);
    await prepareForAgents({ accounts, scheduler: clock, log: silentLog }, prepare);
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    clock.advance(5000);
    assert.equal(times, 0);
    await agents.register(SCOUT, BY_OPERATOR);
    assert.equal(times, 0);
    clock.advance(5000);
    await agents.register({ ...SCOUT, nick: "other" }, BY_OPERATOR);
    clock.advance(5000);
    assert.equal(times, 1);
    await prepareForAgents({ accounts, scheduler: clock, log: silentLog }, prepare);
    assert.equal(times, 2);
  }));

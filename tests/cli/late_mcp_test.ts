import assert from "node:assert/strict";
import { prepareForAgents } from "../../cli/late_mcp.ts";
import { BY_OPERATOR, withServices } from "../support/services.ts";

const SCOUT = { nick: "scout", type: "worker" as const, channels: [] };

Deno.test("what agents use is prepared once there is one", () =>
  withServices(async ({ accounts, agents, clock, ircAccounts }) => {
    let times = 0;
    const prepare = () => Promise.resolve(void times++);
    await prepareForAgents(accounts, clock, prepare);
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    clock.advance(5000);
    assert.equal(times, 0);
    await agents.register(SCOUT, BY_OPERATOR);
    assert.equal(times, 0);
    clock.advance(5000);
    await agents.register({ ...SCOUT, nick: "other" }, BY_OPERATOR);
    clock.advance(5000);
    assert.equal(times, 1);
    await prepareForAgents(accounts, clock, prepare);
    assert.equal(times, 2);
  }));

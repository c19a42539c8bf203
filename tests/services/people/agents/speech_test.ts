import assert from "node:assert/strict";
import { registrationSchema } from "../../../../services/people/agents/schemas.ts";
import { Forbidden, TooMany } from "../../../../services/kernel/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

/** Registers the agent `coder` with a rate and gives its internal id. */
async function aSlowAgent({ agents }: TestServices, burst = 2): Promise<string> {
  const request = { nick: "coder", rate_limit: { messages_per_second: 0.5, burst } };
  await agents.register(registrationSchema.parse(request), BY_OPERATOR);
  return agents.roster.find("coder")?.id ?? "";
}

function retryAfter(run: () => void): number | undefined {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof TooMany);
    return error.retryAfterSeconds;
  }
  return 0;
}

Deno.test("a paused agent may say nothing until it is resumed, even after a restart", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    await anAgent(services, "coder");
    const { speechControls, roster } = services.agents;
    assert.equal(services.authority.muteReason("coder"), null);
    await speechControls.pause("Coder", { reason: "too loud" }, BY_OPERATOR);
    assert.equal(services.authority.muteReason("CODER"), "This agent is paused: too loud");
    await services.close();

    const later = await openServices(folder);
    const id = roster.find("coder")?.id ?? "";
    assert.throws(() => later.agents.sendLimits.admit(id, 1), Forbidden);
    await later.agents.speechControls.resume("coder", BY_OPERATOR);
    later.agents.sendLimits.admit(id, 1);
    assert.equal(later.authority.muteReason("coder"), null);
    await later.close();
  });
});

Deno.test("a post is admitted while the bucket is not empty, and paid for afterwards", () =>
  withServices(async (services) => {
    const { sendLimits } = services.agents;
    const id = await aSlowAgent(services);
    assert.equal(retryAfter(() => sendLimits.admit(id, 3)), 0);
    assert.equal(retryAfter(() => sendLimits.admit(id, 1)), 4);
    services.clock.advance(3999);
    assert.ok((retryAfter(() => sendLimits.admit(id, 1)) ?? 0) > 0);
    services.clock.advance(1);
    assert.equal(retryAfter(() => sendLimits.admit(id, 1)), 0);
    await services.agents.speechControls.setRate("coder", null, BY_OPERATOR);
    assert.equal(retryAfter(() => sendLimits.admit(id, 1000)), 0);
  }));

Deno.test("on IRC each message waits its turn, in any session of the agent", () =>
  withServices(async (services) => {
    await aSlowAgent(services);
    const delay = () => services.authority.messageDelay("Coder");
    assert.deepEqual([delay(), delay(), delay(), delay()], [0, 0, 2000, 4000]);
    services.clock.advance(60_000);
    assert.equal(delay(), 0);
    assert.equal(services.authority.messageDelay("nobody"), 0);
  }));

Deno.test("pausing an agent does not fill its bucket again", () =>
  withServices(async (services) => {
    const id = await aSlowAgent(services);
    services.agents.sendLimits.admit(id, 2);
    await services.agents.speechControls.pause("coder", { reason: null }, BY_OPERATOR);
    await services.agents.speechControls.resume("coder", BY_OPERATOR);
    assert.equal(retryAfter(() => services.agents.sendLimits.admit(id, 1)), 2);
  }));

Deno.test("messages of the last minute are counted", () =>
  withServices(async (services) => {
    const { agents, clock } = services;
    const { sendLimits } = agents;
    await anAgent(services, "coder");
    await anAgent(services, "silent");
    for (let sent = 0; sent < 3; sent++) sendLimits.sent("Coder");
    sendLimits.sent("a person");
    clock.advance(50_000);
    sendLimits.sent("coder");
    assert.deepEqual([...sendLimits.rates()], [{ nick: "coder", perMinute: 4 }]);
    assert.equal(agents.get("coder").messages_per_minute, 4);
    clock.advance(10_000);
    assert.equal(agents.get("coder").messages_per_minute, 1);
    clock.advance(3_600_000);
    assert.equal(agents.get("coder").messages_per_minute, 0);
    sendLimits.sent("coder");
    await agents.revoke("coder", BY_OPERATOR);
    assert.deepEqual([...sendLimits.rates()], []);
  }));

import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR } from "../../../support/services.ts";
import { withNetwork } from "./support.ts";

Deno.test("without the right to suspend, no change begins, and the missing right is named", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo, sync, log } = services;
    await anAgent(services, "coder");
    assert.equal(sync.trouble, null);

    ergo.capabilities.delete("ban");
    ergo.session++;
    const asked = ergo.asked.length;
    await assert.rejects(anAgent(services, "late"), /lacks rights on the IRC network: ban/);
    await assert.rejects(agents.rotate("coder", BY_OPERATOR), Unavailable);
    await assert.rejects(agents.revoke("coder", BY_OPERATOR), Unavailable);
    const changes = ergo.asked.slice(asked).filter((what) => /saregister|ADD|ERASE/.test(what));
    assert.deepEqual(changes, []);
    sync.compare();
    await services.pass(0);
    assert.equal(sync.reachable, false);
    assert.match(sync.trouble ?? "", /: ban /);
    assert.ok(log.lines.some((line) => /lacks rights on the IRC network.*ban/.test(line)));

    ergo.capabilities.add("ban");
    await anAgent(services, "late");
    await services.pass(1000);
    assert.equal(sync.trouble, null);
  });
});

Deno.test("without the right to set statuses, accounts change, and the network is not ready", async () => {
  await withNetwork(async (services) => {
    const { ergo, sync } = services;
    ergo.capabilities.delete("chanreg");
    sync.compare();
    await services.pass(0);
    assert.deepEqual([sync.reachable, /chanreg/.test(sync.trouble ?? "")], [true, true]);
    await anAgent(services, "coder");
  });
});

Deno.test("rights are checked once for each connection of the operator", async () => {
  await withNetwork(async (services) => {
    const { ergo } = services;
    const probes = () => ergo.asked.filter((what) => what === "NickServ SUSPEND DEL *").length;
    const before = probes();
    await anAgent(services, "one");
    await anAgent(services, "two");
    assert.equal(probes(), before);
    ergo.session++;
    await anAgent(services, "three");
    await anAgent(services, "four");
    assert.equal(probes(), before + 1);
  });
});

import assert from "node:assert/strict";
import { Unavailable } from "../../../services/errors.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";
import { withNetwork } from "./support.ts";

Deno.test("without the right to suspend nothing is begun, and what is missing is named", async () => {
  await withNetwork(async (rooms) => {
    const { agents, ergo, sync, log } = rooms;
    await anAgent(rooms, "coder");
    assert.equal(sync.trouble, null);

    ergo.capabilities.delete("ban");
    ergo.session++;
    const asked = ergo.asked.length;
    await assert.rejects(anAgent(rooms, "late"), /lacks rights on the IRC network: ban/);
    await assert.rejects(agents.rotate("coder", BY_OPERATOR), Unavailable);
    await assert.rejects(agents.revoke("coder", BY_OPERATOR), Unavailable);
    const changes = ergo.asked.slice(asked).filter((what) => /saregister|ADD|ERASE/.test(what));
    assert.deepEqual(changes, []);
    sync.compare();
    await rooms.pass(0);
    assert.equal(sync.reachable, false);
    assert.match(sync.trouble ?? "", /: ban /);
    assert.ok(log.lines.some((line) => /not give muster all its rights.*ban/.test(line)));

    ergo.capabilities.add("ban");
    await anAgent(rooms, "late");
    await rooms.pass(1000);
    assert.equal(sync.trouble, null);
  });
});

Deno.test("without the right to set statuses accounts change, and the part is not ready", async () => {
  await withNetwork(async (rooms) => {
    const { ergo, sync } = rooms;
    ergo.capabilities.delete("chanreg");
    sync.compare();
    await rooms.pass(0);
    assert.deepEqual([sync.reachable, /chanreg/.test(sync.trouble ?? "")], [true, true]);
    await anAgent(rooms, "coder");
  });
});

Deno.test("rights are looked at once for each connection of the operator", async () => {
  await withNetwork(async (rooms) => {
    const { ergo } = rooms;
    const probes = () => ergo.asked.filter((what) => what === "NickServ SUSPEND DEL *").length;
    const before = probes();
    await anAgent(rooms, "one");
    await anAgent(rooms, "two");
    assert.equal(probes(), before);
    ergo.session++;
    await anAgent(rooms, "three");
    await anAgent(rooms, "four");
    assert.equal(probes(), before + 1);
  });
});

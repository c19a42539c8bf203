/** Sessions of agents on several nodes. */
import assert from "node:assert/strict";
import { callerOnIrc } from "../../../../services/people/identity/mod.ts";
import { testNodes } from "../../../support/nodes.ts";
import { anAgent, type TestServices } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";

async function enter({ accounts, identity }: TestServices, id: string): Promise<string> {
  const caller = callerOnIrc(accounts.find("scout") ?? assert.fail());
  const { name } = await identity.enterSession(caller, { id: `session-${id}`, silence: 300_000 });
  return name;
}

testNodes("sessions that begin on several nodes at once have different names", async (nodes) => {
  const [one, other] = [await nodes.open("one"), await nodes.open("other")];
  await anAgent(one, "scout");
  const ids = ["a", "b", "c", "d"];
  const names = await Promise.all(
    ids.map((id, index) => enter(index % 2 === 0 ? one : other, id)),
  );
  assert.deepEqual(names.toSorted(), ["scout", "scout-2", "scout-3", "scout-4"]);
  // A session is the same one on each node.
  for (const [index, id] of ids.entries()) {
    for (const node of [one, other]) assert.equal(await enter(node, id), names[index]);
  }
  const { id } = one.accounts.find("scout") ?? assert.fail();
  const ended = names[1] ?? "";
  const caller = callerOnIrc(one.accounts.find("scout") ?? assert.fail());
  await one.agentSessions.end(caller, { id: "session-b" });
  await until(() => other.agentSessions.isLeft(id, ended));
  await assert.rejects(enter(other, "b"), /has ended/);
});

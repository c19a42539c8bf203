import assert from "node:assert/strict";
import { callerOnIrc } from "../../services/people/identity/mod.ts";
import { anAgent } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

Deno.test("an agent's page shows the names of its further sessions, which lead to it", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    const { accounts, identity, agentSessions, inboxes } = services;
    await anAgent(services, "scout");
    const caller = callerOnIrc(accounts.find("scout") ?? assert.fail());
    for (const id of ["session-1", "session-2"]) {
      await identity.enterSession(caller, { id, silence: 60_000 });
    }
    const { text, html } = await admin.see("/agents/scout");
    assert.match(text, /Also here as scout-2/);
    assert.match(html, /href="\/messages\/scout-2"/);
    assert.match((await admin.see("/agents/scout-2")).text, /Also here as scout-2/);
    assert.match((await admin.see("/events")).text, /began the session scout-2/);
    await admin.post("/messages/scout-2", { action: "say", text: "to the second" });
    const key = { id: "session-2", silence: 60_000 };
    const second = await identity.enterSession(caller, key);
    const [message] = await inboxes.read("scout", {}, second);
    assert.equal(message?.text, "to the second");
    await agentSessions.end(caller, { id: "session-2" });
    assert.doesNotMatch((await admin.see("/agents/scout")).text, /Also here/);
  });
});

import assert from "node:assert/strict";
import { Conflict } from "../../../../services/kernel/errors.ts";
import {
  DirectMessages,
  type DirectMessagesOptions,
} from "../../../../services/chat/inboxes/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

Deno.test("nobody sends a private message to the bridge of any node", async () => {
  const virtualUsers = { requireVoice() {}, requireGoing() {} };
  const messages = new DirectMessages({
    roster: { receiver: () => null },
    accounts: { find: () => null, nameOf: () => null },
    virtualUsers: virtualUsers as unknown as DirectMessagesOptions["virtualUsers"],
    inboxes: {} as DirectMessagesOptions["inboxes"],
    sendLimits: { sent() {} },
    isOnline: () => true,
    history: null,
    bridge: { tell: () => assert.fail("A bridge got a message") },
    bridgeNick: "bridge-a",
    otherBridges: () => ["bridge-b", "bridge-c"],
    log: silentLog,
  });
  for (const nick of ["bridge-a", "bridge-b", "Bridge-C"]) {
    await assert.rejects(messages.send(nick, { text: "hello" }, BY_OPERATOR), (error) => {
      assert.ok(error instanceof Conflict);
      assert.equal(
        error.message,
        `"${nick.toLowerCase()}" is the bridge, which reads no private messages`,
      );
      return true;
    });
  }
});

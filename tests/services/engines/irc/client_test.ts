import assert from "node:assert/strict";
import fc from "fast-check";
import { MessageHead } from "../../../../services/engines/irc/outbound.ts";
import type { Transport } from "../../../../services/engines/irc/transport/transport.ts";
import { Client, newCounters } from "../../../../services/engines/irc/members.ts";

const TRANSPORT: Transport = {
  address: "127.0.0.1",
  secure: false,
  internal: false,
  kind: "none",
  queuedBytes: 0,
  send() {},
  drained: () => null,
  end() {},
};

Deno.test("a client's mask and the heads of its messages follow every change", () => {
  const name = fc.constantFrom("a", "b", "");
  const change = fc.record({ nick: name, user: name, host: name }, { requiredKeys: [] });
  const message = fc.record({
    command: fc.constantFrom("PRIVMSG", "NOTICE"),
    params: fc.array(fc.constantFrom("ann", "bob", "#ä", "two words"), { maxLength: 2 }),
  });
  fc.assert(fc.property(fc.array(fc.tuple(change, message)), (steps) => {
    const client = new Client(TRANSPORT, { privileged: false, now: 0, counters: newCounters() });
    for (const [changes, { command, params }] of steps) {
      Object.assign(client, changes);
      const source = `${client.nick}!${client.user}@${client.host}`;
      assert.equal(client.mask, source);
      const head = new MessageHead({ source, command, params });
      assert.deepEqual({ ...client.head(command, params) }, { ...head });
    }
  }));
});

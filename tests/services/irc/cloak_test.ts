import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

/** Everything by which a user may look at another. */
const LOOKS = [
  ...["WHOIS bob", "WHO bob", "WHO #c", "WHO #c %tcuihsnfdlaor,1", "WHO 127.0.0.1", "USERHOST bob"],
  ...["NAMES #c", "WHOWAS gone", "CHATHISTORY LATEST #c * 50", "MONITOR + bob", "MODE #c b"],
];

Deno.test("nobody but an IRC operator learns the address of another user", async () => {
  const accounts = new TestAccounts({ Admin: "secret" });
  await using server = startServer({ accounts });
  const capabilities = "userhost-in-names batch draft/chathistory draft/event-playback server-time";
  const curious = await server.client("curious", capabilities);
  curious.send("JOIN #c");
  await curious.sync();
  const gone = await server.client("gone");
  gone.send("JOIN #c", "NICK gone2", "NICK gone", "QUIT :bye");
  await gone.untilClosed();
  const bob = await server.client("bob");
  bob.send(
    "JOIN #c",
    "TOPIC #c :hello",
    "PRIVMSG curious :hi",
    "PRIVMSG #c :hi",
    "INVITE curious #c",
  );
  await bob.sync();

  curious.send(...LOOKS);
  const seen: string[] = [];
  for (const { source, params } of await curious.syncMessages()) seen.push(source ?? "", ...params);
  assert.ok(seen.some((text) => /@[0-9a-f]{10}\.ip$/.test(text)), "hosts are told");
  const addresses = seen.filter((text) => text.includes("127.0.0.1"));
  assert.deepEqual(addresses, ["127.0.0.1", "127.0.0.1"], "in its own row, and its own question");

  curious.send("OPER admin secret", "WHOIS bob");
  const told = await curious.syncMessages();
  assert.ok(told.some(({ params }) => params.includes("127.0.0.1")));
});

import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";

/** Every way to make an account from outside, by the name that it gets. */
const WAYS: Record<string, (program: Program) => Promise<Response>> = {
  scout: (program) => call(program, "POST", "/v1/agents/register", { nick: "scout" }),
  coder: ({ mcp, token }) =>
    fetch(mcp, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "register_agent", arguments: { nick: "coder" } },
      }),
    }),
  ann: (program) =>
    call(program, "POST", "/v1/irc/accounts", { account: "ann", password: "correct horse" }),
  root: (program) =>
    call(program, "POST", "/v1/admins", { username: "root", password: "correct horse" }),
};

Deno.test("a guest who uses a nick is renamed before the nick's registration is answered", async () => {
  await using program = await startProgram();
  await using witness = await IrcClient.connect(program.irc);
  await witness.register({ nick: "witness" });
  await witness.join("#c");
  for (const [nick, register] of Object.entries(WAYS)) {
    await using guest = await IrcClient.connect(program.irc);
    await guest.register({ nick });
    await guest.join("#c");
    await witness.expect(new RegExp(`^:${nick}!\\S+ JOIN `));

    const response = await register(program);
    assert.ok(response.ok, `${nick}: ${await response.text()}`);
    // The server has renamed the guest by now, so what it says next comes after the change.
    await guest.send("PRIVMSG #c :am I still there?");
    await witness.expect(new RegExp(`^:${nick}!\\S+ NICK :?Guest\\d+$`));
    await witness.expect(/^:Guest\d+!\S+ PRIVMSG #c :am I still there\?$/);
    await guest.expect(new RegExp(` NOTICE ${nick} :The nick ${nick} now belongs to an account`));
    await guest.send(`NICK ${nick}`);
    await guest.expect(/ 433 /);
  }
});

Deno.test("a guest who registers its own nick with NickServ keeps it", async () => {
  await using program = await startProgram({
    environment: { MUSTER_IRC_ACCOUNTS_SELF_REGISTRATION: "true" },
  });
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob" });
  await bob.send("NS REGISTER correct-horse", "WHOIS bob");
  await bob.expect(/ 330 bob bob bob :is logged in as$/);
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { call } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const PASSWORD = "correct horse";
const SELF_REGISTRATION = { MUSTER_IRC_ACCOUNTS_SELF_REGISTRATION: "true" };

async function connect({ irc }: Program, nick: string, password?: string): Promise<IrcClient> {
  const client = await IrcClient.connect(irc);
  await client.register(password === undefined ? { nick } : { nick, password });
  return client;
}

Deno.test("a person registers, registers a channel, and finds all of it after the program was killed", async () => {
  await withFolder(async (folder) => {
    const first = await startProgram({ folder, environment: SELF_REGISTRATION });
    try {
      await using ann = await connect(first, "ann");
      await ann.send("PRIVMSG NickServ :REGISTER battery-staple");
      await ann.expect(/ 900 ann /);
      await ann.expect(/NOTICE ann :The account ann is yours/);
      await ann.join("#den");
      await ann.send("PRIVMSG ChanServ :REGISTER #den");
      await ann.expect(/NOTICE ann :#den is registered, and yours/);
      await call(first, "POST", "/v1/irc/accounts", { account: "bob", password: PASSWORD });
      await ann.send("PRIVMSG ChanServ :AMODE #den +o bob");
      await ann.expect(/NOTICE ann :bob is operator in #den/);
      await ann.send("MODE #den +m-t", "TOPIC #den :Welcome", "MODE #den +b *!*@bad");
      await ann.expect(/MODE #den \+b /);
      await ann.send("PRIVMSG ChanServ :INFO #den");
      await ann.expect(/Founder: ann/);
      await ann.send(
        "JOIN #vault",
        "CS REGISTER #vault",
        "MODE #vault +k planted-key",
        "PING kept",
      );
      await ann.expect(/PONG .*kept/);
    } finally {
      await first.stop("SIGKILL");
    }
    for await (const { name, isFile } of Deno.readDir(join(folder, "data"))) {
      if (!isFile) continue;
      const bytes = await Deno.readFile(join(folder, "data", name));
      const text = new TextDecoder("latin1").decode(bytes);
      assert.ok(!/planted-key|battery-staple/.test(text), `${name} holds no secret in the clear`);
    }

    await using second = await startProgram({ folder, environment: SELF_REGISTRATION });
    await using guest = await connect(second, "guest");
    await guest.join("#den");
    await guest.send("JOIN #vault", "JOIN #vault planted-key");
    await guest.expect(/ 475 guest #vault /);
    await guest.expect(/ 366 guest #vault /);
    assert.ok(guest.lines.some((line) => / 353 guest = #den :guest$/.test(line)));
    await using bob = await connect(second, "bob", PASSWORD);
    await bob.send("JOIN #den", "MODE #den", "MODE #den b");
    await bob.expect(/ 332 bob #den :Welcome/);
    await bob.expect(/ 353 bob = #den :.*@bob/);
    await bob.expect(/ 324 bob #den \+mn$/);
    await bob.expect(/ 367 bob #den \*!\*@bad /);
    await guest.send("NS IDENTIFY ann battery-staple");
    await guest.expect(/MODE #den \+o guest/);
    await guest.send("NICK ann");
    await guest.expect(/NICK :?ann/);
    const events = await (await call(second, "GET", "/v1/events?limit=1000")).text();
    assert.ok(events.includes("irc.channel_registered"));
    assert.ok(!events.includes("staple") && !second.log.join("\n").includes("staple"));
  });
});

Deno.test("NickServ and ChanServ explain refusals, and the registry's names stay its own", async () => {
  await using program = await startProgram();
  await using guest = await connect(program, "guest");
  await guest.send("NICKSERV REGISTER battery-staple", "CHANSERV REGISTER #general");
  await guest.expect(/NOTICE guest :Accounts are made by the operator/);
  await guest.expect(/NOTICE guest :Log in first/);
  await guest.send("NICK NickServ");
  await guest.expect(/ 433 guest NickServ /);
});

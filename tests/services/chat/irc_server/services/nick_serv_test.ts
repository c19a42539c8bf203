import assert from "node:assert/strict";
import { anAgent, BY_OPERATOR, eventTypes } from "../../../../support/services.ts";
import { PASSWORD, withServices } from "./support.ts";

const WRONG = "The account or the password is wrong.";

Deno.test("IDENTIFY logs in by nick or by name, and wrong passwords count towards the limit", async () => {
  await withServices(async (world) => {
    await world.person("ann");
    const guest = await world.guest("guest");
    assert.deepEqual(await guest.ask("NS IDENTIFY", "PRIVMSG NickServ :identify nonsense"), [
      "Say IDENTIFY [account] password",
      WRONG,
    ]);
    const [told = "", ...rest] = await guest.ask(`NS ID ann ${PASSWORD}`);
    assert.match(told, /^900 guest guest!\S+ ann /);
    assert.deepEqual(rest, ["You are logged in as ann."]);
    assert.deepEqual(await guest.ask(`NS ID ann ${PASSWORD}`), [
      "You are logged in as ann already.",
    ]);
    assert.deepEqual(await guest.ask("NICK ann"), ["guest NICK ann"]);

    const other = await world.guest("other");
    const tries = Array.from({ length: 11 }, () => "NS IDENTIFY ann wrong");
    const answers = await other.ask(...tries);
    assert.deepEqual(answers.slice(0, 10), Array(10).fill(WRONG));
    assert.match(answers[10] ?? "", /^Too many wrong passwords, try again in 900 seconds/);
    other.client.send("CAP REQ :sasl");
    other.client.logIn("ann", PASSWORD);
    assert.match((await other.client.sync()).at(-1) ?? "", /^904 .*Too many attempts/);
    await world.services.refusals.flush();
    const rows = await world.services.database.tables.selectFrom("events").select("data")
      .where("type", "=", "access.refused").execute();
    const doors = rows.map(({ data }) => JSON.parse(data).door).toSorted();
    assert.deepEqual(doors, ["nickserv", "nickserv", "sasl"]);
  });
});

Deno.test("a password with spaces needs the account before it", async () => {
  await withServices(async (world) => {
    const { ircAccounts } = world.services;
    await ircAccounts.create({ account: "ann", password: "two  words" }, BY_OPERATOR);
    await ircAccounts.create({ account: "bob", password: "two words" }, BY_OPERATOR);
    const guest = await world.guest("guest");
    assert.equal((await guest.ask("NS ID bob two words")).at(-1), "You are logged in as bob.");
    assert.equal((await guest.ask("NS ID ann two words")).at(-1), WRONG);
  });
});

Deno.test("REGISTER makes an account and logs in, if people may make accounts", async () => {
  await withServices(async (world) => {
    const ann = await world.guest("ann");
    const [, ...told] = await ann.ask(`NS REGISTER ${PASSWORD} ann@example.org`);
    assert.deepEqual(told, ["The account ann is yours. The mail address is not kept."]);
    assert.deepEqual(await ann.ask(`NS REGISTER ${PASSWORD}`), ["You are logged in as ann."]);
    await world.member("ann");
    const bob = await world.guest("bob");
    const refused = await bob.ask("NS REGISTER short", "NS REGISTER two words", "WHOIS bob");
    assert.match(refused[0] ?? "", /at least 8 characters/);
    assert.equal(refused[1], "A password here cannot contain spaces.");
    assert.ok(!refused.some((line) => line.startsWith("330")));
    assert.deepEqual(await eventTypes(world.services), ["account.created"]);
  });
  await withServices(async (world) => {
    const guest = await world.guest("guest");
    assert.deepEqual(await guest.ask(`NS REGISTER ${PASSWORD}`), [
      "Accounts are made by the operator of this server.",
    ]);
    assert.equal(world.services.accounts.find("guest"), null);
    assert.deepEqual(await guest.ask("NS HELP REGISTER"), [
      "REGISTER password",
      "Is refused here: the operator of this server makes accounts.",
    ]);
  }, { selfRegistration: false });
});

Deno.test("GHOST and RECOVER return a nick only to its owner", async () => {
  await withServices(async (world) => {
    await world.person("ann");
    const lost = await world.member("ann");
    const guest = await world.guest("guest");
    const refused = "ann is not your account's; log in first, or give its password.";
    assert.deepEqual(await guest.ask("NS GHOST ann", "NS RECOVER ann", "NS GHOST ann wrong"), [
      refused,
      refused,
      WRONG,
    ]);
    const ghosted = await guest.ask(`NS GHOST ann ${PASSWORD}`, "NS GHOST ann");
    assert.deepEqual(ghosted.slice(1), ["The user of ann is gone.", "Nobody has ann."]);
    await lost.client.untilClosed();

    const stolen = await world.member("ann");
    assert.deepEqual(await guest.ask("NS RECOVER ann", "NS GHOST ann"), [
      "guest NICK ann",
      "ann is yours again.",
      "That is you.",
    ]);
    await stolen.client.untilClosed();
  });
});

Deno.test("PASSWD changes the password, ends the other sessions, and is logged without it", async () => {
  await withServices(async (world) => {
    await world.person("ann");
    const ann = await world.member("ann");
    const other = await world.guest("other");
    await other.ask(`NS ID ann ${PASSWORD}`);
    assert.deepEqual(await ann.ask("NS PASSWD wrong another-horse"), [WRONG]);
    assert.match((await ann.ask(`NS PASSWD ${PASSWORD} short`))[0] ?? "", /at least 8/);
    assert.deepEqual(await ann.ask(`NS SET PASSWORD ${PASSWORD} another-horse`), [
      "Your password is changed. Other sessions ended: 1.",
    ]);
    assert.match((await other.client.untilClosed())[0] ?? "", /Password changed/);
    const guest = await world.guest("guest");
    assert.deepEqual(await guest.ask(`NS ID ann ${PASSWORD}`), [WRONG]);
    assert.equal((await guest.ask("NS ID ann another-horse")).at(-1), "You are logged in as ann.");
    const rows = await world.services.database.tables.selectFrom("events").selectAll()
      .where("type", "=", "account.password_changed").execute();
    assert.deepEqual(rows.map(({ actor, data }) => [actor, JSON.parse(data)]), [
      ["person:ann", { account: "ann" }],
    ]);
    const written = JSON.stringify([world.services.log.lines, rows]);
    assert.ok(!written.includes("horse"), written);
  });
});

Deno.test("agents and admins cannot change their passwords through NickServ", async () => {
  await withServices(async (world) => {
    const passphrase = await anAgent(world.services, "scout");
    const scout = await world.member("scout", passphrase);
    assert.deepEqual(await scout.ask(`NS PASSWD ${passphrase} another-horse`), [
      "scout is an agent: its passphrase is the registry's, and not changed here.",
    ]);
    const { admins } = world.services;
    await admins.create({ username: "root", password: PASSWORD }, BY_OPERATOR);
    const root = await world.member("root");
    assert.deepEqual(await root.ask(`NS PASSWD ${PASSWORD} another-horse`), [
      'root is an admin: the password is changed by "muster admin passwd".',
    ]);
    const guest = await world.guest("guest");
    assert.deepEqual(await guest.ask(`NS PASSWD ${PASSWORD} another-horse`), ["Log in first."]);
  });
});

Deno.test("INFO and HELP answer, and an unknown command is not repeated", async () => {
  await withServices(async (world) => {
    await world.person("ann");
    await anAgent(world.services, "scout");
    const ann = await world.member("ann");
    assert.deepEqual(await ann.ask("NS INFO", "NS INFO scout", "NS INFO nobody"), [
      "ann is an account of a person, made on 2026-11-20.",
      "No channels.",
      "scout is an agent of the registry, made on 2026-11-20.",
      "There is no such account.",
    ]);
    const help = await ann.ask("NS HELP", "NS HELP identify");
    for (const name of ["IDENTIFY", "REGISTER", "GHOST", "RECOVER", "PASSWD", "SET", "INFO"]) {
      assert.ok(help.some((line) => line.startsWith(name)), name);
    }
    assert.ok(help.includes("Logs you in."));
    assert.deepEqual(await ann.ask("NS hunter2", "PRIVMSG NickServ :\x01VERSION\x01"), [
      "There is no such command. Say HELP for a list.",
    ]);
  });
});

import assert from "node:assert/strict";
import { Conflict, Unavailable } from "../../../../services/kernel/errors.ts";
import { type Log, silentLog } from "../../../../services/kernel/log.ts";
import { ANOPE, ATHEME, ServicesNetwork } from "../../../../services/chat/irc_network/mod.ts";
import { notice, ScriptedNetwork } from "./scripted_network.ts";

const PASSPHRASE = "a".repeat(64);

/** Runs a test with services that answer what a table says, by the beginning of the question. */
async function withServices(
  dialect: typeof ATHEME,
  answers: Readonly<Record<string, string>>,
  run: (accounts: ServicesNetwork, network: ScriptedNetwork, logged: string[]) => Promise<void>,
): Promise<void> {
  const network = new ScriptedNetwork();
  network.answer = (line) => {
    const [, service = "", text = ""] = /^PRIVMSG (\w+) :(.*)$/.exec(line) ?? [];
    const say = (words: string) => notice(words).replaceAll("NickServ", service);
    if (text.startsWith("\x01PING")) return [say(text)];
    const found = Object.entries(answers).find(([question]) => text.startsWith(question));
    return found === undefined ? [] : [say(found[1])];
  };
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, properties) => logged.push(`${message} ${JSON.stringify(properties)}`),
  };
  const accounts = new ServicesNetwork({
    instance: "0".repeat(20),
    connect: () => network.connect(),
    dialect,
    nick: "muster",
    serverPassword: null,
    log,
    login: { name: "admin", password: "admin-password" },
    operator: { name: "oper", password: "operator-password" },
    nickServ: "NickServ",
    chanServ: "ChanServ",
    scheduler: network.scheduler,
  });
  network.isLoggingIn = true;
  try {
    await run(accounts, network, logged);
  } finally {
    await accounts.close();
  }
}

Deno.test("ServicesNetwork reports refusals of the services without the passphrase", () =>
  withServices(ATHEME, {
    "INFO": "\x02ann\x02 is not registered.",
    "REGISTER": `No \x02${PASSPHRASE}\x02 today: too busy.`,
  }, async (accounts, network) => {
    network.nextNicks.push("muster", "ann");
    await assert.rejects(accounts.register("ann", PASSPHRASE), (error) => {
      assert.ok(error instanceof Unavailable);
      assert.match(error.message, /did not register "ann": No … today: too busy\./);
      return true;
    });
  }));

Deno.test("ServicesNetwork registers nobody under a nick that the server shortened", () =>
  withServices(
    ANOPE,
    { "INFO": "Nick \x02ann\x02 isn't registered." },
    async (accounts, network) => {
      network.nextNicks.push("muster", "a-name-as-long");
      await assert.rejects(accounts.register("a-name-as-long-as-this", PASSPHRASE), Conflict);
      assert.ok(
        !network.connections.some(({ sent }) => sent.some((line) => /REGISTER/.test(line))),
      );
    },
  ));

Deno.test("ServicesNetwork guesses nothing from an answer that it does not know", () =>
  withServices(ATHEME, { "INFO": "Les oiseaux chantent." }, async (accounts) => {
    await assert.rejects(accounts.find("ann"), /did not tell of "ann": Les oiseaux chantent\./);
    await assert.rejects(accounts.suspend("ann", "Agent revoked"), Unavailable);
  }));

Deno.test("ServicesNetwork ignores an account of another name", () =>
  withServices(ATHEME, {
    "INFO": "Information on \x02ann\x02 (account \x02annabel\x02):",
  }, async (accounts, network) => {
    assert.equal(await accounts.find("ann"), null);
    assert.equal(await accounts.register("ann", PASSPHRASE), "exists");
    await accounts.remove("ann");
    assert.ok(!network.connections.some(({ sent }) => sent.some((line) => /DROP/.test(line))));
  }));

Deno.test("ServicesNetwork logs a missing right to set statuses", () =>
  withServices(ANOPE, { "AOP": "Access denied." }, async (accounts, _, logged) => {
    assert.equal(await accounts.setChannelStatus("#room", "ann", "operator"), false);
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? "", /Access denied/);
  }));

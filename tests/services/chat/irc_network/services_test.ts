import assert from "node:assert/strict";
import { Invalid, NotFound, Unavailable } from "../../../../services/kernel/errors.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import {
  ANOPE,
  ATHEME,
  connectTcp,
  ServicesNetwork,
} from "../../../../services/chat/irc_network/mod.ts";
import { systemScheduler } from "../../../../services/kernel/scheduler.ts";
import type { IrcClient } from "../../../support/irc_client.ts";
import { networkPeers, TestNetwork } from "../../../support/network.ts";

const OURS = "0".repeat(20);
const THEIRS = "1".repeat(20);
const FIRST = "a".repeat(64);
/** What services tell of an account that stays however long nobody uses it. */
const UNENDING = /Hold|No expire/i;
const SECOND = "b".repeat(64);

function accountsOf(
  network: TestNetwork,
  kind: "atheme" | "anope",
  login = { name: network.plan.servicesAccount, password: network.servicesPassword },
  instance = OURS,
): ServicesNetwork {
  const { plan, address } = network;
  return new ServicesNetwork({
    connect: connectTcp({ ...address, tls: null }),
    dialect: kind === "atheme" ? ATHEME : ANOPE,
    nick: "muster",
    serverPassword: null,
    login,
    operator: plan.operator,
    nickServ: "NickServ",
    chanServ: "ChanServ",
    instance,
    scheduler: systemScheduler,
    log: silentLog,
  });
}

async function logIn(network: TestNetwork, nick: string, password: string): Promise<IrcClient> {
  const client = await network.logIn(nick, password);
  assert.ok(client !== null, "the network let it log in");
  return client;
}

/** The life of an account, whichever services keep it. */
async function liveAndDie(network: TestNetwork, accounts: ServicesNetwork): Promise<void> {
  assert.equal(await accounts.find("ann"), null);
  assert.equal(await accounts.register("ann", FIRST), "created");
  assert.match((await accounts.console.ask("NickServ", "INFO ann")).join("\n"), UNENDING);
  assert.equal(await accounts.register("Ann", SECOND), "exists");
  await assert.rejects(accounts.register("spaced", "two words"), Invalid);
  assert.deepEqual(pick(await accounts.find("ANN")), { account: "ann", suspended: false });
  assert.equal(await accounts.verify("ann", FIRST), true);
  assert.equal(await accounts.verify("ann", SECOND), false);

  await using elsewhere = await logIn(network, "ann", FIRST);
  await elsewhere.send("NICK elsewhere");
  await elsewhere.expect(/ NICK :?elsewhere/);
  await accounts.setPassphrase("ann", SECOND);
  await elsewhere.ended();
  assert.equal(await accounts.verify("ann", FIRST), false);
  assert.equal(await accounts.verify("ann", SECOND), true);

  await using ann = await logIn(network, "ann", SECOND);
  for (let round = 0; round < 2; round++) await accounts.suspend("ann", "Agent\r\nrevoked");
  await ann.ended();
  assert.equal(await accounts.verify("ann", SECOND), false);
  assert.equal((await accounts.find("ann"))?.suspended, true);
  for (let round = 0; round < 2; round++) await accounts.unsuspend("ann");
  assert.equal(await accounts.verify("ann", SECOND), true);

  for (let round = 0; round < 2; round++) await accounts.remove("ann");
  assert.equal(await accounts.find("ann"), null);
  await assert.rejects(accounts.setPassphrase("ann", FIRST), NotFound);
  await assert.rejects(accounts.suspend("ann", "Agent revoked"), NotFound);
}

function pick(found: { account: string; suspended: boolean | null } | null) {
  return found && { account: found.account, suspended: found.suspended };
}

/** Somebody's channel, registered with ChanServ. */
async function openChannel(network: TestNetwork, accounts: ServicesNetwork): Promise<IrcClient> {
  await accounts.register("founder", FIRST);
  const founder = await logIn(network, "founder", FIRST);
  await founder.join("#room");
  await founder.send("PRIVMSG ChanServ :REGISTER #room");
  await founder.expect(/ChanServ.*NOTICE.*#room.*registered/);
  return founder;
}

/** What a channel gives to an account. */
async function rule(network: TestNetwork, accounts: ServicesNetwork): Promise<void> {
  await using founder = await openChannel(network, accounts);
  await accounts.register("bob", FIRST);
  await using bob = await logIn(network, "bob", FIRST);
  await bob.join("#room");
  assert.equal(await accounts.setChannelStatus("#room", "bob", "operator"), true);
  await founder.expect(/MODE #room .*\+o :?bob/);
  assert.equal(await accounts.setChannelStatus("#room", "bob", "voice"), true);
  await founder.expect(/MODE #room .*-o.* :?bob/);
  assert.equal(await accounts.setChannelStatus("#room", "bob", null), true);
  await founder.expect(/MODE #room .*-v.* :?bob/);
  assert.equal(await accounts.setChannelStatus("#unregistered", "bob", "voice"), false);
}

/** What muster would miss if it logged in to an account that services give no rights. */
async function lackRights(
  network: TestNetwork,
  kind: "atheme" | "anope",
  accounts: ServicesNetwork,
): Promise<void> {
  assert.deepEqual(await accounts.missingRights(), []);
  await accounts.register("plain", FIRST);
  const plain = accountsOf(network, kind, { name: "plain", password: FIRST });
  try {
    const missing = (await plain.missingRights()).map(({ name }) => name);
    assert.deepEqual(missing, Object.keys((kind === "atheme" ? ATHEME : ANOPE).probes));
  } finally {
    await plain.close();
  }
}

/** Whose an account is outlives a new passphrase; one of another origin takes the mark later. */
async function bearMarks(
  network: TestNetwork,
  kind: "atheme" | "anope",
  accounts: ServicesNetwork,
): Promise<void> {
  const others = accountsOf(network, kind, undefined, THEIRS);
  try {
    await others.register("theirs", FIRST);
    await others.setPassphrase("theirs", SECOND);
    assert.equal((await accounts.find("theirs"))?.owner, THEIRS);
  } finally {
    await others.close();
  }
  await network.register("adopted", FIRST);
  assert.equal((await accounts.find("adopted"))?.owner, null);
  assert.equal(await accounts.mark("adopted", FIRST), true);
  assert.equal((await accounts.find("adopted"))?.owner, OURS);
  assert.equal(await accounts.mark("adopted", null), true);
}

async function keepAccounts(kind: "atheme" | "anope"): Promise<void> {
  await using network = await TestNetwork.start({ services: kind });
  const accounts = accountsOf(network, kind);
  try {
    await Promise.all([
      liveAndDie(network, accounts),
      rule(network, accounts),
      lackRights(network, kind, accounts),
      bearMarks(network, kind, accounts),
    ]);
    await network.stopServer();
    await assert.rejects(accounts.verify("bob", FIRST), Unavailable);
    await assert.rejects(accounts.register("late", FIRST), Unavailable);
    await assert.rejects(accounts.find("bob"), Unavailable);
  } finally {
    await accounts.close();
  }
}

Deno.test({
  name: "ServicesNetwork keeps accounts with Atheme and with Anope",
  ignore: networkPeers("atheme").ignore || networkPeers("anope").ignore,
  fn: async () => {
    await Promise.all([keepAccounts("atheme"), keepAccounts("anope")]);
  },
});

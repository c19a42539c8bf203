import assert from "node:assert/strict";
import { join } from "node:path";
import { call, ChannelStream, type Credentials, registerAgent } from "../support/api.ts";
import type { IrcClient } from "../support/irc_client.ts";
import { networkPeers, TestNetwork } from "../support/network.ts";
import type { Services } from "../support/network_config.ts";
import { type Program, startProgram } from "../support/program.ts";

const BRIDGE_PASSWORD = "password-of-the-bridge";

/** Of the admins, and of the accounts of the network with their names. */
const PASSWORD = "password-of-an-admin";

/** A configuration for a network, over TLS or in the clear. */
function configOf(network: TestNetwork, services: Services, tls: boolean): string {
  const { plan, servicesPassword } = network;
  return JSON.stringify({
    irc: {
      mode: "external",
      admins: ["chief"],
      addr: `127.0.0.1:${tls ? plan.tlsPort : plan.port}`,
      tls: { enabled: tls, ca: tls ? join(plan.folder, "tls.crt") : "", server_name: "localhost" },
      services: {
        kind: services,
        account: plan.servicesAccount,
        password: servicesPassword,
        oper: plan.operator.name,
        oper_password: plan.operator.password,
      },
    },
    bridge: { account: "bridge", password: BRIDGE_PASSWORD, lines_per_second: 50, line_burst: 20 },
  });
}

async function statusOf(
  program: Program,
  method: string,
  path: string,
  body?: unknown,
): Promise<number> {
  const response = await call(program, method, path, body);
  await response.body?.cancel();
  return response.status;
}

async function logIn(network: TestNetwork, { nick, passphrase }: Credentials): Promise<IrcClient> {
  const client = await network.logIn(nick, passphrase);
  assert.ok(client !== null, "the network lets the agent log in");
  await client.join("#general");
  return client;
}

async function assertRefused(network: TestNetwork, { nick, passphrase }: Credentials) {
  const client = await network.logIn(nick, passphrase, "stranger");
  await client?.[Symbol.asyncDispose]();
  assert.equal(client, null, "the network refuses the passphrase");
}

/** What is said over HTTP is heard on IRC, and the other way round. */
async function talk(program: Program, client: IrcClient, words: string): Promise<void> {
  await using stream = await ChannelStream.open(program, "general");
  const post = { nick: "scout", text: `${words} from HTTP` };
  assert.equal(await statusOf(program, "POST", "/v1/channels/general/messages", post), 204);
  await client.expect(
    new RegExp(`^\\S*bridge!.* PRIVMSG #general :\\[scout\\] ${words} from HTTP$`),
  );
  await client.send(`PRIVMSG #general :${words} from IRC`);
  const heard = [await stream.next(), await stream.next()];
  assert.deepEqual(heard.map((message) => message && `${message.nick}: ${message.text}`), [
    `scout: ${words} from HTTP`,
    `ann: ${words} from IRC`,
  ]);
}

/** A text that is too long for one message arrives whole, in pieces. */
async function talkAtLength(program: Program, client: IrcClient): Promise<void> {
  const words = Array.from({ length: 200 }, (_, index) => `wörd${index}`).join(" ");
  const post = { nick: "scout", text: words };
  assert.equal(await statusOf(program, "POST", "/v1/channels/general/messages", post), 204);
  let heard = "";
  while (!heard.endsWith("wörd199")) {
    const line = await client.expect(/ PRIVMSG #general :\[scout\] /);
    heard += `${heard === "" ? "" : " "}${
      line.slice(line.indexOf("[scout] ") + "[scout] ".length)
    }`;
  }
  assert.equal(heard, words);
}

/** The bridge has logged in to its account, or does so while we look. */
async function seeBridgeLoggedIn(client: IrcClient): Promise<void> {
  await client.send("CAP REQ account-notify", "WHOIS bridge");
  if (/ 330 /.test(await client.expect(/ 330 \S+ bridge bridge | 318 /))) return;
  await client.expect(/^:bridge!\S+ ACCOUNT :?bridge$/);
}

/** An admin's name is anybody's on the network, unless the configuration lists it. */
async function commandAsAdmin(network: TestNetwork, program: Program): Promise<void> {
  for (const username of ["boss", "chief"]) {
    assert.equal(
      await statusOf(program, "POST", "/v1/admins", { username, password: PASSWORD }),
      201,
    );
    await network.register(username, PASSWORD);
    await using client = await network.logIn(username, PASSWORD);
    assert.ok(client !== null);
    await client.join("#general");
    await client.send("PRIVMSG #general :!halt @observer");
    const answer = username === "boss" ? /boss: Only admins/ : /Halted by chief: /;
    await client.expect(answer);
    await client.send("PRIVMSG #general :!resume @observer");
    await client.expect(username === "boss" ? answer : /Resumed by chief: /);
    if (username === "boss") continue;
    await client.send("PRIVMSG #general :!questions");
    await client.expect(/^:bridge!\S+ NOTICE chief :/);
  }
}

/** With the network away nothing is pretended; then it is back by itself. */
async function restart(network: TestNetwork, program: Program): Promise<void> {
  const back = Promise.all([
    program.logged(/The bridge is up/),
    program.logged(/The accounts of the IRC network can be reached/),
  ]);
  await network.stopServer();
  const post = { text: "lost" };
  assert.deepEqual(
    await Promise.all([
      statusOf(program, "POST", "/v1/channels/general/messages", post),
      statusOf(program, "POST", "/v1/agents/register", { nick: "late" }),
      statusOf(program, "POST", "/v1/agents/ann/rotate"),
      statusOf(program, "POST", "/v1/agents/ann/revoke"),
      statusOf(program, "DELETE", "/v1/agents/ann"),
    ]),
    [503, 503, 503, 503, 503],
  );
  const agents = await (await call(program, "GET", "/v1/agents")).json();
  assert.deepEqual(agents.map(({ nick }: { nick: string }) => nick), ["ann"]);
  await network.startServer();
  await back;
}

async function rotate(program: Program): Promise<Credentials> {
  const response = await call(program, "POST", "/v1/agents/ann/rotate");
  assert.equal(response.status, 200);
  return (await response.json()).credentials;
}

/**
 * The life of an agent on a network.
 *
 * @param modern whether it offers TLS to muster, and what the last ten years have brought
 */
async function live(services: Services, modern: boolean): Promise<void> {
  await using network = await TestNetwork.start({ services, modern });
  await network.register("bridge", BRIDGE_PASSWORD);
  await using program = await startProgram({ config: configOf(network, services, modern) });
  const first = await registerAgent(program, "ann", { channels: ["general"] });
  await using ann = await logIn(network, first);
  await talk(program, ann, "hello");
  await talkAtLength(program, ann);
  await commandAsAdmin(network, program);

  const second = await rotate(program);
  await ann.ended();
  await assertRefused(network, first);
  await using again = await logIn(network, second);

  await restart(network, program);
  await again.ended();
  await using afterwards = await logIn(network, second);
  await seeBridgeLoggedIn(afterwards);
  await talk(program, afterwards, "again");

  assert.equal(await statusOf(program, "POST", "/v1/agents/ann/revoke"), 204);
  await afterwards.ended();
  await assertRefused(network, second);
  assert.equal(await statusOf(program, "DELETE", "/v1/agents/ann"), 204);
  await using reborn = await logIn(network, await registerAgent(program, "ann"));
  await talk(program, reborn, "anew");
  const written = program.log.join("\n");
  for (const secret of [first.passphrase, second.passphrase, BRIDGE_PASSWORD]) {
    assert.ok(!written.includes(secret), "no secret is logged");
  }
}

Deno.test({
  name: "muster on InspIRCd: with Atheme over TLS; with Anope and no SASL, echoes and labels",
  ignore: networkPeers("atheme").ignore || networkPeers("anope").ignore,
  fn: async () => {
    await Promise.all([live("atheme", true), live("anope", false)]);
  },
});

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { IrcServer } from "../../../../services/engines/irc/mod.ts";
import { PASSWORD_COSTS } from "../../../../services/people/identity/mod.ts";
import { anAgent, BY_OPERATOR, openServices, withServices } from "../../../support/services.ts";
import { ScramClient } from "../../../support/scram_client.ts";
import { withFolder } from "../../../support/temporary.ts";
import { TestClient } from "../../engines/irc/support/client.ts";

const PASSWORD = "correct horse";
const REFUSED = "904 * SASL authentication failed";

Deno.test("agents and people log in with a proof of their password", async () => {
  await withServices(async (services) => {
    const { server } = services;
    await services.ircAccounts.create({ account: "Ann", password: PASSWORD }, BY_OPERATOR);
    const coder = await anAgent(services, "coder");
    for (const [name, password] of [["coder", coder], ["ann", PASSWORD]] as const) {
      assert.deepEqual(await logIn(server, name, password), ["900", "903"]);
      assert.deepEqual(await logIn(server, name, `${password}!`), ["904"]);
    }
    assert.deepEqual(await logIn(server, "nobody", PASSWORD), ["904"]);
  });
});

Deno.test("an old passphrase proves nothing, and a login completes an older account's secrets", async () => {
  await withServices(async (services) => {
    const { server } = services;
    const old = await anAgent(services, "coder");
    const { credentials } = await services.agents.rotate("coder", BY_OPERATOR);
    assert.deepEqual(await logIn(server, "coder", old), ["904"]);
    assert.deepEqual(await logIn(server, "coder", credentials.passphrase), ["900", "903"]);

    const admin = await services.admins.createFirst();
    const { username = "", password = "" } = admin ?? {};
    assert.deepEqual(await logIn(server, username, password), ["904"]);
    assert.equal(
      (await services.authority.verify(username, password, "192.0.2.1")).kind,
      "accepted",
    );
    await services.scram.close();
    assert.deepEqual(await logIn(server, username, password), ["900", "903"]);
  });
});

Deno.test("wrong proofs are counted like wrong passwords", async () => {
  await withServices(async (services) => {
    const { server } = services;
    const passphrase = await anAgent(services, "coder");
    for (let attempt = 0; attempt < 10; attempt++) {
      assert.deepEqual(await logIn(server, "coder", "guess"), ["904"]);
    }
    const client = connect(server);
    await answer(client, "SCRAM-SHA-256");
    const scram = new ScramClient("coder", passphrase);
    const challenge = await answer(client, btoa(scram.first));
    const refusal = await answer(client, btoa(await scram.final(atob(challenge))));
    assert.equal(refusal, "Too many attempts, try again in 900 seconds");
    assert.equal((await services.authority.verify("coder", "guess", "internal")).kind, "throttled");
  });
});

Deno.test("a chosen password costs 600,000 rounds, and a random one 4,096", async () => {
  await withServices(async ({ agents, ircAccounts, authority }) => {
    await ircAccounts.create({ account: "Ann", password: PASSWORD }, BY_OPERATOR);
    await anAgent({ agents }, "coder");
    const { scram } = authority;
    assert.equal((await scram.challenge("ann")).iterations, 600_000);
    assert.equal((await scram.challenge("coder")).iterations, 4096);
    const invented = await Promise.all(
      Array.from({ length: 40 }, (_, index) => scram.challenge(`nobody-${index}`)),
    );
    // Each name has its own, so that a challenge does not tell which names exist.
    const told = new Set(invented.map(({ iterations }) => iterations));
    assert.deepEqual([...told].sort(), [4096, 600_000]);
  }, { passwordCosts: PASSWORD_COSTS });
});

Deno.test("a name without an account has a challenge too, and always the same", async () => {
  await withFolder(async (folder) => {
    const told = new Set<string>();
    for (let start = 0; start < 2; start++) {
      const services = await openServices(folder);
      for (const name of ["nobody", "NOBODY", "somebody"]) {
        const { salt, iterations } = await services.authority.scram.challenge(name);
        assert.equal(salt.length, 16);
        told.add(`${Buffer.from(salt).toString("base64")} ${iterations}`);
      }
      await services.close();
    }
    assert.equal(told.size, 2);
  });
});

Deno.test("an unexpected message ends the exchange", async () => {
  await withServices(async (services) => {
    const { server } = services;
    const passphrase = await anAgent(services, "coder");
    const scram = new ScramClient("coder", passphrase);
    const firsts = ["n,,n=,r=abc", "p=tls-unique,,n=coder,r=abc", "n,a=other,n=coder,r=abc"];
    for (const first of [...firsts, "n,,n=co=der,r=abc", "n,,m=x,n=coder,r=abc", "\0coder\0x"]) {
      const client = connect(server);
      await answer(client, "SCRAM-SHA-256");
      client.send(`AUTHENTICATE ${btoa(first)}`);
      assert.deepEqual(await client.sync(), [REFUSED], first);
    }
    for (const change of [/^c=biws/, /r=[^,]{25}/, /p=.{4}/]) {
      const client = connect(server);
      await answer(client, "SCRAM-SHA-256");
      const final = await scram.final(atob(await answer(client, btoa(scram.first))));
      client.send(
        `AUTHENTICATE ${btoa(final.replace(change, (part) => `${part.slice(0, 2)}AAAA`))}`,
      );
      assert.deepEqual(await client.sync(), [REFUSED], String(change));
    }
  });
});

Deno.test("an account that is revoked during the exchange stays out", async () => {
  await withServices(async (services) => {
    const { server } = services;
    const scram = new ScramClient("coder", await anAgent(services, "coder"));
    const client = connect(server);
    await answer(client, "SCRAM-SHA-256");
    const challenge = await answer(client, btoa(scram.first));
    const last = await answer(client, btoa(await scram.final(atob(challenge))));
    assert.equal(atob(last), scram.serverFinal);
    server.disconnectAccount("coder", "Agent revoked");
    client.send("AUTHENTICATE +");
    assert.deepEqual(await client.sync(), [REFUSED]);
  });
});

function connect(server: IrcServer): TestClient {
  const client = TestClient.inMemory(server.connect());
  client.send("CAP REQ :sasl");
  return client;
}

/** Sends a message of the exchange and gives what the server says to it. */
async function answer(client: TestClient, message: string): Promise<string> {
  client.send(`AUTHENTICATE ${message}`);
  const messages = await client.syncMessages();
  return messages.at(-1)?.params.at(-1) ?? "";
}

/** The numerics that a whole exchange ends with, after the server's proof was found right. */
async function logIn(server: IrcServer, name: string, password: string): Promise<string[]> {
  const client = connect(server);
  assert.equal(await answer(client, "SCRAM-SHA-256"), "+");
  const scram = new ScramClient(name, password);
  const challenge = await answer(client, btoa(scram.first));
  client.send(`AUTHENTICATE ${btoa(await scram.final(atob(challenge)))}`);
  const [outcome] = await client.syncMessages();
  if (outcome?.command !== "AUTHENTICATE") return [outcome?.command ?? ""];
  assert.equal(atob(outcome.params[0] ?? ""), scram.serverFinal);
  client.send("AUTHENTICATE +");
  return (await client.syncMessages()).map(({ command }) => command);
}

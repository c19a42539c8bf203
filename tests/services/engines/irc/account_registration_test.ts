import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

const CAPABILITY = "draft/account-registration";

Deno.test("an account for one's own nick keeps the nick, unless another user took it meanwhile", async () => {
  const accounts = new TestAccounts().allowRegistration();
  const register = accounts.register?.bind(accounts);
  await using server = startServer({ accounts });
  const hashed = Promise.withResolvers<void>();
  accounts.register = async (name, password) => {
    await hashed.promise;
    const outcome = await register?.(name, password) ?? { kind: "unavailable" };
    server.server.freeNick(name);
    return outcome;
  };
  const bob = await server.client("bob");
  const ann = await server.client("ann");
  bob.send("REGISTER bob * secret");
  ann.send("REGISTER carl * secret");
  const thief = await server.client("carl");
  hashed.resolve();
  const lines = await bob.sync();
  assert.ok(lines.some((line) => line.startsWith("REGISTER SUCCESS bob ")), lines.join("\n"));
  assert.ok(!(await ann.sync()).some((line) => line.includes("NICK")));
  const told = await thief.sync();
  assert.match(told[0] ?? "", /^NOTICE carl The nick carl now belongs to an account/);
  assert.match(told[1] ?? "", /^carl NICK Guest\d+$/);
  bob.send("WHOIS bob");
  assert.ok((await bob.sync()).includes("330 bob bob bob is logged in as"));
});

Deno.test("REGISTER makes an account under the nick or another name, and logs in to it", async () => {
  await using server = startServer({ accounts: new TestAccounts().allowRegistration() });
  const ann = await server.client("ann");
  ann.send("REGISTER * * secret", "REGISTER other * secret");
  const answers = await ann.syncMessages();
  assert.deepEqual(answers.map(({ command, params }) => [command, ...params.slice(0, -1)]), [
    ["REGISTER", "SUCCESS", "ann"],
    ["900", "ann", answers[1]?.params[1], "ann"],
    ["FAIL", "REGISTER", "ALREADY_AUTHENTICATED", "ann"],
  ]);
  const bob = await server.client("bob");
  bob.send("REGISTER robert mail@example.org secret", "WHOIS bob");
  const told = await bob.sync();
  assert.equal(told[0], "REGISTER SUCCESS robert The account is made");
  assert.ok(told.includes("330 bob bob robert is logged in as"), told.join("\n"));
});

Deno.test("an account made before the connection is complete owns its nick", async () => {
  await using server = startServer({
    accounts: new TestAccounts().allowRegistration(),
    requireAccount: true,
  });
  const client = await server.dial();
  const offered = await client.offered();
  assert.ok(offered.includes(`${CAPABILITY}=before-connect,custom-account-name`));
  client.send("REGISTER * * secret", "NICK ann", "USER ann 0 * :Ann");
  client.send("REGISTER * * secret", "CAP END");
  const answers = await client.until("001");
  assert.deepEqual(answers.slice(0, -1).map(({ command, params }) => [command, params[1]]), [
    ["FAIL", "NEED_NICK"],
    ["REGISTER", "ann"],
    ["900", "*"],
  ]);
});

Deno.test("a server with a password allows REGISTER only after the connection is complete", async () => {
  await using server = startServer({
    accounts: new TestAccounts().allowRegistration(),
    password: "open sesame",
  });
  const client = await server.dial();
  assert.ok((await client.offered()).includes(`${CAPABILITY}=custom-account-name`));
  client.send("NICK ann", "REGISTER * * secret", "VERIFY ann 123");
  assert.deepEqual(await client.sync(), [
    "FAIL REGISTER COMPLETE_CONNECTION_REQUIRED * Complete the connection first",
    "FAIL VERIFY COMPLETE_CONNECTION_REQUIRED ann Complete the connection first",
  ]);
});

Deno.test("REGISTER explains what is wrong with an account", async () => {
  const accounts = new TestAccounts({ owner: "secret" }).allowRegistration();
  await using server = startServer({ accounts });
  await server.client("holder");
  const ann = await server.client("ann");
  ann.send("REGISTER owner * secret", "REGISTER holder * secret", "REGISTER 1st * secret");
  ann.send("REGISTER ann * pw", "VERIFY ann 1234", "REGISTER ann *");
  assert.deepEqual(await ann.sync(), [
    "FAIL REGISTER ACCOUNT_EXISTS owner It is taken",
    "FAIL REGISTER ACCOUNT_EXISTS holder Somebody else uses this nick",
    "FAIL REGISTER BAD_ACCOUNT_NAME 1st An account's name has the form of a nick",
    "FAIL REGISTER WEAK_PASSWORD ann It is weak",
    "FAIL VERIFY INVALID_CODE ann No registration waits for a code",
    "461 ann REGISTER Not enough parameters",
  ]);
  accounts.register = () => Promise.resolve({ kind: "throttled", retryAfterSeconds: 7 });
  ann.send("REGISTER ann * secret");
  assert.deepEqual(await ann.sync(), [
    "FAIL REGISTER TEMPORARILY_UNAVAILABLE ann Too many accounts from your address, try again in " +
    "7 seconds",
  ]);
});

Deno.test("draft/account-registration is not offered if people may not make accounts", async () => {
  await using server = startServer();
  const client = await server.dial();
  assert.ok(!(await client.offered()).some((name) => name.startsWith(CAPABILITY)));
  client.send(`CAP REQ :${CAPABILITY}`, "REGISTER * * secret");
  assert.deepEqual(await client.sync(), [
    `CAP * NAK ${CAPABILITY}`,
    "421 * REGISTER Unknown command",
  ]);
});

import assert from "node:assert/strict";
import type { Service, ServiceCaller } from "../../../../services/engines/irc/mod.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

/** A service that obeys the first word of a message. */
class TestService implements Service {
  readonly nick = "NickServ";
  readonly realname = "A service";
  readonly asked: string[] = [];
  readonly #accounts: TestAccounts;

  constructor(accounts: TestAccounts) {
    this.#accounts = accounts;
  }

  async handle(text: string, caller: ServiceCaller): Promise<void> {
    this.asked.push(text);
    const [command, first = "", second = ""] = text.split(" ");
    switch (command) {
      case "login": {
        const check = () => this.#accounts.verify(first, second);
        const { kind } = await caller.logIn(first, check);
        return caller.reply(kind);
      }
      case "release":
        return caller.reply(caller.release(first));
      case "take":
        return caller.takeNick(first);
      case "others":
        return caller.reply(String(caller.endOtherSessions("Elsewhere")));
      case "throw":
        throw new Error("a fault");
      default:
        caller.reply(`Hello ${caller.nick}`, "and welcome");
    }
  }
}

function world(): TestServer & { service: TestService } {
  const accounts = new TestAccounts({ ann: "secret", bob: "secret" });
  const service = new TestService(accounts);
  const server = startServer({ accounts });
  server.server.addService(service);
  return Object.assign(server, { service });
}

Deno.test("a service answers only the sender of a command, and counts as no user", async () => {
  await using server = world();
  const client = await server.client("guest", "echo-message");
  client.send("PRIVMSG nickserv :hi", "NS hi", "NICKSERV :hi there", "CS hi");
  assert.deepEqual(await client.sync(), [
    "guest PRIVMSG NickServ hi",
    "NickServ NOTICE guest Hello guest",
    "NickServ NOTICE guest and welcome",
    "NickServ NOTICE guest Hello guest",
    "NickServ NOTICE guest and welcome",
    "NickServ NOTICE guest Hello guest",
    "NickServ NOTICE guest and welcome",
    "421 guest CS Unknown command",
  ]);
  assert.deepEqual(server.service.asked, ["hi", "hi", "hi there"]);
  client.send("NOTICE NickServ :hi", "TAGMSG NickServ", "ISON NickServ", "LUSERS");
  assert.deepEqual((await client.sync()).slice(0, 2), [
    "303 guest NickServ",
    "251 guest There are 1 users and 0 invisible on 1 servers",
  ]);
  assert.equal(server.service.asked.length, 3);
  const { clients, registered, virtual } = server.server.stats();
  assert.deepEqual({ clients, registered, virtual }, { clients: 1, registered: 1, virtual: 0 });
  client.send("NICK NickServ");
  assert.equal((await client.sync())[0], "433 guest NickServ Nickname is already in use");
});

Deno.test("messages to a service are neither kept nor observed", async () => {
  const said: string[] = [];
  const accounts = new TestAccounts({ ann: "secret" });
  const observer = { messageSent: ({ text }: { text: string }) => void said.push(text) };
  await using server = startServer({ accounts, observer });
  server.server.addService(new TestService(accounts));
  const ann = await server.member("ann", "secret", "batch draft/chathistory");
  ann.send("PRIVMSG NickServ :login ann secret", "CHATHISTORY LATEST NickServ * 10");
  const shown = await ann.sync();
  assert.equal(shown.filter((line) => line.includes("secret")).length, 0, shown.join("\n"));
  assert.deepEqual(said, []);
});

Deno.test("a login by a service equals one by SASL, and sets the account's statuses in channels", async () => {
  await using server = world();
  const watcher = await server.client("watcher", "account-notify");
  watcher.send("JOIN #c");
  await watcher.sync();
  const client = await server.client("guest", "account-notify labeled-response batch");
  client.send("JOIN #c");
  await client.sync();
  await watcher.sync();
  server.accounts.setStatus("ann", "voice");
  client.send("PRIVMSG NickServ :login ann wrong", "PRIVMSG NickServ :login ann secret");
  const answers = (await client.sync()).map((line) => line.replace(/!\S+/, ""));
  assert.deepEqual(answers, [
    "NickServ NOTICE guest refused",
    "900 guest guest ann You are now logged in as ann",
    "guest ACCOUNT ann",
    "MODE #c +v guest",
    "NickServ NOTICE guest accepted",
  ]);
  assert.deepEqual(await watcher.sync(), ["guest ACCOUNT ann", "MODE #c +v guest"]);
});

Deno.test("only the user that made a channel becomes its founder by a later login", async () => {
  await using server = world();
  const first = await server.client("first");
  const second = await server.client("second");
  for (const one of [first, second]) {
    one.send("JOIN #c");
    await one.sync();
  }
  second.send("PRIVMSG NickServ :login bob secret");
  await second.sync();
  first.send("PRIVMSG NickServ :login ann secret", "PART #c", "JOIN #c");
  assert.ok((await first.sync()).includes("MODE #c +o first"));
  assert.deepEqual(await second.sync(), ["first PART #c", "first JOIN #c", "MODE #c +o first"]);
});

Deno.test("a nick returns only to the account that owns it", async () => {
  await using server = world();
  const held = await server.member("ann", "secret");
  await server.client("stranger");
  const client = await server.client("guest");
  client.send("PRIVMSG NickServ :release ann", "PRIVMSG NickServ :release stranger");
  const notices = ["NickServ NOTICE guest refused", "NickServ NOTICE guest refused"];
  assert.deepEqual(await client.sync(), notices);
  client.send("PRIVMSG NickServ :login ann secret", "PRIVMSG NickServ :release ann");
  assert.equal((await client.sync()).at(-1), "NickServ NOTICE guest released");
  assert.match((await held.untilClosed())[0] ?? "", /^ERROR .*Replaced by guest/);
  client.send("PRIVMSG NickServ :take ann", "PRIVMSG NickServ :release ann");
  assert.deepEqual(await client.sync(), ["guest NICK ann", "NickServ NOTICE ann own"]);
});

Deno.test("an account's other sessions can be ended from one of them", async () => {
  await using server = world();
  const other = await server.member("ann", "secret");
  const client = await server.client("guest");
  client.send("PRIVMSG NickServ :login ann secret", "PRIVMSG NickServ :others");
  assert.equal((await client.sync()).at(-1), "NickServ NOTICE guest 1");
  assert.match((await other.untilClosed())[0] ?? "", /Elsewhere/);
});

Deno.test("a service that fails harms nobody", async () => {
  await using server = world();
  const client = await server.client("guest");
  client.send("PRIVMSG NickServ :throw", "PRIVMSG NickServ :hi");
  assert.deepEqual(await client.sync(), [
    "400 guest PRIVMSG Internal error",
    "NickServ NOTICE guest Hello guest",
    "NickServ NOTICE guest and welcome",
  ]);
});

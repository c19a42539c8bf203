import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { notice, ScriptedNetwork, service } from "./scripted_network.ts";
import { until } from "../../../support/until.ts";

Deno.test("IrcConsole collects a service's notices until the PING after the question returns", async () => {
  const network = new ScriptedNetwork();
  const console = network.console();
  network.answer = service(["\x02ann\x02 is \x0304,01not\x03 registered.", "That is all."]);
  assert.deepEqual(await console.ask("NickServ", "INFO ann"), [
    "ann is not registered.",
    "That is all.",
  ]);
  const [connection] = network.connections;
  assert.equal(connection?.sent[0], "PASS :server-password");
  assert.equal(network.connections.length, 1);
  await console.close();
  assert.equal(connection?.closed, true);
  assert.equal(network.scheduler.pending, 0);
  await assert.rejects(console.ask("NickServ", "INFO ann"), Unavailable);
});

Deno.test("IrcConsole takes a labelled batch as the whole answer", async () => {
  const network = new ScriptedNetwork();
  network.capabilities = "batch labeled-response message-tags";
  network.answer = (line) => {
    const label = /^@label=(\S+) PRIVMSG NickServ /.exec(line)?.[1];
    return label === undefined ? [] : [
      `@label=${label} :irc BATCH +7 labeled-response`,
      notice("one", "@batch=7 "),
      notice("two", "@batch=7 "),
      ":irc BATCH -7",
    ];
  };
  const console = network.console();
  assert.deepEqual(await console.ask("NickServ", "INFO ann"), ["one", "two"]);
  assert.ok(!network.connections[0]?.sent.some((line) => line.includes("\x01")));
  await console.close();
});

Deno.test("IrcConsole takes no late answer for another question's", async () => {
  const network = new ScriptedNetwork();
  const console = network.console();
  network.answer = service(["warm"]);
  await console.ask("NickServ", "HELP");
  network.answer = () => [];
  const [first] = network.connections;
  const unanswered = console.ask("NickServ", "INFO ann");
  const next = console.ask("NickServ", "INFO bob");
  assert.ok(first !== undefined);
  await until(() => first.sent.some((line) => line.includes("INFO ann")));
  network.answer = service(["about bob"]);
  network.scheduler.advance(10_000);
  first.onLine?.(notice("about ann"));
  await assert.rejects(unanswered, Unavailable);
  assert.deepEqual(await next, ["about bob"]);
  assert.equal(first.closed, true);
  assert.equal(network.connections.length, 2);
  await console.close();
});

Deno.test("IrcConsole explains why it cannot ask, and reconnects at the next question", async () => {
  const network = new ScriptedNetwork();
  const console = network.console();
  network.isReachable = false;
  await assert.rejects(console.ask("NickServ", "HELP"), /cannot be reached/);
  network.isReachable = true;
  await assert.rejects(console.ask("NickServ", "HELP"), /a moment ago/);
  network.scheduler.advance(1000);
  network.operPassword = "another";
  await assert.rejects(console.ask("NickServ", "HELP"), /refused OPER for "oper"/);
  network.scheduler.advance(1000);
  network.operPassword = "operator-password";
  network.answer = (line) =>
    line.startsWith("PRIVMSG") ? [":irc 401 muster NickServ :No such nick"] : [];
  await assert.rejects(console.ask("NickServ", "HELP"), /NickServ is not on the IRC network/);
  network.answer = service(["help"]);
  assert.deepEqual(await console.ask("NickServ", "HELP"), ["help"]);
  await assert.rejects(console.ask("NickServ", "HELP\r\nDIE"), /one line/);
  await console.close();
});

Deno.test("IrcConsole finds the sessions of an account and ends them", async () => {
  const network = new ScriptedNetwork();
  const console = network.console();
  const killed: string[] = [];
  network.answer = (line) => {
    if (line === "WHO ann a%na") {
      return [
        ":irc 354 muster phone ann",
        ":irc 354 muster stranger other",
        ":irc 352 muster #c user host irc laptop H :0 name",
        ":irc 315 muster ann :End",
      ];
    }
    if (line === "WHOIS laptop") return [":irc 330 muster laptop ann :is logged in as"];
    if (line === "WHOIS ann") return [":irc 330 muster ann other :is logged in as"];
    if (line.startsWith("KILL ")) killed.push(line);
    return line.startsWith("KILL laptop") ? [":irc 481 muster :Permission denied"] : [];
  };
  const nicks = await console.sessionsOf("ann", ["ann"]);
  assert.deepEqual(nicks, ["phone", "laptop"]);
  await console.end("phone", "Agent revoked");
  await assert.rejects(console.end("laptop", "Agent revoked"), /Permission denied/);
  assert.deepEqual(killed, ["KILL phone :Agent revoked", "KILL laptop :Agent revoked"]);
  await console.close();
});

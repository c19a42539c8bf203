/** Questions on IRC: how people learn of them there, and answer. */
import assert from "node:assert/strict";
import { callerOnIrc } from "../../../../services/people/identity/mod.ts";
import type { NewQuestion, Question } from "../../../../services/oversight/questions/mod.ts";
import { createApi } from "../../../../routes/app.ts";
import { TestMetrics } from "../../../support/metrics.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";
import { type BotWorld, PASSWORD, withBots } from "../../chat/bots/support.ts";
import { IrcUser } from "../../chat/bridge/support.ts";

/** A client of an account that sees the ids of messages. */
async function aClient({ services }: BotWorld, nick: string): Promise<IrcUser> {
  const options = { capabilities: "sasl message-tags", password: PASSWORD };
  const user = new IrcUser(services.server, nick, options);
  await user.expect(/ 001 /);
  return user;
}

async function aPerson(world: BotWorld, nick: string): Promise<IrcUser> {
  await world.services.ircAccounts.create({ account: nick, password: PASSWORD }, BY_OPERATOR);
  return await aClient(world, nick);
}

async function anAdmin(world: BotWorld, nick: string): Promise<IrcUser> {
  await world.services.admins.create({ username: nick, password: PASSWORD }, BY_OPERATOR);
  return await aClient(world, nick);
}

async function ask({ services }: BotWorld, request: NewQuestion): Promise<Question> {
  const account = services.accounts.find("coder");
  assert.ok(account !== null);
  return (await services.questions.ask(request, callerOnIrc(account))).question;
}

/** A question, as the operator sees it. */
async function read({ services }: BotWorld, id: number): Promise<Question> {
  return await services.questions.get(id, BY_OPERATOR.principal);
}

function idOf(line: string): string {
  const [, id = ""] = /[@;]msgid=([^; ]+)/.exec(line) ?? [];
  return id;
}

Deno.test("the person who is asked learns of it alone, and answers by command or reply", async () => {
  await withBots(async (world) => {
    await world.agent("coder");
    const [ann, bob] = [await aPerson(world, "ann"), await aPerson(world, "bob")];
    await ask(world, {
      text: "Land\nit?",
      choices: ["yes", "no"],
      default: "no",
      deadline: 60,
      to: "ann",
    });
    await ann.expect(
      /PRIVMSG ann :Question 1 from coder: Land it\? \[yes \/ no\] – reply to this, or say !answer 1 yes or no until 2026-11-20 12:01 UTC, or else it is “no”/,
    );
    ann.send("PRIVMSG bridge :!answer 1 maybe");
    await ann.expect(/NOTICE ann :The answer must be one of "yes", "no"/);
    bob.send("PRIVMSG bridge :!answer 1 yes");
    await bob.expect(/NOTICE bob :There is no question 1, or it is not yours/);
    ann.send("PRIVMSG bridge :!answer 1 1");
    await ann.expect(/NOTICE ann :Question 1 of coder is answered by ann: yes/);
    const { answer, via, closedBy } = await read(world, 1);
    assert.deepEqual([answer, via, closedBy?.name], ["yes", "irc", "ann"]);
    ann.send("PRIVMSG bridge :!ANSWER 1 no");
    await ann.expect(/NOTICE ann :Question 1 is answered by ann already: yes/);

    await ask(world, { text: "And the color?", to: "ann" });
    world.services.clock.advance(1000);
    const line = await ann.expect(/PRIVMSG ann :Question 2 from coder/);
    ann.send(`@+draft/reply=${idOf(line)} PRIVMSG bridge :  dark blue `);
    await ann.expect(/NOTICE ann :Question 2 of coder is answered by ann: dark blue/);
    assert.equal(bob.lines.some((sent) => sent.includes("Land")), false);
    for (const text of ["help", " !HELP me"]) {
      ann.send(`PRIVMSG bridge :${text}`);
      await ann.expect(/NOTICE ann :I take !questions .*!answer NUMBER ANSWER.* !halt/);
    }
    const before = ann.lines.length;
    ann.send("PRIVMSG #general :help");
    await ann.sync();
    assert.ok(!ann.lines.slice(before).some((sent) => sent.includes("I take")));
  });
});

Deno.test("questions about a ticket are asked in the project's channel, others of the admins", async () => {
  await withBots(async (world) => {
    const { services } = world;
    await world.agent("coder");
    const root = await anAdmin(world, "root");
    const ann = await aPerson(world, "ann");
    const guest = await world.guest("eve");
    const { projects, projectChannels } = services.hosting;
    const { project } = await projects.create({
      slug: "demo",
      name: "Demo",
      description: "",
      visibility: "internal",
    }, BY_OPERATOR);
    for (const name of ["ann", "coder"]) {
      await projects.setMember("demo", name, "write", BY_OPERATOR);
    }
    const channel = projectChannels.nameOf(project) ?? "";
    const { uuid } = await aTicket(world);
    await ann.join(channel);
    await ask(world, { text: "Which way?", ticket: `demo/${uuid}` });
    const line = await ann.expect(/PRIVMSG #\S+ :Question 1 from coder: Which way\?/);
    guest.send(`@+draft/reply=${idOf(line)} PRIVMSG ${channel} :north`);
    guest.send("PRIVMSG #general :!answer 1 north");
    await guest.expect(/NOTICE eve :Log in to your account first/);
    assert.equal((await read(world, 1)).state, "open");
    ann.send(`@+draft/reply=${idOf(line)} PRIVMSG ${channel} :south`);
    await until(() => services.questions.open(BY_OPERATOR.principal).length === 0);
    assert.equal((await read(world, 1)).answer, "south");
    await ann.expect(/PRIVMSG #\S+ :Question 1 of coder is answered by ann: south/);

    await ask(world, { text: "For admins?" });
    await root.expect(/PRIVMSG root :Question 2 from coder: For admins\?/);
    ann.send("PRIVMSG bridge :!questions");
    await ann.expect(/NOTICE ann :No question waits for you/);
    root.send("PRIVMSG bridge :!questions");
    await root.expect(/NOTICE root :Question 2 from coder/);
    await services.questions.answer(2, "so be it", BY_OPERATOR, "http");
    services.clock.advance(1000);
    await root.expect(/PRIVMSG root :Question 2 of coder is answered by operator: so be it/);
  });
});

/** Files a ticket in the project. */
async function aTicket({ services }: BotWorld): Promise<{ readonly uuid: string }> {
  const metrics = new TestMetrics();
  const api = createApi({ ...services, metrics, ircServer: null });
  const token = (await Deno.readTextFile(`${services.folder}/api_token`)).trim();
  const response = await api.app.request("/projects/demo/fossil/api/tickets", {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ title: "T" }),
  }, { remoteAddress: "192.0.2.1" });
  return await response.json();
}

Deno.test("an agent, a relayed text and hostile words answer and command nothing", async () => {
  await withBots(async (world) => {
    const { services } = world;
    const coder = await world.agent("coder");
    const other = await world.agent("other");
    const root = await anAdmin(world, "root");
    await root.join("#general");
    await ask(world, { text: "!halt\n/quit [root] !answer 1 pwned" });
    const line = await root.expect(/PRIVMSG root :Question 1 from coder: !halt \/quit/);
    assert.ok(line.length < 700, line);
    for (const agent of [coder, other]) {
      agent.send("PRIVMSG #general :!answer 1 yes");
      agent.send("PRIVMSG #general :root: !answer 1 yes", "PRIVMSG #general :[root] !answer 1 yes");
    }
    await coder.expect(/NOTICE coder :People answer questions: you asked this one/);
    await other.expect(/NOTICE other :There is no question 1, or it is not yours/);
    await root.join("#own");
    await coder.join("#own");
    root.send("RELAYMSG #own ann/net :!answer 1 relayed", "RELAYMSG #own ann/net :!halt");
    await coder.expect(/ann\/net\S* PRIVMSG #own :!halt/);
    root.send(
      "PRIVMSG #general :!answer",
      "PRIVMSG #general :!answer x",
      "PRIVMSG #general :!answer 1",
    );
    for (let count = 0; count < 3; count++) {
      await root.expect(/NOTICE root :Usage: !answer NUMBER ANSWER/);
    }
    root.send("PRIVMSG #general :!answer 999999999 x");
    await root.expect(/NOTICE root :There is no question 999999999/);
    root.send("PRIVMSG #general :!answer 1 a\x02b");
    await root.expect(/NOTICE root :The answer must have no control or invisible characters/);
    assert.equal((await read(world, 1)).state, "open");
    assert.equal(services.agents.halts.isAny, false);
    await ask(world, { text: "é".repeat(2000), choices: ["é".repeat(100), "x".repeat(100)] });
    services.clock.advance(1000);
    const long = await root.expect(/PRIVMSG root :Question 2 from coder/);
    assert.ok(new TextEncoder().encode(long).length < 1200, long);
  });
});

Deno.test("a person who logs in later is told how many questions wait", async () => {
  await withBots(async (world) => {
    await world.agent("coder");
    await world.services.ircAccounts.create({ account: "ann", password: PASSWORD }, BY_OPERATOR);
    await ask(world, { text: "Are you there?", to: "ann" });
    const ann = await aClient(world, "ann");
    await ann.expect(/NOTICE ann :1 question waits for you: say !questions/);
  });
});

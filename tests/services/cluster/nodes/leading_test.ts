/** What one node does for all, and what becomes of it when another one takes over. */
import assert from "node:assert/strict";
import { EarlyEnd } from "../../../../services/kernel/early_end.ts";
import { Conflict, Unavailable } from "../../../../services/kernel/errors.ts";
import { type Caller, OPERATOR } from "../../../../services/people/identity/mod.ts";
import { Cuttable } from "../../../support/cuttable.ts";
import { testNodes } from "../../../support/nodes.ts";
import { anAgent, BY_OPERATOR, type TestServices } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";
import { Receiver } from "../../work/webhooks/receiver.ts";

/** The texts in an agent's inbox. */
async function textsOf({ inboxes }: TestServices, nick: string): Promise<string[]> {
  return (await inboxes.read(nick, {}, OPERATOR)).map(({ text }) => text);
}

/** Waits until the inbox of scout has so many entries. */
async function fills({ inboxes }: TestServices, count: number): Promise<void> {
  for (let read = await inboxes.read("scout", {}, OPERATOR); read.length < count;) {
    const since = read.at(-1)?.id;
    const more = await inboxes.read("scout", { since, waitSeconds: 30 }, OPERATOR);
    assert.notEqual(more.length, 0, `The inbox has ${read.length} entries`);
    read = await inboxes.read("scout", {}, OPERATOR);
  }
}

function agentOf({ agents: { roster } }: TestServices, nick: string) {
  const agent = roster.find(nick);
  assert.ok(agent !== null, `There is no agent "${nick}"`);
  return agent;
}

function byAgent(services: TestServices, nick: string): Caller {
  const { id } = agentOf(services, nick);
  const scopes = new Set(["read", "write"] as const);
  const principal = { ...OPERATOR, kind: "agent" as const, id, name: nick, scopes };
  return { principal, address: null, requestId: null };
}

function notice(services: TestServices, id: string, text: string) {
  const entry = { id, kind: "claim", from: "muster", account: null, text } as const;
  return { agent: agentOf(services, "scout"), time: Date.now(), entry };
}

/** A message in a channel, which the bridge of each node hears. */
function said(id: string, text: string) {
  const timestamp = new Date().toISOString();
  return { id, nick: "ann", account: "ann", text, timestamp };
}

testNodes("the leading node keeps the inboxes, and the next one goes on", async ({ open }) => {
  const one = await open("one");
  await until(() => one.leadership.isLeading);
  const two = await open("two");
  await anAgent(one, "scout");
  const hear = (nodes: readonly TestServices[], id: string, text: string) => {
    for (const { inboxes } of nodes) inboxes.takePosted("#general", said(id, text));
  };

  await two.inboxes.notify([notice(two, "posted", "from two")]);
  hear([one, two], "first", "@scout one");
  await one.inboxes.flush();
  await fills(one, 2);
  assert.deepEqual((await textsOf(one, "scout")).sort(), ["@scout one", "from two"]);
  await assert.rejects(two.inboxes.read("scout", {}, OPERATOR), Unavailable);
  await two.inboxes.notify([notice(two, "posted", "from two")]);
  await one.inboxes.acknowledge("scout", { ids: ["first"] }, byAgent(one, "scout").principal);

  // The first node dies before it has this one.
  hear([two], "second", "@scout two");
  await one.leadership.end();
  hear([two], "third", "@scout three");
  await two.inboxes.notify([notice(two, "between", "between leaders")]);
  await until(() => two.leadership.isLeading);
  const expected = ["@scout three", "@scout two", "between leaders", "from two"];
  await two.leadership.turned();
  await fills(two, expected.length);
  assert.deepEqual((await textsOf(two, "scout")).sort(), expected);
  await assert.rejects(one.inboxes.read("scout", {}, OPERATOR), Unavailable);
});

testNodes("a question is asked, waited for and answered on several nodes", async ({ open }) => {
  const one = await open("one");
  await until(() => one.leadership.isLeading);
  const two = await open("two");
  await anAgent(one, "scout");
  const asker = byAgent(two, "scout");
  const [asked, other] = await Promise.all([
    two.questions.ask({ text: "Shall I?" }, asker),
    one.questions.ask({ text: "Or shall I?", deadline: 3600, default: "no" }, asker),
  ]);
  assert.notEqual(asked.question.id, other.question.id);
  const { id } = asked.question;
  const waits = two.questions.wait(id, asker.principal, { seconds: 60, end: new EarlyEnd() });
  const answers = await Promise.allSettled([
    one.questions.answer(id, "yes", BY_OPERATOR, "http"),
    two.questions.answer(id, "no", BY_OPERATOR, "http"),
  ]);
  const won = answers.filter(({ status }) => status === "fulfilled");
  assert.equal(won.length, 1);
  for (const settled of answers) {
    if (settled.status === "rejected") assert.ok(settled.reason instanceof Conflict);
  }
  const { state, answer } = await waits;
  assert.deepEqual([state, answer], ["answered", answers[0].status === "fulfilled" ? "yes" : "no"]);
  await fills(one, 1);
  await one.questions.idle();
  assert.equal((await textsOf(one, "scout")).length, 1);
});

testNodes(
  "a change of the leading node rolls back what the earlier one still writes",
  async ({ open }) => {
    const one = await open("one");
    await until(() => one.leadership.isLeading);
    await one.database.commit({ statements: one.leadership.guard() });
    const two = await open("two");
    await assert.rejects(two.database.commit({ statements: two.leadership.guard() }));
    await one.leadership.end();
    await until(() => two.leadership.isLeading);
    await assert.rejects(one.database.commit({ statements: one.leadership.guard() }));
    await two.database.commit({ statements: two.leadership.guard() });
  },
);

testNodes("a node that no longer leads changes no delivery of a webhook", async ({ open }) => {
  await using receiver = new Receiver();
  const one = await open("one", { config: { webhooks: { allow_private: true } } });
  await until(() => one.leadership.isLeading);
  const { hosting: { projects, webhooks }, database } = one;
  const request = { slug: "demo", description: "", visibility: "private" } as const;
  const { project } = await projects.create(request, BY_OPERATOR);
  const answered = Promise.withResolvers<Response>();
  receiver.answer = () => answered.promise;
  await webhooks.create(project, { url: receiver.url, types: [] }, BY_OPERATOR);
  const data = { project: project.slug, project_id: project.id, name: "N", user: "ann", uuid: "" };
  const by = { actor: "agent:ann", actorId: null, address: null, cause: null };
  await database.commit({ events: [{ time: Date.now(), type: "project.technote", ...by, data }] });
  await receiver.next();
  // As if this node had been stopped so long that another one leads.
  await database.commit({
    statements: [{
      sql: "UPDATE leaders SET node = 'two', expires_at = 9000000000000000",
      parameters: [],
      mustChange: true,
    }],
  });
  answered.resolve(new Response(null, { status: 500 }));
  await until(() => !one.leadership.isLeading);
  await one.leadership.turned();
  const rows = await database.tables.selectFrom("webhook_deliveries").select(["attempts", "status"])
    .execute();
  assert.deepEqual(rows, [{ attempts: 0, status: "pending" }]);
});

testNodes("a node stops its work when it no longer leads, not later", async ({ url, open }) => {
  await using database = new Cuttable(url);
  const { leadership, database: { peers } } = await open("one", {
    node: { name: "one", database: database.url },
  });
  let isWorking = false;
  leadership.add({
    start: () => void (isWorking = true),
    stop: () => void (isWorking = false),
  });
  await until(() => isWorking);
  database.cut();
  // PostgreSQL takes the question, and does not answer it for some seconds.
  const looked = assert.rejects(peers?.catchUp() ?? Promise.resolve(), Unavailable);
  await until(() => !leadership.isLeading);
  let turns = 0;
  await until(() => {
    turns++;
    return !isWorking;
  });
  assert.ok(turns < 1000, "It worked on");
  await looked;
  database.mend();
});

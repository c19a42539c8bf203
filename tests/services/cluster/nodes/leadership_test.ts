import assert from "node:assert/strict";
import { GUEST } from "../../../../services/people/identity/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { Draining, Leadership } from "../../../../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../../../../services/kernel/nodes.ts";
import { Cuttable } from "../../../support/cuttable.ts";
import { testNodes } from "../../../support/nodes.ts";
import { peer } from "../../../support/peers.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { anAgent, BY_OPERATOR, TestLog, type TestServices } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";
import { withCluster } from "./cluster.ts";

Deno.test(
  "one node does the work of the leader, and another one takes it over",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, lookUntil }) => {
      const first = await open("first");
      const second = await open("second");
      const doing: string[] = [];
      for (const { name, leadership } of [first, second]) {
        leadership.add({
          start: () => void doing.push(`${name} starts`),
          stop: () => void doing.push(`${name} stops`),
        });
      }
      await first.leadership.begin();
      await lookUntil(() => first.leadership.isLeading);
      await second.leadership.begin();
      await lookUntil(() => second.nodes.leader !== null);
      assert.equal(second.nodes.leader?.name, "first");
      assert.deepEqual(second.nodes.all().map(({ name }) => name), ["first", "second"]);
      assert.deepEqual(doing, ["first starts"]);

      await first.leadership.end();
      await lookUntil(() => second.leadership.isLeading);
      assert.deepEqual(doing, ["first starts", "first stops", "second starts"]);
      await second.leadership.end();
    }),
);

Deno.test("a server that is alone leads until it ends", async () => {
  const doing: string[] = [];
  const database = { peers: null, onPeersLooked: () => () => {} };
  const leadership = new Leadership({ database, log: new TestLog() });
  leadership.add({
    start: () => Promise.reject(new Error("no")),
    stop: () => void doing.push("one stops"),
  });
  leadership.add({
    start: () => void doing.push("two starts"),
    stop: () => void doing.push("two stops"),
  });
  await leadership.begin();
  await leadership.end();
  assert.deepEqual(doing, ["two starts", "two stops", "one stops"]);
});

/** A database whose other programs a test makes up. */
class StandIn {
  readonly #listeners = new Set<() => void>();
  readonly peers = {
    isLeading: true,
    stand() {},
    whileLeading: { sql: "", parameters: [], mustChange: true },
  };

  onPeersLooked(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  look(): void {
    for (const listener of this.#listeners) listener();
  }
}

Deno.test("work stops although the node has just looked at the others", async () => {
  const doing: string[] = [];
  const database = new StandIn();
  const leadership = new Leadership({ database, log: new TestLog() });
  leadership.add({ start: () => void doing.push("starts"), stop: () => void doing.push("stops") });
  await leadership.begin();
  database.look();
  await leadership.end();
  assert.deepEqual(doing, ["starts", "stops"]);
});

Deno.test("work that cannot start is tried again, and reported once", async () => {
  const doing: string[] = [];
  const database = new StandIn();
  const log = new TestLog();
  const leadership = new Leadership({ database, log });
  let isBroken = true;
  leadership.add({
    start() {
      if (isBroken) throw new Error("no");
      doing.push("one starts");
    },
    stop: () => void doing.push("one stops"),
  });
  leadership.add({ start: () => void doing.push("two starts"), stop() {} });
  await leadership.begin();
  await leadership.turned();
  isBroken = false;
  database.look();
  await leadership.turned();
  await leadership.turned();
  assert.deepEqual(doing, ["two starts", "one starts"]);
  assert.equal(log.lines.filter((line) => line.startsWith("error")).length, 1);
  await leadership.end();
  assert.deepEqual(doing.at(-1), "one stops");
});

Deno.test("a node that was drained just after another change leads no more", async () => {
  const doing: string[] = [];
  let changed = () => {};
  let record: NodeRecord = {
    name: "a",
    url: "http://a.example",
    version: "1",
    startedAt: 0,
    drainedAt: null,
  };
  const draining = new Draining({
    nodes: {
      self: "a",
      find: () => record,
      onChanged(listener) {
        changed = listener;
        return () => {};
      },
    },
    leadership: {
      begin: () => Promise.resolve(void doing.push("begins")),
      end: () => Promise.resolve(void doing.push("ends")),
    },
    scheduler: new TestScheduler(),
    log: silentLog,
  });
  await draining.begin();
  changed();
  record = { ...record, drainedAt: 1 };
  changed();
  await draining.end();
  assert.deepEqual(doing, ["begins", "ends"]);
});

const ADDRESS = "192.0.2.1";

/** Whether a node lets somebody in with a token. */
async function admits({ identity }: TestServices, token: string): Promise<boolean> {
  const principal = await identity.authenticate({ kind: "bearer", token }, ADDRESS)
    .catch(() => null);
  return principal !== null;
}

/** What ends on a node from now on, as names of accounts and ids of tokens. */
function endingsOf({ identity, accounts }: TestServices): (string | null)[] {
  const ended: (string | null)[] = [];
  identity.onEnded(({ accountId, tokenId }) => {
    ended.push(
      tokenId ?? (accountId === null ? "operator" : accounts.get(accountId)?.name ?? accountId),
    );
  });
  return ended;
}

testNodes("what is revoked on one node is dead on the others when that is done", async (nodes) => {
  const [one, two] = [await nodes.open("one"), await nodes.open("two")];
  await anAgent(one, "scout");
  const request = { name: "ci", owner: "scout", project: null, expires_at: null };
  const issue = () => one.tokens.create({ ...request, scopes: ["read"] }, BY_OPERATOR);
  const [first, second] = [await issue(), await issue()];
  assert.ok(await admits(two, first.token));
  const ended = endingsOf(two);

  await one.tokens.revoke(first.id, BY_OPERATOR);
  assert.deepEqual([await admits(two, first.token), ended], [false, [first.id]]);
  assert.ok(await admits(two, second.token));

  await one.agents.rotate("scout", BY_OPERATOR);
  assert.equal(await admits(two, second.token), false);
  assert.ok(ended.includes("scout") && ended.includes(second.id));

  const third = await issue();
  ended.length = 0;
  await one.agents.revoke("scout", BY_OPERATOR);
  assert.equal(await admits(two, third.token), false);
  assert.ok(ended.includes("scout"));
  assert.equal(two.agents.roster.find("scout"), null);
});

testNodes("a session of the web pages ends on every node", async ({ open }) => {
  const [one, two] = [await open("one"), await open("two")];
  await one.ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
  const account = two.accounts.find("ann");
  assert.ok(account !== null);
  const session = await two.webSessions.open(account, { address: ADDRESS, requestId: null });
  assert.equal(one.webSessions.find(session.secret)?.principal.name, "ann");
  const ended = endingsOf(one);
  await two.webSessions.close({ principal: session.principal, address: ADDRESS, requestId: null });
  assert.equal(one.webSessions.find(session.secret), null);
  assert.deepEqual(ended, ["ann"]);
});

testNodes("a halt stops agents on every node", async ({ open }) => {
  const [one, two] = [await open("one"), await open("two")];
  await anAgent(one, "scout");
  await anAgent(one, "builder", { type: "orchestrator" });
  const nickOf = (nick: string) => two.agents.roster.find(nick)?.id ?? null;
  let heard = 0;
  two.agents.halts.onChanged((change) => {
    if (change === null) heard++;
  });
  await one.agents.halts.halt({ agents: ["scout"], types: [], reason: "wait" }, BY_OPERATOR);
  assert.match(two.agents.halts.reasonById(nickOf("scout")) ?? "", /wait/);
  assert.ok(heard > 0);

  // Halts of two nodes at once do not undo each other.
  await Promise.all([
    one.agents.halts.halt({ agents: [], types: ["orchestrator"], reason: null }, BY_OPERATOR),
    two.agents.halts.halt({ agents: ["scout"], types: [], reason: "stop" }, BY_OPERATOR),
  ]);
  for (const { agents: { halts } } of [one, two]) {
    assert.match(halts.reasonById(nickOf("scout")) ?? "", /stop/);
    assert.notEqual(halts.reasonById(nickOf("builder")), null);
  }
  await two.agents.halts.resume({ agents: [], types: [] }, BY_OPERATOR);
  assert.deepEqual([one.agents.halts.isAny, two.agents.halts.isAny], [false, false]);
});

testNodes("policies that two nodes change at once keep both changes", async ({ open }) => {
  const [one, two] = [await open("one"), await open("two")];
  let heard = 0;
  two.policies.onChanged(() => heard++);
  await one.policies.change({ oracle: { enabled: true } }, BY_OPERATOR);
  assert.deepEqual([two.policies.read()["oracle"]?.["enabled"], heard], [true, 1]);
  await Promise.all([
    one.policies.change({ scribe: { enabled: true } }, BY_OPERATOR),
    two.policies.change({ scroll: { enabled: true } }, BY_OPERATOR),
  ]);
  for (const { policies } of [one, two]) {
    const { oracle, scribe, scroll } = policies.read();
    assert.deepEqual([oracle, scribe, scroll].map((bot) => bot?.["enabled"]), [true, true, true]);
  }
});

testNodes(
  "a node that is cut off lets nobody in, and a revocation waits for that",
  async (nodes) => {
    await using link = new Cuttable(nodes.url);
    const one = await nodes.open("one");
    const two = await nodes.open("two", { node: { name: "two", database: link.url } });
    await anAgent(one, "scout");
    const { id, token } = await one.tokens.create(
      { name: "ci", owner: "scout", project: null, expires_at: null, scopes: ["read"] },
      BY_OPERATOR,
    );
    assert.ok(await admits(two, token));
    const ended: unknown[] = [];
    two.identity.onEnded((end) => ended.push(end.covers({ ...GUEST, tokenId: id })));
    const { promise: isLost, resolve } = Promise.withResolvers<boolean>();
    two.identity.onEnded(() => resolve(two.database.isCurrent));

    link.cut();
    await one.tokens.revoke(id, BY_OPERATOR);
    assert.equal(two.database.isCurrent, false);
    assert.equal(await isLost, false);
    assert.deepEqual(ended, [true]);
    assert.equal(two.nodes.isCurrent, false);
    assert.deepEqual(two.status.missing(), ["database (out of touch)"]);

    link.mend();
    await until(() => two.database.isCurrent);
    assert.equal(await admits(two, token), false);
  },
);

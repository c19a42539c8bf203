import assert from "node:assert/strict";
import {
  type InboxDoor,
  Inboxes,
  InboxStore,
  ReturnNotices,
} from "../../../../services/chat/inboxes/mod.ts";
import { Invalid, Unavailable } from "../../../../services/kernel/errors.ts";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

/** Messages on IRC are kept forever. */
const STORED = { config: { irc: { history: { max_days: 0 } } } };

const DAY = 24 * 60 * 60 * 1000;

/** What an agent's inbox holds, as texts. */
async function texts(inboxes: InboxDoor, since?: string): Promise<string[]> {
  return (await inboxes.read("scout", { since }, OPERATOR)).map(({ text }) => text);
}

/** Inboxes as they are after a restart. */
async function restarted(services: TestServices, age: number | null = null): Promise<Inboxes> {
  const { clock: scheduler, database, inboxes, log } = services;
  await inboxes.stop();
  const store = new InboxStore({ database, age, scheduler, log });
  return withStore(services, store);
}

function withStore(
  { agents: { roster }, accounts, clock: scheduler, identity, log }: TestServices,
  store: InboxStore,
) {
  const hears = () => true;
  const returns = new ReturnNotices(accounts);
  const shared = { identity, roster, accounts, returns, scheduler, log, hears, store };
  return new Inboxes({
    ...shared,
    bridgeNick: "bridge",
    isOnline: () => false,
    queueTime: 3 * DAY,
  });
}

/** Says something to the agent alone, over IRC. */
function say({ clock, inboxes }: Pick<TestServices, "clock" | "inboxes">, text: string): void {
  inboxes.take({
    id: `id-${text}`,
    time: clock.now(),
    command: "PRIVMSG",
    text,
    sender: { nick: "ann", account: "ann", address: "::1" },
    receiver: { nick: "scout", account: "scout", address: "::1" },
    channel: null,
    statusPrefix: "",
    answered: null,
    isRelayed: false,
  });
}

Deno.test("an inbox survives a restart with its ids, and readers continue", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    for (const text of ["one", "two", "three"]) say(services, text);
    const agent = services.agents.roster.find("scout");
    assert.ok(agent);
    const spoken = { from: "eve", account: null, via: "bridge", text: "four" } as const;
    services.inboxes.deliver(agent, spoken);
    services.inboxes.forgetMessage("id-two");
    const before = await services.inboxes.read("scout", {}, OPERATOR);
    const later = await restarted(services);
    assert.deepEqual(await later.read("scout", {}, OPERATOR), before);
    assert.deepEqual(await texts(later, "id-one"), ["three", "four"]);
    assert.deepEqual(await texts(later, "id-two"), ["three", "four"]);
    assert.deepEqual(await texts(later, before[1]?.timestamp), ["four"]);
    await assert.rejects(texts(later, "id-none"), Invalid);
    later.deliver(agent, { from: "ann", account: "ann", text: "five" });
    const stamps = (await later.read("scout", {}, OPERATOR)).map(({ timestamp }) => timestamp);
    assert.deepEqual([...new Set(stamps)].sort(), stamps);
    await later.stop();
  }, STORED));

Deno.test("a message that is redacted before its inbox is loaded does not appear", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    for (const text of ["one", "two"]) say(services, text);
    const later = await restarted(services);
    later.forgetMessage("id-one");
    assert.deepEqual(await texts(later), ["two"]);
    await later.stop();
    const { body } = await services.database.tables.selectFrom("inbox_messages").select("body")
      .where("id", "=", "id-one").executeTakeFirstOrThrow();
    assert.equal(body, "");
  }, STORED));

Deno.test("messages that arrive while an inbox is loaded come after the stored ones", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    for (const text of ["one", "two"]) say(services, text);
    const later = await restarted(services);
    const reading = texts(later);
    for (const text of ["three", "four"]) say({ ...services, inboxes: later }, text);
    for (const id of ["id-one", "id-four"]) later.forgetMessage(id);
    assert.deepEqual(await reading, ["two", "three"]);
    const last = await restarted({ ...services, inboxes: later });
    assert.deepEqual(await texts(last), ["two", "three"]);
    assert.deepEqual(await texts(last, "id-four"), []);
    await last.stop();
    const bodies = await services.database.tables.selectFrom("inbox_messages").select("body")
      .orderBy("time").execute();
    assert.deepEqual(bodies.map(({ body }) => body), ["", "two", "three", ""]);
  }, STORED));

Deno.test("what comes back to its sender while inboxes stop is stored", () =>
  withServices(async (services) => {
    const { clock: scheduler, database, log } = services;
    for (const nick of ["scout", "ann"]) await anAgent(services, nick);
    for (let count = 0; count < 200; count++) say(services, String(count));
    await services.inboxes.stop();
    const store = new InboxStore({ database, age: null, scheduler, log });
    const load = store.load.bind(store);
    store.load = async (accountId) => {
      for (let turn = 0; turn < 10; turn++) await store.knows(accountId, "");
      return await load(accountId);
    };
    const later = withStore(services, store);
    say({ ...services, inboxes: later }, "last");
    const last = await restarted({ ...services, inboxes: later });
    const back = await last.read("ann", {}, OPERATOR);
    assert.deepEqual(back.map(({ kind, message }) => [kind, message]), [["bounce", "id-0"]]);
    await last.stop();
  }, STORED));

Deno.test("an unreadable inbox keeps new messages until it can be read", () =>
  withServices(async (services) => {
    const { clock: scheduler, database, log } = services;
    await anAgent(services, "scout");
    say(services, "stored");
    await services.inboxes.stop();
    const store = new InboxStore({ database, age: null, scheduler, log });
    const load = store.load.bind(store);
    store.load = () => Promise.reject(new Error("The disk fails"));
    const later = withStore(services, store);
    for (let count = 0; count < 450; count++) say({ ...services, inboxes: later }, String(count));
    await assert.rejects(texts(later), /The disk fails/);
    assert.equal(log.lines.filter((line) => line.includes("cannot be read")).length, 1);
    store.load = load;
    say({ ...services, inboxes: later }, "last");
    const kept = await texts(later);
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, "251", "last"]);
    await later.stop();
  }, STORED));

Deno.test("a stored inbox is bounded in messages and in characters", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    for (let count = 0; count < 450; count++) say(services, String(count));
    const later = await restarted(services);
    const kept = await texts(later);
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, "250", "449"]);
    const agent = services.agents.roster.find("scout");
    assert.ok(agent);
    later.deliver(agent, { from: "ann", account: null, text: "x".repeat(64 * 1024) });
    assert.equal((await texts(later)).length, 200);
    later.deliver(agent, { from: "ann", account: null, text: "x".repeat(256 * 1024) });
    assert.equal((await texts(later)).length, 1);
    await later.stop();
    const rows = await services.database.tables.selectFrom("inbox_messages").select("id")
      .where("held", "=", 1).execute();
    assert.equal(rows.length, 1);
  }, STORED));

Deno.test("messages end with retention and with their agent, and the next owner of the name gets none", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    say(services, "old");
    services.clock.advance(20 * DAY);
    say(services, "new");
    const later = await restarted(services, 30 * DAY);
    assert.deepEqual(await texts(later), ["old", "new"]);
    services.clock.advance(15 * DAY);
    assert.deepEqual(await texts(later), ["new"]);
    await later.stop();
    const rows = async () => {
      const found = await services.database.tables.selectFrom("inbox_messages").select("id")
        .execute();
      return found.map(({ id }) => id);
    };
    assert.deepEqual(await rows(), ["id-new"]);
    await services.agents.revoke("scout", BY_OPERATOR);
    assert.deepEqual(await rows(), []);
    await services.agents.delete("scout", BY_OPERATOR);
    await anAgent(services, "scout");
    const last = await restarted(services);
    assert.deepEqual(await texts(last), []);
    await last.stop();
  }, STORED));

Deno.test("a message to a deleted agent does not keep others from the disk", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    await anAgent(services, "other");
    const { roster } = services.agents;
    const other = roster.find("other");
    assert.ok(other);
    say(services, "stays");
    services.inboxes.deliver(other, { from: "ann", account: null, text: "goes" });
    await services.agents.delete("other", BY_OPERATOR);
    const later = await restarted(services);
    assert.deepEqual(await texts(later), ["stays"]);
    assert.deepEqual(services.log.lines.filter((line) => line.includes("not stored")), []);
    await later.stop();
  }, STORED));

Deno.test("messages are written together: at once after a quiet time, then within 20 ms", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const commits: number[] = [];
    const { database } = services;
    const commit = database.commit.bind(database);
    database.commit = (change) => {
      commits.push(change.statements?.length ?? 0);
      return commit(change);
    };
    await texts(services.inboxes);
    const sayMany = () => {
      for (let count = 0; count < 100; count++) say(services, String(count));
    };
    sayMany();
    services.clock.advance(0);
    assert.deepEqual(commits, [100]);
    await services.inboxes.flush();
    sayMany();
    services.clock.advance(19);
    assert.deepEqual(commits, [100]);
    services.clock.advance(1);
    assert.deepEqual(commits, [100, 100]);
  }, STORED));

Deno.test("what was flushed is not written again at the appointed time", () =>
  withServices(async (services) => {
    const { clock, database, inboxes } = services;
    await anAgent(services, "scout");
    say(services, "one");
    assert.deepEqual(await texts(inboxes), ["one"]);
    await inboxes.flush();
    const commit = database.commit.bind(database);
    let commits = 0;
    database.commit = (write) => {
      commits++;
      return commit(write);
    };
    clock.advance(20);
    await inboxes.flush();
    assert.equal(commits, 0);
  }, STORED));

Deno.test("messages that the disk refuses wait unseen, and are stored and shown later", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { database } = services;
    const commit = database.commit.bind(database);
    database.commit = () => Promise.reject(new Unavailable("The disk is full"));
    say(services, "kept");
    assert.deepEqual(await texts(services.inboxes), []);
    services.clock.advance(20);
    assert.deepEqual(await texts(services.inboxes), []);
    await assert.rejects(services.inboxes.flush(), { message: "The disk is full" });
    database.commit = commit;
    await services.inboxes.flush();
    assert.deepEqual(await texts(services.inboxes), ["kept"]);
    const later = await restarted(services);
    assert.deepEqual(await texts(later), ["kept"]);
    await later.stop();
  }, STORED));

Deno.test("one change that cannot be written keeps no other from the disk", () =>
  withServices(async (services) => {
    await anAgent(services, "scout");
    const { database, inboxes } = services;
    const commit = database.commit.bind(database);
    database.commit = (change) => {
      const isMeant = change.statements?.some(({ parameters }) => parameters.includes("id-poison"));
      return isMeant ? Promise.reject(new Error("A bug")) : commit(change);
    };
    for (const text of ["one", "poison", "two"]) say(services, text);
    assert.deepEqual(await texts(inboxes), ["one", "two"]);
  }, STORED));

Deno.test("a message with an id of its sender is stored and shown once, whichever server takes it", () =>
  withServices(async (services) => {
    const { database, clock: scheduler, log, agents: { roster } } = services;
    await anAgent(services, "scout");
    const agent = roster.find("scout");
    assert.ok(agent);
    const sending = { senderId: "ann", clientId: "payment-1" };
    const spoken = { from: "ann", account: "ann", text: "pay 100" };
    const other = withStore(services, new InboxStore({ database, age: null, scheduler, log }));
    for (const inboxes of [services.inboxes, other]) assert.deepEqual(await texts(inboxes), []);
    const id = services.inboxes.deliver(agent, spoken, sending);
    other.deliver(agent, spoken, sending);
    await services.inboxes.flush();
    await other.flush();
    assert.deepEqual(await texts(services.inboxes), ["pay 100"]);
    assert.deepEqual(await texts(other), []);
    assert.equal((await other.sent(sending))?.id, id);
    await other.stop();
    const later = await restarted(services);
    assert.deepEqual(await texts(later), ["pay 100"]);
    await later.stop();
  }, STORED));

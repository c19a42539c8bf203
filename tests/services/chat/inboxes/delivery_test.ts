import assert from "node:assert/strict";
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  TooMany,
  Unavailable,
} from "../../../../services/kernel/errors.ts";
import { type Caller, OPERATOR } from "../../../../services/people/identity/mod.ts";
import { IrcUser } from "../bridge/support.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { aSession, withAttendance, type World } from "./support.ts";

const HOUR = 60 * 60 * 1000;

/** Two agents that call, of which `away` has no user on IRC yet. */
async function twoAgents(world: World) {
  const scout = await world.call("scout", await world.register("scout"));
  const passphrase = await world.register("away");
  return { scout, passphrase, away: await world.call("away", passphrase) };
}

/** What an agent reads itself, as `state: text`. */
async function read({ inboxes }: World, { principal }: Caller, since?: string): Promise<string[]> {
  const entries = await inboxes.read(principal.name, { since }, principal);
  return entries.map(({ state, text }) => `${state}: ${text}`);
}

/** The state of a message in the only inbox that it went to. */
async function stateOf({ directMessages }: World, id: string | null, caller: Caller) {
  const { receivers } = await directMessages.fate(id ?? "", caller);
  assert.equal(receivers.length, 1);
  return receivers[0]?.state;
}

Deno.test("every read returns an entry until it is acknowledged, and none after that", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const send = (text: string) => world.directMessages.send("away", { text }, scout);
    const ids = [await send("one"), await send("two"), await send("three")];
    assert.deepEqual(await read(world, away), ["queued: one", "queued: two", "queued: three"]);
    assert.deepEqual(await read(world, away), ["read: one", "read: two", "read: three"]);
    assert.equal(await stateOf(world, ids[1] ?? null, scout), "read");

    const { principal } = away;
    const acknowledge = (...args: string[]) =>
      world.inboxes.acknowledge("away", { ids: args }, principal);
    assert.deepEqual(await acknowledge(ids[1] ?? "", "unknown"), {
      acknowledged: 1,
      unknown: ["unknown"],
      left: 2,
    });
    assert.deepEqual(await acknowledge(ids[1] ?? ""), { acknowledged: 0, unknown: [], left: 2 });
    assert.deepEqual(await read(world, away), ["read: one", "read: three"]);
    assert.deepEqual(await read(world, away, ids[1] ?? ""), ["read: three"]);
    assert.equal(await stateOf(world, ids[1] ?? null, scout), "acknowledged");

    const rest = await world.inboxes.acknowledge("away", { upTo: ids[2] ?? "" }, principal);
    assert.deepEqual(rest, { acknowledged: 2, unknown: [], left: 0 });
    assert.deepEqual(await read(world, away), []);
    await assert.rejects(
      world.inboxes.acknowledge("away", { upTo: "unknown" }, principal),
      Invalid,
    );
    await assert.rejects(
      world.inboxes.acknowledge("away", { ids: [] }, scout.principal),
      Forbidden,
    );
  }));

Deno.test("counts and the operator's reads change no state", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    await world.directMessages.send("away", { text: "one" }, scout);
    await world.inboxes.read("away", {}, OPERATOR);
    const counts = () => world.inboxes.counts("away", away.principal);
    const { oldest, ...rest } = await counts();
    assert.match(oldest ?? "", /Z$/);
    const expected = { nick: "away", total: 1, delivered: 0, kinds: { message: 1 } };
    assert.deepEqual(rest, { ...expected, queued: 1, read: 0 });
    await read(world, away);
    const { oldest: _oldest, ...later } = await counts();
    assert.deepEqual(later, { ...expected, queued: 0, read: 1 });
    await assert.rejects(world.inboxes.counts("away", scout.principal), Forbidden);
    await assert.rejects(world.inboxes.counts("nobody", OPERATOR), NotFound);
  }));

Deno.test("a message to an agent with an IRC connection is delivered, one to another is queued", () =>
  withAttendance(async (world) => {
    const { scout, passphrase } = await twoAgents(world);
    const before = await world.directMessages.send("away", { text: "queued" }, scout);
    const session = await aSession(world, "away", passphrase);
    const byAgent = await world.directMessages.send("away", { text: "one" }, scout);
    const byBridge = await world.directMessages.send("away", { text: "two" }, BY_OPERATOR);
    await session.expect(/ PRIVMSG away :two$/);
    assert.equal(await stateOf(world, before, scout), "queued");
    assert.equal(await stateOf(world, byAgent, scout), "delivered");
    assert.equal(await stateOf(world, byBridge, BY_OPERATOR), "delivered");
  }));

Deno.test("a message to an agent that stays away comes back to its sender, once", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const { clock } = world.services;
    const id = await world.directMessages.send("away", { text: "hello" }, scout);
    const operators = await world.directMessages.send("away", { text: "hello" }, BY_OPERATOR);
    clock.advance(71 * HOUR);
    assert.equal(await stateOf(world, id, scout), "queued");
    const bounced = world.inboxes.read("scout", { waitSeconds: 60 }, scout.principal);
    clock.advance(HOUR);
    const [entry, ...others] = await clock.passUntil(bounced);
    assert.deepEqual(others, []);
    assert.deepEqual([entry?.kind, entry?.from, entry?.message], ["bounce", "away", id]);
    assert.equal(
      entry?.text,
      '"away" did not get your message, because it was away for 72 hours: hello',
    );
    await world.inboxes.stop();
    assert.equal(await stateOf(world, id, scout), "bounced");
    assert.equal(await stateOf(world, operators, BY_OPERATOR), "bounced");
    assert.deepEqual(away.principal.name, "away");
  }));

Deno.test("a message that the agent has had does not come back", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const id = await world.directMessages.send("away", { text: "hello" }, scout);
    await read(world, away);
    world.services.clock.advance(100 * HOUR);
    assert.deepEqual(await read(world, away), ["read: hello"]);
    assert.equal(await stateOf(world, id, scout), "read");
    assert.deepEqual(await read(world, scout), []);
  }));

Deno.test("a message with an id of its sender is sent once", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const { directMessages } = world;
    await world.register("other");
    const post = { text: "hello", clientId: "c1" };
    const ids = await Promise.all([1, 2, 3].map(() => directMessages.send("away", post, scout)));
    assert.equal(new Set(ids).size, 1);
    assert.deepEqual(await read(world, away), ["queued: hello"]);
    await assert.rejects(directMessages.send("other", post, scout), Conflict);
    assert.notEqual(await directMessages.send("away", post, BY_OPERATOR), ids[0]);
    const { clientId } = await directMessages.fate(ids[0] ?? "", scout);
    assert.equal(clientId, "c1");
    await assert.rejects(
      directMessages.send("away", { text: " ", clientId: "c2" }, scout),
      Invalid,
    );
    await directMessages.send("away", { text: "again", clientId: "c2" }, scout);
    assert.equal((await read(world, away)).length, 3);
  }));

Deno.test("a message that the disk refused at first is sent once, too", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const { database } = world.services;
    const post = { text: "hello", clientId: "c1" };
    const send = () => world.directMessages.send("away", post, scout);
    const commit = database.commit.bind(database);
    database.commit = () => Promise.reject(new Unavailable("The disk is full"));
    await assert.rejects(send(), Unavailable);
    await assert.rejects(send(), Unavailable);
    database.commit = commit;
    assert.equal(await send(), await send());
    assert.deepEqual(await read(world, away), ["queued: hello"]);
  }));

Deno.test("an agent's IRC connection gets a message once it is in the inbox, under the id that it has there", () =>
  withAttendance(async (world) => {
    const { scout, passphrase, away } = await twoAgents(world);
    const { database } = world.services;
    const session = new IrcUser(world.server, "away", {
      capabilities: "sasl message-tags",
      password: passphrase,
    });
    await session.sync();
    const commit = database.commit.bind(database);
    database.commit = () => Promise.reject(new Unavailable("The disk is full"));
    const post = { text: "pay 100", clientId: "c1" };
    await assert.rejects(world.directMessages.send("away", post, scout), Unavailable);
    await session.sync();
    assert.deepEqual(session.lines.filter((line) => line.includes("pay 100")), []);
    database.commit = commit;
    const id = await world.directMessages.send("away", post, scout);
    await session.sync();
    const got = session.lines.filter((line) => line.includes("pay 100"));
    assert.equal(got.length, 1);
    assert.ok(got[0]?.includes(`msgid=${id}`), got[0]);
    assert.equal((await read(world, away)).length, 1);
    assert.equal(await stateOf(world, id, scout), "read");
  }));

Deno.test("the redaction of a part of a long message takes it out of the inbox", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const text = Array.from({ length: 3 }, () => "x".repeat(5000)).join("\n");
    const id = await world.directMessages.send("away", { text }, scout);
    assert.equal((await read(world, away)).length, 1);
    world.inboxes.forgetMessage(`${id}+2`);
    assert.deepEqual(await read(world, away), []);
  }));

Deno.test("a post is confirmed once the inboxes of those whom it mentions are on disk", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const { database } = world.services;
    await world.bridge.join("#general", away);
    await world.bridge.join("#general", scout);
    const commit = database.commit.bind(database);
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    database.commit = async (change) => {
      asked.resolve();
      await gate.promise;
      return await commit(change);
    };
    let isConfirmed = false;
    const posted = world.bridge.post("#general", { text: "@away: look" }, scout)
      .then(() => isConfirmed = true);
    await asked.promise;
    await world.bridge.post("#general", { text: "to nobody" }, scout);
    assert.equal(isConfirmed, false);
    gate.resolve();
    await posted;
    const rows = await database.tables.selectFrom("inbox_messages").select("body").execute();
    assert.deepEqual(rows.map(({ body }) => body), ["@away: look"]);
  }));

Deno.test("only the sender, the receivers and the operator know of a message", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const other = await world.call("other", await world.register("other"));
    const id = await world.directMessages.send("away", { text: "psst" }, scout);
    for (const caller of [scout, away, BY_OPERATOR]) {
      assert.equal(await stateOf(world, id, caller), "queued");
    }
    await assert.rejects(stateOf(world, id, other), NotFound);
    await assert.rejects(stateOf(world, "unknown", BY_OPERATOR), NotFound);
  }));

Deno.test("a full inbox refuses messages, and of an agent that acknowledges nothing else leaves", () =>
  withAttendance(async (world) => {
    const { scout, away } = await twoAgents(world);
    const fill = async (count: number) => {
      for (let number = 0; number < count; number++) {
        await world.directMessages.send("away", { text: `${number}` }, BY_OPERATOR);
      }
    };
    await fill(200);
    await assert.rejects(world.directMessages.send("away", { text: "x" }, scout), TooMany);
    // An agent that has never acknowledged makes room by reading.
    await read(world, away);
    await world.directMessages.send("away", { text: "new" }, scout);
    const kept = await read(world, away);
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, "read: 1", "queued: new"]);
    // From its first acknowledgement on, nothing that it has not acknowledged leaves.
    const { principal } = away;
    const [oldest] = await world.inboxes.read("away", {}, principal);
    await world.inboxes.acknowledge("away", { ids: [oldest?.id ?? ""] }, principal);
    await world.directMessages.send("away", { text: "last" }, scout);
    await assert.rejects(world.directMessages.send("away", { text: "x" }, scout), TooMany);
    assert.equal((await read(world, away)).length, 200);
  }));

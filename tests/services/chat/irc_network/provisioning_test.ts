import assert from "node:assert/strict";
import { adoptionSchema } from "../../../../services/people/agents/schemas.ts";
import { Conflict, Invalid, NotFound, Unavailable } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR, eventTypes } from "../../../support/services.ts";
import { FakeErgo } from "../../../support/fake_ergo.ts";
import { EVERYWHERE } from "../../../support/postgres.ts";
import { withFolder } from "../../../support/temporary.ts";
import { openNetworked, takes, withNetwork } from "./support.ts";

/** SQL with which the database refuses events, and with which it takes them again. */
const [REFUSING, RELENTING] = EVERYWHERE
  ? [
    [
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'no room'; END $$`,
      "CREATE TRIGGER refusing BEFORE INSERT ON events EXECUTE FUNCTION refuse()",
    ],
    ["DROP TRIGGER refusing ON events", "DROP FUNCTION refuse"],
  ]
  : [
    ["CREATE TRIGGER refusing BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END"],
    ["DROP TRIGGER refusing"],
  ];

Deno.test("an agent is on both sides from the moment it is registered", async () => {
  await withNetwork(async (services) => {
    const passphrase = await anAgent(services, "Coder", { channels: ["#ops", "#dev"] });
    assert.deepEqual(await takes(services, "coder", passphrase), [true, true]);
    await services.pass(0);
    assert.deepEqual(services.ergo.statuses, ["#ops +v Coder", "#dev +v Coder"]);
    assert.deepEqual(services.sync.stats(), { unsettled: 0, repaired: 0, reachable: true });
  });
});

Deno.test("rotate, revoke and delete take effect on the network at once", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo } = services;
    const first = await anAgent(services, "coder", { type: "orchestrator", channels: ["#ops"] });
    const { credentials } = await agents.rotate("coder", BY_OPERATOR);
    assert.deepEqual(await takes(services, "coder", first), [false, false]);
    assert.deepEqual(await takes(services, "coder", credentials.passphrase), [true, true]);
    assert.deepEqual(ergo.ended, ["coder"]);

    await agents.revoke("coder", BY_OPERATOR);
    assert.equal(ergo.get("coder")?.suspended, true);
    assert.deepEqual(ergo.ended, ["coder", "coder"]);
    await services.pass(0);
    assert.deepEqual(ergo.statuses, ["#ops +o coder", "#ops -o coder", "#ops -v coder"]);

    await agents.delete("coder", BY_OPERATOR);
    assert.equal(ergo.get("coder"), undefined);
    await services.pass(0);
    assert.equal(services.sync.stats().unsettled, 0);
    const second = await anAgent(services, "CODER");
    assert.notEqual(second, first);
    assert.deepEqual(await takes(services, "coder", second), [true, true]);
  });
});

Deno.test("an unconfirmed change is undone on the network", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo, sync } = services;
    ergo.failNext("/v1/ns/saregister", "lost");
    await assert.rejects(anAgent(services, "coder"), Unavailable);
    assert.ok(ergo.get("coder") !== undefined);
    await services.pass(0);
    assert.equal(ergo.get("coder"), undefined);

    const passphrase = await anAgent(services, "coder");
    for (const what of ["/v1/ns/passwd", "NickServ SUSPEND ADD", "NickServ SUSPEND DEL"]) {
      ergo.failNext(what, "lost");
      await assert.rejects(agents.rotate("coder", BY_OPERATOR), Unavailable, what);
      await services.pass(0);
      assert.deepEqual(await takes(services, "coder", passphrase), [true, true], what);
    }
    ergo.failNext("NickServ SUSPEND ADD", "lost");
    await assert.rejects(agents.revoke("coder", BY_OPERATOR), Unavailable);
    await services.pass(0);
    assert.deepEqual(await takes(services, "coder", passphrase), [true, true]);
    ergo.failNext("NickServ ERASE coder", "refused");
    await assert.rejects(agents.delete("coder", BY_OPERATOR), Unavailable);
    await services.pass(0);
    assert.deepEqual(await takes(services, "coder", passphrase), [true, true]);
    assert.equal(sync.stats().unsettled, 0);
    assert.deepEqual(ergo.get("coder")?.suspended, false);
  });
});

Deno.test("a change that the database refuses is undone on the network, and the next one works", async () => {
  await withNetwork(async (services) => {
    const { agents, database, ergo, ircAccounts } = services;
    const execute = (statements: readonly string[]) =>
      database.commit({
        statements: statements.map((sql) => ({ sql, parameters: [], mustChange: false })),
      });
    const refuse = () => execute(REFUSING);
    const relent = () => execute(RELENTING);
    const passphrase = await anAgent(services, "coder", { channels: ["#ops"] });
    await services.pass(0);
    ergo.add("Ann", "her own");
    await refuse();
    await assert.rejects(anAgent(services, "other"), /no room/);
    const person = { account: "bob", password: "correcthorse" };
    await assert.rejects(ircAccounts.create(person, BY_OPERATOR), /no room/);
    for (const change of ["rotate", "revoke", "delete"] as const) {
      await assert.rejects(agents[change]("coder", BY_OPERATOR), /no room/, change);
      await relent();
      await services.pass(0);
      assert.deepEqual(await takes(services, "coder", passphrase), [true, true], change);
      await refuse();
    }
    const adoption = adoptionSchema.parse({});
    await assert.rejects(agents.adopt("ann", adoption, BY_OPERATOR), /no room/);
    await relent();
    await services.pass(0);
    assert.deepEqual([ergo.get("other"), ergo.get("bob")], [undefined, undefined]);
    assert.equal(services.sync.stats().unsettled, 0);

    await agents.rotate("coder", BY_OPERATOR);
    await agents.adopt("ann", adoption, BY_OPERATOR);
    await anAgent(services, "other");
    assert.ok(ergo.takes("ann", "her own"));
  });
});

Deno.test("after a kill between the network's change and ours, both sides agree", async () => {
  const moments = [
    { change: "register", fault: "/v1/ns/saregister" },
    { change: "rotate", fault: "NickServ SUSPEND DEL" },
    { change: "revoke", fault: "NickServ SUSPEND ADD" },
    { change: "delete", fault: "NickServ ERASE" },
  ] as const;
  for (const { change, fault } of moments) {
    await using ergo = new FakeErgo();
    await withFolder(async (folder) => {
      const services = await openNetworked(folder, ergo);
      const passphrase = change === "register" ? "" : await anAgent(services, "coder");
      await services.pass(0);
      // The network does it and muster never hears so: from here on its files are those of a kill.
      ergo.failNext(fault, "lost");
      if (change === "delete") ergo.failNext("NickServ ERASE", "lost");
      const changing = change === "register"
        ? anAgent(services, "coder")
        : services.agents[change]("coder", BY_OPERATOR);
      await assert.rejects(changing, Unavailable);
      await services.close();

      const later = await openNetworked(folder, ergo, services.clock);
      later.sync.start();
      await later.pass(0);
      if (change === "register") {
        assert.equal(ergo.get("coder"), undefined);
        assert.deepEqual(later.agents.counts(), { active: 0, total: 0 });
      } else {
        assert.deepEqual(await takes(later, "coder", passphrase), [true, true], change);
      }
      assert.equal(later.sync.stats().unsettled, 0, change);
      await later.close();
    });
  }
});

Deno.test("names and accounts of the network are left alone", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo, ircAccounts } = services;
    ergo.add("Ann", "her own");
    await assert.rejects(anAgent(services, "ann"), Conflict);
    const person = { account: "ANN", password: "correct horse" };
    await assert.rejects(ircAccounts.create(person, BY_OPERATOR), Conflict);
    await assert.rejects(anAgent(services, "n".repeat(40)), Conflict);
    for (const change of ["rotate", "revoke", "delete"] as const) {
      await assert.rejects(agents[change]("ann", BY_OPERATOR), NotFound);
    }
    services.sync.compare();
    await services.pass(0);
    assert.equal(ergo.takes("ann", "her own"), true);
    assert.deepEqual([ergo.ended, ergo.statuses], [[], []]);
    assert.deepEqual([agents.counts().total, services.sync.stats().unsettled], [0, 0]);
  });
});

Deno.test("a name that somebody takes while muster asks for it stays theirs", async () => {
  await withNetwork(async (services) => {
    const { ergo } = services;
    ergo.failNext("/v1/ns/saregister", "refused");
    await assert.rejects(anAgent(services, "coder"), Unavailable);
    ergo.add("coder", "somebody's own");
    await services.pass(0);
    assert.equal(ergo.takes("coder", "somebody's own"), true);
    assert.equal(services.sync.stats().unsettled, 0);
    await assert.rejects(anAgent(services, "coder"), Conflict);
  });
});

Deno.test("adopt() takes over an account of the network with its password", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo } = services;
    ergo.add("Ann", "her own");
    const adoption = adoptionSchema.parse({ type: "observer", channels: ["ops"] });
    await assert.rejects(agents.adopt("nobody", adoption, BY_OPERATOR), NotFound);
    await assert.rejects(agents.adopt("a b\r\nKILL", adoption, BY_OPERATOR), NotFound);
    await assert.rejects(agents.adopt("NickServ", adoption, BY_OPERATOR), NotFound);
    const agent = await agents.adopt("ann", adoption, BY_OPERATOR);
    assert.deepEqual([agent.nick, agent.type], ["Ann", "observer"]);
    assert.equal(ergo.takes("ann", "her own"), true);
    await services.pass(0);
    assert.deepEqual(ergo.statuses, ["#ops -o Ann", "#ops -v Ann"]);
    await assert.rejects(agents.adopt("ann", adoption, BY_OPERATOR), Conflict);

    ergo.failNext("/v1/ns/passwd", "refused");
    await assert.rejects(agents.rotate("ann", BY_OPERATOR), Unavailable);
    await services.pass(0);
    assert.equal(ergo.takes("ann", "her own"), true);

    // Only Ann knows her password: once it is replaced there, nothing can bring it back.
    ergo.failNext("/v1/ns/passwd", "lost");
    await assert.rejects(agents.rotate("ann", BY_OPERATOR), Unavailable);
    await services.pass(0);
    const there = ergo.get("ann")?.passphrase ?? "";
    assert.deepEqual(await takes(services, "ann", there), [true, true]);

    const { credentials } = await agents.rotate("ann", BY_OPERATOR);
    assert.deepEqual(await takes(services, "ann", credentials.passphrase), [true, true]);
    await agents.delete("ann", BY_OPERATOR);
    assert.equal(ergo.get("ann"), undefined);
  });
});

Deno.test("people's accounts are on both sides with the password that they chose", async () => {
  await withNetwork(async (services) => {
    const { ergo, ircAccounts } = services;
    const person = { account: "Ann", password: "correcthorse" };
    ergo.failNext("/v1/ns/passwd", "lost");
    await assert.rejects(ircAccounts.create(person, BY_OPERATOR), Unavailable);
    await services.pass(0);
    assert.equal(ergo.get("ann"), undefined);
    const spaced = { ...person, password: "correct horse" };
    await assert.rejects(ircAccounts.create(spaced, BY_OPERATOR), Invalid);
    await services.pass(0);
    assert.equal(ergo.get("ann"), undefined);

    await ircAccounts.create(person, BY_OPERATOR);
    assert.deepEqual(await takes(services, "ann", person.password), [true, true]);
    await ircAccounts.delete("ann", BY_OPERATOR);
    assert.equal(ergo.get("ann"), undefined);
    assert.deepEqual(await ircAccounts.list(), []);
  });
});

Deno.test("every difference between the sides is found and repaired", async () => {
  await withNetwork(async (services) => {
    const { agents, ergo, sync } = services;
    const lost = await anAgent(services, "lost");
    await anAgent(services, "alive");
    await agents.revoke("alive", BY_OPERATOR);
    ergo.unregistered.add("#later");
    const held = await anAgent(services, "held", { channels: ["#later"] });
    const changed = await anAgent(services, "taken", { channels: ["#later"] });
    ergo.add("stranger", "his own");
    await services.pass(0);
    const before = (await eventTypes(services)).length;

    ergo.accounts.delete("lost");
    const [alive, other, taken] = ["alive", "held", "taken"].map((nick) => ergo.get(nick));
    assert.ok(alive !== undefined && other !== undefined && taken !== undefined);
    alive.suspended = false;
    other.suspended = true;
    taken.passphrase = "another";
    sync.compare();
    await services.pass(0);
    assert.deepEqual(await takes(services, "lost", lost), [true, true]);
    assert.equal(ergo.get("alive")?.suspended, true);
    assert.equal(ergo.takes("stranger", "his own"), true);
    // Suspended by somebody there on purpose.
    assert.deepEqual(await takes(services, "held", held), [false, true]);
    await assert.rejects(agents.rotate("held", BY_OPERATOR), Conflict);
    assert.deepEqual(await takes(services, "taken", changed), [true, true]);
    assert.deepEqual(sync.stats(), { unsettled: 0, repaired: 3, reachable: true });
    const expected = Array(3).fill("network.account_repaired");
    assert.deepEqual((await eventTypes(services)).slice(before), expected);
  });
});

Deno.test("a channel that is registered later gives its agents their status", async () => {
  await withNetwork(async (services) => {
    const { ergo, sync } = services;
    ergo.unregistered.add("#later");
    await anAgent(services, "one", { channels: ["#later"] });
    await anAgent(services, "two", { channels: ["#later", "#ops"] });
    await services.pass(0);
    const questions = ergo.asked.filter((what) => what.startsWith("ChanServ AMODE #later"));
    assert.deepEqual([questions.length, ergo.statuses], [1, ["#ops +v two"]]);
    assert.equal(sync.stats().unsettled, 0);
    ergo.unregistered.clear();
    await services.pass(10 * 60_000);
    assert.deepEqual(ergo.statuses.slice(1), ["#later +v one", "#later +v two"]);
    const asked = ergo.asked.length;
    await services.pass(10 * 60_000);
    assert.equal(ergo.asked.slice(asked).some((what) => what.startsWith("ChanServ AMODE")), false);
  });
});

Deno.test("two concurrent changes to one agent are each whole", async () => {
  await withNetwork(async (services) => {
    const { agents } = services;
    await anAgent(services, "coder");
    const rotations = await Promise.all([1, 2, 3].map(() => agents.rotate("coder", BY_OPERATOR)));
    const passphrases = rotations.map(({ credentials }) => credentials.passphrase);
    const taken = await Promise.all(passphrases.map((text) => takes(services, "coder", text)));
    assert.deepEqual(taken, [[false, false], [false, false], [true, true]]);

    const mixed = await Promise.allSettled([
      agents.rotate("coder", BY_OPERATOR),
      agents.revoke("coder", BY_OPERATOR),
      agents.rotate("coder", BY_OPERATOR),
    ]);
    assert.deepEqual(mixed.map(({ status }) => status), ["fulfilled", "fulfilled", "rejected"]);
    assert.equal(services.ergo.get("coder")?.suspended, true);

    const deletions = await Promise.allSettled([
      agents.delete("coder", BY_OPERATOR),
      agents.delete("coder", BY_OPERATOR),
    ]);
    assert.deepEqual(deletions.map(({ status }) => status), ["fulfilled", "rejected"]);
    await services.pass(0);
    assert.deepEqual(services.sync.stats(), { unsettled: 0, repaired: 0, reachable: true });
  });
});

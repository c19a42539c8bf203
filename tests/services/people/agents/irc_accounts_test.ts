import assert from "node:assert/strict";
import { Conflict, NotFound } from "../../../../services/kernel/errors.ts";
import { anAgent, BY_OPERATOR, eventTypes, withServices } from "../../../support/services.ts";

const ADDRESS = "192.0.2.1";
const PASSWORD = "correct horse";

Deno.test("a person's account logs in to IRC until it is deleted", async () => {
  await withServices(async (services) => {
    const { ircAccounts, authority } = services;
    const created = await ircAccounts.create({ account: "Ann", password: PASSWORD }, BY_OPERATOR);
    const listed = { account: "Ann", created_at: "2026-11-20T12:00:00.000Z" };
    assert.deepEqual(created, { ...listed, server: "irc://irc.example:6667" });
    assert.deepEqual(await ircAccounts.list(), [listed]);
    assert.deepEqual(await authority.verify("ann", PASSWORD, ADDRESS), {
      kind: "accepted",
      account: "Ann",
    });
    assert.deepEqual(await authority.verify("ann", "wrong horse", ADDRESS), { kind: "refused" });

    await ircAccounts.delete("ANN", BY_OPERATOR);
    assert.deepEqual(services.sessions.closed, ["Ann: Account deleted"]);
    assert.deepEqual(services.sessions.forgotten, ["Ann"]);
    assert.deepEqual(await authority.verify("ann", PASSWORD, ADDRESS), { kind: "refused" });
    await assert.rejects(ircAccounts.delete("ann", BY_OPERATOR), NotFound);
    assert.deepEqual(await eventTypes(services), ["account.created", "account.deleted"]);
  });
});

Deno.test("an account is made once, even when it is asked for twice at once", async () => {
  await withServices(async (services) => {
    const outcomes = await Promise.allSettled(
      ["ann", "Ann"].map((account) =>
        services.ircAccounts.create({ account, password: PASSWORD }, BY_OPERATOR)
      ),
    );
    const rejected = outcomes.filter((outcome) => outcome.status === "rejected");
    assert.deepEqual(rejected.map(({ reason }) => reason instanceof Conflict), [true]);
  });
});

Deno.test("an agent is no account of a person", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    assert.deepEqual(await services.ircAccounts.list(), []);
    await assert.rejects(services.ircAccounts.delete("coder", BY_OPERATOR), NotFound);
  });
});

Deno.test("a short password is refused", async () => {
  await withServices(async ({ ircAccounts }) => {
    const creation = ircAccounts.create({ account: "ann", password: "seven77" }, BY_OPERATOR);
    await assert.rejects(creation, { name: "Invalid", message: /"password".* 8 / });
  });
});

Deno.test("people register accounts themselves, in the one namespace and with their own event", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const { authority } = services;
    const register = async (name: string, password = PASSWORD) => {
      const outcome = await authority.register?.(name, password, ADDRESS);
      return outcome?.kind === "refused" ? outcome.fault : outcome?.kind;
    };
    assert.equal(await register("Ann"), "registered");
    assert.equal((await authority.verify("ann", PASSWORD, ADDRESS)).kind, "accepted");
    assert.equal(await register("ann"), "taken");
    assert.equal(await register("CODER"), "taken");
    assert.equal(await register("NickServ"), "name");
    assert.equal(await register("no name"), "name");
    assert.equal(await register("bob", "short"), "weak");
    assert.equal(await register("bob", "a\tlong password"), "password");
    const events = await services.database.tables.selectFrom("events").select(["actor", "address"])
      .where("type", "=", "account.created").execute();
    assert.deepEqual(events.map(({ actor, address }) => [actor, address]), [
      ["person:Ann", ADDRESS],
    ]);
  });
});

Deno.test("one address makes a bounded number of accounts an hour", async () => {
  await withServices(async ({ authority, clock }) => {
    const register = (name: string, address: string) =>
      authority.register?.(name, PASSWORD, address);
    await register("ann", ADDRESS);
    await register("bob", ADDRESS);
    const refused = await register("cid", ADDRESS);
    assert.deepEqual(refused, { kind: "throttled", retryAfterSeconds: 3600 });
    assert.equal((await register("cid", "198.51.100.7"))?.kind, "registered");
    clock.advance(60 * 60_000);
    assert.equal((await register("dan", ADDRESS))?.kind, "registered");
  });
});

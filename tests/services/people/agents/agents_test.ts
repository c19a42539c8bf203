import assert from "node:assert/strict";
import { Conflict, NotFound } from "../../../../services/kernel/errors.ts";
import { adoptionSchema, registrationSchema } from "../../../../services/people/agents/schemas.ts";
import {
  anAgent,
  BY_OPERATOR,
  eventTypes,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const MINUTE = 60_000;
const ADDRESS = "192.0.2.1";
const PASSWORD = "correct horse";

async function canLogIn(
  { authority }: TestServices,
  name: string,
  password: string,
): Promise<boolean> {
  return (await authority.verify(name, password, ADDRESS)).kind === "accepted";
}

function aPerson({ ircAccounts }: TestServices, account: string) {
  return ircAccounts.create({ account, password: PASSWORD }, BY_OPERATOR);
}

Deno.test("register() makes an agent that can log in with its passphrase", async () => {
  await withServices(async (services) => {
    const request = registrationSchema.parse({
      nick: "Coder-1",
      type: "observer",
      channels: ["Dev", "#dev", "#ops"],
    });
    const registration = await services.agents.register(request, BY_OPERATOR);
    const { passphrase } = registration.credentials;
    assert.match(passphrase, /^[0-9a-f]{64}$/);
    assert.deepEqual(registration, {
      nick: "Coder-1",
      credentials: { nick: "Coder-1", passphrase },
      server: "irc://irc.example:6667",
    });
    assert.deepEqual(await services.authority.verify("coder-1", passphrase, ADDRESS), {
      kind: "accepted",
      account: "Coder-1",
    });
    const agent = {
      nick: "Coder-1",
      type: "observer",
      channels: ["#Dev", "#ops"],
      revoked: false,
      paused: false,
      pause_reason: null,
      created_at: "2026-11-20T12:00:00.000Z",
      last_seen: null,
      online: false,
      messages_per_minute: 0,
      rate_limit: null,
    };
    assert.deepEqual(services.agents.get("cODER-1"), agent);
    assert.deepEqual(services.agents.list(), [agent]);
    assert.deepEqual(services.agents.counts(), { active: 1, total: 1 });
  });
});

Deno.test("a nick is registered once, in any case and with any number of concurrent tries", async () => {
  await withServices(async (services) => {
    const nicks = ["coder", "Coder", "CODER", "coder"];
    const outcomes = await Promise.allSettled(nicks.map((nick) => anAgent(services, nick)));
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") assert.ok(outcome.reason instanceof Conflict);
    }
    await services.agents.revoke("coder", BY_OPERATOR);
    await assert.rejects(anAgent(services, "CoDeR"), Conflict);
    await aPerson(services, "ann");
    await assert.rejects(anAgent(services, "Ann"), Conflict);
    await assert.rejects(aPerson(services, "coder"), Conflict);
    const expected = ["agent.registered", "agent.revoked", "account.created"];
    assert.deepEqual(await eventTypes(services), expected);
  });
});

Deno.test("nobody registers a reserved name", async () => {
  const bots = "auditbot scribe herald oracle warden scroll systembot snitch sentinel steward " +
    "shepherd";
  await withServices(async (services) => {
    const names = [...bots.split(" "), "bridge", "NickServ", "chanserv", "HISTSERV", "Server"];
    for (const name of names) {
      await assert.rejects(anAgent(services, name), Conflict, name);
      await assert.rejects(aPerson(services, name), Conflict, name);
    }
    assert.deepEqual(services.agents.list(), []);
  });
});

Deno.test("rotate() replaces the passphrase and closes what began with the old one", async () => {
  await withServices(async (services) => {
    const old = await anAgent(services, "Coder");
    const credential = { kind: "basic", name: "coder", password: old } as const;
    const principal = await services.identity.authenticate(credential, ADDRESS);
    const covered: boolean[] = [];
    services.identity.onEnded((ended) => {
      covered.push(ended.covers(principal), ended.covers({ ...principal, tokenId: "1" }));
    });
    const { nick, credentials } = await services.agents.rotate("coder", BY_OPERATOR);
    assert.deepEqual([nick, credentials.nick], ["Coder", "Coder"]);
    assert.equal(await canLogIn(services, "coder", old), false);
    assert.equal(await canLogIn(services, "coder", credentials.passphrase), true);
    assert.deepEqual(services.sessions.closed, ["Coder: Passphrase changed"]);
    assert.deepEqual(services.sessions.forgotten, []);
    await services.agents.rotate("coder", BY_OPERATOR, { keep_tokens: true });
    assert.deepEqual(covered, [true, true, true, false]);
  });
});

Deno.test("revoke() keeps the record and nothing that logs in", async () => {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "coder");
    await anAgent(services, "other");
    await services.agents.revoke("CODER", BY_OPERATOR);
    assert.equal(await canLogIn(services, "coder", passphrase), false);
    assert.deepEqual(services.sessions.closed, ["coder: Agent revoked"]);
    assert.deepEqual(services.sessions.forgotten, ["coder"]);
    assert.equal(services.agents.get("coder").revoked, true);
    assert.deepEqual(services.agents.counts(), { active: 1, total: 2 });
    assert.equal(services.authority.ownerOf("coder"), "coder");

    await assert.rejects(services.agents.revoke("coder", BY_OPERATOR), Conflict);
    await assert.rejects(services.agents.rotate("coder", BY_OPERATOR), Conflict);
  });
});

Deno.test("delete() works in any state and frees the nick for another account", async () => {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "coder");
    await services.agents.delete("Coder", BY_OPERATOR);
    assert.equal(await canLogIn(services, "coder", passphrase), false);
    assert.deepEqual(services.sessions.closed, ["coder: Agent deleted"]);
    assert.deepEqual(services.sessions.forgotten, ["coder"]);
    assert.equal(services.authority.ownerOf("coder"), null);

    await anAgent(services, "CODER");
    assert.equal(await canLogIn(services, "coder", passphrase), false);
    await services.agents.revoke("coder", BY_OPERATOR);
    await services.agents.delete("coder", BY_OPERATOR);
    assert.deepEqual(services.agents.list(), []);
  });
});

Deno.test("an unknown agent can be neither read nor changed", async () => {
  await withServices(async (services) => {
    const { agents } = services;
    await aPerson(services, "ann");
    for (const nick of ["nobody", "ann", "not a nick", ""]) {
      assert.throws(() => agents.get(nick), NotFound);
      await assert.rejects(agents.rotate(nick, BY_OPERATOR), NotFound);
      await assert.rejects(agents.revoke(nick, BY_OPERATOR), NotFound);
      await assert.rejects(agents.delete(nick, BY_OPERATOR), NotFound);
    }
    assert.equal(await canLogIn(services, "ann", PASSWORD), true);
  });
});

Deno.test("of two concurrent changes to one agent, one is refused", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const outcomes = await Promise.allSettled([
      services.agents.revoke("coder", BY_OPERATOR),
      services.agents.revoke("coder", BY_OPERATOR),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected"]);
    assert.deepEqual(await eventTypes(services), ["agent.registered", "agent.revoked"]);
  });
});

Deno.test("adopt() makes a person's account an agent that keeps its password", async () => {
  await withServices(async (services) => {
    await aPerson(services, "Ann");
    const adoption = adoptionSchema.parse({ type: "orchestrator", channels: ["ops"] });
    const agent = await services.agents.adopt("ann", adoption, BY_OPERATOR);
    assert.deepEqual([agent.nick, agent.type, agent.channels], ["Ann", "orchestrator", ["#ops"]]);
    assert.deepEqual(await services.ircAccounts.list(), []);
    assert.equal(await canLogIn(services, "ann", PASSWORD), true);
    const credential = { kind: "basic", name: "ann", password: PASSWORD } as const;
    assert.equal((await services.identity.authenticate(credential, ADDRESS)).kind, "agent");

    await assert.rejects(services.agents.adopt("ann", adoption, BY_OPERATOR), Conflict);
    await assert.rejects(services.agents.adopt("nobody", adoption, BY_OPERATOR), NotFound);
    const { credentials } = await services.agents.rotate("ann", BY_OPERATOR);
    assert.equal(await canLogIn(services, "ann", PASSWORD), false);
    assert.equal(await canLogIn(services, "ann", credentials.passphrase), true);
  });
});

Deno.test("an agent is online while it has a session or has called within two minutes", async () => {
  await withServices(async (services) => {
    const { agents, clock, sessions } = services;
    const passphrase = await anAgent(services, "coder");
    const state = () => {
      const { online, last_seen } = agents.get("coder");
      return [online, last_seen === null ? null : clock.now() - Date.parse(last_seen)];
    };
    assert.deepEqual(state(), [false, null]);
    agents.touchNick("Coder");
    clock.advance(2 * MINUTE - 1);
    assert.deepEqual(state(), [true, 2 * MINUTE - 1]);
    clock.advance(1);
    assert.deepEqual(state(), [false, 2 * MINUTE]);

    const credential = { kind: "basic", name: "coder", password: passphrase } as const;
    await services.identity.authenticate(credential, ADDRESS);
    assert.deepEqual(state(), [true, 0]);
    clock.advance(5 * MINUTE);

    sessions.online.add("coder");
    assert.deepEqual(state(), [true, 0]);
    sessions.online.delete("coder");
    agents.sessionSeen("coder");
    clock.advance(MINUTE);
    assert.deepEqual(state(), [false, MINUTE]);
    agents.touchNick("nobody");
    agents.sessionSeen("nobody");
  });
});

Deno.test("agents and when they were last seen outlive the program", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    const passphrase = await anAgent(services, "coder", { channels: ["#dev"] });
    services.clock.advance(MINUTE);
    services.agents.touchNick("coder");
    const before = services.agents.list();
    await services.close();

    const later = await openServices(folder, {}, services.clock);
    assert.deepEqual(later.agents.list(), [{ ...before[0], online: false }]);
    assert.equal(before[0]?.last_seen, "2026-11-20T12:01:00.000Z");
    assert.equal(await canLogIn(later, "coder", passphrase), true);
    await later.close();
  });
});

Deno.test("the event log names the author, address and request of every change", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder", { channels: ["dev"] });
    const [event] = await services.database.tables.selectFrom("events").selectAll()
      .where("type", "like", "agent.%").execute();
    assert.ok(event !== undefined);
    const { type, actor, actor_id, address, cause, data } = event;
    assert.deepEqual([type, actor, actor_id], ["agent.registered", "operator", null]);
    assert.deepEqual([address, cause], ["127.0.0.1", "request-1"]);
    assert.deepEqual(JSON.parse(data), { nick: "coder", type: "worker", channels: ["#dev"] });
  });
});

/** The sessions of agents: who gets which name, and for how long. */
import assert from "node:assert/strict";
import {
  type Caller,
  callerOnIrc,
  MOST_SESSIONS,
} from "../../../../services/people/identity/mod.ts";
import { Conflict, NotFound, TooMany } from "../../../../services/kernel/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function caller({ accounts }: Pick<TestServices, "accounts">, nick = "scout"): Caller {
  return callerOnIrc(accounts.find(nick) ?? assert.fail());
}

/** Calls in a session; returns its name. */
async function enter(services: TestServices, id: string, nick = "scout"): Promise<string> {
  const key = { id: `session-${id}`, silence: 5 * MINUTE };
  const { name } = await services.identity.enterSession(caller(services, nick), key);
  return name;
}

function end(services: TestServices, id: string): Promise<void> {
  return services.agentSessions.end(caller(services), { id: `session-${id}` });
}

function liveOf({ agentSessions, accounts }: TestServices): string[] {
  const { id } = accounts.find("scout") ?? assert.fail();
  return agentSessions.liveOf(id).map(({ name }) => name);
}

Deno.test("the first session is the agent itself, and others have numbers", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    assert.equal(await enter(services, "a"), "scout");
    assert.equal(await enter(services, "b"), "scout-2");
    assert.deepEqual([await enter(services, "a"), await enter(services, "b")], [
      "scout",
      "scout-2",
    ]);
    const { principal } = caller(services);
    const key = { id: "session-b", silence: MINUTE };
    const entered = await services.identity.enterSession({ ...BY_OPERATOR, principal }, key);
    assert.deepEqual([entered.id, entered.scopes], [principal.id, principal.scopes]);
    // Nobody else has sessions, and another agent's key is another one.
    await anAgent(services, "other");
    assert.equal(await enter(services, "a", "other"), "other");
    const operator = await services.identity.enterSession(BY_OPERATOR, key);
    assert.equal(operator.agentSession, undefined);
  });
});

Deno.test("a session ends by silence, and comes back under its name until another has it", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    for (const id of ["a", "b", "c"]) await enter(services, id);
    services.clock.advance(4 * MINUTE);
    await enter(services, "b");
    services.clock.advance(2 * MINUTE);
    assert.deepEqual(liveOf(services), ["scout-2"]);
    assert.equal(await enter(services, "c"), "scout-3");
    // The agent's own name is free at once.
    assert.equal(await enter(services, "d"), "scout");
    assert.equal(await enter(services, "a"), "scout-4");
  });
});

Deno.test("a name with a number rests for a day", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    for (const id of ["a", "b"]) await enter(services, id);
    await end(services, "b");
    await assert.rejects(enter(services, "b"), NotFound);
    assert.equal(await enter(services, "c"), "scout-3");
    services.clock.advance(DAY);
    await enter(services, "a");
    await assert.rejects(end(services, "b"), NotFound);
    assert.equal(await enter(services, "d"), "scout-2");
  });
});

Deno.test("no session has the name of an account, and no account that of a session", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    await anAgent(services, "Scout-2");
    await enter(services, "a");
    assert.equal(await enter(services, "b"), "scout-3");
    await assert.rejects(anAgent(services, "SCOUT-3"), (error) => {
      assert.ok(error instanceof Conflict);
      assert.match(error.message, /"scout-3" is taken by a session of "scout"/);
      return true;
    });
    await end(services, "b");
    await assert.rejects(anAgent(services, "scout-3"), Conflict);
    await assert.rejects(services.agents.revoke("scout-3", BY_OPERATOR), NotFound);
    await services.agents.delete("scout", BY_OPERATOR);
    await anAgent(services, "scout-3");
    await anAgent(services, "scout");
    assert.equal(await enter(services, "a"), "scout");
    assert.equal(await enter(services, "b"), "scout-4");
  });
});

Deno.test("an agent has so many names, and the one that ended first makes room", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    for (let index = 0; index < MOST_SESSIONS; index++) await enter(services, `${index}`);
    assert.equal(liveOf(services).at(-1), `scout-${MOST_SESSIONS}`);
    await assert.rejects(enter(services, "more"), TooMany);
    await end(services, "7");
    services.clock.advance(1);
    await end(services, "3");
    assert.equal(await enter(services, "more"), "scout-8");
  });
});

Deno.test("of sessions that nobody ends, the one that is idle for longest and has nothing makes room", async () => {
  await withServices(async (services) => {
    const { questions, agentSessions } = services;
    await anAgent(services, "scout");
    for (let index = 0; index < MOST_SESSIONS; index++) {
      await enter(services, `${index}`);
      services.clock.advance(10);
    }
    const inSession = async (id: string): Promise<Caller> => {
      const key = { id: `session-${id}`, silence: 5 * MINUTE };
      const principal = await services.identity.enterSession(caller(services), key);
      return { ...caller(services), principal };
    };
    agentSessions.askBefore(({ name }) => Promise.resolve(name === "scout-2"));
    await questions.ask({ text: "Go on?" }, await inSession("2"));
    services.clock.advance(MINUTE);
    await assert.rejects(enter(services, "early"), TooMany);
    services.clock.advance(MINUTE);
    services.identity.notePresence((await inSession("3")).principal);
    assert.equal(await enter(services, "more"), "scout-5");
    assert.equal(await enter(services, "again"), "scout-6");
    // Who comes back gets another name.
    assert.equal(await enter(services, "4"), "scout-7");
    assert.equal(await enter(services, "1"), "scout-2");
  });
});

Deno.test("an agent whose name is as long as names may be has sessions too", async () => {
  await withServices(async (services) => {
    const nick = "x".repeat(64);
    await anAgent(services, nick);
    for (let index = 0; index < MOST_SESSIONS; index++) await enter(services, `${index}`, nick);
    assert.equal(await enter(services, "1", nick), `${nick.slice(0, 62)}-2`);
    assert.equal(await enter(services, "63", nick), `${nick.slice(0, 61)}-64`);
  });
});

Deno.test("sessions that begin at once have different names", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const names = await Promise.all(["a", "b", "c", "a", "b"].map((id) => enter(services, id)));
    assert.equal(new Set(names).size, 3);
    assert.deepEqual([names[0], names[1]], [names[3], names[4]]);
    assert.deepEqual(liveOf(services), ["scout", "scout-2", "scout-3"]);
  });
});

Deno.test("sessions survive a restart, and end with their agent", async () => {
  await withFolder(async (folder) => {
    const first = await openServices(folder);
    await anAgent(first, "scout");
    for (const id of ["a", "b"]) await enter(first, id);
    await first.close();
    const second = await openServices(folder);
    try {
      assert.deepEqual(liveOf(second), ["scout", "scout-2"]);
      assert.equal(await enter(second, "b"), "scout-2");
      assert.equal(second.agents.roster.find("scout-2")?.nick, "scout-2");
      await second.agents.revoke("scout", BY_OPERATOR);
      assert.equal(second.agents.roster.find("scout-2"), null);
      assert.deepEqual(liveOf(second), []);
    } finally {
      await second.close();
    }
  });
});

Deno.test("a halt, a pause and a rate are about all sessions of an agent", async () => {
  await withServices(async (services) => {
    const { agents } = services;
    await anAgent(services, "scout");
    for (const id of ["a", "b"]) await enter(services, id);
    await agents.halts.halt({ agents: ["scout-2"], types: [], reason: null }, BY_OPERATOR);
    for (const nick of ["scout", "scout-2"]) {
      assert.match(agents.sendLimits.muteReason(nick) ?? "", /halted/, nick);
    }
    assert.deepEqual(agents.halts.read().agents.map(({ nick }) => nick), ["scout"]);
    await agents.halts.resume({ agents: ["scout"], types: [] }, BY_OPERATOR);
    assert.equal(agents.sendLimits.muteReason("scout-2"), null);
    for (const nick of ["scout", "scout-2", "scout-2"]) agents.sendLimits.sent(nick);
    assert.equal(agents.get("scout").messages_per_minute, 3);
    assert.deepEqual(agents.list().map(({ nick }) => nick), ["scout"]);
  });
});

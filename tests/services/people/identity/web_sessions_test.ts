import assert from "node:assert/strict";
import { NotFound } from "../../../../services/kernel/errors.ts";
import type { WebSession } from "../../../../services/people/identity/mod.ts";
import {
  BY_OPERATOR,
  eventTypes,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const FROM = { address: "192.0.2.1", requestId: null };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Begins a session of the first admin. */
async function open({ accounts, admins, webSessions }: TestServices): Promise<WebSession> {
  await admins.createFirst();
  const account = accounts.find("admin");
  assert.ok(account);
  return await webSessions.open(account, FROM);
}

Deno.test("a session lasts 12 hours from its last use", async () => {
  await withServices(async (services) => {
    const { clock, webSessions } = services;
    const { secret, expiresAt } = await open(services);
    assert.equal(expiresAt, clock.now() + 12 * HOUR);
    for (let uses = 0; uses < 3; uses++) {
      clock.advance(12 * HOUR - 1);
      const session = webSessions.find(secret);
      assert.equal(session?.expiresAt, clock.now() + 12 * HOUR);
      assert.equal(session.renewed, true);
      assert.equal(webSessions.find(secret)?.renewed, false);
    }
    clock.advance(12 * HOUR);
    assert.equal(webSessions.find(secret), null);
  });
});

Deno.test("a session outlives a restart, with the time of its last use", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    const { principal, secret, csrfToken } = await open(services);
    services.clock.advance(6 * HOUR);
    assert.ok(services.webSessions.find(secret));
    await services.close();

    services.clock.advance(11 * HOUR);
    const later = await openServices(folder, {}, services.clock);
    const session = later.webSessions.find(secret);
    assert.deepEqual(session?.principal, principal);
    assert.equal(session.csrfToken, csrfToken);
    await later.close();
  });
});

Deno.test("streams end when their session expires, and not before", async () => {
  await withServices(async (services) => {
    const { clock, identity, webSessions } = services;
    const { principal, secret } = await open(services);
    const endedAt: number[] = [];
    identity.onEnded((ended) => {
      if (ended.covers(principal)) endedAt.push(clock.now());
    });
    clock.advance(10 * HOUR);
    webSessions.find(secret);
    const used = clock.now();
    clock.advance(48 * HOUR);
    assert.deepEqual(endedAt, [used + 12 * HOUR]);
  });
});

Deno.test("close() ends one session and no other", async () => {
  await withServices(async (services) => {
    const { identity, webSessions } = services;
    const [one, other] = [await open(services), await open(services)];
    const covered: boolean[] = [];
    identity.onEnded((ended) => {
      covered.push(ended.covers(one.principal), ended.covers(other.principal));
    });
    await webSessions.close({ ...BY_OPERATOR, principal: one.principal });
    assert.deepEqual(covered, [true, false]);
    assert.equal(webSessions.find(one.secret), null);
    assert.ok(webSessions.find(other.secret));
    assert.equal((await eventTypes(services)).at(-1), "admin.logged_out");
  });
});

Deno.test("an account lists its sessions by their last use, and ends each of them", async () => {
  await withServices(async (services) => {
    const { accounts, clock, webSessions } = services;
    const began = clock.now();
    const [one, other] = [await open(services), await open(services)];
    const { id = "" } = accounts.find("admin") ?? {};
    clock.advance(HOUR);
    webSessions.find(one.secret);
    assert.deepEqual(webSessions.list(id), [
      { id: one.principal.sessionId, createdAt: began, lastUsed: clock.now() },
      { id: other.principal.sessionId, createdAt: began, lastUsed: began },
    ]);
    assert.deepEqual(webSessions.list("nobody"), []);

    const caller = { ...FROM, principal: one.principal };
    await webSessions.end(other.principal.sessionId ?? "", caller);
    assert.equal(webSessions.find(other.secret), null);
    assert.equal((await eventTypes(services)).at(-1), "admin.logged_out");
    assert.deepEqual(webSessions.list(id).map((session) => session.id), [one.principal.sessionId]);
    await assert.rejects(webSessions.end(other.principal.sessionId ?? "", caller), NotFound);

    const stranger = { ...one.principal, id: "nobody" };
    const foreign = webSessions.end(one.principal.sessionId ?? "", {
      ...FROM,
      principal: stranger,
    });
    await assert.rejects(foreign, NotFound);
    clock.advance(12 * HOUR);
    assert.deepEqual(webSessions.list(id), []);
  });
});

Deno.test("an admin has at most 20 sessions, and expired ones are removed", async () => {
  await withServices(async (services) => {
    const { clock, database, webSessions } = services;
    const count = async () => {
      const rows = await database.tables.selectFrom("web_sessions").select("id").execute();
      return rows.length;
    };
    const sessions: WebSession[] = [];
    for (let opened = 0; opened < 22; opened++) {
      clock.advance(1);
      sessions.push(await open(services));
    }
    const alive = sessions.map(({ secret }) => webSessions.find(secret) !== null);
    assert.deepEqual(alive, sessions.map((_, index) => index >= 2));
    assert.equal(await count(), 20);
    clock.advance(13 * HOUR);
    await open(services);
    assert.equal(await count(), 1);
  });
});

Deno.test("a malformed cookie opens nothing, and no cookie does when admins are switched off", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    const { secret, csrfToken } = await open(services);
    for (const text of ["", csrfToken, secret.toUpperCase(), `${secret}0`, "x".repeat(10_000)]) {
      assert.equal(services.webSessions.find(text), null);
    }
    await services.close();
    const later = await openServices(folder, { config: { admins: { enabled: false } } });
    assert.equal(later.webSessions.find(secret), null);
    await later.close();
  });
});

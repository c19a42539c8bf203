import assert from "node:assert/strict";
import { adminSchema } from "../../../services/admins/mod.ts";
import { Conflict, NotFound, Unauthorized } from "../../../services/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  eventTypes,
  type TestServices,
  withServices,
} from "../../support/services.ts";

const FROM = { address: "192.0.2.1", requestId: "request-1" };

function create({ admins }: TestServices, username: string, password = "correct horse") {
  return admins.create({ username, password }, BY_OPERATOR);
}

function logIn({ adminLogin }: TestServices, username: string, password = "correct horse") {
  return adminLogin.logIn({ username, password }, FROM);
}

Deno.test("the first start makes an admin whose password is random, later ones none", async () => {
  await withServices(async (rooms) => {
    const first = await rooms.admins.createFirst();
    assert.equal(first?.username, "admin");
    assert.match(first.password, /^[0-9a-f]{64}$/);
    assert.equal(await rooms.admins.createFirst(), null);
    const { principal } = await logIn(rooms, "ADMIN", first.password);
    assert.deepEqual([principal.kind, principal.name], ["admin", "admin"]);
    assert.deepEqual(await eventTypes(rooms), ["admin.created", "admin.logged_in"]);
  });
});

Deno.test("the first admin does not take a name that somebody has", async () => {
  await withServices(async (rooms) => {
    await anAgent(rooms, "Admin");
    await assert.rejects(rooms.admins.createFirst(), Conflict);
    assert.deepEqual(await rooms.admins.list(), []);
  });
});

Deno.test("admins, agents, people and reserved names are one namespace", async () => {
  await withServices(async (rooms) => {
    await anAgent(rooms, "Coder");
    await rooms.ircAccounts.create({ account: "Ann", password: "correct horse" }, BY_OPERATOR);
    await create(rooms, "Root");
    for (const name of ["coder", "ANN", "root", "bridge", "operator"]) {
      await assert.rejects(create(rooms, name), Conflict, name);
    }
    await assert.rejects(anAgent(rooms, "ROOT"), Conflict);
    await assert.rejects(
      rooms.agents.adopt("root", { type: "worker", channels: [] }, BY_OPERATOR),
      {
        name: "NotFound",
      },
    );
    for (const name of ["coder", "ann", "nobody"]) {
      await assert.rejects(rooms.admins.delete(name, BY_OPERATOR), NotFound);
      await assert.rejects(rooms.admins.setPassword(name, "a new password", BY_OPERATOR), NotFound);
    }
    assert.deepEqual(await rooms.admins.list(), [
      { username: "Root", created_at: "2026-11-20T12:00:00.000Z" },
    ]);
  });
});

Deno.test("of two admins that are removed at once, one stays", async () => {
  await withServices(async (rooms) => {
    await create(rooms, "ann");
    await create(rooms, "bob");
    const removals = await Promise.allSettled([
      rooms.admins.delete("ann", BY_OPERATOR),
      rooms.admins.delete("bob", BY_OPERATOR),
    ]);
    assert.deepEqual(removals.map(({ status }) => status), ["fulfilled", "rejected"]);
    assert.deepEqual((await rooms.admins.list()).map(({ username }) => username), ["bob"]);
    await assert.rejects(rooms.admins.delete("bob", BY_OPERATOR), Conflict);
    await logIn(rooms, "bob");
  });
});

Deno.test("a new password ends every session that began with the old one, and no token", async () => {
  await withServices(async (rooms) => {
    await create(rooms, "ann");
    await create(rooms, "bob");
    const sessions = [await logIn(rooms, "ann"), await logIn(rooms, "ann")];
    const other = await logIn(rooms, "bob");
    const ended: boolean[] = [];
    rooms.identity.onEnded((ending) => {
      ended.push(...[...sessions, other].map(({ principal }) => ending.covers(principal)));
    });
    const { token } = await rooms.tokens.create({
      ...{ owner: "ann", name: "laptop", scopes: ["read"] },
      ...{ project: null, expires_at: null },
    }, BY_OPERATOR);

    await rooms.admins.setPassword("ann", "another horse", BY_OPERATOR);
    assert.deepEqual(ended, [true, true, false]);
    for (const { secret } of sessions) assert.equal(rooms.webSessions.find(secret), null);
    assert.ok(rooms.webSessions.find(other.secret));
    assert.deepEqual(rooms.sessions.closed, ["ann: Password changed"]);
    await rooms.identity.authenticate({ kind: "bearer", token }, FROM.address);
    await assert.rejects(logIn(rooms, "ann"), Unauthorized);
    await logIn(rooms, "ann", "another horse");
  });
});

Deno.test("removing an admin ends everything of it, and the next owner of the name inherits nothing", async () => {
  await withServices(async (rooms) => {
    await create(rooms, "ann");
    await create(rooms, "bob");
    const session = await logIn(rooms, "ann");
    const { token } = await rooms.tokens.create({
      ...{ owner: "ann", name: "laptop", scopes: ["read"] },
      ...{ project: null, expires_at: null },
    }, BY_OPERATOR);
    await rooms.admins.delete("ann", BY_OPERATOR);
    assert.deepEqual(rooms.sessions.closed, ["ann: Admin removed"]);
    assert.deepEqual(rooms.sessions.forgotten, ["ann"]);
    await create(rooms, "ann", "somebody else");
    assert.equal(rooms.webSessions.find(session.secret), null);
    await assert.rejects(
      rooms.identity.authenticate({ kind: "bearer", token }, FROM.address),
      Unauthorized,
    );
    assert.deepEqual(await rooms.tokens.list(), []);
  });
});

Deno.test("a login whose password is replaced meanwhile opens no session", async () => {
  await withServices(async (rooms) => {
    await create(rooms, "ann");
    const attempts = Promise.allSettled([logIn(rooms, "ann"), logIn(rooms, "ann")]);
    await rooms.admins.setPassword("ann", "another horse", BY_OPERATOR);
    for (const attempt of await attempts) {
      if (attempt.status === "rejected") assert.ok(attempt.reason instanceof Unauthorized);
      else assert.equal(rooms.webSessions.find(attempt.value.secret), null);
    }
  });
});

Deno.test("a name is one that IRC takes, a password has at least 8 characters", () => {
  const good = { username: "Ann-1", password: "pass 123" };
  assert.ok(adminSchema.safeParse(good).success);
  const bad = [
    { ...good, username: "" },
    { ...good, username: "two words" },
    { ...good, username: "1ann" },
    { ...good, password: "seven 7" },
    { ...good, password: "x".repeat(1025) },
    { ...good, password: "pass\n1234" },
  ];
  for (const request of bad) assert.ok(!adminSchema.safeParse(request).success);
});

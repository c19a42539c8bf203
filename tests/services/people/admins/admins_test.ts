import assert from "node:assert/strict";
import { adminSchema } from "../../../../services/people/admins/schemas.ts";
import { Conflict, NotFound, Unauthorized } from "../../../../services/kernel/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  eventTypes,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

const FROM = { address: "192.0.2.1", requestId: "request-1", browser: null };

function create({ admins }: TestServices, username: string, password = "correct horse") {
  return admins.create({ username, password }, BY_OPERATOR);
}

function logIn({ adminLogin }: TestServices, username: string, password = "correct horse") {
  return adminLogin.logIn({ username, password }, FROM);
}

Deno.test("the first start makes an admin whose password is random, later ones none", async () => {
  await withServices(async (services) => {
    const first = await services.admins.createFirst();
    assert.equal(first?.username, "admin");
    assert.match(first.password, /^[0-9a-f]{64}$/);
    assert.equal(await services.admins.createFirst(), null);
    const { principal } = await logIn(services, "ADMIN", first.password);
    assert.deepEqual([principal.kind, principal.name], ["admin", "admin"]);
    assert.deepEqual(await eventTypes(services), ["admin.created", "admin.logged_in"]);
  });
});

Deno.test("the first admin does not take another account's name", async () => {
  await withServices(async (services) => {
    await anAgent(services, "Admin");
    await assert.rejects(services.admins.createFirst(), Conflict);
    assert.deepEqual(await services.admins.list(), []);
  });
});

Deno.test("admins, agents, people and reserved names are one namespace", async () => {
  await withServices(async (services) => {
    await anAgent(services, "Coder");
    await services.ircAccounts.create({ account: "Ann", password: "correct horse" }, BY_OPERATOR);
    await create(services, "Root");
    for (const name of ["coder", "ANN", "root", "bridge", "operator"]) {
      await assert.rejects(create(services, name), Conflict, name);
    }
    await assert.rejects(anAgent(services, "ROOT"), Conflict);
    await assert.rejects(
      services.agents.adopt("root", { type: "worker", channels: [] }, BY_OPERATOR),
      {
        name: "NotFound",
      },
    );
    for (const name of ["coder", "ann", "nobody"]) {
      await assert.rejects(services.admins.delete(name, BY_OPERATOR), NotFound);
      await assert.rejects(
        services.admins.setPassword(name, "a new password", BY_OPERATOR),
        NotFound,
      );
    }
    assert.deepEqual(await services.admins.list(), [
      { username: "Root", created_at: "2026-11-20T12:00:00.000Z" },
    ]);
  });
});

Deno.test("of two admins that are removed at once, one stays", async () => {
  await withServices(async (services) => {
    await create(services, "ann");
    await create(services, "bob");
    const removals = await Promise.allSettled([
      services.admins.delete("ann", BY_OPERATOR),
      services.admins.delete("bob", BY_OPERATOR),
    ]);
    assert.deepEqual(removals.map(({ status }) => status), ["fulfilled", "rejected"]);
    assert.deepEqual((await services.admins.list()).map(({ username }) => username), ["bob"]);
    await assert.rejects(services.admins.delete("bob", BY_OPERATOR), Conflict);
    await logIn(services, "bob");
  });
});

Deno.test("a new password ends every session that began with the old one, and no token", async () => {
  await withServices(async (services) => {
    await create(services, "ann");
    await create(services, "bob");
    const sessions = [await logIn(services, "ann"), await logIn(services, "ann")];
    const other = await logIn(services, "bob");
    const ended: boolean[] = [];
    services.identity.onEnded((ending) => {
      ended.push(...[...sessions, other].map(({ principal }) => ending.covers(principal)));
    });
    const { token } = await services.tokens.create({
      owner: "ann",
      name: "laptop",
      scopes: ["read"],
      project: null,
      expires_at: null,
    }, BY_OPERATOR);

    await services.admins.setPassword("ann", "another horse", BY_OPERATOR);
    assert.deepEqual(ended, [true, true, false]);
    for (const { secret } of sessions) assert.equal(services.webSessions.find(secret), null);
    assert.ok(services.webSessions.find(other.secret));
    assert.deepEqual(services.sessions.closed, ["ann: Password changed"]);
    await services.identity.authenticate({ kind: "bearer", token }, FROM.address);
    await assert.rejects(logIn(services, "ann"), Unauthorized);
    await logIn(services, "ann", "another horse");
  });
});

Deno.test("removing an admin ends its sessions and tokens, and the next owner of the name inherits nothing", async () => {
  await withServices(async (services) => {
    await create(services, "ann");
    await create(services, "bob");
    const session = await logIn(services, "ann");
    const { token } = await services.tokens.create({
      owner: "ann",
      name: "laptop",
      scopes: ["read"],
      project: null,
      expires_at: null,
    }, BY_OPERATOR);
    await services.admins.delete("ann", BY_OPERATOR);
    assert.deepEqual(services.sessions.closed, ["ann: Admin removed"]);
    assert.deepEqual(services.sessions.forgotten, ["ann"]);
    await create(services, "ann", "somebody else");
    assert.equal(services.webSessions.find(session.secret), null);
    await assert.rejects(
      services.identity.authenticate({ kind: "bearer", token }, FROM.address),
      Unauthorized,
    );
    assert.deepEqual(await services.tokens.list(), []);
  });
});

Deno.test("a login opens no session when its password is replaced meanwhile", async () => {
  await withServices(async (services) => {
    await create(services, "ann");
    const attempts = Promise.allSettled([logIn(services, "ann"), logIn(services, "ann")]);
    await services.admins.setPassword("ann", "another horse", BY_OPERATOR);
    for (const attempt of await attempts) {
      if (attempt.status === "rejected") assert.ok(attempt.reason instanceof Unauthorized);
      else assert.equal(services.webSessions.find(attempt.value.secret), null);
    }
  });
});

Deno.test("a name is valid on IRC, and a password has at least 8 characters", () => {
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

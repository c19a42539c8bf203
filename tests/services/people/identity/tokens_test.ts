import assert from "node:assert/strict";
import { statement } from "../../../../services/engines/database/mod.ts";
import { ServiceError, Unauthorized } from "../../../../services/kernel/errors.ts";
import {
  OPERATOR,
  type Principal,
  type TokenFilter,
} from "../../../../services/people/identity/mod.ts";
import { tokenRequestSchema } from "../../../../services/people/identity/schemas.ts";
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
const DAY = 24 * 60 * MINUTE;
const ADDRESS = "192.0.2.1";

function issue({ tokens }: Pick<TestServices, "tokens">, request: Record<string, unknown>) {
  const filled = { owner: "coder", name: "laptop", scopes: ["read"], ...request };
  return tokens.create(tokenRequestSchema.parse(filled), BY_OPERATOR);
}

function present({ identity }: TestServices, token: string): Promise<Principal> {
  return identity.authenticate({ kind: "bearer", token }, ADDRESS);
}

Deno.test("a token stands for its owner with its scopes and those that they include", async () => {
  const included = [
    [["read"], ["read"]],
    [["write", "write"], ["read", "status:write", "write"]],
    [["admin"], ["admin", "read", "status:write", "write"]],
  ] as const;
  await withServices(async (services) => {
    await anAgent(services, "Coder");
    for (const [scopes, expected] of included) {
      const { token, id, owner } = await issue(services, { owner: "coder", scopes });
      assert.match(token, /^[0-9a-f]{40}$/);
      assert.equal(owner, "Coder");
      const principal = await present(services, token);
      assert.deepEqual([...principal.scopes].sort(), expected);
      const { kind, name, project, tokenId } = principal;
      assert.deepEqual([kind, name, project, tokenId], ["agent", "Coder", null, id]);
    }
  });
});

Deno.test("a token's listing shows its last use and not the token", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    await anAgent(services, "coder");
    const { token, ...listed } = await issue(services, { scopes: ["write", "read"] });
    assert.deepEqual(listed.scopes, ["read", "write"]);
    assert.deepEqual(await services.tokens.list(), [listed]);
    services.clock.advance(MINUTE);
    await present(services, token);
    const used = { ...listed, last_used: new Date(services.clock.now()).toISOString() };
    assert.deepEqual(await services.tokens.list(), [used]);
    await services.close();

    const later = await openServices(folder, {}, services.clock);
    assert.deepEqual(await later.tokens.list(), [used]);
    assert.equal((await present(later, token)).name, "coder");
    await later.close();
  });
});

Deno.test("more tokens than are read at once are listed in order, all or some", async () => {
  await withServices(async (services) => {
    const { database, accounts, tokens } = services;
    await anAgent(services, "coder");
    const ownerId = accounts.find("coder")?.id ?? assert.fail();
    const rows = Array.from({ length: 1200 }, (_, number) => ({
      id: `${number}`.padStart(4, "0"),
      owner_id: number % 3 === 0 ? null : ownerId,
      project_id: number % 3 === 0 ? "project" : null,
      name: `token ${number}`,
      scopes: '["read"]',
      token_hash: `${number}`,
      created_at: 0,
      expires_at: null,
      last_used: null,
    }));
    const insertion = statement(database.tables.insertInto("tokens").values(rows));
    await database.commit({ statements: [insertion] });
    const ids = async (filter?: TokenFilter) => (await tokens.list(filter)).map(({ id }) => id);
    const all = rows.map(({ id }) => id);
    assert.deepEqual(await ids(), all);
    const ofProject = all.filter((id) => Number(id) % 3 === 0);
    assert.deepEqual(await ids({ projectId: "project" }), ofProject);
    assert.deepEqual(await ids({ ownerId }), all.filter((id) => !ofProject.includes(id)));
    assert.deepEqual(await ids({ ids: ["0007", "0003"] }), ["0003", "0007"]);
    assert.deepEqual(await ids({ ids: [] }), []);

    await tokens.load();
    assert.deepEqual(tokens.idsOf(({ projectId }) => projectId !== null), ofProject.toReversed());
  });
});

Deno.test("a token ends when it expires", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const soon = new Date(services.clock.now() + MINUTE).toISOString();
    const { token, expires_at } = await issue(services, { expires_at: soon });
    assert.equal(expires_at, soon);
    await present(services, token);
    services.clock.advance(MINUTE);
    await assert.rejects(present(services, token), Unauthorized);
    await assert.rejects(issue(services, { expires_at: soon }), ServiceError);
  });
});

Deno.test("streams end when their token expires, however far off that is", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const start = services.clock.now();
    const ended: string[] = [];
    for (const days of [400, 1, 30]) {
      const expires_at = new Date(start + days * DAY).toISOString();
      const { token } = await issue(services, { expires_at });
      const principal = await present(services, token);
      services.identity.onEnded((ending) => {
        if (ending.covers(principal)) {
          ended.push(`${days}: ${(services.clock.now() - start) / DAY}`);
        }
      });
    }
    services.clock.advance(500 * DAY);
    assert.deepEqual(ended, ["1: 1", "30: 30", "400: 400"]);
  });
});

Deno.test("an admin's token stands for the admin, and for nobody when admins are switched off", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    await services.admins.createFirst();
    const { token } = await issue(services, { owner: "Admin", scopes: ["write"] });
    const { kind, name, scopes } = await present(services, token);
    assert.deepEqual([kind, name, [...scopes].sort()], ["admin", "admin", [
      "read",
      "status:write",
      "write",
    ]]);
    await services.close();
    const later = await openServices(folder, { config: { admins: { enabled: false } } });
    await assert.rejects(present(later, token), Unauthorized);
    await later.close();
  });
});

Deno.test("revoke() ends a token at once and nothing else", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const first = await issue(services, {});
    const second = await issue(services, {});
    const [principal, other] = [
      await present(services, first.token),
      await present(services, second.token),
    ];
    const covered: boolean[] = [];
    const unsubscribe = services.identity.onEnded((ended) => {
      covered.push(...[principal, other, OPERATOR].map((each) => ended.covers(each)));
    });
    await services.tokens.revoke(first.id, BY_OPERATOR);
    assert.deepEqual(covered, [true, false, false]);
    await assert.rejects(present(services, first.token), Unauthorized);
    await present(services, second.token);

    unsubscribe();
    await assert.rejects(services.tokens.revoke(first.id, BY_OPERATOR), { name: "NotFound" });
    await services.tokens.revoke(second.id, BY_OPERATOR);
    assert.equal(covered.length, 3);
    assert.deepEqual(await services.tokens.list(), []);
    const expected = ["agent.registered", "token.created", "token.created", "token.revoked"];
    assert.deepEqual(await eventTypes(services), [...expected, "token.revoked"]);
  });
});

Deno.test("create() refuses an owner that cannot have tokens", async () => {
  await withServices(async (services) => {
    await anAgent(services, "gone");
    await services.agents.revoke("gone", BY_OPERATOR);
    for (
      const [request, name] of [
        [{ owner: "nobody" }, "NotFound"],
        [{ owner: "gone" }, "Conflict"],
        [{ owner: null, project: "website" }, "NotFound"],
      ] as const
    ) {
      await assert.rejects(issue(services, request), { name });
    }
    assert.deepEqual(await services.tokens.list(), []);
  });
});

Deno.test("an account's tokens end with it, and the next owner of its name does not get them", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const { token } = await issue(services, {});
    await services.agents.revoke("coder", BY_OPERATOR);
    await assert.rejects(present(services, token), Unauthorized);
    assert.deepEqual(await services.tokens.list(), []);

    await services.agents.delete("coder", BY_OPERATOR);
    await anAgent(services, "coder");
    await assert.rejects(present(services, token), Unauthorized);
    await issue(services, {});
    await services.agents.delete("coder", BY_OPERATOR);
    assert.deepEqual(await services.tokens.list(), []);
  });
});

Deno.test("no token is made for an account that is removed meanwhile", async () => {
  await withServices(async (services) => {
    await anAgent(services, "revoked");
    await anAgent(services, "deleted");
    const owners = ["revoked", "deleted"];
    const creations = Promise.allSettled(owners.map((owner) => issue(services, { owner })));
    await services.agents.revoke("revoked", BY_OPERATOR);
    await services.agents.delete("deleted", BY_OPERATOR);
    for (const outcome of await creations) {
      assert.ok(outcome.status === "fulfilled" || outcome.reason.name === "Conflict");
    }
    assert.deepEqual(await services.tokens.list(), []);
  });
});

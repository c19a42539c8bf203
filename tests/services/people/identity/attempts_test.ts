import fc from "fast-check";
import assert from "node:assert/strict";
import { AttemptQuota } from "../../../../services/people/identity/attempts.ts";
import { BY_OPERATOR, type TestServices, withServices } from "../../../support/services.ts";

const FAILURES = 3;
const WINDOW = 1000;

Deno.test("AttemptQuota decides as a list of every failure would", () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    wait: fc.nat(WINDOW / 2),
    outcome: fc.constantFrom("failed" as const, "passed" as const),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let now = 0;
    const quota = new AttemptQuota({
      failures: FAILURES,
      window: WINDOW,
      keys: 3,
      clock: () => now,
    });
    const failures: { key: string; time: number }[] = [];
    for (const { key, wait, outcome } of steps) {
      now += wait;
      const recent = failures.filter((failure) =>
        failure.key === key && failure.time > now - WINDOW
      );
      const check = quota.check(key);
      assert.equal(check.kind, recent.length < FAILURES ? "allowed" : "exhausted");
      if (check.kind !== "allowed") continue;
      quota.begin(key)(outcome);
      if (outcome === "failed") failures.push({ key, time: now });
    }
  }));
});

Deno.test("a full AttemptQuota forgets the key with the oldest failure", () => {
  const quota = new AttemptQuota({ failures: 1, window: WINDOW, keys: 2, clock: () => 0 });
  for (const key of ["a", "b", "c"]) {
    quota.begin(key)("failed");
  }
  const kinds = ["a", "b", "c"].map((key) => quota.check(key).kind);
  assert.deepEqual(kinds, ["allowed", "exhausted", "exhausted"]);
});

Deno.test("running attempts count until they pass", () => {
  const quota = new AttemptQuota({ failures: 2, window: WINDOW, keys: 2, clock: () => 0 });
  const [first, second] = [quota.begin("a"), quota.begin("a")];
  assert.equal(quota.check("a").kind, "busy");
  first("passed");
  assert.equal(quota.check("a").kind, "allowed");
  second("failed");
  quota.begin("a")("failed");
  assert.deepEqual(quota.check("a"), { kind: "exhausted", retryAfterSeconds: 1 });
});

const MINUTE = 60_000;
const HERE = "192.0.2.1";

/** What was written of refusals, as `address door: reason (count)`. */
async function written({ database, refusals }: TestServices): Promise<string[]> {
  await refusals.flush();
  const rows = await database.tables.selectFrom("events").select(["address", "data"])
    .where("type", "=", "access.refused").orderBy("seq").execute();
  return rows.map(({ address, data }) => {
    const { door, reason, count } = JSON.parse(data);
    return `${address} ${door}: ${reason} (${count})`;
  });
}

async function refuse(attempt: Promise<unknown>): Promise<void> {
  await attempt.then((outcome) => assert.deepEqual(outcome, { kind: "refused" }), () => {});
}

Deno.test("refusals of every protocol are counted by address and reason", async () => {
  await withServices(async (services) => {
    const { adminLogin, authority, identity } = services;
    const basic = { kind: "basic", name: "nobody", password: "x" } as const;
    const bearer = { kind: "bearer", token: "x" } as const;
    for (const address of [HERE, HERE, "2001:db8::1", "2001:db8::2"]) {
      await refuse(identity.authenticate(basic, address));
      await refuse(identity.authenticate(bearer, address));
      await refuse(authority.verify("nobody", "x", address));
      await refuse(authority.verifyOperator("nobody", "x", address));
      await refuse(
        adminLogin.logIn(
          { username: "nobody", password: "x" },
          { address, requestId: null, browser: null },
        ),
      );
    }
    const of = (place: string) => [
      `${place} basic: wrong password (2)`,
      `${place} bearer: invalid token (2)`,
      `${place} sasl: wrong password (2)`,
      `${place} oper: wrong password (2)`,
      `${place} login: wrong password (2)`,
    ];
    assert.deepEqual(await written(services), [...of(HERE), ...of("2001:db8:0:0::/64")]);
    assert.deepEqual([...services.refusals.totals()].map(({ count }) => count), [4, 4, 4, 4, 4]);
  });
});

Deno.test("attempts that are refused unjudged are counted separately", async () => {
  await withServices(async (services) => {
    const { adminLogin, authority } = services;
    for (let times = 0; times < 12; times++) {
      await authority.verify("nobody", "x", HERE);
      if (times < 10) adminLogin.admit({ address: HERE, browser: null });
      else {
        const admit = () => adminLogin.admit({ address: HERE, browser: null });
        assert.throws(admit, { name: "TooMany" });
      }
    }
    assert.deepEqual(await written(services), [
      `${HERE} sasl: wrong password (10)`,
      `${HERE} sasl: too many attempts (2)`,
      `${HERE} login: too many attempts (2)`,
    ]);
  });
});

Deno.test("refusals are written after a minute, successes never", async () => {
  await withServices(async ({ admins, clock, database, identity, tokens }) => {
    await admins.createFirst();
    const { token } = await tokens.create({
      owner: "admin",
      name: "laptop",
      scopes: ["read"],
      project: null,
      expires_at: null,
    }, BY_OPERATOR);
    /** What was written by now: the writer does one thing after the other. */
    const rows = async () => {
      await database.commit({});
      const events = await database.tables.selectFrom("events").select("data")
        .where("type", "=", "access.refused").execute();
      return events.map(({ data }) => JSON.parse(data));
    };
    await identity.authenticate({ kind: "bearer", token }, HERE);
    await refuse(identity.authenticate({ kind: "bearer", token: "x" }, HERE));
    clock.advance(MINUTE - 1);
    assert.deepEqual(await rows(), []);
    await refuse(identity.authenticate({ kind: "bearer", token: "y" }, HERE));
    clock.advance(1);
    assert.deepEqual(await rows(), [
      { door: "bearer", reason: "invalid token", count: 2, since: "2026-11-20T12:00:00.000Z" },
    ]);
  });
});

Deno.test("many strangers fill a bounded number of rows, and no refusal is lost", async () => {
  await withServices(async (services) => {
    for (let index = 0; index < 1000; index++) {
      const address = `198.51.${Math.floor(index / 250)}.${index % 250}`;
      services.refusals.note({ door: "login", reason: "wrong password", address });
    }
    const rows = await written(services);
    assert.equal(rows.length, 101);
    assert.equal(rows.at(-1), "null login: wrong password (900)");
  });
});
